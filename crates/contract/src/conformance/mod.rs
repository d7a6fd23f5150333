//! The cases that show whether a server keeps the contract.
//!
//! `contract/README.md` describes each one for people who write a server.

mod bench;
mod content;
mod encode;
mod extremes;
mod malformed;
mod many;
mod wire;

use std::fmt;

use bench::Bench;

/// A way to make one call at a time.
pub trait Caller {
    /// Calls the method `path` with the message `body`; both sides' bytes are protobuf messages without
    /// any framing.
    ///
    /// # Errors
    /// Whatever else than a message the call ended with.
    fn call(&mut self, path: &str, body: &[u8]) -> Result<Vec<u8>, CallError>;
}

/// How a call ended that brought no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The server ended it with a status other than OK.
    #[error("status {code} ({message:?})")]
    Status {
        /// The protocol's code: 12 for a gRPC method that is not there.
        code: u32,
        /// What the server said; may be empty.
        message: String,
    },
    /// The connection could not be made or broke, or the peer broke the protocol.
    #[error("transport: {0}")]
    Transport(String),
    /// No answer in time.
    #[error("no answer in time")]
    Timeout,
}

/// One thing that a server must do.
#[derive(Clone, Copy)]
pub struct Case {
    name: &'static str,
    verifies: &'static str,
    run: fn(&mut Bench<'_>) -> Result<(), String>,
}

impl Case {
    /// What it is known by: `text/filled`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What a server that passes it is known to do, one line.
    #[must_use]
    pub fn verifies(&self) -> &'static str {
        self.verifies
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What came of all cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// How many passed.
    pub passed: u32,
    /// Those that did not, in the order in which they were tried.
    pub failed: Vec<CaseFailure>,
}

/// A case that a server did not pass. Displays as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseFailure {
    /// The case's name.
    pub case: &'static str,
    /// What was expected and what came, on one line.
    pub reason: String,
}

impl fmt::Display for CaseFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.case, self.reason)
    }
}

/// Every case, in the order in which they are tried.
#[must_use]
pub fn cases() -> Vec<Case> {
    [content::CASES, extremes::CASES, many::CASES, wire::CASES, malformed::CASES].concat()
}

/// Tries every case on the server behind `caller`, with payloads drawn from `seed`. About 5,200 calls, one
/// after another; where three in a row time out, the remaining cases fail untried.
pub fn check(caller: &mut dyn Caller, seed: u64) -> CheckReport {
    let mut bench = Bench::new(caller, seed);
    let mut report = CheckReport::default();
    for case in cases() {
        let result = if bench.is_silent() {
            Err("not tried: the server left the calls before it unanswered".to_owned())
        } else {
            (case.run)(&mut bench)
        };
        match result {
            Ok(()) => report.passed += 1,
            Err(reason) => {
                report.failed.push(CaseFailure { case: case.name, reason: one_line(&reason) })
            }
        }
    }
    report
}

/// Servers send status messages of many lines.
fn one_line(reason: &str) -> String {
    const LONGEST: usize = 300;
    let line = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", &line[..end]),
        None => line,
    }
}
