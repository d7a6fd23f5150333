//! What each call is answered with.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;

use crate::echo::{self, INTERNAL, Status, Truth};
use crate::plan::Answer;
use crate::serve::Counters;
use crate::serve_json::Reply;
use crate::skim;
use crate::swap;
use crate::transcode::Types;

/// Replies remembered at most; then all are forgotten.
const MEMORY: usize = 1 << 16;

/// Answers calls as the plan says, and remembers what a cheat must remember.
pub(crate) struct Answerer {
    answer: Answer,
    /// By path and the beginning of the request's message.
    memory: HashMap<(String, Vec<u8>), Bytes>,
    counters: Arc<Counters>,
}

impl Answerer {
    pub(crate) fn new(answer: Answer, counters: Arc<Counters>) -> Self {
        Self { answer, memory: HashMap::new(), counters }
    }

    /// The reply message to the call with this number, whose request body came whole.
    pub(crate) fn answer(&mut self, path: &str, body: &[u8], number: u64) -> Result<Bytes, Status> {
        match self.answer {
            Answer::Honest | Answer::Null | Answer::NullJson | Answer::TcpEcho => {
                honest(path, body, Truth::Right)
            }
            Answer::Canned => self.recall(path, body, 0),
            Answer::Memo(bytes) => self.recall(path, body, bytes as usize),
            Answer::Skim => skim::reply(path, echo::unframe(body)?),
            Answer::ByteEcho => echo::unframe(body).map(Bytes::copy_from_slice),
            Answer::Swap => echo::unframe(body).map(swap::protobuf),
            Answer::AlwaysInternal => Err(broken(number)),
            Answer::ErrorInReply => Ok(broken(number).message.into()),
            Answer::WrongOnce(every) if number.is_multiple_of(every.get()) => {
                honest(path, body, Truth::Wrong)
            }
            Answer::WrongOnce(_) => honest(path, body, Truth::Right),
            Answer::StatusOnce(every) if number.is_multiple_of(every.get()) => Err(broken(number)),
            Answer::StatusOnce(_) => honest(path, body, Truth::Right),
            Answer::OkOnTruncated => lenient(path, body),
        }
    }

    /// The same for a call whose request is JSON. Messages are made to protobuf and back, but where a cheat copies them.
    pub(crate) fn answer_json(&mut self, path: &str, body: &[u8], number: u64) -> Reply {
        let Some(types) = Types::of(path) else { return Reply::error(404, "unknown method") };
        match self.answer {
            Answer::ByteEcho => return Reply::ok(body),
            Answer::Skim => return skim::json(body),
            Answer::Swap => return swap::json(body),
            Answer::ErrorInReply => {
                return Reply { status: 200, ..Reply::error(500, &broken(number).message) };
            }
            _ => {}
        }
        let message = match types.request(body) {
            Ok(message) => message,
            Err(_) if self.answer == Answer::OkOnTruncated => return Reply::ok("{}"),
            Err(error) => return Reply::error(400, &error.to_string()),
        };
        let reply = self.answer(path, &echo::frame(&message), number);
        match reply.map(|reply| types.reply(&reply)) {
            Ok(Some(reply)) => Reply::ok(reply),
            Ok(None) => Reply::error(500, "the reply can't be written"),
            Err(status) => Reply::error(500, &status.message),
        }
    }

    /// The reply to an earlier request whose message began with the same `bytes` bytes, or else the right one.
    fn recall(&mut self, path: &str, body: &[u8], bytes: usize) -> Result<Bytes, Status> {
        let message = echo::unframe(body)?;
        let key = (path.to_owned(), message[..message.len().min(bytes)].to_vec());
        if let Some(reply) = self.memory.get(&key) {
            self.counters.recalled.fetch_add(1, Ordering::Relaxed);
            return Ok(reply.clone());
        }
        let reply = honest(path, body, Truth::Right)?;
        if self.memory.len() == MEMORY {
            self.memory.clear();
        }
        self.memory.insert(key, reply.clone());
        Ok(reply)
    }
}

fn honest(path: &str, body: &[u8], truth: Truth) -> Result<Bytes, Status> {
    echo::reply(path, echo::unframe(body)?, truth)
}

fn lenient(path: &str, body: &[u8]) -> Result<Bytes, Status> {
    match honest(path, body, Truth::Right) {
        Err(status) if status.code == INTERNAL => Ok(Bytes::new()),
        other => other,
    }
}

fn broken(number: u64) -> Status {
    Status::new(INTERNAL, format!("call {number} fails on purpose"))
}
