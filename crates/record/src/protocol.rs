//! The protocols, one table row each.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::ParseError;

/// The protocol of a call.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// gRPC over HTTP/2 without TLS.
    #[default]
    Grpc,
    /// JSON over HTTP/1.1, by POST.
    Json,
    /// JSON over HTTP/2 without TLS, by POST, with prior knowledge.
    JsonH2c,
    /// Connect's unary protocol over HTTP/1.1, with protobuf.
    Connect,
    /// Thrift's binary protocol, framed: a length before each message.
    Thrift,
    /// Thrift's compact protocol, framed.
    ThriftCompact,
    /// Thrift's binary protocol, buffered: messages follow one another without lengths.
    ThriftBuffered,
    /// Thrift's compact protocol, buffered.
    ThriftBufferedCompact,
    /// A four-byte big-endian length and a body of that many bytes; the server echoes them. The least work that a server can do
    /// for a call.
    TcpEcho,
    /// Any HTTP/1.1 requests.
    Http,
    /// Any HTTP/2 requests without TLS, with prior knowledge.
    Http2,
}

/// How a protocol's messages are transported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// HTTP/1.1: replies come in the order of the requests.
    Http1,
    /// HTTP/2: each call is a stream. The server speaks first, right after the client's preface.
    Http2,
    /// Thrift's framed transport.
    ThriftFramed,
    /// Thrift's buffered transport.
    ThriftBuffered,
    /// TCP alone.
    Raw,
}

/// What the rest of the program needs to know about a protocol.
#[derive(Clone, Debug)]
pub struct ProtocolSpec {
    /// The protocol.
    pub protocol: Protocol,
    /// Its name in manifests, suites, options and exports.
    pub name: &'static str,
    /// How the protocol carries a message, in a phrase.
    pub description: &'static str,
    /// What the protocol runs on.
    pub transport: Transport,
    /// True if a connection carries one call at a time, unless pipelining is on.
    pub one_call_at_a_time: bool,
    /// True if the protocol can carry rpcbench's contract, so that servers under test may use it. Others are for `rpcbench load`
    /// only.
    pub carries_contract: bool,
    /// The status of plain success.
    pub success: u32,
    /// A line per status code: the code, a space, its name.
    statuses: &'static str,
}

/// gRPC's status codes, which Connect shares.
const GRPC: &str = include_str!("protocol/statuses/grpc.txt");
/// HTTP's final status codes, from IANA's registry.
const HTTP: &str = include_str!("protocol/statuses/http.txt");
/// The types of Thrift's `TApplicationException`.
const THRIFT: &str = include_str!("protocol/statuses/thrift.txt");

/// A row for each protocol, in the order of the enum.
static SPECS: [ProtocolSpec; 11] = [
    ProtocolSpec {
        protocol: Protocol::Grpc,
        name: "grpc",
        description: "HTTP/2 without TLS, prior knowledge",
        transport: Transport::Http2,
        one_call_at_a_time: false,
        carries_contract: true,
        success: 0,
        statuses: GRPC,
    },
    ProtocolSpec {
        protocol: Protocol::Json,
        name: "json",
        description: "HTTP/1.1 without TLS: `POST` to the method's path",
        transport: Transport::Http1,
        one_call_at_a_time: true,
        carries_contract: true,
        success: 200,
        statuses: HTTP,
    },
    ProtocolSpec {
        protocol: Protocol::JsonH2c,
        name: "json-h2c",
        description: "the same over HTTP/2 without TLS, prior knowledge",
        transport: Transport::Http2,
        one_call_at_a_time: false,
        carries_contract: true,
        success: 200,
        statuses: HTTP,
    },
    ProtocolSpec {
        protocol: Protocol::Connect,
        name: "connect",
        description: "Connect's unary protocol over HTTP/1.1 without TLS: `POST` to the method's path",
        transport: Transport::Http1,
        one_call_at_a_time: true,
        carries_contract: true,
        success: 0,
        statuses: GRPC,
    },
    thrift(
        Protocol::Thrift,
        "thrift",
        "Thrift's framed transport: a four-byte big-endian length before each message",
        Transport::ThriftFramed,
    ),
    thrift(Protocol::ThriftCompact, "thrift-compact", "the same", Transport::ThriftFramed),
    thrift(
        Protocol::ThriftBuffered,
        "thrift-buffered",
        "Thrift's buffered transport: messages follow one another without lengths",
        Transport::ThriftBuffered,
    ),
    thrift(
        Protocol::ThriftBufferedCompact,
        "thrift-buffered-compact",
        "the same",
        Transport::ThriftBuffered,
    ),
    ProtocolSpec {
        protocol: Protocol::TcpEcho,
        name: "tcp-echo",
        description: "a four-byte big-endian length and a body of that many bytes",
        transport: Transport::Raw,
        one_call_at_a_time: false,
        carries_contract: true,
        success: 0,
        statuses: "",
    },
    ProtocolSpec {
        protocol: Protocol::Http,
        name: "http",
        description: "any request of HTTP/1.1 without TLS",
        transport: Transport::Http1,
        one_call_at_a_time: true,
        carries_contract: false,
        success: 200,
        statuses: HTTP,
    },
    ProtocolSpec {
        protocol: Protocol::Http2,
        name: "http2",
        description: "any request of HTTP/2 without TLS, prior knowledge",
        transport: Transport::Http2,
        one_call_at_a_time: false,
        carries_contract: false,
        success: 200,
        statuses: HTTP,
    },
];

const fn thrift(
    protocol: Protocol,
    name: &'static str,
    description: &'static str,
    transport: Transport,
) -> ProtocolSpec {
    ProtocolSpec {
        protocol,
        name,
        description,
        transport,
        one_call_at_a_time: true,
        carries_contract: true,
        success: 0,
        statuses: THRIFT,
    }
}

impl Protocol {
    /// Every protocol.
    pub const ALL: [Self; SPECS.len()] = {
        let mut all = [Self::Grpc; SPECS.len()];
        let mut at = 0;
        while at < all.len() {
            all[at] = SPECS[at].protocol;
            assert!(all[at] as usize == at, "a row is out of order");
            at += 1;
        }
        all
    };

    /// The protocols that carry the contract.
    pub fn with_contract() -> impl Iterator<Item = Self> + Clone {
        Self::ALL.into_iter().filter(|protocol| protocol.spec().carries_contract)
    }

    /// The protocol's row.
    pub const fn spec(self) -> &'static ProtocolSpec {
        &SPECS[self as usize]
    }

    /// The name in manifests, suites, options and exports.
    pub const fn name(self) -> &'static str {
        self.spec().name
    }

    /// The protocol's name for a status code, such as `INTERNAL` for gRPC's 13. `None` if it has no such code.
    pub fn status_name(self, code: u32) -> Option<&'static str> {
        self.statuses().find(|(known, _)| *known == code).map(|(_, name)| name)
    }

    /// The code of a status by its case-insensitive name: 5 for gRPC's `NOT_FOUND`. `None` if no status has this name.
    pub fn status_named(self, name: &str) -> Option<u32> {
        self.statuses().find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|(code, _)| code)
    }

    /// The status codes that have a name, ascending.
    pub(crate) fn statuses(self) -> impl Iterator<Item = (u32, &'static str)> {
        let lines = self.spec().statuses.lines().filter_map(|line| line.split_once(' '));
        lines.filter_map(|(code, name)| Some((code.parse().ok()?, name)))
    }

    /// A status in words, such as `status 13 INTERNAL`. The code alone if it has no name.
    pub fn status(self, code: u32) -> String {
        let name = self.status_name(code).map(|name| format!(" {name}"));
        format!("status {code}{}", name.unwrap_or_default())
    }

    /// True if a connection carries one call at a time, unless pipelining is on.
    pub fn takes_one_call_at_a_time(self) -> bool {
        self.spec().one_call_at_a_time
    }

    /// True for a form of Thrift.
    pub fn is_thrift(self) -> bool {
        matches!(self.spec().transport, Transport::ThriftFramed | Transport::ThriftBuffered)
    }

    /// True if calls are HTTP requests.
    pub fn is_http(self) -> bool {
        matches!(self.spec().transport, Transport::Http1 | Transport::Http2)
    }

    /// True if calls are HTTP/2 streams.
    pub fn is_over_http2(self) -> bool {
        self.spec().transport == Transport::Http2
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Protocol {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        named(text, Self::ALL.into_iter())
    }
}

/// A protocol that carries the contract, so that servers under test may use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContractProtocol(pub Protocol);

impl fmt::Display for ContractProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ContractProtocol {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        named(text, Protocol::with_contract()).map(Self)
    }
}

fn named(
    text: &str,
    mut all: impl Iterator<Item = Protocol> + Clone,
) -> Result<Protocol, ParseError> {
    all.clone().find(|protocol| protocol.name() == text).ok_or_else(|| {
        let known: Vec<&str> = all.by_ref().map(Protocol::name).collect();
        ParseError(format!("unknown protocol '{text}'; expected one of {}", known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocol_name_round_trips() {
        for protocol in Protocol::ALL {
            assert_eq!(protocol.name().parse(), Ok(protocol));
            assert_eq!(
                serde_json::to_string(&protocol).unwrap(),
                format!("\"{}\"", protocol.name())
            );
        }
        let refused = "http".parse::<ContractProtocol>().unwrap_err().to_string();
        assert!(refused.ends_with("thrift-buffered-compact, tcp-echo"), "{refused}");
        let refused = "html".parse::<Protocol>().unwrap_err().to_string();
        assert_eq!(
            refused,
            "unknown protocol 'html'; expected one of grpc, json, json-h2c, connect, thrift, thrift-compact, thrift-buffered, thrift-buffered-compact, tcp-echo, http, http2"
        );
    }

    #[test]
    fn status_codes_have_protocol_names() {
        let codes = [0, 13, 16, 17].map(|code| Protocol::Grpc.status_name(code));
        assert_eq!(codes, [Some("OK"), Some("INTERNAL"), Some("UNAUTHENTICATED"), None]);
        assert_eq!(Protocol::Grpc.status(13), "status 13 INTERNAL");
        assert_eq!(Protocol::Thrift.status(1), "status 1 UNKNOWN_METHOD");
        assert_eq!(Protocol::ThriftBufferedCompact.status(6), "status 6 INTERNAL_ERROR");
        assert_eq!(Protocol::ThriftCompact.status(11), "status 11");
        assert_eq!(Protocol::TcpEcho.status(13), "status 13");
        for protocol in Protocol::ALL {
            assert_eq!(protocol.statuses().count(), protocol.spec().statuses.lines().count());
            assert!(protocol.statuses().is_sorted_by(|(a, _), (b, _)| a < b));
        }
        assert_eq!(Protocol::Json.status(404), "status 404 Not Found");
        assert_eq!(Protocol::JsonH2c.status(404), "status 404 Not Found");
        assert_eq!(Protocol::Json.status(299), "status 299");
        assert_eq!(Protocol::Connect.status(3), "status 3 INVALID_ARGUMENT");
    }
}
