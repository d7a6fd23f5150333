//! RFC 7541, appendix B. The code is canonical: codes of one length ascend with their symbols, so the
//! lengths alone define it.

use super::HpackError;

const MIN_LEN: usize = 5;
const MAX_LEN: usize = 30;
const END: u16 = 256;

/// Bits of each symbol's code; the last symbol is the end of string.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28,
    30, 28, 28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8,
    6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
    5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23,
    23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24,
    21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
    20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
    21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24,
    26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

/// The codes of one length.
#[derive(Clone, Copy)]
struct Row {
    first_code: u32,
    first_index: u16,
    count: u16,
}

const TABLE: ([Row; MAX_LEN + 1], [u16; 257]) = build();

const fn build() -> ([Row; MAX_LEN + 1], [u16; 257]) {
    let mut rows = [Row { first_code: 0, first_index: 0, count: 0 }; MAX_LEN + 1];
    let mut symbols = [0; 257];
    let (mut length, mut code, mut index) = (1, 0_u32, 0);
    while length <= MAX_LEN {
        code <<= 1;
        rows[length].first_code = code;
        rows[length].first_index = index;
        let mut symbol = 0;
        while symbol < 257 {
            if LENGTHS[symbol] as usize == length {
                symbols[index as usize] = symbol as u16;
                index += 1;
                rows[length].count += 1;
                code += 1;
            }
            symbol += 1;
        }
        length += 1;
    }
    (rows, symbols)
}

/// Appends the decoded form of `bytes` to `out`.
pub(super) fn decode(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), HpackError> {
    let (mut code, mut length) = (0_u32, 0);
    for bit in bytes.iter().flat_map(|byte| (0..8).rev().map(move |i| u32::from(byte >> i & 1))) {
        code = code << 1 | bit;
        length += 1;
        if length < MIN_LEN {
            continue;
        }
        if length > MAX_LEN {
            return Err(HpackError::Huffman);
        }
        let row = TABLE.0[length];
        let offset = code.wrapping_sub(row.first_code);
        if offset >= u32::from(row.count) {
            continue;
        }
        let symbol = TABLE.1[usize::from(row.first_index) + offset as usize];
        if symbol == END {
            return Err(HpackError::Huffman);
        }
        out.push(symbol as u8);
        (code, length) = (0, 0);
    }
    // The rest is padding: fewer than eight bits, all ones.
    if length > 7 || code != (1 << length) - 1 {
        return Err(HpackError::Huffman);
    }
    Ok(())
}
