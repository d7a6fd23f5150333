//! How a call travels, and how each protocol says that a call failed.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a call travels.
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
    /// gRPC over HTTP/2 without TLS. Records from before there were others mean it.
    #[default]
    Grpc,
    /// A length of four bytes, big-endian, and so many bytes; the reply is the same. The least that a server can
    /// do for a call.
    TcpEcho,
}

/// The status codes of gRPC, by number.
const GRPC: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

impl Protocol {
    /// Every protocol there is.
    pub const ALL: [Self; 2] = [Self::Grpc, Self::TcpEcho];

    /// As manifests, suites, options and exports write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Grpc => "grpc",
            Self::TcpEcho => "tcp-echo",
        }
    }

    /// The protocol's own name of a status code: 13 of gRPC is `INTERNAL`. `None`: it has no such code.
    #[must_use]
    pub fn status_name(self, code: u32) -> Option<&'static str> {
        match self {
            Self::Grpc => GRPC.get(code as usize).copied(),
            Self::TcpEcho => None,
        }
    }

    /// A status in words: `status 13 INTERNAL`; the number alone where the code has no name.
    #[must_use]
    pub fn status(self, code: u32) -> String {
        let name = self.status_name(code).map(|name| format!(" {name}"));
        format!("status {code}{}", name.unwrap_or_default())
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The name of no protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no protocol; use {known}", known = Protocol::ALL.map(Protocol::name).join(" or "))]
pub struct UnknownProtocol(String);

impl FromStr for Protocol {
    type Err = UnknownProtocol;

    fn from_str(text: &str) -> Result<Self, UnknownProtocol> {
        let found = Self::ALL.into_iter().find(|protocol| protocol.name() == text);
        found.ok_or_else(|| UnknownProtocol(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protocol_is_read_as_it_is_written() {
        for protocol in Protocol::ALL {
            assert_eq!(protocol.name().parse(), Ok(protocol));
            assert_eq!(
                serde_json::to_string(&protocol).unwrap(),
                format!("\"{}\"", protocol.name())
            );
        }
        let refused = "http".parse::<Protocol>().unwrap_err().to_string();
        assert_eq!(refused, "'http' is no protocol; use grpc or tcp-echo");
    }

    #[test]
    fn names_stand_at_their_codes() {
        let codes = [0, 13, 16, 17].map(|code| Protocol::Grpc.status_name(code));
        assert_eq!(codes, [Some("OK"), Some("INTERNAL"), Some("UNAUTHENTICATED"), None]);
        assert_eq!(Protocol::Grpc.status(13), "status 13 INTERNAL");
        assert_eq!(Protocol::TcpEcho.status(13), "status 13");
    }
}
