//! Answers calls according to the plan.

use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;

use crate::dialect::Dialect;
use crate::echo::Truth;
use crate::plan::Answer;
use crate::serve::Counters;

/// Maximum replies to remember. Beyond that, all are dropped.
const MEMORY: usize = 1 << 16;
/// Length of a nonce in bytes, and its letters.
const NONCE_BYTES: usize = 8;
const NONCE_LETTERS: RangeInclusive<u8> = b'@'..=b'O';

/// Answers calls, and remembers replies for servers that cheat.
pub(crate) struct Answerer {
    answer: Answer,
    /// Replies by method and start of the request's message.
    memory: HashMap<(String, Vec<u8>), Bytes>,
    /// Templates by the nonce's position, the message's length, and the bytes after the nonce.
    templates: HashMap<(usize, usize, [u8; 16]), Template>,
    counters: Arc<Counters>,
}

impl Answerer {
    pub(crate) fn new(answer: Answer, counters: Arc<Counters>) -> Self {
        Self { answer, memory: HashMap::new(), templates: HashMap::new(), counters }
    }

    /// The reply to the call with this number.
    pub(crate) fn answer<D: Dialect>(
        &mut self,
        dialect: &D,
        method: &str,
        body: &[u8],
        number: u64,
    ) -> Result<Bytes, D::Failure> {
        let reply =
            dialect.message(body).and_then(|message| self.reply(dialect, method, message, number));
        match reply {
            Err(failure) if self.answer == Answer::OkOnTruncated && D::is_malformed(&failure) => {
                Ok(dialect.nothing())
            }
            reply => reply,
        }
    }

    fn reply<D: Dialect>(
        &mut self,
        dialect: &D,
        method: &str,
        message: &[u8],
        number: u64,
    ) -> Result<Bytes, D::Failure> {
        let words = || format!("call {number} fails on purpose");
        match self.answer {
            Answer::Canned => self.recall(dialect, method, message, 0),
            Answer::Memo(bytes) => self.recall(dialect, method, message, bytes as usize),
            Answer::MemoNonce => self.recall_but_nonce(dialect, method, message),
            Answer::Skim => dialect.skim(method, message),
            Answer::ByteEcho => Ok(Bytes::copy_from_slice(message)),
            Answer::Swap => Ok(dialect.swap(message)),
            Answer::SwapAmong(connections)
                if self.counters.open.load(Ordering::Relaxed) >= connections
                    && dialect.looks_usual(message) =>
            {
                Ok(dialect.swap(message))
            }
            Answer::SwapUsual if dialect.looks_usual(message) => Ok(dialect.swap(message)),
            Answer::AlwaysInternal => Err(dialect.failure(words())),
            Answer::ErrorInReply => Ok(dialect.error_as_reply(&words())),
            Answer::WrongOnce(every) if number.is_multiple_of(every.get()) => {
                dialect.echo(method, message, Truth::Wrong)
            }
            Answer::StatusOnce(every) if number.is_multiple_of(every.get()) => {
                Err(dialect.failure(words()))
            }
            Answer::Honest
            | Answer::Null
            | Answer::NullJson
            | Answer::SwapAmong(_)
            | Answer::SwapUsual
            | Answer::WrongOnce(_)
            | Answer::StatusOnce(_)
            | Answer::OkOnTruncated => dialect.echo(method, message, Truth::Right),
        }
    }

    /// The reply to an earlier request whose message starts with the same `bytes` bytes, or else the correct reply.
    fn recall<D: Dialect>(
        &mut self,
        dialect: &D,
        method: &str,
        message: &[u8],
        bytes: usize,
    ) -> Result<Bytes, D::Failure> {
        let key = (method.to_owned(), message[..message.len().min(bytes)].to_vec());
        if let Some(reply) = self.memory.get(&key) {
            self.counters.recalled.fetch_add(1, Ordering::Relaxed);
            return Ok(reply.clone());
        }
        let reply = dialect.echo(method, message, Truth::Right)?;
        if self.memory.len() == MEMORY {
            self.memory.clear();
        }
        self.memory.insert(key, reply.clone());
        Ok(reply)
    }

    /// The reply to an earlier request that differed only in its nonce, with the nonce replaced, or else the correct reply.
    fn recall_but_nonce<D: Dialect>(
        &mut self,
        dialect: &D,
        method: &str,
        message: &[u8],
    ) -> Result<Bytes, D::Failure> {
        let Some(nonce) = nonce(message) else {
            return dialect.echo(method, message, Truth::Right);
        };
        let mut start = [0; 16];
        let rest = &message[nonce.end..];
        let known = rest.len().min(start.len());
        start[..known].copy_from_slice(&rest[..known]);
        let key = (nonce.start, message.len(), start);
        if let Some(known) = self.templates.get(&key).filter(|it| it.fits(method, message, &nonce))
        {
            self.counters.recalled.fetch_add(1, Ordering::Relaxed);
            let mut reply = known.reply.to_vec();
            reply[known.place..][..nonce.len()].copy_from_slice(&message[nonce]);
            return Ok(reply.into());
        }
        let reply = dialect.echo(method, message, Truth::Right)?;
        if let Some(place) = self::nonce(&reply).map(|place| place.start) {
            let (method, request) = (method.to_owned(), message.to_vec());
            if self.templates.len() == MEMORY {
                self.templates.clear();
            }
            self.templates.insert(key, Template { method, request, reply: reply.clone(), place });
        }
        Ok(reply)
    }
}

/// A request and its reply.
struct Template {
    method: String,
    request: Vec<u8>,
    reply: Bytes,
    /// Position of the nonce in the reply.
    place: usize,
}

impl Template {
    /// True if a message differs from the template only in its nonce.
    fn fits(&self, method: &str, message: &[u8], nonce: &Range<usize>) -> bool {
        self.method == method
            && self.request[..nonce.start] == message[..nonce.start]
            && self.request[nonce.end..] == message[nonce.end..]
    }
}

/// Position of the nonce, including adjacent letters that may belong to it. `None` without a nonce, or if several parts look like
/// one.
fn nonce(message: &[u8]) -> Option<Range<usize>> {
    let (mut found, mut start) = (None, 0);
    for end in 0..=message.len() {
        if message.get(end).is_some_and(|byte| NONCE_LETTERS.contains(byte)) {
            continue;
        }
        if end - start >= NONCE_BYTES && found.replace(start..end).is_some() {
            return None;
        }
        start = end + 1;
    }
    found
}
