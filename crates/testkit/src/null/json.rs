//! JSON over HTTP/1.1. A usual text is sent back under another key without decoding; anything else is parsed.

use httparse::{EMPTY_HEADER, Request, Status};
use serde_json::{Map, Value};

use super::Session;
use crate::dialect::content_length;

/// Longest request accepted, bytes.
const MAX_LEN: usize = 65 << 20;
const FIELDS: usize = 64;

#[derive(Default)]
pub(super) struct Json {
    /// The start of an incomplete request.
    partial: Vec<u8>,
    /// The last head and its content.
    head: Vec<u8>,
    said: Head,
    calls: u64,
}

#[derive(Clone, Copy, Default)]
struct Head {
    /// The request's key. `None` for an unknown method.
    key: Option<&'static str>,
    /// The body's length, bytes.
    body: usize,
}

impl Session for Json {
    fn receive(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, ()> {
        if self.partial.is_empty() {
            let used = self.requests(input, output)?;
            self.partial.extend_from_slice(&input[used..]);
        } else {
            let mut partial = std::mem::take(&mut self.partial);
            partial.extend_from_slice(input);
            let used = self.requests(&partial, output)?;
            partial.drain(..used);
            self.partial = partial;
        }
        if self.partial.len() > MAX_LEN { Err(()) } else { Ok(input.len()) }
    }

    fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }
}

impl Json {
    /// Answers the complete requests at the start of `input` and returns their length.
    fn requests(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, ()> {
        let mut rest = input;
        while let Some(at) = self.head(rest)? {
            let Some(body) = rest.get(at..at + self.said.body) else { break };
            answer(self.said.key, body, output);
            self.calls += 1;
            rest = &rest[at + body.len()..];
        }
        Ok(input.len() - rest.len())
    }

    /// Reads the head at the start of `bytes` into `said` and returns its length.
    fn head(&mut self, bytes: &[u8]) -> Result<Option<usize>, ()> {
        if !self.head.is_empty() && bytes.starts_with(&self.head) {
            return Ok(Some(self.head.len()));
        }
        let mut fields = [EMPTY_HEADER; FIELDS];
        let mut request = Request::new(&mut fields);
        let Status::Complete(length) = request.parse(bytes).map_err(drop)? else { return Ok(None) };
        let body = content_length(request.headers, MAX_LEN).ok_or(())?;
        self.said = Head { key: key(request.path.unwrap_or_default()), body };
        self.head.clear();
        self.head.extend_from_slice(&bytes[..length]);
        Ok(Some(length))
    }
}

fn key(path: &str) -> Option<&'static str> {
    match path {
        "/rpcbench.v1.Echo/Text" => Some("text"),
        "/rpcbench.v1.Echo/Record" => Some("record"),
        "/rpcbench.v1.Echo/Dto" => Some("dto"),
        "/rpcbench.v1.Echo/Tree" => Some("tree"),
        _ => None,
    }
}

fn answer(key: Option<&'static str>, body: &[u8], output: &mut Vec<u8>) {
    let Some(key) = key else { return put("404 Not Found", &[b"{}"], output) };
    if let Some(text) = usual_text(body).filter(|_| key == "text") {
        return put("200 OK", &[b"{\"echo\":\"", text, b"\"}"], output);
    }
    match serde_json::from_slice::<Map<String, Value>>(body) {
        Ok(mut request) => {
            let echo = request.remove(key).map(|content| ("echo".to_owned(), content));
            let reply = Value::Object(echo.into_iter().collect());
            put("200 OK", &[reply.to_string().as_bytes()], output);
        }
        Err(_) => put("400 Bad Request", &[b"{}"], output),
    }
}

/// The characters of the text, if the message has nothing else and no escapes.
fn usual_text(body: &[u8]) -> Option<&[u8]> {
    let text = body.strip_prefix(b"{\"text\":\"")?.strip_suffix(b"\"}")?;
    let plain = |byte: u8| (byte >= b' ') & (byte != b'"') & (byte != b'\\');
    // Without a branch per byte.
    let all_plain = text.iter().fold(true, |all, byte| all & plain(*byte));
    (all_plain && str::from_utf8(text).is_ok()).then_some(text)
}

fn put(status: &str, body: &[&[u8]], output: &mut Vec<u8>) {
    let length: usize = body.iter().map(|part| part.len()).sum();
    for part in ["HTTP/1.1 ", status, "\r\nContent-Type: application/json\r\nContent-Length: "] {
        output.extend_from_slice(part.as_bytes());
    }
    put_number(length, output);
    output.extend_from_slice(b"\r\n\r\n");
    body.iter().for_each(|part| output.extend_from_slice(part));
}

fn put_number(mut number: usize, output: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    output.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str, body: &str) -> String {
        format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    }

    fn reply(status: &str, body: &str) -> String {
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
    }

    #[test]
    fn split_json_request_is_echoed() {
        let text = "/rpcbench.v1.Echo/Text";
        let long = format!("{{\"text\":\"{}\"}}", "\u{20ac}".repeat(50));
        let stream = [
            request(text, r#"{"text":"abc"}"#),
            request(text, r#"{"text":"abd"}"#),
            request(text, "{ \"text\" :\t\"a\\u0062c\"}"),
            request(text, &long),
            request("/rpcbench.v1.Echo/Tree", r#"{"tree":{"id":"1","age":2}}"#),
            request(text, r#"{"text":"a"#),
            request("/rpcbench.v1.Echo/Missing", "{}"),
        ]
        .concat();
        let expected = [
            reply("200 OK", r#"{"echo":"abc"}"#),
            reply("200 OK", r#"{"echo":"abd"}"#),
            reply("200 OK", r#"{"echo":"abc"}"#),
            reply("200 OK", &long.replace("text", "echo")),
            reply("200 OK", r#"{"echo":{"age":2,"id":"1"}}"#),
            reply("400 Bad Request", "{}"),
            reply("404 Not Found", "{}"),
        ]
        .concat();
        for step in [1, 2, 7, 100, stream.len()] {
            let (mut session, mut output) = (Json::default(), Vec::new());
            for part in stream.as_bytes().chunks(step) {
                assert_eq!(session.receive(part, &mut output), Ok(part.len()));
            }
            assert_eq!(String::from_utf8(output).unwrap(), expected, "{step}");
            assert_eq!(session.take_calls(), 7);
        }
    }

    #[test]
    fn request_of_unknown_length_ends_the_connection() {
        for bytes in [
            "\0\0\0\x05right",
            "POST / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        ] {
            assert_eq!(Json::default().receive(bytes.as_bytes(), &mut Vec::new()), Err(()));
        }
    }
}
