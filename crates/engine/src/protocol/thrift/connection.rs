//! Calls and replies as messages.

use std::ops::Range;

use rpcbench_record::Protocol;

use super::encoding::{EXCEPTION, Encoding, REPLY};
use super::templates::Templates;
use super::transport::Transport;
use super::{exception, sequence};
use crate::payload::Payload;
use crate::protocol::Call;
use crate::protocol::messages::{self, Answer, Messages, Problem};

/// Thrift over a transport with an encoding.
#[derive(Debug)]
pub(crate) struct Thrift<T>(T);

pub(crate) type Connection<T> = messages::Connection<Thrift<T>>;

impl<T: Transport> Messages for Thrift<T> {
    const PROTOCOL: Protocol = T::PROTOCOL;

    type Templates = Templates;

    fn new() -> Self {
        Self(T::new())
    }

    fn templates(payload: &dyn Payload) -> Templates {
        Templates::new::<T>(payload)
    }

    #[inline]
    fn put(templates: &Templates, number: u64, call: Call, out: &mut Vec<u8>) {
        templates.put(call, T::Encoding::sequence_id(sequence::id(number)), out);
    }

    #[inline]
    fn next(&mut self, bytes: &[u8]) -> Result<Option<Range<usize>>, Problem> {
        self.0.next(bytes)
    }

    #[inline]
    fn read<'a>(
        templates: &Templates,
        number: u64,
        message: &'a [u8],
    ) -> Result<Answer<'a>, Problem> {
        let head = T::Encoding::head(message)?.ok_or("a message without a whole head")?;
        if head.kind != REPLY && head.kind != EXCEPTION {
            return Err("a message that is no reply");
        }
        if head.sequence_id != sequence::id(number) {
            return Err("a reply with another sequence id than its call has");
        }
        if head.name != templates.method.as_bytes() {
            return Err("a reply that names another method than its call does");
        }
        let body = &message[head.length..];
        if head.kind == EXCEPTION {
            let read = exception::read::<T::Encoding>(body);
            let (code, message) = read.ok_or("an exception that can't be read")?;
            return Ok(Answer::Status { code, message });
        }
        let reply = body.strip_prefix(T::Encoding::RESULT).and_then(|rest| rest.split_last());
        Ok(match reply {
            Some((0, reply)) => Answer::Reply(reply),
            _ => Answer::Malformed("a reply without a result"),
        })
    }
}
