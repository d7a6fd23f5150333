//! Hand-written protobuf encoding, for bytes that prost does not write.

use crate::codec::varint;

/// Wire type of a field.
#[derive(Clone, Copy)]
pub(crate) enum Layout {
    Varint = 0,
    Fixed64 = 1,
    Length = 2,
    Fixed32 = 5,
    /// Undefined in all versions of the encoding.
    Invalid = 7,
}

pub(crate) fn tag(number: u32, layout: Layout) -> Vec<u8> {
    varint((number << 3 | layout as u32).into())
}

/// A field with a length prefix.
pub(crate) fn delimited(number: u32, value: &[u8]) -> Vec<u8> {
    let mut bytes = tag(number, Layout::Length);
    bytes.extend(varint(value.len() as u64));
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
