//! JSON. A usual text is sent back under another key without decoding; other requests are parsed.

use rpcbench_reference::{Dialect, JSON, put};
use serde_json::{Map, Value};

/// Decodes unusual requests.
pub(super) const DECODED: Dialect = Dialect { answer, ..JSON };

/// Writes the reply to a request with the shape's `key`. `None` for an unknown method.
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

/// The characters of the text, if the message contains nothing else and no escapes.
fn usual_text(body: &[u8]) -> Option<&[u8]> {
    let text = body.strip_prefix(b"{\"text\":\"")?.strip_suffix(b"\"}")?;
    let plain = |byte: u8| (byte >= b' ') & (byte != b'"') & (byte != b'\\');
    // Avoids a branch per byte.
    let all_plain = text.iter().fold(true, |all, byte| all & plain(*byte));
    (all_plain && str::from_utf8(text).is_ok()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_request_is_parsed_and_echoed() {
        let reply = |key, body: &str| {
            let mut output = Vec::new();
            answer(key, body.as_bytes(), &mut output);
            let output = String::from_utf8(output).unwrap();
            let (head, body) = output.split_once("\r\n\r\n").unwrap();
            format!("{} {body}", head.lines().next().unwrap())
        };
        let ok = |body: &str| format!("HTTP/1.1 200 OK {body}");
        assert_eq!(reply(Some("text"), r#"{"text":"abc"}"#), ok(r#"{"echo":"abc"}"#));
        assert_eq!(reply(Some("text"), "{ \"text\" :\t\"a\\u0062c\"}"), ok(r#"{"echo":"abc"}"#));
        let tree = r#"{"tree":{"id":"1","age":2}}"#;
        assert_eq!(reply(Some("tree"), tree), ok(r#"{"echo":{"age":2,"id":"1"}}"#));
        assert_eq!(reply(Some("text"), r#"{"text":"a"#), "HTTP/1.1 400 Bad Request {}");
        assert_eq!(reply(None, "{}"), "HTTP/1.1 404 Not Found {}");
    }
}
