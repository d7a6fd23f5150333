//! Encodings that no message type of ours produces.

use prost::encode_length_delimiter;

/// How a field's value is laid out.
#[derive(Clone, Copy)]
pub(super) enum Wire {
    Varint = 0,
    Fixed64 = 1,
    Length = 2,
    Fixed32 = 5,
    /// Means nothing in any version of the encoding.
    Invalid = 7,
}

/// The tag of a field.
pub(super) fn tag(number: u32, wire: Wire) -> Vec<u8> {
    varint((number << 3 | wire as u32) as usize)
}

/// A field with a length and that many bytes.
pub(super) fn delimited(number: u32, value: &[u8]) -> Vec<u8> {
    [tag(number, Wire::Length), varint(value.len()), value.to_vec()].concat()
}

/// A field of eight bytes.
pub(super) fn fixed64(number: u32, bits: u64) -> Vec<u8> {
    [tag(number, Wire::Fixed64), bits.to_le_bytes().to_vec()].concat()
}

/// A number in base 128.
pub(super) fn varint(value: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(10);
    // A Vec takes all that is written to it.
    let _ = encode_length_delimiter(value, &mut bytes);
    bytes
}

/// One field of every valid layout, under numbers that no message of the contract has.
pub(super) fn unknown_fields() -> Vec<u8> {
    let fixed32 = [tag(1003, Wire::Fixed32), vec![1, 2, 3, 4]].concat();
    let varint = [tag(1001, Wire::Varint), varint(300)].concat();
    [varint, fixed64(1002, 7), fixed32, delimited(1004, b"from a later version")].concat()
}
