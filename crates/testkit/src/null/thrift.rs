//! Thrift in any of its forms: answered as the plan says, and with little work where a text is to come back.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use rpcbench_contract::{Encoding, Method, thrift_reply};

use super::Session;
use crate::plan::Answer;
use crate::thrift::{Form, Message, exception, kind};

/// Replies by method and the beginning of their requests.
type Memory = Rc<RefCell<HashMap<(Vec<u8>, Vec<u8>), Vec<u8>>>>;

/// A connection of a server with one form and one way to answer.
pub(super) struct Thrift {
    form: Form,
    answer: Answer,
    memory: Memory,
    /// A message that is not whole.
    partial: Vec<u8>,
    /// Calls ever answered, and those that were not taken yet.
    number: u64,
    calls: u64,
}

/// Why a call gets an exception.
struct Failure {
    of: u8,
    message: String,
}

impl Thrift {
    pub(super) fn new(form: Form, answer: Answer, memory: Memory) -> Self {
        Self { form, answer, memory, partial: Vec::new(), number: 0, calls: 0 }
    }
}

impl Session for Thrift {
    fn receive(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, ()> {
        let mut bytes = std::mem::take(&mut self.partial);
        bytes.extend_from_slice(input);
        let mut rest = &bytes[..];
        while let Some((message, length)) = self.form.read(rest).map_err(drop)? {
            self.call(&message, output)?;
            rest = &rest[length..];
        }
        let taken = bytes.len() - rest.len();
        bytes.drain(..taken);
        self.partial = bytes;
        Ok(input.len())
    }

    fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }
}

impl Thrift {
    /// `Err`: the connection is to be closed, as servers do over what they can't decode.
    fn call(&mut self, call: &Message<'_>, output: &mut Vec<u8>) -> Result<(), ()> {
        self.calls += 1;
        self.number += 1;
        let broken =
            || Failure { of: exception::PROTOCOL_ERROR, message: "malformed request".to_owned() };
        let request = self.form.unwrap(1, call.body).ok_or_else(broken);
        let reply = request.and_then(|request| self.reply(call.name, request));
        let (kind, body, goes_on) = match reply {
            Ok(reply) => (kind::REPLY, self.form.wrap(0, &reply), true),
            Err(Failure { of, message }) => {
                let goes_on = of != exception::PROTOCOL_ERROR;
                (kind::EXCEPTION, self.form.exception(of, &message), goes_on)
            }
        };
        output.extend(self.form.write(&Message { kind, body: &body, ..*call }));
        if goes_on { Ok(()) } else { Err(()) }
    }

    fn reply(&self, name: &[u8], request: &[u8]) -> Result<Vec<u8>, Failure> {
        let failed = || Failure {
            of: exception::INTERNAL_ERROR,
            message: format!("call {} fails on purpose", self.number),
        };
        match self.answer {
            Answer::Canned => self.recall(name, request, 0),
            Answer::Memo(bytes) => self.recall(name, request, bytes as usize),
            Answer::ByteEcho => Ok(request.to_vec()),
            Answer::Skim => honest(self.form, name, request)
                .map(|reply| retagged(self.form, request).unwrap_or(reply)),
            Answer::Swap => Ok(retagged(self.form, request).unwrap_or_else(|| request.to_vec())),
            Answer::ErrorInReply => Ok(vec![0]),
            Answer::AlwaysInternal => Err(failed()),
            Answer::StatusOnce(every) if self.number.is_multiple_of(every.get()) => Err(failed()),
            Answer::WrongOnce(every) if self.number.is_multiple_of(every.get()) => Ok(vec![0]),
            Answer::OkOnTruncated => honest(self.form, name, request).or_else(|failure| {
                if failure.of == exception::PROTOCOL_ERROR { Ok(vec![0]) } else { Err(failure) }
            }),
            _ => honest(self.form, name, request),
        }
    }

    /// The reply to an earlier request that began with the same `bytes` bytes, or else the right one.
    fn recall(&self, name: &[u8], request: &[u8], bytes: usize) -> Result<Vec<u8>, Failure> {
        let key = (name.to_vec(), request[..request.len().min(bytes)].to_vec());
        if let Some(reply) = self.memory.borrow().get(&key) {
            return Ok(reply.clone());
        }
        let reply = honest(self.form, name, request)?;
        self.memory.borrow_mut().insert(key, reply.clone());
        Ok(reply)
    }
}

fn honest(form: Form, name: &[u8], request: &[u8]) -> Result<Vec<u8>, Failure> {
    let methods = [Method::Text, Method::Record, Method::Dto, Method::Tree];
    let unknown =
        || Failure { of: exception::UNKNOWN_METHOD, message: "no such method".to_owned() };
    let found = methods.into_iter().find(|method| method.name().as_bytes() == name);
    let method = found.ok_or_else(unknown)?;
    if method == Method::Text
        && let Some(reply) = plain_text(form, request)
    {
        return Ok(reply);
    }
    let refused = |message| Failure { of: exception::PROTOCOL_ERROR, message };
    thrift_reply(form.encoding, method, request).map_err(refused)
}

/// The reply to a request that has one text in the usual encoding, and nothing else.
fn plain_text(form: Form, request: &[u8]) -> Option<Vec<u8>> {
    let text = match (form.encoding, request) {
        (Encoding::ThriftBinary, [11, 0, 1, a, b, c, d, text @ .., 0]) => {
            (u32::from_be_bytes([*a, *b, *c, *d]) as usize == text.len()).then_some(text)
        }
        (_, [0x18, length @ ..0x80, text @ .., 0]) => {
            (usize::from(*length) == text.len()).then_some(text)
        }
        _ => None,
    };
    std::str::from_utf8(text?).ok()?;
    retagged(form, request)
}

/// The request with its first field as field 2, if that is field 1 in the usual encoding: a copy of all its bytes.
fn retagged(form: Form, request: &[u8]) -> Option<Vec<u8>> {
    let mut reply = request.to_vec();
    match (form.encoding, &mut reply[..]) {
        (Encoding::ThriftBinary, [_, 0, number @ 1, ..]) => *number = 2,
        (Encoding::ThriftCompact, [head @ 0x10..0x20, ..]) => *head += 0x10,
        _ => return None,
    }
    Some(reply)
}
