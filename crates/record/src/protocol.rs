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
    /// JSON over HTTP/1.1, by POST.
    Json,
    /// JSON over HTTP/2 without TLS, by POST: both sides know beforehand that it is spoken.
    JsonH2c,
    /// Thrift's binary protocol in its framed transport: a length before each message.
    Thrift,
    /// Thrift's compact protocol in its framed transport.
    ThriftCompact,
    /// Thrift's binary protocol in its buffered transport: messages one after the other.
    ThriftBuffered,
    /// Thrift's compact protocol in its buffered transport.
    ThriftBufferedCompact,
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

/// The final status codes of HTTP, by number: IANA's registry.
const HTTP: [(u32, &str); 55] = [
    (200, "OK"),
    (201, "Created"),
    (202, "Accepted"),
    (203, "Non-Authoritative Information"),
    (204, "No Content"),
    (205, "Reset Content"),
    (206, "Partial Content"),
    (207, "Multi-Status"),
    (208, "Already Reported"),
    (226, "IM Used"),
    (300, "Multiple Choices"),
    (301, "Moved Permanently"),
    (302, "Found"),
    (303, "See Other"),
    (304, "Not Modified"),
    (307, "Temporary Redirect"),
    (308, "Permanent Redirect"),
    (400, "Bad Request"),
    (401, "Unauthorized"),
    (402, "Payment Required"),
    (403, "Forbidden"),
    (404, "Not Found"),
    (405, "Method Not Allowed"),
    (406, "Not Acceptable"),
    (407, "Proxy Authentication Required"),
    (408, "Request Timeout"),
    (409, "Conflict"),
    (410, "Gone"),
    (411, "Length Required"),
    (412, "Precondition Failed"),
    (413, "Content Too Large"),
    (414, "URI Too Long"),
    (415, "Unsupported Media Type"),
    (416, "Range Not Satisfiable"),
    (417, "Expectation Failed"),
    (421, "Misdirected Request"),
    (422, "Unprocessable Content"),
    (423, "Locked"),
    (424, "Failed Dependency"),
    (425, "Too Early"),
    (426, "Upgrade Required"),
    (428, "Precondition Required"),
    (429, "Too Many Requests"),
    (431, "Request Header Fields Too Large"),
    (451, "Unavailable For Legal Reasons"),
    (500, "Internal Server Error"),
    (501, "Not Implemented"),
    (502, "Bad Gateway"),
    (503, "Service Unavailable"),
    (504, "Gateway Timeout"),
    (505, "HTTP Version Not Supported"),
    (506, "Variant Also Negotiates"),
    (507, "Insufficient Storage"),
    (508, "Loop Detected"),
    (511, "Network Authentication Required"),
];

/// The types of exceptions of Thrift (`TApplicationException`), by number.
const THRIFT: [&str; 11] = [
    "UNKNOWN",
    "UNKNOWN_METHOD",
    "INVALID_MESSAGE_TYPE",
    "WRONG_METHOD_NAME",
    "BAD_SEQUENCE_ID",
    "MISSING_RESULT",
    "INTERNAL_ERROR",
    "PROTOCOL_ERROR",
    "INVALID_TRANSFORM",
    "INVALID_PROTOCOL",
    "UNSUPPORTED_CLIENT_TYPE",
];

impl Protocol {
    /// Every protocol there is.
    pub const ALL: [Self; 8] = [
        Self::Grpc,
        Self::Json,
        Self::JsonH2c,
        Self::Thrift,
        Self::ThriftCompact,
        Self::ThriftBuffered,
        Self::ThriftBufferedCompact,
        Self::TcpEcho,
    ];

    /// As manifests, suites, options and exports write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Grpc => "grpc",
            Self::Json => "json",
            Self::JsonH2c => "json-h2c",
            Self::Thrift => "thrift",
            Self::ThriftCompact => "thrift-compact",
            Self::ThriftBuffered => "thrift-buffered",
            Self::ThriftBufferedCompact => "thrift-buffered-compact",
            Self::TcpEcho => "tcp-echo",
        }
    }

    /// The protocol's own name of a status code: 13 of gRPC is `INTERNAL`. `None`: it has no such code.
    #[must_use]
    pub fn status_name(self, code: u32) -> Option<&'static str> {
        match self {
            Self::Grpc => GRPC.get(code as usize).copied(),
            Self::Json | Self::JsonH2c => {
                let place = HTTP.binary_search_by_key(&code, |(known, _)| *known).ok()?;
                Some(HTTP[place].1)
            }
            Self::Thrift
            | Self::ThriftCompact
            | Self::ThriftBuffered
            | Self::ThriftBufferedCompact => THRIFT.get(code as usize).copied(),
            Self::TcpEcho => None,
        }
    }

    /// Whether the next call of a connection is sent once the one before is answered, unless pipelining is allowed.
    #[must_use]
    pub fn takes_one_call_at_a_time(self) -> bool {
        match self {
            Self::Json
            | Self::Thrift
            | Self::ThriftCompact
            | Self::ThriftBuffered
            | Self::ThriftBufferedCompact => true,
            Self::Grpc | Self::JsonH2c | Self::TcpEcho => false,
        }
    }

    /// Whether calls are streams of HTTP/2.
    #[must_use]
    pub fn is_over_http2(self) -> bool {
        matches!(self, Self::Grpc | Self::JsonH2c)
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
#[error("'{0}' is no protocol; there are {known}", known = Protocol::ALL.map(Protocol::name).join(", "))]
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
        assert_eq!(
            refused,
            "'http' is no protocol; there are grpc, json, json-h2c, thrift, thrift-compact, thrift-buffered, thrift-buffered-compact, tcp-echo"
        );
    }

    #[test]
    fn names_stand_at_their_codes() {
        let codes = [0, 13, 16, 17].map(|code| Protocol::Grpc.status_name(code));
        assert_eq!(codes, [Some("OK"), Some("INTERNAL"), Some("UNAUTHENTICATED"), None]);
        assert_eq!(Protocol::Grpc.status(13), "status 13 INTERNAL");
        assert_eq!(Protocol::Thrift.status(1), "status 1 UNKNOWN_METHOD");
        assert_eq!(Protocol::ThriftBufferedCompact.status(6), "status 6 INTERNAL_ERROR");
        assert_eq!(Protocol::ThriftCompact.status(11), "status 11");
        assert_eq!(Protocol::TcpEcho.status(13), "status 13");
        assert!(HTTP.is_sorted_by_key(|(code, _)| *code));
        assert_eq!(Protocol::Json.status(404), "status 404 Not Found");
        assert_eq!(Protocol::JsonH2c.status(404), "status 404 Not Found");
        assert_eq!(Protocol::Json.status(299), "status 299");
    }
}
