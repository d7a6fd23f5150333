//! Encodes literals, without Huffman codes: request templates are made once.

use super::static_table::STATIC_TABLE;

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

/// The index of a field in the static table.
pub(crate) fn static_index(name: &[u8], value: &[u8]) -> Option<usize> {
    STATIC_TABLE.iter().position(|entry| *entry == (name, value)).map(|at| at + 1)
}

/// Appends a reference to entry `index` of the tables.
pub(crate) fn indexed(out: &mut Vec<u8>, index: usize) {
    integer(out, 0x80, 7, index);
}

/// Appends a field: a reference to the static table, or else a literal, which enters the dynamic table if `insert`.
pub(crate) fn field(out: &mut Vec<u8>, name: &[u8], value: &[u8], insert: bool) {
    if let Some(index) = static_index(name, value) {
        return indexed(out, index);
    }
    let (flags, bits) = if insert { (0x40, 6) } else { (0, 4) };
    let known = STATIC_TABLE.iter().position(|(static_name, _)| *static_name == name);
    integer(out, flags, bits, known.map_or(0, |at| at + 1));
    if known.is_none() {
        string(out, name);
    }
    string(out, value);
}

fn string(out: &mut Vec<u8>, text: &[u8]) {
    integer(out, 0, 7, text.len());
    out.extend_from_slice(text);
}

/// Appends a change of the dynamic table's size, bytes. Allowed only at the start of a block.
pub(crate) fn size_update(out: &mut Vec<u8>, size: usize) {
    integer(out, 0x20, 5, size);
}
