//! tcp-echo: a big-endian length of four bytes, followed by that many bytes. The reply is identical.

use std::io;

use bytes::Bytes;

use super::Dialect;
use super::in_order::{Answer, InOrder, Request, invalid};
use crate::echo::Truth;

/// Longest body accepted, bytes.
const MAX_LEN: usize = 64 << 20;

/// The protocol has no methods and nothing to decode, so behaviours that need them can't be combined with it.
pub(crate) struct TcpEcho;

/// Ends the connection, as the protocol has no errors.
pub(crate) struct Failed;

impl Dialect for TcpEcho {
    type Failure = Failed;

    fn echo(&self, _method: &str, message: &[u8], truth: Truth) -> Result<Bytes, Failed> {
        let mut reply = message.to_vec();
        if truth == Truth::Wrong {
            match reply.last_mut() {
                Some(last) => *last ^= 1,
                None => reply.push(1),
            }
        }
        Ok(reply.into())
    }

    fn skim(&self, _method: &str, message: &[u8]) -> Result<Bytes, Failed> {
        Ok(Bytes::copy_from_slice(message))
    }

    fn swap(&self, message: &[u8]) -> Bytes {
        Bytes::copy_from_slice(message)
    }

    fn looks_usual(&self, _message: &[u8]) -> bool {
        true
    }

    fn failure(&self, _words: String) -> Failed {
        Failed
    }

    fn is_malformed(_failure: &Failed) -> bool {
        false
    }
}

impl InOrder for TcpEcho {
    fn take(&self, input: &mut Vec<u8>) -> io::Result<Option<Request>> {
        let Some((prefix, rest)) = input.split_first_chunk() else { return Ok(None) };
        let length = u32::from_be_bytes(*prefix) as usize;
        if length > MAX_LEN {
            return Err(invalid());
        }
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let request = Request { method: String::new(), id: 0, body: body.to_vec() };
        input.drain(..prefix.len() + length);
        Ok(Some(request))
    }

    fn write(&self, _request: &Request, reply: Result<Bytes, Failed>) -> Answer {
        let Ok(body) = reply else { return Answer { bytes: Vec::new(), last: true } };
        let length = (body.len() as u32).to_be_bytes();
        Answer { bytes: [&length, &body[..]].concat(), last: false }
    }
}
