//! Whole sessions over real sockets, against peers that follow a script of frames that no ordinary server sends. Every due
//! call must have the outcome that the script gave it, and be counted once.

mod check;
mod connections;
mod endings;
mod floods;
mod limits;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use rpcbench_clock::{self as clock, Nanos, Span};
use rpcbench_engine::{LoadPlan, Payload, Session};
use rpcbench_record::{Outcomes, Protocol};
use rpcbench_testkit::scripted::{
    Frame, Listener, Request, Requests, ScriptError, ScriptedPeer, Wire,
};

use crate::support;

/// Time limit until a script lets the load end.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The plan of these tests: one connection, so that a script knows what arrives on it.
fn plan(address: SocketAddr, in_flight: u32) -> LoadPlan {
    LoadPlan { in_flight, ..support::plan(Protocol::Grpc, address) }
}

/// The outcome of every call.
struct Came {
    outcomes: Outcomes,
    examples: Vec<String>,
}

fn payload(shape: &str) -> Arc<dyn Payload> {
    support::plain(Protocol::Grpc, shape)
}

/// A script's messages to its test: the load may end, and the number of calls counted.
enum Said {
    MayEnd,
    Counted(u64),
}

/// A short load, which ends after the script allows it; every call from the first to the last one that was due.
fn load(script: &Receiver<Said>, plan: &LoadPlan, shape: &str) -> Came {
    let mut session = Session::open(plan, &payload(shape)).unwrap();
    session.start();
    // A failed script sends nothing; joining it shows why.
    assert!(!matches!(script.recv_timeout(TIMEOUT), Ok(Said::Counted(_))));
    let start = clock::now() + Nanos::from_millis(5);
    session.measure(Span { start, end: start + Nanos::from_millis(60) });
    let measurement = session.finish().unwrap();
    let mut outcomes = measurement.tally.calls.outcomes.clone();
    assert_eq!(measurement.tally.calls.ok.count(), outcomes.ok);
    assert_eq!(measurement.tally.calls.errors.count(), outcomes.errors());
    let before = &measurement.unmeasured.outcomes;
    outcomes.ok += before.ok;
    outcomes.wrong_answer += before.wrong_answer;
    outcomes.timeout += before.timeout;
    outcomes.transport += before.transport;
    outcomes.not_sent += before.not_sent;
    for (code, calls) in &before.status {
        *outcomes.status.entry(*code).or_default() += calls;
    }
    assert_eq!(session.progress().ended, outcomes.total());
    let examples =
        [measurement.tally.calls.examples, measurement.unmeasured.error_examples].concat();
    Came { outcomes, examples }
}

/// The handshake, and a connection window that never closes.
fn greet(wire: &mut Wire, settings: &[(u16, u32)]) -> Result<(), ScriptError> {
    wire.handshake(settings)?;
    wire.send(&Frame::window_update(0, 0x7fff_0000))
}

/// Takes exactly `count` requests.
fn take(
    wire: &mut Wire,
    requests: &mut Requests,
    count: usize,
) -> Result<Vec<Request>, ScriptError> {
    let mut taken = Vec::new();
    while taken.len() < count {
        match wire.next_request(requests)? {
            Some(request) => taken.push(request),
            None => break,
        }
    }
    assert_eq!(taken.len(), count, "the client closed");
    Ok(taken)
}

/// The test that a script belongs to.
struct Test(Sender<Said>);

impl Test {
    /// Notes that the load may end.
    fn may_end(&self) {
        self.0.send(Said::MayEnd).expect("the test waits for it");
    }
}

/// Answers correctly until the client closes; returns the number of calls answered.
fn serve(wire: &mut Wire, test: &Test) -> Result<u64, ScriptError> {
    test.may_end();
    let (mut requests, mut answered) = (Requests::default(), 0);
    while let Some(request) = wire.next_request(&mut requests)? {
        answered += u64::from(wire.send_all(&request.right_reply()).is_ok());
    }
    Ok(answered)
}

/// A connection that behaves from start to end.
fn serve_next(listener: &Listener, test: &Test) -> Result<u64, ScriptError> {
    let mut wire = listener.accept()?;
    greet(&mut wire, &[])?;
    serve(&mut wire, test)
}

/// Starts a script that returns a count of calls.
fn counting<S>(script: S) -> (ScriptedPeer, Receiver<Said>)
where
    S: FnOnce(&Listener, &Test) -> Result<u64, ScriptError> + Send + 'static,
{
    let (sender, said) = channel();
    let peer = ScriptedPeer::start_many(move |listener| {
        let count = script(listener, &Test(sender.clone()))?;
        sender.send(Said::Counted(count)).expect("the test waits for it");
        Ok(())
    });
    (peer.unwrap(), said)
}

/// The count of a script that succeeded.
fn count_of(peer: ScriptedPeer, said: &Receiver<Said>) -> u64 {
    peer.finish().unwrap();
    let counts = said.try_iter().filter_map(|said| match said {
        Said::Counted(count) => Some(count),
        Said::MayEnd => None,
    });
    counts.sum()
}

/// Asserts that the script succeeded and answered as many calls as got a reply.
fn assert_answered(peer: ScriptedPeer, said: &Receiver<Said>, came: &Came) {
    assert_eq!(count_of(peer, said), came.outcomes.ok, "{:?}", came.examples);
}

/// Asserts that calls were answered correctly or lost with their connection.
fn assert_lost(came: &Came, lost: u64, reason: &str) {
    let expected = Outcomes { ok: came.outcomes.ok, transport: lost, ..Outcomes::default() };
    assert_eq!(came.outcomes, expected, "{:?}", came.examples);
    assert!(came.outcomes.ok > 0);
    assert!(lost == 0 || came.examples.iter().any(|it| it.contains(reason)), "{:?}", came.examples);
}

/// A complete right reply, with its DATA in frames of `size` bytes.
fn cut_reply(request: &Request, size: usize) -> Vec<Frame> {
    let [headers, data, trailers] = request.right_reply();
    let pieces = data.payload.chunks(size).map(|piece| Frame::data(request.stream, piece));
    std::iter::once(headers).chain(pieces).chain([trailers]).collect()
}
