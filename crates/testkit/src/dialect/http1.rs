//! Requests and replies of HTTP/1.1.

use std::io;

use httparse::{EMPTY_HEADER, Status};
use rpcbench_reference::content_length;

use super::in_order::{Request, invalid};

const FIELDS: usize = 64;
/// Longest body accepted, bytes.
const MAX_BODY: usize = 64 << 20;

/// Takes the request at the start of `input`, if it is complete.
pub(super) fn take(input: &mut Vec<u8>) -> io::Result<Option<Request>> {
    let mut fields = [EMPTY_HEADER; FIELDS];
    let mut head = httparse::Request::new(&mut fields);
    let Status::Complete(start) = head.parse(input).map_err(|_| invalid())? else {
        return Ok(None);
    };
    let end = start + content_length(head.headers, MAX_BODY).ok_or_else(invalid)?;
    let Some(body) = input.get(start..end) else { return Ok(None) };
    let method = head.path.unwrap_or_default().to_owned();
    let request = Request { method, id: 0, body: body.to_vec() };
    input.drain(..end);
    Ok(Some(request))
}

pub(super) fn reply(status: u16, content_type: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status} \r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}
