//! Connect's unary protocol over HTTP/1.1, with protobuf messages. Source: connectrpc.com/docs/protocol.

use rpcbench_record::Protocol;

use crate::http1::Dialect;
use crate::json;
use crate::rewrite::{self, MALFORMED, REPLY_TAG};

const INVALID_ARGUMENT: u32 = 3;
const UNIMPLEMENTED: u32 = 12;

/// Sends a request's content back without decoding it.
pub(crate) const CONNECT: Dialect =
    Dialect { content_type: "application/proto", answer, refuse, empty: b"", malformed: MALFORMED };

fn answer(key: Option<&'static str>, body: &[u8], output: &mut Vec<u8>) {
    if key.is_none() {
        return refuse(UNIMPLEMENTED, output);
    }
    match body.split_first() {
        None => CONNECT.put(&[], output),
        Some((_, rest)) if rewrite::is_echoed(body) => CONNECT.put(&[&[REPLY_TAG], rest], output),
        Some(_) => refuse(INVALID_ARGUMENT, output),
    }
}

/// Appends an error as JSON with the name of its code.
fn refuse(code: u32, output: &mut Vec<u8>) {
    let name = match code {
        1 => "canceled".to_owned(),
        _ => Protocol::Connect.status_name(code).unwrap_or("UNKNOWN").to_lowercase(),
    };
    json::put(http_status(code), &[b"{\"code\":\"", name.as_bytes(), b"\"}"], output);
}

/// The HTTP status of an error.
fn http_status(code: u32) -> &'static str {
    match code {
        1 => "499 Client Closed Request",
        3 | 9 | 11 => "400 Bad Request",
        4 => "504 Gateway Timeout",
        5 => "404 Not Found",
        6 | 10 => "409 Conflict",
        7 => "403 Forbidden",
        8 => "429 Too Many Requests",
        12 => "501 Not Implemented",
        14 => "503 Service Unavailable",
        16 => "401 Unauthorized",
        _ => "500 Internal Server Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(key: Option<&'static str>, body: &[u8]) -> (String, Vec<u8>) {
        let mut output = Vec::new();
        answer(key, body, &mut output);
        let end = output.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap() + 4;
        let body = output.split_off(end);
        (String::from_utf8(output).unwrap(), body)
    }

    #[test]
    fn message_is_sent_back_under_the_tag_of_the_reply() {
        let head = |length| {
            format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\nContent-Length: {length}\r\n\r\n"
            )
        };
        assert_eq!(reply(Some("text"), b"\x0a\x03abc"), (head(5), b"\x12\x03abc".to_vec()));
        assert_eq!(reply(Some("tree"), b""), (head(0), Vec::new()));
    }

    #[test]
    fn error_is_json_with_the_name_of_its_code() {
        let cases: [(_, &[u8], _, &[u8]); 3] = [
            (
                Some("text"),
                b"{\"text\":\"a\"}",
                "400 Bad Request",
                b"{\"code\":\"invalid_argument\"}",
            ),
            (Some("text"), b"\x0a\x05abc", "400 Bad Request", b"{\"code\":\"invalid_argument\"}"),
            (None, b"", "501 Not Implemented", b"{\"code\":\"unimplemented\"}"),
        ];
        for (key, body, status, error) in cases {
            let (head, content) = reply(key, body);
            assert!(
                head.starts_with(&format!("HTTP/1.1 {status}\r\nContent-Type: application/json")),
                "{head}"
            );
            assert_eq!(content, error);
        }
        let mut output = Vec::new();
        refuse(1, &mut output);
        assert!(output.ends_with(b"{\"code\":\"canceled\"}"));
    }
}
