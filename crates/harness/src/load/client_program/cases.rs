//! Cases for clients: calls to a reference server that deliberately answers wrong.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use rpcbench_clock::{self as clock, Nanos};
use rpcbench_contract::cases::{CaseFailure, CheckReport};
use rpcbench_contract::{Corpus, Method, Profile, Shape};
use rpcbench_record::{Outcomes, Protocol};
use rpcbench_reference::{Fault, Faults, MARK, ReferenceServer};

use super::agreement::{Allowed, agree};
use super::message::Command;
use super::program::Program;
use super::records::{Counted, LoadCounts, Loop};
use super::{Opening, failed, open};
use crate::interrupt::Interrupt;
use crate::load::LoadError;

/// Number of calls of a case.
const CALLS: u64 = 60;
/// One call in this many goes wrong.
const EVERY: u64 = 7;
/// The same in cases where the calls that go wrong take as long as the timeout.
const SILENT_EVERY: u64 = 20;
/// Expected wrong answers if only comparing whole messages finds them: one in 16 calls is compared, within a factor of about two.
const WHOLE: RangeInclusive<u64> = 2..=7;
const CONNECTIONS: u32 = 2;
/// Calls in flight on each connection, if it takes several.
const IN_FLIGHT: u32 = 3;
/// Timeout of calls in cases that answer all of them: never reached, even on a busy machine.
const TIMEOUT: Nanos = Nanos::from_millis(10_000);
/// Timeout in cases with unanswered calls. On a busy machine answered calls may reach it, too.
const SHORT_TIMEOUT: Nanos = Nanos::from_millis(500);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit of a case.
const CASE_TIMEOUT: Nanos = Nanos::from_millis(30_000);
/// gRPC's status codes for an exceeded deadline and a broken connection.
const DEADLINE_EXCEEDED: u32 = 4;
const UNAVAILABLE: u32 = 14;

/// The expected report on the calls that went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    WrongAnswer,
    /// `wrong answer` for the calls whose whole message is compared.
    SomeWrongAnswers,
    Status(u32),
    Timeout,
    /// `timeout`, possibly for other calls, too.
    Silence,
    /// The status or `transport`, since some libraries don't distinguish the two.
    StatusOrTransport(u32),
    /// `transport`, for all calls on a broken connection.
    Transport,
    /// `ok` or `transport`, for calls on a connection that is closed gracefully.
    OkOrTransport,
}

/// A case's name, and how the server misbehaves. `None`: not at all.
type Case = (&'static str, Option<(Fault, Expected)>);

const fn status(code: u32) -> Option<(Fault, Expected)> {
    let expected = match code {
        DEADLINE_EXCEEDED => Expected::Timeout,
        UNAVAILABLE => Expected::StatusOrTransport(code),
        code => Expected::Status(code),
    };
    Some((Fault::Status(code), expected))
}

const REMEMBERED: Option<(Fault, Expected)> = Some((Fault::Remembered, Expected::WrongAnswer));
const EMPTY: Option<(Fault, Expected)> = Some((Fault::Empty, Expected::WrongAnswer));
const MALFORMED: Option<(Fault, Expected)> = Some((Fault::Malformed, Expected::WrongAnswer));
const ALTERED: Option<(Fault, Expected)> = Some((Fault::Altered, Expected::SomeWrongAnswers));

macro_rules! messages {
    ($shape:ident, $name:literal) => {
        (
            Shape::$shape,
            [
                (concat!($name, "/remembered"), REMEMBERED),
                (concat!($name, "/empty"), EMPTY),
                (concat!($name, "/malformed"), MALFORMED),
                (concat!($name, "/altered"), ALTERED),
            ],
        )
    };
}

/// The cases of messages with more than a text.
const MESSAGES: [(Shape, [Case; 4]); 3] =
    [messages!(Record, "record"), messages!(Dto, "dto"), messages!(Tree, "tree")];

/// The cases of all protocols.
const COMMON: [Case; 9] = [
    ("right", None),
    ("wrong/remembered", REMEMBERED),
    ("wrong/empty", EMPTY),
    ("wrong/malformed", MALFORMED),
    ("silence", Some((Fault::Silence, Expected::Silence))),
    ("silence/partial", Some((Fault::Partial, Expected::Silence))),
    ("silence/late", Some((Fault::Late, Expected::Silence))),
    ("connection/reset", Some((Fault::Reset, Expected::Transport))),
    ("connection/half-close", Some((Fault::HalfClose, Expected::Transport))),
];

/// Cases of HTTP/2.
const GOAWAY: [Case; 1] = [("connection/goaway", Some((Fault::GoAway, Expected::OkOrTransport)))];

macro_rules! statuses {
    ($($code:literal),+) => {
        [$((concat!("status/", $code), status($code))),+]
    };
}

/// Cases of gRPC. Connect has the same status codes.
const GRPC: [Case; 16] = statuses!(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);

const JSON: [Case; 5] = statuses!(400, 404, 429, 500, 503);

const THRIFT: [Case; 2] = statuses!(1, 6);

/// The cases of a protocol.
fn cases(protocol: Protocol) -> impl Iterator<Item = (Shape, Case)> {
    let connections: &[Case] = if protocol.is_over_http2() { &GOAWAY } else { &[] };
    let statuses: &[Case] = match protocol {
        Protocol::Grpc | Protocol::Connect => &GRPC,
        Protocol::Json => &JSON,
        _ => &THRIFT,
    };
    let of_text = COMMON.iter().chain(connections).chain(statuses);
    let of_messages = MESSAGES.into_iter().flat_map(|(shape, cases)| cases.map(|it| (shape, it)));
    of_text.map(|case| (Shape::Text(100), *case)).chain(of_messages)
}

/// Runs all cases on a connected client. Cases with messages are limited to these methods.
pub fn check_client(
    program: &Arc<Program>,
    protocol: Protocol,
    methods: &[Method],
    seed: u64,
    interrupt: &Interrupt,
) -> Result<CheckReport, LoadError> {
    let mut report = CheckReport::default();
    let tried =
        |shape: &Shape| matches!(shape, Shape::Text(_)) || methods.contains(&shape.method());
    for (shape, (case, fault)) in cases(protocol).filter(|(shape, _)| tried(shape)) {
        let trial = Trial { program, protocol, shape, seed, interrupt };
        match trial.run(fault) {
            Ok(None) => report.passed += 1,
            Ok(Some(reason)) => report.failed.push(CaseFailure { case, reason }),
            Err(LoadError::Failed(reason)) => {
                // After a failed program, the remaining cases would prove nothing.
                report.failed.push(CaseFailure { case, reason });
                break;
            }
            Err(stopped) => return Err(stopped),
        }
    }
    Ok(report)
}

struct Trial<'a> {
    program: &'a Arc<Program>,
    protocol: Protocol,
    shape: Shape,
    seed: u64,
    interrupt: &'a Interrupt,
}

/// A client's report on the calls of a case.
struct Reported {
    calls: u64,
    counts: LoadCounts,
    outcomes: Outcomes,
    allowed: Allowed,
}

impl Trial<'_> {
    /// Runs the calls of a case. Returns what is wrong with the client's report, if anything.
    fn run(&self, fault: Option<(Fault, Expected)>) -> Result<Option<String>, LoadError> {
        let (kind, every) = match fault {
            None => (Fault::Empty, u64::MAX),
            Some((kind, Expected::Silence)) => (kind, SILENT_EVERY),
            Some((kind, Expected::SomeWrongAnswers)) => (kind, 1),
            Some((kind, _)) => (kind, EVERY),
        };
        let faults = Arc::new(Faults::new(kind, every));
        let server =
            ReferenceServer::start_faulty(self.protocol, Arc::clone(&faults)).map_err(failed)?;
        let is_silent = every == SILENT_EVERY;
        let timeout = if is_silent { SHORT_TIMEOUT } else { TIMEOUT };
        let Reported { calls, counts, outcomes, allowed } =
            self.report(server.address().to_string(), timeout)?;
        if calls != CALLS {
            return Ok(Some(format!("{CALLS} calls were asked for, and it made {calls}")));
        }
        let expected = fault.map(|(_, expected)| expected);
        if let Some(reason) = problem(expected, faults.faulty_calls(), &outcomes, self.protocol) {
            return Ok(Some(reason));
        }
        let seen = server.counted();
        // A connection that is closed gracefully is replaced, too.
        let replaced = outcomes.total() - outcomes.ok + faults.faulty_calls();
        let agreed = agree(calls, counts, Some(seen.calls))
            .and_then(|()| allowed.check(seen, calls, replaced));
        match agreed {
            Err(LoadError::Failed(reason)) => Ok(Some(reason)),
            agreed => agreed.map(|()| None),
        }
    }

    /// Makes the client call a server, and returns its report.
    fn report(&self, target: String, timeout: Nanos) -> Result<Reported, LoadError> {
        let Self { program, protocol, interrupt, .. } = *self;
        let encoding = Profile::of(protocol).encoding;
        let in_flight = if protocol.takes_one_call_at_a_time() { 1 } else { IN_FLIGHT };
        program.count(Counted::new(protocol, None, Nanos::NEVER));
        let opening = Opening {
            target,
            protocol,
            corpus: &Corpus::for_clients_with(MARK, &self.shape, self.seed, encoding),
            allowed: Allowed::new(CONNECTIONS, 0),
            in_flight,
            timeout,
            connect_timeout: CONNECT_TIMEOUT,
        };
        let allowed = opening.allowed.opened(open(program, interrupt, &opening)?);
        let slots = Loop::closed(CONNECTIONS * in_flight);
        program.counted(|counted| counted.begin(clock::now(), slots, Some(CALLS)))?;
        program.send(&Command::Start {
            at_ns: 0,
            calls: CALLS,
            schedule: None,
            in_flight_max: None,
        })?;
        let deadline = clock::now() + CASE_TIMEOUT;
        let late = format!("{CALLS} calls did not end, though none takes as long as its timeout");
        let calls = program.wait(deadline, interrupt, &late, |state| state.stopped.take())?;
        let (counts, outcomes) = program.counted(|counted| {
            counted.end();
            (counted.load, counted.counter.outside().outcomes.clone())
        })?;
        program.send(&Command::Close)?;
        Ok(Reported { calls, counts, outcomes, allowed })
    }
}

/// What is wrong with the outcomes of [`CALLS`] calls, of which `faulty` went wrong.
fn problem(
    expected: Option<Expected>,
    faulty: u64,
    outcomes: &Outcomes,
    protocol: Protocol,
) -> Option<String> {
    let status = |code| outcomes.status.get(&code).copied().unwrap_or(0);
    let ok = outcomes.ok;
    let (is_right, words) = match expected {
        None => (ok == CALLS, format!("{CALLS} ok")),
        Some(Expected::WrongAnswer) => exactly(faulty, ok, outcomes.wrong_answer, "wrong answer"),
        Some(Expected::SomeWrongAnswers) => {
            let wrong = outcomes.wrong_answer;
            let words = format!("{} to {} wrong answer, and ok", WHOLE.start(), WHOLE.end());
            (ok + wrong == CALLS && WHOLE.contains(&wrong), words)
        }
        Some(Expected::Timeout) => exactly(faulty, ok, outcomes.timeout, "timeout"),
        Some(Expected::Status(code)) => exactly(faulty, ok, status(code), &protocol.status(code)),
        Some(Expected::StatusOrTransport(code)) => {
            let either = format!("{} or transport", protocol.status(code));
            exactly(faulty, ok, status(code) + outcomes.transport, &either)
        }
        Some(Expected::Silence) => at_least(faulty, ok, outcomes.timeout, "timeout"),
        Some(Expected::Transport) => at_least(faulty, ok, outcomes.transport, "transport"),
        Some(Expected::OkOrTransport) => {
            (ok + outcomes.transport == CALLS, "only ok and transport".to_owned())
        }
    };
    (!is_right).then(|| {
        let mut reported = vec![format!("{ok} ok")];
        let kinds = outcomes.errors_by_kind(protocol);
        reported.extend(kinds.into_iter().map(|(kind, count)| format!("{count} {kind}")));
        format!("expected {words}; it reported {}", reported.join(", "))
    })
}

/// True if the calls that went wrong had the outcome `kind`, and all others had it too or were ok.
fn at_least(faulty: u64, ok: u64, found: u64, kind: &str) -> (bool, String) {
    let is_right = ok + found == CALLS && found >= faulty;
    (is_right, format!("{faulty} {kind} or more, and ok"))
}

/// True if exactly the calls that went wrong had the outcome `kind`, and all others were ok.
fn exactly(faulty: u64, ok: u64, found: u64, kind: &str) -> (bool, String) {
    let right = CALLS - faulty;
    (found == faulty && ok == right, format!("{faulty} {kind} and {right} ok"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connect_has_the_statuses_of_grpc_and_no_goaway() {
        let names = |protocol| cases(protocol).map(|(_, (name, _))| name).collect::<Vec<_>>();
        let (mut grpc, connect) = (names(Protocol::Grpc), names(Protocol::Connect));
        grpc.retain(|name| *name != "connection/goaway");
        assert_eq!(connect, grpc);
        assert_eq!(connect.len(), 9 + 16 + 12);
    }

    #[test]
    fn wrong_tally_says_what_was_expected() {
        let outcomes = |ok, wrong_answer, transport| Outcomes {
            ok,
            wrong_answer,
            transport,
            ..Outcomes::default()
        };
        let wrong = Some(Expected::WrongAnswer);
        let grpc = |expected, outcomes| problem(expected, 8, &outcomes, Protocol::Grpc);
        assert_eq!(grpc(wrong, outcomes(52, 8, 0)), None);
        assert_eq!(
            grpc(wrong, outcomes(60, 0, 0)).unwrap(),
            "expected 8 wrong answer and 52 ok; it reported 60 ok"
        );
        assert_eq!(grpc(Some(Expected::Transport), outcomes(40, 0, 20)), None);
        assert!(grpc(Some(Expected::Transport), outcomes(60, 0, 0)).is_some());
        assert_eq!(
            grpc(Some(Expected::Status(13)), outcomes(52, 0, 8)).unwrap(),
            "expected 8 status 13 INTERNAL and 52 ok; it reported 52 ok, 8 transport"
        );
        assert_eq!(grpc(Some(Expected::OkOrTransport), outcomes(60, 0, 0)), None);
        assert_eq!(grpc(Some(Expected::SomeWrongAnswers), outcomes(56, 4, 0)), None);
        assert_eq!(
            grpc(Some(Expected::SomeWrongAnswers), outcomes(60, 0, 0)).unwrap(),
            "expected 2 to 7 wrong answer, and ok; it reported 60 ok"
        );
        assert_eq!(
            grpc(None, outcomes(59, 0, 1)).unwrap(),
            "expected 60 ok; it reported 59 ok, 1 transport"
        );
    }
}
