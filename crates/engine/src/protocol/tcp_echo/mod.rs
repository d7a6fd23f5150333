//! The floor: a length of four bytes, big-endian, and so many bytes; the reply is the same.

#[cfg(test)]
mod tests;

use std::ops::Range;

use rpcbench_record::Protocol;

use super::Call;
use super::messages::{self, Answer, MAX_MESSAGE, Messages, Problem};
use crate::payload::Payload;

/// Bytes of a length.
const PREFIX: usize = 4;

/// Every request with its length before it, and where its nonce goes.
#[derive(Debug)]
pub(crate) struct Templates(Vec<(Vec<u8>, Range<usize>)>);

/// How messages are read: there is nothing to remember.
#[derive(Debug)]
pub(crate) struct TcpEcho;

pub(crate) type Connection = messages::Connection<TcpEcho>;

impl Messages for TcpEcho {
    const PROTOCOL: Protocol = Protocol::TcpEcho;

    type Templates = Templates;

    fn new() -> Self {
        Self
    }

    fn templates(payload: &dyn Payload) -> Templates {
        let frame = |index| {
            let body = payload.request(index);
            let nonce = payload.nonce(index);
            let frame = [&(body.len() as u32).to_be_bytes(), body].concat();
            (frame, nonce.start + PREFIX..nonce.end + PREFIX)
        };
        Templates((0..payload.len()).map(frame).collect())
    }

    #[inline]
    fn put(templates: &Templates, _number: u64, call: Call, out: &mut Vec<u8>) {
        let (frame, nonce) = &templates.0[call.request as usize];
        let at = out.len();
        out.extend_from_slice(frame);
        call.nonce.write(&mut out[at + nonce.start..at + nonce.end]);
    }

    #[inline]
    fn next(&mut self, bytes: &[u8]) -> Result<Option<Range<usize>>, Problem> {
        let Some(length) = bytes.first_chunk::<PREFIX>() else { return Ok(None) };
        let length = u32::from_be_bytes(*length) as usize;
        if length > MAX_MESSAGE {
            return Err("a reply longer than 64 MiB; does the server speak tcp-echo?");
        }
        let end = PREFIX + length;
        Ok((bytes.len() >= end).then_some(PREFIX..end))
    }

    #[inline]
    fn read<'a>(_: &Templates, _: u64, message: &'a [u8]) -> Result<Answer<'a>, Problem> {
        Ok(Answer::Reply(message))
    }
}
