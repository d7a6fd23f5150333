//! Complete HTTP/1.1 calls as steps of a script.

use super::wire::{ScriptError, Wire, or_end};

/// A complete request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// The request line and the fields, up to the empty line.
    pub head: String,
    /// The body, with the length given by Content-Length.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// The body of the right reply to a request of the contract with one usual text.
    pub fn echo(&self) -> Vec<u8> {
        String::from_utf8_lossy(&self.body).replacen("{\"text\":", "{\"echo\":", 1).into_bytes()
    }

    /// The correct reply, with these additional lines in its head.
    pub fn right_reply(&self, fields: &str) -> Vec<u8> {
        let body = self.echo();
        let head = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: {}\r\n\r\n", body.len());
        [head.as_bytes(), &body].concat()
    }
}

impl Wire {
    /// Takes the next request. `None` if the client closes or resets the connection before it is complete.
    pub fn next_http_request(&mut self) -> Result<Option<HttpRequest>, ScriptError> {
        or_end(self.http_request())
    }

    fn http_request(&mut self) -> Result<HttpRequest, ScriptError> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.fill("the head of a request", &mut byte)?;
            head.extend(byte);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut lengths = head.lines().filter_map(|line| line.strip_prefix("Content-Length: "));
        let length = lengths.next().and_then(|length| length.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        self.fill("the body of a request", &mut body)?;
        Ok(HttpRequest { head, body })
    }
}
