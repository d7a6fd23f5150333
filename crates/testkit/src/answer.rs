//! What each call is answered with.

use std::collections::HashMap;

use bytes::Bytes;

use crate::echo::{self, INTERNAL, Status, Truth};
use crate::plan::Answer;

/// Answers calls as the plan says, and remembers what a cheat must remember.
pub(crate) struct Answerer {
    answer: Answer,
    first_replies: HashMap<String, Bytes>,
}

impl Answerer {
    pub(crate) fn new(answer: Answer) -> Self {
        Self { answer, first_replies: HashMap::new() }
    }

    /// The reply message to the call with this number, whose request body came whole.
    pub(crate) fn answer(&mut self, path: &str, body: &[u8], number: u64) -> Result<Bytes, Status> {
        match self.answer {
            Answer::Honest | Answer::Null | Answer::TcpEcho => honest(path, body, Truth::Right),
            Answer::Canned => self.canned(path, body),
            Answer::ByteEcho => echo::unframe(body).map(Bytes::copy_from_slice),
            Answer::AlwaysInternal => Err(broken(number)),
            Answer::WrongOnce(every) if number.is_multiple_of(every.get()) => {
                honest(path, body, Truth::Wrong)
            }
            Answer::WrongOnce(_) => honest(path, body, Truth::Right),
            Answer::StatusOnce(every) if number.is_multiple_of(every.get()) => Err(broken(number)),
            Answer::StatusOnce(_) => honest(path, body, Truth::Right),
            Answer::OkOnTruncated => lenient(path, body),
        }
    }

    fn canned(&mut self, path: &str, body: &[u8]) -> Result<Bytes, Status> {
        if let Some(first) = self.first_replies.get(path) {
            return Ok(first.clone());
        }
        let reply = honest(path, body, Truth::Right)?;
        self.first_replies.insert(path.to_owned(), reply.clone());
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
