//! The floor: a message is a four-byte big-endian length and that many bytes; the reply is the same.

#[cfg(test)]
mod tests;

use std::ops::Range;

use rpcbench_record::Protocol;

use super::Call;
use super::messages::{self, Answer, MAX_MESSAGE, Messages, Problem};
use super::template::{Layout, Templates};
use crate::payload::Payload;

/// Bytes of the length.
const PREFIX: usize = 4;

/// Messages with a length. Reading them needs no state.
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
        Templates::new(payload, |index, out| {
            let body = payload.request(index);
            out.extend_from_slice(&(body.len() as u32).to_be_bytes());
            out.extend_from_slice(body);
            Layout { body: PREFIX, message: PREFIX, last_frame: 0 }
        })
    }

    #[inline]
    fn put(templates: &Templates, _number: u64, call: Call, out: &mut Vec<u8>) {
        templates.put(call.request, call.nonce, out);
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
