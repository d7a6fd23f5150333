//! Protobuf's encoding by hand, for what no message type of ours produces.

use prost::encode_length_delimiter;

/// How a field's value is laid out.
#[derive(Clone, Copy)]
pub(crate) enum Layout {
    Varint = 0,
    Fixed64 = 1,
    Length = 2,
    Fixed32 = 5,
    /// Means nothing in any version of the encoding.
    Invalid = 7,
}

/// The tag of a field.
pub(crate) fn tag(number: u32, layout: Layout) -> Vec<u8> {
    varint((number << 3 | layout as u32) as usize)
}

/// A field with a length and that many bytes.
pub(crate) fn delimited(number: u32, value: &[u8]) -> Vec<u8> {
    let mut bytes = tag(number, Layout::Length);
    bytes.extend(varint(value.len()));
    bytes.extend_from_slice(value);
    bytes
}

/// A field of eight bytes.
pub(crate) fn fixed64(number: u32, bits: u64) -> Vec<u8> {
    [tag(number, Layout::Fixed64), bits.to_le_bytes().to_vec()].concat()
}

/// A field of four bytes.
pub(crate) fn fixed32(number: u32, bits: u32) -> Vec<u8> {
    [tag(number, Layout::Fixed32), bits.to_le_bytes().to_vec()].concat()
}

/// A number in base 128.
pub(crate) fn varint(value: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(10);
    // A Vec takes all that is written to it.
    let _ = encode_length_delimiter(value, &mut bytes);
    bytes
}
