//! Encodes requests and checks replies.

pub(crate) mod json;
mod opaque;
pub mod protobuf;
#[cfg(test)]
mod tests;
pub mod thrift;
pub(crate) mod types;

use std::fmt;

use crate::profile::Need;
use crate::shape::Shape;
use crate::values::{Mismatch, Value};

/// The encoding of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Protocol Buffers, as in `contract/echo.proto`.
    Protobuf,
    /// Protobuf's JSON mapping of the same messages.
    Json,
    /// Thrift's binary protocol, as in `contract/echo.thrift`.
    ThriftBinary,
    /// Thrift's compact protocol.
    ThriftCompact,
    /// Bytes that servers do not decode: protobuf requests, returned unchanged.
    Opaque,
}

impl Encoding {
    pub(crate) fn codec(self) -> &'static dyn Codec {
        match self {
            Self::Protobuf => &protobuf::Protobuf,
            Self::Json => &json::Json,
            Self::ThriftBinary => &thrift::BINARY,
            Self::ThriftCompact => &thrift::COMPACT,
            Self::Opaque => &opaque::Opaque,
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Protobuf => "protobuf",
            Self::Json => "json",
            Self::ThriftBinary => "thrift-binary",
            Self::ThriftCompact => "thrift-compact",
            Self::Opaque => "opaque",
        })
    }
}

/// A valid encoding of a message and its contents that no library writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NonCanonicalVariant {
    /// How it differs from the canonical encoding.
    pub form: NonCanonical,
    /// Number of outer levels in canonical form: with 1 the request itself, so that its first bytes are the usual ones; with 2
    /// also the content.
    pub usual: usize,
}

impl NonCanonicalVariant {
    /// The form at every level.
    #[cfg(test)]
    pub fn everywhere(form: NonCanonical) -> Self {
        Self { form, usual: 0 }
    }

    /// Variant `number` of several. Every second one has the form only inside, starting at each level of the shape in turn.
    pub fn numbered(form: NonCanonical, shape: Shape, number: usize) -> Self {
        let levels = match shape {
            // A text has no inner levels.
            Shape::Text(_) => 0,
            Shape::Record | Shape::Dto => 1,
            Shape::Tree => 2,
        };
        let is_inside = levels > 0 && !number.is_multiple_of(2);
        let usual = if is_inside { 1 + number / 2 % levels } else { 0 };
        Self { form, usual }
    }

    /// The form at a level; the request is level 0. `None` for canonical.
    fn at(self, level: usize) -> Option<NonCanonical> {
        (level >= self.usual).then_some(self.form)
    }
}

/// A valid form that no library writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NonCanonical {
    /// Numbers take more bytes than necessary. In JSON, keys and strings do.
    Overlong,
    /// Fields other than lists occur twice, and so do map keys; the later value counts. In JSON like [`NonCanonical::Reordered`],
    /// as decoders may refuse duplicate keys.
    Twice,
    /// Fields are in descending order, lists are split (protobuf), tokens are surrounded by whitespace (JSON), numbers are
    /// overlong.
    Reordered,
    /// Unknown fields surround the known ones; numbers are overlong.
    Unknown,
}

/// A request that was sent, and the content that its reply must have.
#[derive(Clone, Copy)]
pub(crate) struct Sent<'a> {
    pub shape: Shape,
    /// `None` if the request had no content; the reply may then have none or empty content.
    pub content: Option<&'a Value>,
    pub request: &'a [u8],
    /// True if the content has unknown fields, which the reply may keep.
    pub nested_unknown: bool,
}

impl<'a> Sent<'a> {
    pub fn new(value: &'a Value, request: &'a [u8]) -> Self {
        Self { shape: value.shape(), content: Some(value), request, nested_unknown: false }
    }

    /// What is wrong with a reply. If it is a copy of the request, that says more than the first difference.
    fn explain(self, reply: &[u8], mismatch: Mismatch) -> Mismatch {
        let is_request = reply == self.request && !reply.is_empty();
        if is_request { Mismatch::RequestReturned } else { mismatch }
    }
}

/// A number in base 128.
pub(crate) fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(10);
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// An encoding of the contract's messages, without a protocol's framing.
pub(crate) trait Codec: Sync {
    /// The needs that the encoding meets, except for [`Need::Wire`] and those that depend on the protocol.
    fn offers(&self) -> &'static [Need];

    /// Non-canonical forms of a run's requests, used in turn. The first one adds only a few bytes; a corpus of long texts has no
    /// other.
    fn non_canonical_forms(&self) -> &'static [NonCanonical] {
        &[NonCanonical::Overlong, NonCanonical::Twice, NonCanonical::Reordered]
    }

    /// The canonical request with `value`; deterministic.
    fn request(&self, value: &Value) -> Vec<u8>;

    /// The canonical reply with `value`.
    fn reply(&self, value: &Value) -> Vec<u8>;

    /// A request without content.
    fn empty_request(&self) -> Vec<u8>;

    /// Valid requests with `value`, the canonical one first, with defaults omitted and explicit.
    fn valid_encodings(&self, value: &Value) -> Vec<Vec<u8>> {
        vec![self.request(value)]
    }

    /// A request with `value` that reveals if its bytes are copied; for opaque bytes, the canonical one. `other`, another value
    /// of the same shape, provides values that are overwritten.
    fn non_canonical_request(
        &self,
        value: &Value,
        _other: &Value,
        _oddity: NonCanonicalVariant,
    ) -> Vec<u8> {
        self.request(value)
    }

    /// A request with `value` between unknown fields.
    fn with_unknown_fields(&self, value: &Value) -> Vec<u8>;

    /// Checks that `reply` has the content of `sent` and nothing else. Compares numbers and texts by value, but refuses
    /// encodings that only copied bytes have. Runs for each reply that differs from earlier right ones, so the common
    /// case must be fast.
    ///
    /// # Errors
    /// The first difference.
    fn verify(&self, sent: Sent<'_>, reply: &[u8]) -> Result<(), Mismatch>;
}
