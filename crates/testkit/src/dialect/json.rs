//! Calls over HTTP/1.1 with JSON in them: on a connection one after the other.

use std::io;

use httparse::{EMPTY_HEADER, Status};
use tokio::net::TcpStream;

use crate::fault::write;
use crate::plan::Fault;
use crate::serve::Site;

const FIELDS: usize = 64;
const READ: usize = 64 << 10;
/// Longest body that is taken, bytes.
const LONGEST: usize = 64 << 20;

/// A request that came whole.
struct Request {
    path: String,
    body: Vec<u8>,
}

/// What is sent back for a request: a status of HTTP, and JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, body: body.into() }
    }

    pub(crate) fn error(status: u16, message: &str) -> Self {
        let body = serde_json::json!({ "message": message });
        Self { status, body: body.to_string().into_bytes() }
    }

    fn encode(&self) -> Vec<u8> {
        let Self { status, body } = self;
        let head = format!(
            "HTTP/1.1 {status} \r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    }
}

/// Answers calls until the connection ends, or until a fault strikes, which is returned.
pub(crate) async fn converse(stream: &TcpStream, site: &Site) -> io::Result<Option<Fault>> {
    let mut strikes = site.strikes();
    let mut input = Vec::new();
    // Without it replies wait for more to send; a peer that is gone shows when it is read from.
    let _ = stream.set_nodelay(true);
    loop {
        let request = tokio::select! {
            biased;
            fault = strikes.wait_for(Option::is_some) => return Ok(fault.ok().and_then(|it| *it)),
            request = next_request(stream, &mut input) => request?,
        };
        let Some(request) = request else { return Ok(None) };
        // A fault that strikes instead of an answer is seen in the next turn.
        if let Some(number) = site.admit() {
            site.spend(number).await;
            let reply = site.answerer().answer_json(&request.path, &request.body, number);
            write(stream, &reply.encode()).await?;
        }
    }
}

/// Nothing if the peer has closed. What has come of a request stays in `input` if nobody waits any longer.
async fn next_request(stream: &TcpStream, input: &mut Vec<u8>) -> io::Result<Option<Request>> {
    loop {
        if let Some(request) = take_request(input)? {
            return Ok(Some(request));
        }
        stream.readable().await?;
        input.reserve(READ);
        match stream.try_read_buf(input) {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

/// Takes the request that `input` begins with, if it is whole.
fn take_request(input: &mut Vec<u8>) -> io::Result<Option<Request>> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let mut fields = [EMPTY_HEADER; FIELDS];
    let mut head = httparse::Request::new(&mut fields);
    let Status::Complete(start) = head.parse(input).map_err(|_| invalid())? else {
        return Ok(None);
    };
    let mut lengths =
        head.headers.iter().filter(|field| field.name.eq_ignore_ascii_case("content-length"));
    let length: Option<usize> =
        lengths.next().and_then(|field| str::from_utf8(field.value).ok()?.parse().ok());
    let end = start + length.filter(|length| *length <= LONGEST).ok_or_else(invalid)?;
    let Some(body) = input.get(start..end) else { return Ok(None) };
    let request = Request { path: head.path.unwrap_or_default().to_owned(), body: body.to_vec() };
    input.drain(..end);
    Ok(Some(request))
}
