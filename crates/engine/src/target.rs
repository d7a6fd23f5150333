//! What calls address.

use std::ops::RangeInclusive;

use rpcbench_record::{CallHeader, Protocol};

use crate::plan::PlanError;

/// What calls address, and the headers they carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// HTTP method: `POST`. Other protocols ignore it.
    pub http_method: String,
    /// HTTP path, in gRPC `/package.Service/Method`; in Thrift the method's name. `tcp-echo` ignores it.
    pub name: String,
    /// HTTP header fields, which are metadata in gRPC. They replace fields of the same name that the protocol sets, such as
    /// `user-agent`.
    pub headers: Vec<CallHeader>,
    /// The scheme that HTTP/2 requests name.
    pub scheme: Scheme,
    /// False for HTTP requests without a body, whose message is empty. Other protocols ignore it.
    pub has_body: bool,
    /// Statuses that count as success in addition to the protocol's own: HTTP statuses, or gRPC codes.
    pub accepted: Vec<RangeInclusive<u32>>,
    /// True if the protocol's own success does not count as one.
    pub rejects_success: bool,
    /// True if the payload's requests are compressed with gzip, and replies may be. For protocols over HTTP.
    pub gzip: bool,
}

/// The scheme of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// `http`
    Http,
    /// `https`
    Https,
}

impl Scheme {
    /// `https` with TLS.
    pub fn of(tls: bool) -> Self {
        if tls { Self::Https } else { Self::Http }
    }

    /// As URLs spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

impl Target {
    /// A target without headers, called by POST over plain HTTP, with a body.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            http_method: "POST".to_owned(),
            name: name.into(),
            headers: Vec::new(),
            scheme: Scheme::Http,
            has_body: true,
            accepted: Vec::new(),
            rejects_success: false,
            gzip: false,
        }
    }

    /// True if this status, which is not the protocol's success, counts as one.
    pub fn accepts(&self, status: u32) -> bool {
        self.accepted.iter().any(|range| range.contains(&status))
    }

    /// True if replies have no body, no matter what their head announces. RFC 9110, section 9.3.2.
    pub(crate) fn is_head(&self) -> bool {
        self.http_method == "HEAD"
    }

    /// Refuses headers that `protocol` can't send.
    ///
    /// # Errors
    /// Why it can't.
    pub fn check(&self, protocol: Protocol) -> Result<(), PlanError> {
        match CallHeader::problem_under(&self.headers, protocol) {
            Some(problem) => Err(PlanError(format!("{protocol}: {problem}"))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(protocol: Protocol, header: &str) -> String {
        let headers = vec![header.parse().unwrap()];
        let target = Target { headers, ..Target::new("/p") };
        target.check(protocol).map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn headers_go_over_http_alone() {
        for protocol in Protocol::ALL {
            let refused = refusal(protocol, "x-trace: 1");
            let http =
                ["grpc", "json", "json-h2c", "connect", "http", "http2"].contains(&protocol.name());
            assert_eq!(refused.is_empty(), http, "{protocol}: {refused}");
            assert_eq!(Target::new("Text").check(protocol), Ok(()));
        }
        assert_eq!(
            refusal(Protocol::Thrift, "x-trace: 1"),
            "thrift: its calls have no headers; leave 'x-trace' out, or choose a protocol over HTTP"
        );
    }

    #[test]
    fn headers_are_as_long_as_servers_take() {
        let json = |length| refusal(Protocol::Json, &format!("a: {}", "x".repeat(length)));
        assert_eq!(json(8191), "");
        assert_eq!(json(8192), "json: headers of 8193 bytes; at most 8192 are allowed");
    }
}
