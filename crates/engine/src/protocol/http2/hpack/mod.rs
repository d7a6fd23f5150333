//! Header compression, RFC 7541: a complete decoder, and the few forms that requests need.

mod decoder;
mod encode;
mod huffman;
mod static_table;

pub(crate) use decoder::{Decoder, Field};
pub(crate) use encode::{field, indexed, size_update, static_index};

/// Why a header block can't be decoded. The compression state is lost: the connection must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HpackError {
    /// The block ends within a field.
    #[error("header block ends within a field")]
    Truncated,
    /// An integer above 2^28.
    #[error("integer above 2^28 in a header block")]
    Integer,
    /// An index beyond the tables.
    #[error("header index {0} is in no table")]
    Index(usize),
    /// An invalid Huffman code or padding.
    #[error("invalid Huffman code in a header")]
    Huffman,
    /// A table size above the allowed one, or not at the start of a block.
    #[error("header table size update to {0} is not allowed")]
    TableSize(usize),
    /// The decoded fields are too large.
    #[error("header list is larger than {0} bytes")]
    TooLarge(usize),
}
