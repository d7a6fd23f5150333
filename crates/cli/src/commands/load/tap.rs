//! The log of calls, begun when the window does that it is a log of.

use std::cell::RefCell;

use rpcbench_engine::CallLog;
use rpcbench_report::Calls;

use crate::commands::calls_log::{CallsLog, LogThread};

/// A log that a run writes into, if one was asked for.
#[derive(Default)]
pub struct LogTap(RefCell<State>);

#[derive(Default)]
enum State {
    /// None was asked for.
    #[default]
    Closed,
    /// Calls are not written yet.
    Waiting(CallsLog),
    /// They are, or could not be.
    Writing(anyhow::Result<LogThread>),
}

impl LogTap {
    /// A tap, and the end that the engine sends calls to.
    pub fn new(log: Option<CallsLog>) -> (Self, Option<CallLog>) {
        let Some(mut log) = log else { return (Self::default(), None) };
        let sender = log.take_sender();
        (Self(RefCell::new(State::Waiting(log))), sender)
    }

    /// Drops the calls sent so far.
    pub fn forget(&self) {
        if let State::Waiting(log) = &*self.0.borrow() {
            log.forget();
        }
    }

    /// Writes calls from now on.
    pub fn start(&self) {
        let next = match self.0.take() {
            State::Waiting(log) => State::Writing(log.start()),
            other => other,
        };
        self.0.replace(next);
    }

    /// Waits for the last calls, once nobody sends any more, and puts the file in its place if it holds all `counted` of
    /// them. `None` where none was asked for.
    pub fn finish(self, counted: u64) -> anyhow::Result<Option<Calls>> {
        match self.0.into_inner() {
            State::Writing(thread) => thread?.finish(counted).map(Some),
            State::Closed | State::Waiting(_) => Ok(None),
        }
    }
}
