//! HTTP/1.1, for protocols in which a call is a POST to the method's path.

use std::sync::Arc;

use httparse::{EMPTY_HEADER, Request, Status, parse_chunk_size};

use crate::attend::{Close, Session};
use crate::fault::{Fault, FaultInjector, Faults, altered};

/// Longest request accepted, bytes.
const MAX_LEN: usize = 65 << 20;
const FIELDS: usize = 64;
/// The beginning of a reply's head.
const HEAD_START: &[u8] = b"HTTP/1.1 200 OK\r\nContent-";

/// Appends the reply to a request, given its key (`None` for an unknown method) and its body.
type Answer = fn(Option<&'static str>, &[u8], &mut Vec<u8>);

/// How a protocol writes replies.
#[derive(Debug)]
pub struct Dialect {
    /// The content type of successful replies.
    pub content_type: &'static str,
    /// Answers a request.
    pub answer: Answer,
    /// Appends a reply with an error status.
    pub refuse: fn(u32, &mut Vec<u8>),
    /// The body of a reply without content.
    pub empty: &'static [u8],
    /// A body that can't be decoded.
    pub malformed: &'static [u8],
}

/// A connection.
#[derive(Debug)]
pub struct Http1 {
    dialect: &'static Dialect,
    injector: FaultInjector,
    /// The start of an incomplete request.
    partial: Vec<u8>,
    /// The last head and its parsed content.
    head: Vec<u8>,
    said: Head,
    /// The content of a chunked body.
    chunks: Vec<u8>,
    calls: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Head {
    /// The request's key. `None` for an unknown method.
    key: Option<&'static str>,
    body: Length,
}

/// The length of a body.
#[derive(Clone, Copy, Debug)]
enum Length {
    Bytes(usize),
    /// Each chunk has its own length.
    Chunked,
}

impl Default for Length {
    fn default() -> Self {
        Self::Bytes(0)
    }
}

impl Session for Http1 {
    fn receive(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Close> {
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
        if self.partial.len() > MAX_LEN { Err(Close::Now) } else { Ok(input.len()) }
    }

    fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }
}

impl Http1 {
    /// A new connection.
    pub fn new(dialect: &'static Dialect) -> Self {
        let (partial, head, said) = (Vec::new(), Vec::new(), Head::default());
        let (injector, chunks) = (FaultInjector::default(), Vec::new());
        Self { dialect, injector, partial, head, said, chunks, calls: 0 }
    }

    /// Answers the complete requests at the start of `input` and returns their length.
    fn requests(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Close> {
        let mut rest = input;
        while let Some(at) = self.head(rest)? {
            let mut chunks = std::mem::take(&mut self.chunks);
            let body = match self.said.body {
                Length::Bytes(length) => rest.get(at..at + length).map(|body| (body, length)),
                Length::Chunked => {
                    unchunk(&rest[at..], &mut chunks)?.map(|length| (&chunks[..], length))
                }
            };
            let Some((body, length)) = body else { break };
            match self.injector.next(output) {
                None => {
                    (self.dialect.answer)(self.said.key, body, output);
                    self.injector.keep(body);
                    self.calls += 1;
                }
                Some(fault) => self.fail(fault, body, output)?,
            }
            self.chunks = chunks;
            rest = &rest[at + length..];
        }
        Ok(input.len() - rest.len())
    }

    /// Makes calls go wrong.
    pub(crate) fn with_faults(self, faults: Option<Arc<Faults>>) -> Self {
        Self { injector: FaultInjector::new(faults), ..self }
    }

    /// Makes a call go wrong on purpose.
    #[cold]
    fn fail(&mut self, fault: Fault, body: &[u8], output: &mut Vec<u8>) -> Result<(), Close> {
        let dialect = self.dialect;
        match fault {
            Fault::Silence => return Ok(()),
            Fault::Late => {
                (dialect.answer)(self.said.key, body, &mut self.injector.held);
                return Ok(());
            }
            Fault::Partial => {
                output.extend_from_slice(HEAD_START);
                return Ok(());
            }
            Fault::Reset | Fault::HalfClose => return fault.close().map_or(Ok(()), Err),
            Fault::Status(code) => (dialect.refuse)(code, output),
            Fault::Remembered => (dialect.answer)(self.said.key, self.injector.last(), output),
            Fault::Altered => (dialect.answer)(self.said.key, &altered(body), output),
            Fault::Malformed => dialect.put(&[dialect.malformed], output),
            Fault::Empty => dialect.put(&[dialect.empty], output),
            Fault::GoAway => (dialect.answer)(self.said.key, body, output),
        }
        self.calls += 1;
        Ok(())
    }

    /// Reads the head at the start of `bytes` into `said` and returns its length.
    fn head(&mut self, bytes: &[u8]) -> Result<Option<usize>, Close> {
        if !self.head.is_empty() && bytes.starts_with(&self.head) {
            return Ok(Some(self.head.len()));
        }
        let mut fields = [EMPTY_HEADER; FIELDS];
        let mut request = Request::new(&mut fields);
        let Status::Complete(length) = request.parse(bytes).map_err(|_| Close::Now)? else {
            return Ok(None);
        };
        let is_chunked = |field: &httparse::Header<'_>| {
            field.name.eq_ignore_ascii_case("transfer-encoding")
                && field.value.eq_ignore_ascii_case(b"chunked")
        };
        let body = match request.headers.iter().any(is_chunked) {
            true => Length::Chunked,
            false => Length::Bytes(content_length(request.headers, MAX_LEN).ok_or(Close::Now)?),
        };
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

/// Appends the content of a chunked body (RFC 9112, section 7.1) to `content`, which is cleared first. Returns the body's encoded
/// length, or `None` if it is incomplete. Trailers are not supported.
fn unchunk(bytes: &[u8], content: &mut Vec<u8>) -> Result<Option<usize>, Close> {
    content.clear();
    let mut rest = bytes;
    loop {
        let Status::Complete((start, length)) = parse_chunk_size(rest).map_err(|_| Close::Now)?
        else {
            return Ok(None);
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > MAX_LEN {
            return Err(Close::Now);
        }
        let Some(chunk) = rest.get(start..start + length + 2) else { return Ok(None) };
        let chunk = chunk.strip_suffix(b"\r\n").ok_or(Close::Now)?;
        content.extend_from_slice(chunk);
        rest = &rest[start + length + 2..];
        if length == 0 {
            return Ok(Some(bytes.len() - rest.len()));
        }
    }
}

/// The length of the body, at most `max` bytes.
pub fn content_length(fields: &[httparse::Header<'_>], max: usize) -> Option<usize> {
    let field = fields.iter().find(|field| field.name.eq_ignore_ascii_case("content-length"))?;
    str::from_utf8(field.value).ok()?.parse().ok().filter(|length| *length <= max)
}

impl Dialect {
    /// Appends a successful reply with a body in parts.
    pub fn put(&self, body: &[&[u8]], output: &mut Vec<u8>) {
        put("200 OK", self.content_type, body, output);
    }
}

/// Appends a reply with a body in parts.
pub(crate) fn put(status: &str, content_type: &str, body: &[&[u8]], output: &mut Vec<u8>) {
    let length: usize = body.iter().map(|part| part.len()).sum();
    let head = ["HTTP/1.1 ", status, "\r\nContent-Type: ", content_type, "\r\nContent-Length: "];
    head.iter().for_each(|part| output.extend_from_slice(part.as_bytes()));
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
    use crate::json::JSON;

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
            request("/rpcbench.v1.Echo/Tree", r#"{"text":"a"}"#),
            request(text, r#"{"text":"a"#),
            request("/rpcbench.v1.Echo/Missing", "{}"),
        ]
        .concat();
        let expected = [
            reply("200 OK", r#"{"echo":"abc"}"#),
            reply("200 OK", r#"{"echo":"abd"}"#),
            reply("200 OK", "{ \"echo\" :\t\"a\\u0062c\"}"),
            reply("200 OK", &long.replace("text", "echo")),
            reply("200 OK", r#"{"echo":{"id":"1","age":2}}"#),
            reply("400 Bad Request", "{}"),
            reply("400 Bad Request", "{}"),
            reply("404 Not Found", "{}"),
        ]
        .concat();
        for step in [1, 2, 7, 100, stream.len()] {
            let (mut session, mut output) = (Http1::new(&JSON), Vec::new());
            for part in stream.as_bytes().chunks(step) {
                assert_eq!(session.receive(part, &mut output), Ok(part.len()));
            }
            assert_eq!(String::from_utf8(output).unwrap(), expected, "{step}");
            assert_eq!(session.take_calls(), 8);
        }
    }

    #[test]
    fn request_in_chunks_is_echoed() {
        let head = "POST /rpcbench.v1.Echo/Text HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        let stream = [
            format!("{head}e\r\n{{\"text\":\"abc\"}}\r\n0\r\n\r\n"),
            format!("{head}5\r\n{{\"tex\r\n9\r\nt\":\"abd\"}}\r\n0\r\n\r\n"),
        ]
        .concat();
        let expected =
            [reply("200 OK", r#"{"echo":"abc"}"#), reply("200 OK", r#"{"echo":"abd"}"#)].concat();
        for step in [1, 7, stream.len()] {
            let (mut session, mut output) = (Http1::new(&JSON), Vec::new());
            for part in stream.as_bytes().chunks(step) {
                assert_eq!(session.receive(part, &mut output), Ok(part.len()));
            }
            assert_eq!(String::from_utf8(output).unwrap(), expected, "{step}");
            assert_eq!(session.take_calls(), 2);
        }
        let broken = format!("{head}zz\r\n");
        assert_eq!(Http1::new(&JSON).receive(broken.as_bytes(), &mut Vec::new()), Err(Close::Now));
    }

    #[test]
    fn late_reply_precedes_the_next_one_on_its_connection() {
        let text = "/rpcbench.v1.Echo/Text";
        let stream = ["a", "b", "c"].map(|it| request(text, &format!("{{\"text\":\"{it}\"}}")));
        let faults = Arc::new(Faults::new(Fault::Late, 2));
        let mut session = Http1::new(&JSON).with_faults(Some(faults));
        let mut output = Vec::new();
        let mut answer = |request: &String| {
            output.clear();
            session.receive(request.as_bytes(), &mut output).unwrap();
            String::from_utf8(output.clone()).unwrap()
        };
        let ok = |it: &str| reply("200 OK", &format!("{{\"echo\":\"{it}\"}}"));
        assert_eq!(
            stream.each_ref().map(&mut answer),
            [ok("a"), String::new(), ok("b") + &ok("c")]
        );
    }

    #[test]
    fn request_of_unknown_length_ends_the_connection() {
        for bytes in [
            "\0\0\0\x05right",
            "POST / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        ] {
            assert_eq!(
                Http1::new(&JSON).receive(bytes.as_bytes(), &mut Vec::new()),
                Err(Close::Now)
            );
        }
    }
}
