//! Header fields that the user adds to calls.

use std::fmt;
use std::str::FromStr;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::protocol::Protocol;
use crate::units::ParseError;

/// A header field of every call: an HTTP header, or gRPC metadata. Written `x-trace: 7`.
///
/// Values that may be secrets, such as credentials and cookies, are recorded as `[redacted]`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct CallHeader {
    name: String,
    value: String,
    /// True if the value is a secret regardless of the name.
    is_secret: bool,
}

/// Maximum bytes of all headers: servers commonly refuse more than 8 KiB.
const MAX_BYTES: usize = 8192;

/// Fields that describe the body of a request or a reply. RPC protocols set them.
const OF_BODIES: [&str; 3] = ["accept-encoding", "content-encoding", "content-type"];

/// Replaces a value that a record must not keep.
pub const REDACTED: &str = "[redacted]";

/// Fields that belong to the protocols, like all that begin with `grpc-`.
const RESERVED: [&str; 9] = [
    "connection",
    "content-length",
    "expect",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
];

impl CallHeader {
    /// The credentials of basic authentication (RFC 7617), written `USER:PASSWORD`.
    ///
    /// # Errors
    /// If the credentials are too long.
    pub fn basic_authorization(credentials: &str) -> Result<Self, ParseError> {
        format!("authorization: Basic {}", BASE64_STANDARD.encode(credentials)).parse()
    }

    /// The field that tells the server when the client gives up: `ms` milliseconds after the call begins. `None` if the protocol
    /// has no such field.
    pub fn deadline(protocol: Protocol, ms: u64) -> Option<Self> {
        let (name, value) = match protocol {
            // At most eight digits.
            Protocol::Grpc if ms < 100_000_000 => ("grpc-timeout", format!("{ms}m")),
            Protocol::Grpc => ("grpc-timeout", format!("{}S", (ms / 1000).min(99_999_999))),
            Protocol::Connect => ("connect-timeout-ms", ms.min(9_999_999_999).to_string()),
            _ => return None,
        };
        Some(Self { name: name.to_owned(), value, is_secret: false })
    }

    /// Replaces each `${NAME}` in the value with an environment variable. The result is a secret if any was replaced.
    ///
    /// # Errors
    /// If a variable is not set, or its value can't be sent.
    pub fn expand(&self, variable: impl Fn(&str) -> Option<String>) -> Result<Self, ParseError> {
        let (mut value, mut rest) = (String::new(), self.value.as_str());
        while let Some((before, after)) = rest.split_once("${") {
            let header = &self.name;
            let Some((name, after)) = after.split_once('}') else {
                return Err(ParseError(format!("header '{header}': '}}' is missing after '${{'")));
            };
            let Some(text) = variable(name) else {
                return Err(ParseError(format!(
                    "header '{header}': the environment variable '{name}' is not set; export it"
                )));
            };
            value.extend([before, &text]);
            rest = after;
        }
        if rest.len() == self.value.len() {
            return Ok(self.clone());
        }
        let expanded: Self = format!("{}: {value}{rest}", self.name).parse()?;
        Ok(Self { is_secret: true, ..expanded })
    }

    /// The name, in lower case.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value. For a sensitive field read from a record, [`REDACTED`].
    pub fn value(&self) -> &str {
        &self.value
    }

    /// True if the value is or may be a secret: credentials, cookies, sessions, binary metadata, by [`Self::SECRET_WORDS`].
    pub fn is_sensitive(&self) -> bool {
        self.is_secret || Self::is_sensitive_name(&self.name)
    }

    /// True if the value of any field with this name may be a secret, such as `set-cookie` in a reply.
    pub fn is_sensitive_name(name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        // A session id. Other words contain these letters.
        let is_sid = || name.split(['-', '_']).any(|word| word == "sid");
        let has_secret_word = || Self::SECRET_WORDS.iter().any(|word| name.contains(word));
        name.ends_with("-bin") || is_sid() || has_secret_word()
    }

    /// Parts of the names of headers whose values are secrets.
    pub const SECRET_WORDS: [&str; 12] = [
        "auth",
        "cookie",
        "credential",
        "dpop",
        "jwt",
        "key",
        "passw",
        "pwd",
        "secret",
        "session",
        "signature",
        "token",
    ];

    /// Explains why calls of a protocol can't carry these headers. `None` if they can.
    pub fn problem_under(headers: &[Self], protocol: Protocol) -> Option<String> {
        let first = headers.first()?;
        if !protocol.is_http() {
            return Some(not_over_http("headers", first.name()));
        }
        let is_rpc = !matches!(protocol, Protocol::Http | Protocol::Http2);
        let of_body = headers.iter().find(|it| is_rpc && OF_BODIES.contains(&it.name()));
        if let Some(header) = of_body {
            return Some(format!("header '{}' is set by rpcbench; leave it out", header.name()));
        }
        let size: usize = headers.iter().map(|it| it.name.len() + it.value.len()).sum();
        (size > MAX_BYTES)
            .then(|| format!("headers of {size} bytes; at most {MAX_BYTES} are allowed"))
    }

    /// True if the header was read from a record without its value.
    pub fn is_redacted(&self) -> bool {
        self.is_sensitive() && self.value == REDACTED
    }

    /// The text without this field's value, if it is sensitive.
    pub(crate) fn redact(&self, text: &str) -> String {
        let names_it = text.to_ascii_lowercase().contains(&self.name);
        match self.is_sensitive() && names_it && !self.value.is_empty() {
            true => text.replace(&self.value, REDACTED),
            false => text.to_owned(),
        }
    }
}

/// The error for an HTTP feature under a protocol without HTTP.
pub(crate) fn not_over_http(what: &str, value: &str) -> String {
    format!("its calls have no {what}; leave '{value}' out, or choose a protocol over HTTP")
}

impl FromStr for CallHeader {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let refused = |why: String| Err(ParseError(why));
        if let Some(pseudo) = text.strip_prefix(':') {
            let name = pseudo.split(':').next().unwrap_or_default();
            return refused(format!(
                "':{name}' is a pseudo-header, which rpcbench sets; leave it out"
            ));
        }
        let Some((name, value)) = text.split_once(':') else {
            return refused("write 'name: value', such as 'x-trace: 7'".to_owned());
        };
        let (name, value) = (name.to_ascii_lowercase(), value.trim_matches([' ', '\t']));
        if name.is_empty() || !name.bytes().all(is_name_byte) {
            return refused(format!(
                "invalid header name '{}'; expected letters, digits, hyphens, underscores and dots",
                name.escape_debug()
            ));
        }
        if name == "host" {
            return refused(
                "header 'host' is set by rpcbench; give --authority instead".to_owned(),
            );
        }
        if RESERVED.contains(&name.as_str()) || name == "upgrade" || name.starts_with("grpc-") {
            return refused(format!("header '{name}' is set by rpcbench; leave it out"));
        }
        if !value.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) {
            return refused(format!("invalid value of header '{name}'; expected printable ASCII"));
        }
        let base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
        let is_template = value.contains("${");
        if name.ends_with("-bin") && value != REDACTED && !is_template && !value.bytes().all(base64)
        {
            return refused(format!(
                "invalid value of header '{name}'; values of names that end in -bin are base64"
            ));
        }
        Ok(Self { name, value: value.to_owned(), is_secret: value == REDACTED })
    }
}

/// True for a byte of a token (RFC 9110, section 5.6.2).
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Written as in a record: without a sensitive value.
impl fmt::Display for CallHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = if self.is_sensitive() { REDACTED } else { &self.value };
        f.pad(&format!("{}: {value}", self.name))
    }
}

impl fmt::Debug for CallHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

serialize_as_text!(CallHeader);

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        text.parse::<CallHeader>().expect_err("a refusal").to_string()
    }

    #[test]
    fn header_name_is_lowercased_and_value_trimmed() {
        let header: CallHeader = "X-Trace:\t a: b ".parse().unwrap();
        assert_eq!((header.name(), header.value()), ("x-trace", "a: b"));
        assert_eq!(header.to_string(), "x-trace: a: b");
        assert_eq!("x-empty:".parse::<CallHeader>().unwrap().value(), "");
    }

    #[test]
    fn invalid_header_is_refused_with_remedy() {
        assert_eq!(refusal("x-trace"), "write 'name: value', such as 'x-trace: 7'");
        assert_eq!(
            refusal(":path: /x"),
            "':path' is a pseudo-header, which rpcbench sets; leave it out"
        );
        for name in ["a b", "a\n", "schl\u{fc}ssel", "a,b"] {
            assert!(
                refusal(&format!("{name}: 1")).starts_with("invalid header name '"),
                "{name:?}"
            );
        }
        for name in RESERVED.into_iter().chain(["grpc-timeout", "grpc-x", "Upgrade", "TE"]) {
            let expected =
                format!("header '{}' is set by rpcbench; leave it out", name.to_lowercase());
            assert_eq!(refusal(&format!("{name}: 1")), expected);
        }
        let host = "header 'host' is set by rpcbench; give --authority instead";
        assert_eq!(refusal("Host: api.test"), host);
        for value in ["a\r\nb: c", "\0", "\u{7f}", "\u{e9}"] {
            assert_eq!(
                refusal(&format!("x: {value}x")),
                "invalid value of header 'x'; expected printable ASCII"
            );
        }
        assert!(refusal("trace-bin: ?").contains("values of names that end in -bin are base64"));
    }

    #[test]
    fn only_plain_http_takes_headers_of_a_body() {
        for name in ["content-type", "accept-encoding"] {
            let headers = [format!("{name}: x").parse().unwrap()];
            let problem = |protocol| CallHeader::problem_under(&headers, protocol);
            assert_eq!((problem(Protocol::Http), problem(Protocol::Http2)), (None, None));
            for protocol in [Protocol::Grpc, Protocol::Connect, Protocol::Json] {
                let expected = format!("header '{name}' is set by rpcbench; leave it out");
                assert_eq!(problem(protocol), Some(expected));
            }
        }
    }

    #[test]
    fn value_from_the_environment_is_a_secret() {
        let header: CallHeader = "x-plain: a${ONE}b${TWO}".parse().unwrap();
        let variable = |name: &str| match name {
            "ONE" => Some("1".to_owned()),
            "TWO" => Some("\u{e9}".to_owned()),
            _ => None,
        };
        let expanded = header.expand(|_| Some("s3cr3t".to_owned())).unwrap();
        assert_eq!((expanded.value(), expanded.is_sensitive()), ("as3cr3tbs3cr3t", true));
        assert_eq!(expanded.to_string(), "x-plain: [redacted]");
        let read: CallHeader = expanded.to_string().parse().unwrap();
        assert!(read.is_redacted());
        let refusal = |text: &str| {
            let header: CallHeader = text.parse().unwrap();
            header.expand(variable).unwrap_err().to_string()
        };
        assert_eq!(refusal("x: ${TWO}"), "invalid value of header 'x'; expected printable ASCII");
        assert_eq!(
            refusal("x: ${NO}"),
            "header 'x': the environment variable 'NO' is not set; export it"
        );
        assert_eq!(refusal("x: ${NO"), "header 'x': '}' is missing after '${'");
        let plain: CallHeader = "x: $5 {}".parse().unwrap();
        assert_eq!(plain.expand(|_| None), Ok(plain.clone()));
    }

    #[test]
    fn deadline_is_written_as_the_protocol_has_it() {
        let written = |protocol, ms| CallHeader::deadline(protocol, ms).map(|it| it.to_string());
        assert_eq!(written(Protocol::Grpc, 10_000).as_deref(), Some("grpc-timeout: 10000m"));
        assert_eq!(written(Protocol::Grpc, 100_000_000).as_deref(), Some("grpc-timeout: 100000S"));
        assert_eq!(written(Protocol::Connect, 250).as_deref(), Some("connect-timeout-ms: 250"));
        assert_eq!(written(Protocol::Http, 250), None);
    }

    #[test]
    fn secret_headers_are_redacted_in_record() {
        let secrets = [
            "Authorization: Bearer s3cr3t",
            "cookie: s3cr3t",
            "proxy-authorization: s3cr3t",
            "trace-bin: s3cr3t",
            "x-api-key: s3cr3t",
            "my-token-2: s3cr3t",
            "client-secret: s3cr3t",
            "Password: s3cr3t",
            "x-pwd: s3cr3t",
            "X-SID: s3cr3t",
            "x-session-id: s3cr3t",
            "dpop: s3cr3t",
            "x-amz-signature: s3cr3t",
        ];
        for text in secrets {
            let header: CallHeader = text.parse().unwrap();
            let written = serde_json::to_string(&header).unwrap();
            assert!(written.ends_with(": [redacted]\""), "{written}");
            assert!(!format!("{header} {header:?}").contains("s3cr3t"));
            assert!(!header.redact(&format!("--header={text}")).contains("s3cr3t"));
            let read: CallHeader = serde_json::from_str(&written).unwrap();
            assert!(read.is_redacted() && !header.is_redacted());
        }
        let open: CallHeader = "x-trace: 7".parse().unwrap();
        assert_eq!(serde_json::to_string(&open).unwrap(), "\"x-trace: 7\"");
        assert_eq!(open.redact("-Hx-trace: 7"), "-Hx-trace: 7");
    }
}
