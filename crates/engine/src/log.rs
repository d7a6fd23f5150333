//! The log of every measured call, in batches, for whoever writes it down.

use std::sync::mpsc::Sender;

use crate::clock::Nanos;
use crate::outcome::Outcome;
use crate::protocol::Call;

/// Calls in a batch: one message to another thread for so many calls.
const BATCH: usize = 8192;

/// Takes batches of calls; the receiving end should keep up, or they pile up in memory.
pub type CallLog = Sender<Vec<LoggedCall>>;

/// One call that came due in a measured span. Times count from the span's begin, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedCall {
    /// When it was to be sent.
    pub due: Nanos,
    /// When its bytes were given to the kernel. `None`: never, or not whole before it ended.
    pub written: Option<Nanos>,
    /// When it ended.
    pub done: Nanos,
    /// How.
    pub ended: Ended,
}

/// How a logged call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Answered, and the answer was right.
    Ok,
    /// Answered with success, and the answer was wrong.
    WrongAnswer,
    /// The protocol's own status, by code.
    Status(u32),
    /// Not answered in time.
    Timeout,
    /// The connection broke.
    Transport,
    /// Never left the client.
    NotSent,
}

impl From<&Outcome> for Ended {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Ok => Self::Ok,
            Outcome::WrongAnswer => Self::WrongAnswer,
            Outcome::Status { code, .. } => Self::Status(*code),
            Outcome::Timeout => Self::Timeout,
            Outcome::Transport { .. } => Self::Transport,
            Outcome::NotSent { .. } => Self::NotSent,
        }
    }
}

/// One load thread's end of the log.
#[derive(Debug)]
pub(crate) struct BatchWriter {
    batch: Vec<LoggedCall>,
    log: CallLog,
}

impl BatchWriter {
    pub fn new(log: CallLog) -> Self {
        Self { batch: Vec::with_capacity(BATCH), log }
    }

    pub fn push(&mut self, call: Call, done: Nanos, outcome: &Outcome, start: Nanos) {
        self.batch.push(LoggedCall {
            due: call.due - start,
            written: (call.written > Nanos(0)).then(|| call.written - start),
            done: done - start,
            ended: outcome.into(),
        });
        if self.batch.len() == BATCH {
            self.flush();
        }
    }

    pub fn flush(&mut self) {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        // Whoever reads the log may have given up; the figures go on.
        let _ = self.log.send(batch);
    }
}
