//! Which bytes stand for a value, and whether a reply's bytes stand for the right one.

pub(crate) mod json;
mod opaque;
pub mod protobuf;
#[cfg(test)]
mod tests;
pub mod thrift;
mod types;

use std::fmt;

use crate::profile::Need;
use crate::shape::Shape;
use crate::values::{Mismatch, Value};

/// How messages become bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Protocol Buffers, as `contract/echo.proto` has it.
    Protobuf,
    /// Protobuf's JSON mapping of the same messages.
    Json,
    /// The binary protocol of Thrift, as `contract/echo.thrift` has it.
    ThriftBinary,
    /// The compact protocol of Thrift.
    ThriftCompact,
    /// Bytes that nobody decodes: the request's protobuf encoding, and the same bytes as the reply.
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

/// A legal encoding that no library writes, at every level of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Oddity {
    /// Numbers take more bytes than they need; in JSON, keys and strings do.
    Overlong,
    /// Single fields come twice, and so do keys of maps; the later value counts. In JSON the same as [`Oddity::Reordered`], as
    /// decoders may refuse keys that come twice.
    Twice,
    /// Fields come in falling order and lists in pieces, or with whitespace of all kinds around them; and all is overlong.
    Reordered,
    /// There are fields that no type has; and all is overlong.
    Unknown,
}

/// A request that was sent, and what its reply must carry.
#[derive(Clone, Copy)]
pub(crate) struct Sent<'a> {
    pub shape: Shape,
    /// `None`: the request had no content, and the reply may have none, or empty content.
    pub content: Option<&'a Value>,
    /// The request's bytes.
    pub request: &'a [u8],
    /// Whether fields that their types do not have are in its content. The reply may have them too.
    pub unknown_inside: bool,
}

/// One encoding of the contract's messages, without a protocol's framing.
pub(crate) trait Codec: Sync {
    /// Which needs of cases it meets, [`Need::Wire`] and the protocol's own aside.
    fn offers(&self) -> &'static [Need];

    /// The ways in which some requests of a run are oddly encoded, in turn. The first one, the only one in a corpus of
    /// long texts, takes but a few bytes more than the usual encoding.
    fn oddities(&self) -> &'static [Oddity] {
        &[Oddity::Overlong, Oddity::Twice, Oddity::Reordered]
    }

    /// The request that carries `value`; the same bytes each time.
    fn request(&self, value: &Value) -> Vec<u8>;

    /// A right reply to it.
    fn reply(&self, value: &Value) -> Vec<u8>;

    /// A request without content.
    fn empty_request(&self) -> Vec<u8>;

    /// All requests worth trying that carry `value`, the usual one first, where defaults may be left out or
    /// spelled out.
    fn spellings(&self, value: &Value) -> Vec<Vec<u8>> {
        vec![self.request(value)]
    }

    /// A request that carries `value` in a way that shows where its bytes are copied; the usual one where nobody decodes.
    /// `other` is another value of the same shape.
    fn odd_request(&self, value: &Value, _other: &Value, _oddity: Oddity) -> Vec<u8> {
        self.request(value)
    }

    /// A request that carries `value` amid fields that its type does not have.
    fn with_unknown_fields(&self, value: &Value) -> Vec<u8>;

    /// Whether `reply` carries what `sent` did, and nothing else. Numbers and texts are compared by value, but what only
    /// a copy of odd bytes has is refused. Called for each reply that differs from earlier right ones: what is plainly
    /// right must be seen quickly.
    ///
    /// # Errors
    /// The first difference.
    fn verify(&self, sent: Sent<'_>, reply: &[u8]) -> Result<(), Mismatch>;
}
