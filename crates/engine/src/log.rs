//! The log of every measured call, in batches.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use crate::call::Call;
use crate::outcome::Outcome;
use rpcbench_clock::Nanos;

/// Calls per message to the writing thread.
const BATCH: usize = 8192;

/// Maximum batches waiting to be written: two million calls, 84 MB.
const MAX_WAITING: usize = 256;

/// Takes batches of calls. If the receiver does not keep up, batches are dropped, since a load must not wait for a disk: the
/// receiver must count calls to notice.
pub type CallLog = SyncSender<Vec<LoggedCall>>;

/// Both ends of a log.
pub fn call_log() -> (CallLog, Receiver<Vec<LoggedCall>>) {
    sync_channel(MAX_WAITING)
}

/// One call that came due in a measured span. Times count from the span's start, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedCall {
    /// When it was due.
    pub due: Nanos,
    /// When the kernel had taken all its bytes. `None`: never, or not before the call ended.
    pub written: Option<Nanos>,
    /// When it ended.
    pub done: Nanos,
    /// How it ended.
    pub ended: Ended,
}

/// How a logged call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Answered correctly.
    Ok,
    /// Answered with success, but wrongly.
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
        match self.log.try_send(batch) {
            // Dropped; its memory is reused.
            Err(TrySendError::Full(batch)) => {
                self.batch = batch;
                self.batch.clear();
            }
            // The reader may have failed; the load continues.
            Ok(()) | Err(TrySendError::Disconnected(_)) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unread_log_takes_bounded_memory() {
        let (log, batches) = call_log();
        let mut writer = BatchWriter::new(log);
        for due in 0..(MAX_WAITING as u64 + 10) * BATCH as u64 {
            let call = Call { due: Nanos(due), ..Call::default() };
            writer.push(call, Nanos(due + 1), &Outcome::Ok, Nanos(0));
        }
        let kept: Vec<LoggedCall> = batches.try_iter().flatten().collect();
        assert_eq!(kept.len(), MAX_WAITING * BATCH);
        assert!(kept.iter().map(|call| call.due.0).eq(0..kept.len() as u64));
        // There is room again.
        writer.push(Call::default(), Nanos(1), &Outcome::Ok, Nanos(0));
        writer.flush();
        assert_eq!(batches.try_iter().flatten().count(), 1);
    }
}
