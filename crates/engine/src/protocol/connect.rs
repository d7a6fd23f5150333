//! Connect's unary protocol over HTTP/1.1, with protobuf messages. A success has status 200 and the bare message, an error
//! another status and JSON. Source: connectrpc.com/docs/protocol.

use rpcbench_record::{Protocol, printable};
use serde::Deserialize;

use super::End;
use super::grpc::{details, status_from_http};
use super::http1::{self, Http1Application, MAX_START, Reply, error_snippet};
use crate::gzip;

/// Characters kept of the message of an error.
const MAX_MESSAGE: usize = 1024;

/// A connection that carries Connect.
pub(crate) type Connection = http1::Connection<Connect>;

/// Connect, as HTTP/1.1 carries it.
#[derive(Debug)]
pub(crate) struct Connect;

impl Http1Application for Connect {
    const PROTOCOL: Protocol = Protocol::Connect;
    const FIELDS: &[(&str, &str)] =
        &[("Content-Type", "application/proto"), ("Connect-Protocol-Version", "1")];

    #[cold]
    fn failure(reply: &Reply<'_>) -> End {
        let body = gzip::start(reply.body, MAX_START);
        let error = serde_json::from_slice::<Error>(&body).ok();
        let named = error.and_then(|error| Some((code(&error.code)?, error)));
        let (code, message, details) = match named {
            Some((code, Error { message, details, .. })) => {
                let start: String = message.trim().chars().take(MAX_MESSAGE).collect();
                let details = details.iter().take(details::MAX_DETAILS).map(Detail::described);
                (code, printable(&start).into_owned(), details.collect())
            }
            // From a proxy, or for an unknown path.
            None => (status_from_http(reply.status), error_snippet(reply.body), Vec::new()),
        };
        End::Status { code, message, details }
    }
}

#[derive(Deserialize)]
struct Error {
    code: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    details: Vec<Detail>,
}

/// A message of any type.
#[derive(Deserialize)]
struct Detail {
    r#type: String,
    /// In base64.
    #[serde(default)]
    value: String,
}

impl Detail {
    fn described(&self) -> String {
        details::described(&self.r#type, &details::decode(self.value.as_bytes()))
    }
}

/// Number of a code, as in gRPC. Names are gRPC's in lower case, except for the spelling `canceled`.
fn code(name: &str) -> Option<u32> {
    let is = |code: &u32| {
        let known = Protocol::Grpc.status_name(*code);
        known.is_some_and(|known| known.eq_ignore_ascii_case(name))
    };
    if name == "canceled" { Some(1) } else { (2..=16).find(is) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(status: u16, body: &str) -> (u32, String) {
        match Connect::failure(&Reply { status, body: body.as_bytes() }) {
            End::Status { code, message, .. } => (code, message),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn error_has_the_code_and_the_message_of_its_json() {
        let details = r#"{"code":"invalid_argument","message":"no\nway","details":[{"type":"a"}]}"#;
        assert_eq!(failure(400, details), (3, r"no\nway".to_owned()));
        assert_eq!(failure(499, r#"{"code":"canceled"}"#), (1, String::new()));
        let long = format!(r#"{{"code":"aborted","message":"{}"}}"#, "x".repeat(50_000));
        assert_eq!(failure(409, &long), (10, "x".repeat(MAX_MESSAGE)));
        assert_eq!(failure(401, r#"{"code":"unauthenticated","message":""}"#), (16, String::new()));
    }

    #[test]
    fn error_of_another_kind_has_the_code_of_its_http_status() {
        assert_eq!(failure(404, "404 page not found\n"), (12, "404 page not found".to_owned()));
        assert_eq!(failure(503, ""), (14, String::new()));
        assert_eq!(failure(418, r#"{"code":"ok","message":"no"}"#).0, 2);
        assert_eq!(failure(400, r#"{"code":"invalid_arg"#).0, 13);
    }
}
