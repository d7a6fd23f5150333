//! The log of calls, which starts with its window.

use std::cell::RefCell;

use rpcbench_report::Calls;

use crate::commands::calls_log::{CallsLog, LogThread};

/// The log of a run's calls, if requested.
#[derive(Default)]
pub struct LogTap(RefCell<State>);

#[derive(Default)]
enum State {
    /// No log.
    #[default]
    Closed,
    /// Calls are not written yet.
    Waiting(CallsLog),
    /// Calls are written, or writing failed to start.
    Writing(anyhow::Result<LogThread>),
}

impl LogTap {
    /// A tap for `log`, if requested.
    pub fn new(log: Option<CallsLog>) -> Self {
        Self(RefCell::new(log.map_or(State::Closed, State::Waiting)))
    }

    /// Discards the calls sent so far.
    pub fn forget(&self) {
        if let State::Waiting(log) = &*self.0.borrow() {
            log.forget();
        }
    }

    /// Starts writing calls.
    pub fn start(&self) {
        let next = match self.0.take() {
            State::Waiting(log) => State::Writing(log.start()),
            other => other,
        };
        self.0.replace(next);
    }

    /// Waits for the last calls after the sender was dropped, and keeps the file if it has all `counted` calls. `None` without a
    /// log.
    pub fn finish(self, counted: u64) -> anyhow::Result<Option<Calls>> {
        match self.0.into_inner() {
            State::Writing(thread) => thread?.finish(counted).map(Some),
            State::Closed | State::Waiting(_) => Ok(None),
        }
    }
}
