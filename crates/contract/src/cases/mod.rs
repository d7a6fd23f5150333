//! The cases that show whether a server keeps the contract.
//!
//! Most are about meaning and run over every encoding; those in `wire` write the bytes of one encoding by hand.
//! A case lists what it [needs](Need) and is left out for protocols that lack it.
//! The tables in `contract/README.md` are generated from [`GROUPS`].

mod content;
mod extremes;
mod many;
mod methods;
mod probe;
mod wire;

use std::fmt;

use crate::method::Method;
use crate::profile::{Need, Profile};
use probe::Probe;

/// A way to make one call at a time.
pub trait Caller {
    /// Calls `method` with the message `body`; both sides' bytes are encoded messages without a protocol's
    /// framing. A protocol whose calls name no method ignores it.
    ///
    /// # Errors
    /// Whatever else than a message the call ended with.
    fn call(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError>;

    /// The same as the last call on a connection: nothing is sent after it, and the peer sees that nothing is.
    ///
    /// # Errors
    /// Whatever else than a message the call ended with.
    fn call_last(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        self.call(method, body)
    }
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
    /// The server closed the connection in place of an answer.
    #[error("transport: {0}")]
    Closed(String),
    /// No answer in time.
    #[error("no answer in time")]
    Timeout,
}

/// One thing that a server must do.
#[derive(Clone, Copy)]
pub struct Case {
    name: &'static str,
    verifies: &'static str,
    needs: &'static [Need],
    run: fn(&mut Probe<'_>) -> Result<(), String>,
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

    /// What a protocol must offer for the case to mean anything.
    #[must_use]
    pub fn needs(&self) -> &'static [Need] {
        self.needs
    }

    /// The first need that a protocol does not meet; `None` if the case can be tried.
    #[must_use]
    pub fn unmet(&self, profile: &Profile) -> Option<Need> {
        self.needs.iter().copied().find(|need| !profile.offers(*need))
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What came of all cases that were tried.
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

/// Cases about one subject: a table of `contract/README.md`.
pub struct Group {
    /// The table's heading.
    pub title: &'static str,
    /// Its cases, in the order in which they run.
    pub cases: &'static [Case],
}

/// Every case by subject, in the order in which they run.
pub const GROUPS: [Group; 12] = [
    Group { title: "Content", cases: content::CASES },
    Group { title: "Extremes", cases: extremes::CASES },
    Group { title: "Many requests", cases: many::CASES },
    Group { title: "Protobuf: valid encodings", cases: wire::protobuf::CASES },
    Group { title: "Protobuf: unusual encodings", cases: wire::odd::CASES },
    Group { title: "Protobuf: text that is not UTF-8", cases: wire::odd::INVALID_UTF8 },
    Group { title: "Protobuf: malformed requests", cases: wire::malformed::CASES },
    Group { title: "JSON: unusual encodings", cases: wire::json::CASES },
    Group { title: "JSON: malformed requests", cases: wire::json_malformed::CASES },
    Group { title: "Thrift", cases: wire::thrift::CASES },
    Group { title: "Opaque bodies", cases: wire::opaque::CASES },
    Group { title: "Missing methods", cases: methods::CASES },
];

/// Every case, in the order in which they run.
#[must_use]
pub fn all() -> Vec<Case> {
    GROUPS.iter().flat_map(|group| group.cases).copied().collect()
}

/// The cases that are tried on a server of that protocol.
#[must_use]
pub fn tried(profile: &Profile) -> Vec<Case> {
    all().into_iter().filter(|case| case.unmet(profile).is_none()).collect()
}

/// The cases that are left out for that protocol, each with what it needs and the protocol does not offer.
#[must_use]
pub fn left_out(profile: &Profile) -> Vec<(Case, Need)> {
    all().into_iter().filter_map(|case| Some((case, case.unmet(profile)?))).collect()
}

/// Tries the cases of a protocol on the server behind `caller`, with values drawn from `seed`. About 5,300
/// calls, one after another; where three in a row time out, the remaining cases fail untried.
pub fn check(caller: &mut dyn Caller, profile: &Profile, seed: u64) -> CheckReport {
    let mut probe = Probe::new(caller, profile, seed);
    let mut report = CheckReport::default();
    for case in tried(profile) {
        let result = if probe.is_silent() {
            Err("not tried: the server left the calls before it unanswered".to_owned())
        } else {
            (case.run)(&mut probe)
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
