//! What the cases expect of each protocol.

use std::fmt;
use std::ops::RangeInclusive;

use rpcbench_record::Protocol;

use crate::codec::Encoding;

/// What the cases expect of a protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Encoding of the messages.
    pub encoding: Encoding,
    /// Statuses that count as refusing a request.
    pub refusals: RangeInclusive<u32>,
    /// What a server may do with the connection after it refuses a request.
    pub after_refusal: AfterRefusal,
    /// Accepted statuses of a call to an unknown method; empty if calls name no method.
    pub unknown_method: &'static [u32],
    /// Accepted statuses of a call to an unknown service; empty if calls name no service.
    pub unknown_service: &'static [u32],
}

/// What a server may do with the connection after a request that it can't decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterRefusal {
    /// It sends an error status and keeps the connection.
    KeepsConnection,
    /// It may close the connection, with or without an error status. Such a request is sent last on its connection, so that a
    /// server that waits for more bytes sees the end of the stream.
    MayCloseConnection,
}

impl Profile {
    /// The profile of a protocol that carries the contract.
    ///
    /// # Panics
    /// If the protocol does not carry the contract.
    pub fn of(protocol: Protocol) -> &'static Self {
        Self::find(protocol).expect("a protocol that carries the contract")
    }

    /// The profile of a protocol. `None` if it does not carry the contract.
    pub fn find(protocol: Protocol) -> Option<&'static Self> {
        Some(match protocol {
            Protocol::Grpc | Protocol::Connect => const { &Self::grpc() },
            Protocol::Json | Protocol::JsonH2c => const { &Self::json() },
            Protocol::Thrift | Protocol::ThriftBuffered => {
                const { &Self::thrift(Encoding::ThriftBinary) }
            }
            Protocol::ThriftCompact | Protocol::ThriftBufferedCompact => {
                const { &Self::thrift(Encoding::ThriftCompact) }
            }
            Protocol::TcpEcho => const { &Self::tcp_echo() },
            Protocol::Http | Protocol::Http2 => return None,
        })
    }

    /// gRPC's statuses, which Connect shares: 12 is UNIMPLEMENTED.
    const fn grpc() -> Self {
        Self {
            encoding: Encoding::Protobuf,
            refusals: 1..=u32::MAX,
            after_refusal: AfterRefusal::KeepsConnection,
            unknown_method: &[12],
            unknown_service: &[12],
        }
    }

    /// HTTP's statuses. An unknown path is 404 Not Found; some servers match the path but not the method and send 405
    /// Method Not Allowed or 501 Not Implemented.
    const fn json() -> Self {
        Self {
            encoding: Encoding::Json,
            refusals: 400..=599,
            after_refusal: AfterRefusal::KeepsConnection,
            unknown_method: &[404, 405, 501],
            unknown_service: &[404, 405, 501],
        }
    }

    /// Exception 1 is UNKNOWN_METHOD; Node.js's library omits the type of every exception, so it is 0. Calls name no
    /// service.
    const fn thrift(encoding: Encoding) -> Self {
        Self {
            encoding,
            refusals: 0..=u32::MAX,
            after_refusal: AfterRefusal::MayCloseConnection,
            unknown_method: &[1, 0],
            unknown_service: &[],
        }
    }

    /// Calls name no method and have no status.
    const fn tcp_echo() -> Self {
        Self {
            encoding: Encoding::Opaque,
            refusals: 1..=u32::MAX,
            after_refusal: AfterRefusal::KeepsConnection,
            unknown_method: &[],
            unknown_service: &[],
        }
    }

    /// True if the protocol meets this need.
    pub fn offers(&self, need: Need) -> bool {
        match need {
            Need::UnknownMethod => !self.unknown_method.is_empty(),
            Need::UnknownService => !self.unknown_service.is_empty(),
            Need::Wire(encoding) => self.encoding == encoding,
            _ => self.encoding.codec().offers().contains(&need),
        }
    }
}

/// What a case requires of a protocol or its encoding. Displays as a noun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Servers decode requests, so they can lose the value of a single field.
    Decoding,
    /// NaN and infinities can be encoded.
    NonFinite,
    /// A request may omit its content.
    AbsentContent,
    /// An empty message or a oneof member at its default differs from an absent one.
    EmptyMembers,
    /// Messages may have fields that their type lacks.
    UnknownFields,
    /// Calls name a method.
    UnknownMethod,
    /// Calls name a service.
    UnknownService,
    /// Messages are Thrift structs, in either of Thrift's encodings.
    Thrift,
    /// Messages have this encoding; the case builds their bytes by hand.
    Wire(Encoding),
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
