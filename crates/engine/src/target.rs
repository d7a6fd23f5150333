//! What calls address.

use rpcbench_record::{Protocol, Transport};

/// Most bytes of all headers. Servers commonly refuse more than 8 KiB.
const MAX_HEADERS: usize = 8192;

/// Fields set by the engine, or that change how a connection works.
const RESERVED: [&str; 11] = [
    "host",
    "content-length",
    "te",
    "trailer",
    "expect",
    "connection",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
];

/// What calls address, and the headers they carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The method of HTTP: `POST`. Other protocols ignore it.
    pub http_method: String,
    /// The path of HTTP, in gRPC `/package.Service/Method`; in Thrift the name of the method. `tcp-echo` ignores it.
    pub name: String,
    /// HTTP header fields, which are metadata in gRPC. They replace fields of the same name that the protocol sets, such as
    /// `user-agent`.
    pub headers: Vec<(String, String)>,
}

/// A target that its protocol can't address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Headers, for a protocol without headers.
    #[error("{0} has no headers; remove them, or choose a protocol over HTTP")]
    NoHeaders(Protocol),
    /// A name that HTTP does not allow.
    #[error("invalid header name '{}'; expected letters, digits and hyphens", .0.escape_debug())]
    Name(String),
    /// A field that the user may not set.
    #[error("header '{0}' is set by rpcbench; remove it")]
    Reserved(String),
    /// A value that HTTP does not allow.
    #[error("invalid value of header '{0}'; expected printable ASCII")]
    Value(String),
    /// Too many bytes of headers.
    #[error("headers of {0} bytes; at most {MAX_HEADERS} are allowed")]
    Size(usize),
}

impl Target {
    /// A target without headers, called by POST over HTTP.
    pub fn new(name: impl Into<String>) -> Self {
        Self { http_method: "POST".to_owned(), name: name.into(), headers: Vec::new() }
    }

    /// Refuses headers that `protocol` can't send.
    ///
    /// # Errors
    /// The first one, and why.
    pub fn check(&self, protocol: Protocol) -> Result<(), TargetError> {
        let over_http = matches!(protocol.spec().transport, Transport::Http1 | Transport::Http2);
        if !over_http && !self.headers.is_empty() {
            return Err(TargetError::NoHeaders(protocol));
        }
        for (name, value) in &self.headers {
            if name.is_empty() || !name.bytes().all(is_name_byte) {
                return Err(TargetError::Name(name.clone()));
            }
            if RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved)) {
                return Err(TargetError::Reserved(name.clone()));
            }
            if !value.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) {
                return Err(TargetError::Value(name.clone()));
            }
        }
        let size = self.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        if size > MAX_HEADERS { Err(TargetError::Size(size)) } else { Ok(()) }
    }
}

/// A byte of a token, RFC 9110, section 5.6.2.
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(protocol: Protocol, name: &str, value: &str) -> String {
        let headers = vec![(name.to_owned(), value.to_owned())];
        let target = Target { headers, ..Target::new("/p") };
        target.check(protocol).map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn headers_go_over_http_alone() {
        for protocol in Protocol::ALL {
            let refused = refusal(protocol, "x-trace", "1");
            let http = ["grpc", "json", "json-h2c", "connect"].contains(&protocol.name());
            assert_eq!(refused.is_empty(), http, "{protocol}: {refused}");
            assert_eq!(Target::new("Text").check(protocol), Ok(()));
        }
        assert_eq!(
            refusal(Protocol::Thrift, "x-trace", "1"),
            "thrift has no headers; remove them, or choose a protocol over HTTP"
        );
    }

    #[test]
    fn what_http_does_not_allow_is_refused() {
        let json = |name: &str, value: &str| refusal(Protocol::Json, name, value);
        assert_eq!(json("x-Token_1", "a b\t~"), "");
        assert_eq!(
            json("a\nb", ""),
            "invalid header name 'a\\nb'; expected letters, digits and hyphens"
        );
        assert!(json("", "x").starts_with("invalid header name ''"));
        assert!(json(":path", "/x").starts_with("invalid header name ':path'"));
        assert_eq!(json("a", "b\r\nc: d"), "invalid value of header 'a'; expected printable ASCII");
        assert_eq!(
            json("Content-Length", "1"),
            "header 'Content-Length' is set by rpcbench; remove it"
        );
        assert_eq!(
            json("a", &"x".repeat(MAX_HEADERS)),
            "headers of 8193 bytes; at most 8192 are allowed"
        );
    }
}
