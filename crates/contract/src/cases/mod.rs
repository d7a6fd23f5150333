//! The cases that check whether a server keeps the contract.
//!
//! Most apply to every encoding; those in `wire` build the bytes of one encoding by hand. A case lists its [needs](Need) and is
//! skipped for protocols that don't meet them. The tables in `contract/README.md` are generated from [`GROUPS`].

mod content;
mod extremes;
mod many;
mod methods;
mod probe;
mod spot_checks;
mod tls;
mod wire;

use std::fmt;

pub use rpcbench_record::CallError;
use rpcbench_record::Tls;

use crate::method::Method;
use crate::profile::{Need, Profile};
use crate::shape::Shape;
use probe::Probe;
pub use spot_checks::SpotChecks;
pub use tls::{TLS_CASES, TlsCase, TlsDialer, TlsVersion, check_tls};

const TEXT: Shape = Shape::Text(100);
const SHAPES: [Shape; 4] = [TEXT, Shape::Record, Shape::Dto, Shape::Tree];

/// Makes one call at a time.
pub trait Caller {
    /// Calls `method` with the encoded message `body` and returns the encoded reply, both without the protocol's
    /// framing. Protocols whose calls name no method ignore `method`.
    ///
    /// # Errors
    /// How the call ended, if not with a reply.
    fn call(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError>;

    /// The same for the last call on its connection: the server sees the end of the stream after it.
    ///
    /// # Errors
    /// How the call ended, if not with a reply.
    fn call_last(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        self.call(method, body)
    }

    /// Closes the connection, so that the next call opens another.
    fn disconnect(&mut self) {}

    /// What the latest connection negotiated for TLS. `None` without TLS, and before the first call.
    fn tls(&self) -> Option<Tls> {
        None
    }
}

/// One thing that a server must do.
#[derive(Clone, Copy)]
pub struct Case {
    /// Unique name: `text/filled`.
    pub name: &'static str,
    /// What a passing server does, in one line.
    pub verifies: &'static str,
    /// What a protocol must offer for the case to apply.
    pub needs: &'static [Need],
    /// The method to which the case makes many requests. `None` for a few.
    many_to: Option<Method>,
    run: fn(&mut Probe<'_>) -> Result<(), String>,
}

/// A row of a table of cases.
const fn case(
    name: &'static str,
    needs: &'static [Need],
    run: fn(&mut Probe<'_>) -> Result<(), String>,
    verifies: &'static str,
) -> Case {
    Case { name, verifies, needs, many_to: None, run }
}

impl Case {
    /// The first need that the protocol does not meet; `None` if the case applies.
    pub fn unmet(&self, profile: &Profile) -> Option<Need> {
        self.needs.iter().copied().find(|need| !profile.offers(*need))
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Number of cases that passed.
    pub passed: u32,
    /// Cases that failed, in the order in which they ran.
    pub failed: Vec<CaseFailure>,
}

impl CheckReport {
    /// Adds the result of a case.
    fn add(&mut self, case: &'static str, result: Result<(), String>) {
        match result {
            Ok(()) => self.passed += 1,
            Err(reason) => self.failed.push(CaseFailure { case, reason: one_line(&reason) }),
        }
    }
}

/// A failed case. Displays as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseFailure {
    /// Name of the case.
    pub case: &'static str,
    /// What was expected and what happened, on one line.
    pub reason: String,
}

impl fmt::Display for CaseFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.case, self.reason)
    }
}

/// Cases on one subject: a table of `contract/README.md`.
pub struct Group {
    /// Heading of the table.
    pub title: &'static str,
    /// The cases, in the order in which they run.
    pub cases: &'static [Case],
}

/// All cases by subject, in the order in which they run.
pub const GROUPS: [Group; 12] = [
    Group { title: "Content", cases: content::CASES },
    Group { title: "Extremes", cases: extremes::CASES },
    Group { title: "Many requests", cases: many::CASES },
    Group { title: "Protobuf: valid encodings", cases: wire::protobuf::CASES },
    Group { title: "Protobuf: unusual encodings", cases: wire::non_canonical::CASES },
    Group { title: "Protobuf: text that is not UTF-8", cases: wire::non_canonical::INVALID_UTF8 },
    Group { title: "Protobuf: malformed requests", cases: wire::malformed::CASES },
    Group { title: "JSON: unusual encodings", cases: wire::json::CASES },
    Group { title: "JSON: malformed requests", cases: wire::json_malformed::CASES },
    Group { title: "Thrift", cases: wire::thrift::CASES },
    Group { title: "Opaque bodies", cases: wire::opaque::CASES },
    Group { title: "Missing methods", cases: methods::CASES },
];

/// All cases, in the order in which they run.
pub fn all() -> Vec<Case> {
    GROUPS.iter().flat_map(|group| group.cases).copied().collect()
}

/// The cases that apply to a protocol.
pub fn applicable(profile: &Profile) -> Vec<Case> {
    all().into_iter().filter(|case| case.unmet(profile).is_none()).collect()
}

/// Runs the cases of a protocol against the server behind `caller`, with values drawn from `seed`. Makes about 5,300
/// calls, one at a time; if three in a row time out, the remaining cases fail without running.
pub fn check(caller: &mut dyn Caller, profile: &Profile, seed: u64) -> CheckReport {
    check_methods(caller, profile, seed, &Method::SERVED)
}

/// The same, but makes many requests only for these methods: about 300 calls, plus 1,250 for each method.
pub fn check_methods(
    caller: &mut dyn Caller,
    profile: &Profile,
    seed: u64,
    methods: &[Method],
) -> CheckReport {
    let mut cases = applicable(profile);
    cases.retain(|case| case.many_to.is_none_or(|method| methods.contains(&method)));
    run(&cases, caller, profile, seed)
}

fn run(cases: &[Case], caller: &mut dyn Caller, profile: &Profile, seed: u64) -> CheckReport {
    let mut probe = Probe::new(caller, profile, seed);
    let mut report = CheckReport::default();
    for case in cases {
        let result = if probe.is_silent() {
            Err("skipped: the server stopped answering".to_owned())
        } else {
            (case.run)(&mut probe)
        };
        report.add(case.name, result);
    }
    report
}

/// Some servers send status messages of many lines.
fn one_line(reason: &str) -> String {
    const MAX_LEN: usize = 300;
    let line = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_LEN) {
        Some((end, _)) => format!("{}..", &line[..end]),
        None => line,
    }
}
