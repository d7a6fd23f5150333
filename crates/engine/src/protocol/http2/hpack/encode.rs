//! Literals without Huffman codes: templates are made once, and read by machines that check lengths.

const STATIC_NAMES: [(&[u8], u8); 5] = [
    (b":authority", 1),
    (b":path", 4),
    (b"content-length", 28),
    (b"content-type", 31),
    (b"user-agent", 58),
];

/// Appends an integer with a prefix of `bits` bits; `flags` are the bits before it.
fn integer(out: &mut Vec<u8>, flags: u8, bits: u8, value: usize) {
    let limit = (1 << bits) - 1;
    if value < limit {
        out.push(flags | value as u8);
        return;
    }
    out.push(flags | limit as u8);
    let mut rest = value - limit;
    while rest >= 128 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Appends a reference to entry `index` of the tables.
pub(crate) fn indexed(out: &mut Vec<u8>, index: usize) {
    integer(out, 0x80, 7, index);
}

/// Appends a literal field, which enters the dynamic table if `insert`.
pub(crate) fn literal(out: &mut Vec<u8>, name: &[u8], value: &[u8], insert: bool) {
    let (flags, bits) = if insert { (0x40, 6) } else { (0, 4) };
    let known = STATIC_NAMES.iter().find(|(static_name, _)| *static_name == name);
    integer(out, flags, bits, known.map_or(0, |(_, index)| usize::from(*index)));
    if known.is_none() {
        string(out, name);
    }
    string(out, value);
}

fn string(out: &mut Vec<u8>, text: &[u8]) {
    integer(out, 0, 7, text.len());
    out.extend_from_slice(text);
}

/// Appends a change of the dynamic table's size, in bytes. Allowed at a block's start only.
pub(crate) fn size_update(out: &mut Vec<u8>, size: usize) {
    integer(out, 0x20, 5, size);
}
