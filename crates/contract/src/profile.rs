//! What the cases may expect of a protocol.

use std::fmt;
use std::ops::RangeInclusive;

use crate::codec::Encoding;

/// What the cases have to know of a protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The protocol's name: `grpc`.
    pub name: &'static str,
    /// How messages become bytes.
    pub encoding: Encoding,
    /// The statuses that refuse a request.
    pub refusals: RangeInclusive<u32>,
    /// What a server may do to the connection of a request that it refuses.
    pub after_refusal: AfterRefusal,
    /// One of these must end a call to a method which is not there; empty if calls name no method.
    pub unknown_method: &'static [u32],
    /// One of these must end a call to a service which is not there; empty if calls name no service.
    pub unknown_service: &'static [u32],
}

/// What a server may do to the connection of a request that it can't decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterRefusal {
    /// It sends an error status, and the connection goes on.
    GoesOn,
    /// It may close the connection, with an error status or without one. The request is the last one on it: a server that
    /// waits for more finds the connection's end.
    MayClose,
}

impl Profile {
    /// gRPC; its status 12 is UNIMPLEMENTED.
    pub const GRPC: Self = Self {
        name: "grpc",
        encoding: Encoding::Protobuf,
        refusals: 1..=u32::MAX,
        after_refusal: AfterRefusal::GoesOn,
        unknown_method: &[12],
        unknown_service: &[12],
    };

    /// JSON over HTTP, with HTTP's statuses. A path that is not there is Not Found; some servers know it and not the
    /// method, and say Method Not Allowed or Not Implemented.
    pub const JSON: Self = Self {
        name: "json",
        encoding: Encoding::Json,
        refusals: 400..=599,
        after_refusal: AfterRefusal::GoesOn,
        unknown_method: &[404, 405, 501],
        unknown_service: &[404, 405, 501],
    };

    /// The same over HTTP/2 without TLS.
    pub const JSON_H2C: Self = Self { name: "json-h2c", ..Self::JSON };

    /// A length and a body, sent back as they are. Calls name no method and end with no status.
    pub const TCP_ECHO: Self = Self {
        name: "tcp-echo",
        encoding: Encoding::Opaque,
        refusals: 1..=u32::MAX,
        after_refusal: AfterRefusal::GoesOn,
        unknown_method: &[],
        unknown_service: &[],
    };

    /// Thrift over the framed transport, in the binary protocol.
    pub const THRIFT: Self = Self::thrift("thrift", Encoding::ThriftBinary);

    /// The same in the compact protocol.
    pub const THRIFT_COMPACT: Self = Self::thrift("thrift-compact", Encoding::ThriftCompact);

    /// Thrift over the buffered transport, in which messages follow one another without lengths, in the binary protocol.
    pub const THRIFT_BUFFERED: Self = Self::thrift("thrift-buffered", Encoding::ThriftBinary);

    /// The same in the compact protocol.
    pub const THRIFT_BUFFERED_COMPACT: Self =
        Self::thrift("thrift-buffered-compact", Encoding::ThriftCompact);

    /// Exception 1 is UNKNOWN_METHOD; Node.js's library leaves the type of each exception out, which is 0 then. Calls name
    /// no service.
    const fn thrift(name: &'static str, encoding: Encoding) -> Self {
        Self {
            name,
            encoding,
            refusals: 0..=u32::MAX,
            after_refusal: AfterRefusal::MayClose,
            unknown_method: &[1, 0],
            unknown_service: &[],
        }
    }

    /// Every protocol that the contract knows.
    pub const ALL: [Self; 8] = [
        Self::GRPC,
        Self::JSON,
        Self::JSON_H2C,
        Self::THRIFT,
        Self::THRIFT_COMPACT,
        Self::THRIFT_BUFFERED,
        Self::THRIFT_BUFFERED_COMPACT,
        Self::TCP_ECHO,
    ];

    /// Whether a case that needs this can be tried.
    #[must_use]
    pub fn offers(&self, need: Need) -> bool {
        match need {
            Need::UnknownMethod => !self.unknown_method.is_empty(),
            Need::UnknownService => !self.unknown_service.is_empty(),
            Need::Wire(encoding) => self.encoding == encoding,
            _ => self.encoding.codec().offers().contains(&need),
        }
    }
}

/// What a case needs of the protocol or its encoding to mean anything. Displays as a noun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Servers decode what they get, so that the values of single fields can be lost.
    Decoding,
    /// Not-a-number and infinities can be encoded.
    NonFinite,
    /// A request may come without the content that it is there for.
    AbsentContent,
    /// A message with nothing in it, or a oneof's member at its default, is not the same as none.
    EmptyMembers,
    /// A message may hold fields that its type does not have.
    UnknownFields,
    /// Calls name a method.
    UnknownMethod,
    /// Calls name a service.
    UnknownService,
    /// Messages are structs of Thrift, in whichever of its protocols.
    Thrift,
    /// Messages are encoded this way: the case writes their bytes by hand.
    Wire(Encoding),
}

impl Need {
    /// Everything that a case may need.
    pub const ALL: [Self; 12] = [
        Self::Decoding,
        Self::NonFinite,
        Self::AbsentContent,
        Self::EmptyMembers,
        Self::UnknownFields,
        Self::UnknownMethod,
        Self::UnknownService,
        Self::Wire(Encoding::Protobuf),
        Self::Wire(Encoding::Json),
        Self::Thrift,
        Self::Wire(Encoding::ThriftCompact),
        Self::Wire(Encoding::Opaque),
    ];
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Decoding => "decoding",
            Self::NonFinite => "NaN and infinities",
            Self::AbsentContent => "requests without content",
            Self::EmptyMembers => "empty members",
            Self::UnknownFields => "unknown fields",
            Self::UnknownMethod => "methods",
            Self::UnknownService => "services",
            Self::Wire(Encoding::Protobuf) => "protobuf",
            Self::Wire(Encoding::Json) => "JSON",
            Self::Thrift => "Thrift",
            Self::Wire(Encoding::ThriftBinary) => "Thrift's binary protocol",
            Self::Wire(Encoding::ThriftCompact) => "Thrift's compact protocol",
            Self::Wire(Encoding::Opaque) => "opaque bytes",
        })
    }
}
