//! Whole sessions against servers that behave and misbehave, over real sockets.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rpcbench_clock::{self as clock, Nanos, Span};
use rpcbench_engine::{
    ConnectionOptions, LoadPlan, Payload, ReplyCheck, Session, SessionError, SpotChecks, Target,
};
use rpcbench_record::Protocol;
use rpcbench_testkit::Server;

use crate::support::{self, assert_sums, measure};

fn server(behaviour: &str) -> Server {
    support::server(Protocol::Grpc, behaviour)
}

fn plan(address: SocketAddr) -> LoadPlan {
    LoadPlan { connections: 3, in_flight: 12, ..support::plan(Protocol::Grpc, address) }
}

fn payload(shape: &str) -> Arc<dyn Payload> {
    support::payload(Protocol::Grpc, shape)
}

fn open(plan: &LoadPlan) -> Session {
    support::open(plan, "text:100")
}

#[test]
fn refused_connections_name_the_server() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let plan = LoadPlan { connect_timeout: Nanos::from_millis(50), ..plan(closed) };
    let error = Session::open(&plan, &payload("text:1")).err().unwrap().to_string();
    assert!(error.starts_with(&format!("0 of 3 connections to {closed}")), "{error}");
    assert!(error.contains("refused"), "{error}");
}

#[test]
fn silent_server_is_refused() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let plan = LoadPlan { connect_timeout: Nanos::from_millis(50), ..plan(address) };
    let error = Session::open(&plan, &payload("text:1")).err();
    assert!(matches!(error, Some(SessionError::Connect { open: 0, wanted: 3, .. })));
}

#[test]
fn pending_handshake_of_tls_is_named() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut plan = plan(silent.local_addr().unwrap());
    (plan.server.tls, plan.connect_timeout) =
        (Some(support::unverified_tls()), Nanos::from_millis(500));
    let error = Session::open(&plan, &payload("text:1")).err().unwrap().to_string();
    assert!(error.contains("did not: TLS: the handshake did not end in time"), "{error}");
}

#[test]
fn waiting_for_a_server_can_be_cancelled() {
    const HOUR: Nanos = Nanos::from_millis(3_600_000);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let plan = LoadPlan {
        connect_timeout: HOUR,
        timeout: HOUR,
        grace: HOUR,
        ..plan(silent.local_addr().unwrap())
    };
    let payload = payload("text:1");
    let opened = Session::open_with(&plan, &payload, None, || true, &mut |_| {});
    assert!(matches!(opened, Err(SessionError::GivenUp)));

    let hangs = server("hang-after:1");
    let plan = LoadPlan { server: ConnectionOptions::new(Protocol::Grpc, hangs.address()), ..plan };
    let given_up = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&given_up);
    let given_up_now = move || asked.load(Ordering::Relaxed);
    let mut session = Session::open_with(&plan, &payload, None, given_up_now, &mut |_| {}).unwrap();
    let now = clock::now();
    session.start_measuring(Span { start: now, end: now + Nanos(1) });
    given_up.store(true, Ordering::Relaxed);
    assert!(matches!(session.finish(), Err(SessionError::GivenUp)));
}

#[test]
fn contradictions_are_refused() {
    let address = "127.0.0.1:1".parse().unwrap();
    for (plan, word) in [
        (LoadPlan { connections: 0, ..plan(address) }, "connections"),
        (LoadPlan { in_flight: 2, ..plan(address) }, "in_flight = 2"),
        (LoadPlan { threads: 4, ..plan(address) }, "client_threads = 4"),
    ] {
        let error = Session::open(&plan, &payload("text:1")).err().unwrap().to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn load_that_is_not_running_can_not_be_ended_or_awaited() {
    let server = server("honest");
    let mut session = open(&plan(server.address()));
    let span = |from: Nanos| Span { start: from, end: from + Nanos::from_millis(20) };
    assert!(matches!(session.pause(), Err(SessionError::NotLoading)));
    session.measure(span(clock::now()));
    assert!(matches!(session.finish(), Err(SessionError::NotLoading)));
    session.start();
    assert!(matches!(session.finish(), Err(SessionError::NotLoading)));
    session.measure(span(clock::now() + Nanos::from_millis(60_000)));
    session.pause().unwrap();
    assert!(matches!(session.finish(), Err(SessionError::NotLoading)));
    assert_sums(&measure(&mut session, 20));
}

#[test]
fn cut_span_keeps_its_calls() {
    let server = server("honest");
    let mut session = open(&plan(server.address()));
    let start = clock::now();
    let planned = Nanos::from_millis(600_000);
    assert!(!session.cut(), "no span to cut");
    session.start_measuring(Span { start, end: start + planned });
    clock::sleep_until(start + Nanos::from_millis(50));
    assert!(session.cut());
    let measurement = session.finish().unwrap();
    assert_sums(&measurement);
    let length = measurement.span.end - measurement.span.start;
    assert!(length >= Nanos::from_millis(50) && length < planned);
    assert_eq!(measurement.tally.calls.series.len() as u64, length.0.div_ceil(100_000_000));
    let outside = measurement.unmeasured.outcomes.total();
    assert_eq!(measurement.tally.calls.outcomes.total() + outside, server.calls());
    session.start_measuring(Span { start: clock::now() + planned, end: clock::now() + planned });
    assert!(!session.cut(), "it has not begun");
    session.pause().unwrap();
    assert_sums(&measure(&mut session, 20));
}

#[test]
fn second_start_puts_no_more_calls_in_flight() {
    let server = server("slow:5ms");
    let mut session = open(&plan(server.address()));
    session.start();
    let measurement = measure(&mut session, 300);
    let most = 12 * (300 / 5 + 1);
    assert!(
        measurement.tally.calls.outcomes.total() <= most,
        "{:?}",
        measurement.tally.calls.outcomes
    );
}

#[test]
fn thread_that_fails_to_start_ends_the_others() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let plan = LoadPlan {
        threads: 2,
        cpus: vec![1000, 0],
        connect_timeout: Nanos::from_millis(600_000),
        ..plan(silent.local_addr().unwrap())
    };
    let error = Session::open(&plan, &payload("text:1")).err();
    assert!(matches!(error, Some(SessionError::Thread(_))), "{error:?}");
}

#[test]
fn number_of_calls_is_made_with_any_threads_and_arrivals() {
    let server = server("honest");
    for (arrivals, threads, calls) in [
        ("closed", 1, 1),
        ("closed", 3, 1000),
        ("closed", 3, 2),
        ("constant:5000", 2, 500),
        ("poisson:5000", 2, 500),
    ] {
        let plan =
            LoadPlan { threads, arrivals: arrivals.parse().unwrap(), ..plan(server.address()) };
        let mut session = open(&plan);
        session.start_measuring_calls(clock::now() + Nanos::from_millis(10), calls);
        while !session.is_drained() {
            clock::sleep_until(clock::now() + Nanos::from_millis(1));
        }
        let measurement = session.finish().unwrap();
        let outcomes = &measurement.tally.calls.outcomes;
        assert_eq!((outcomes.ok, outcomes.errors()), (calls, 0), "{arrivals} x{threads}");
        assert!(
            measurement.span.end > measurement.span.start && measurement.span.end < Nanos::NEVER
        );
        let due = measurement.pacing.map_or(calls, |pacing| pacing.due);
        assert_eq!(due, calls);
    }
}

/// Two requests of a load and, as spot checks, one usual request, one that is cut short, and one of another text.
struct Checked {
    target: Target,
    /// Times that a reply to each was judged.
    judged: [AtomicU64; 5],
}

const REQUESTS: [&[u8]; 5] = [b"\x0a\x01a", b"\x0a\x01b", b"\x0a\x01c", b"\x0a\x02d", b"\x0a\x01e"];

impl Payload for Checked {
    fn target(&self, _: usize) -> &Target {
        &self.target
    }

    fn len(&self) -> usize {
        REQUESTS.len()
    }

    fn request(&self, index: usize) -> &[u8] {
        REQUESTS[index]
    }

    fn spot_checks(&self) -> Option<&dyn SpotChecks> {
        Some(self)
    }

    fn reply_check(&self) -> ReplyCheck {
        ReplyCheck::Echo
    }

    fn verify(&self, index: usize, _: &[u8], reply: &[u8]) -> Result<(), String> {
        self.judged[index].fetch_add(1, Ordering::Relaxed);
        let right = reply[1..] == REQUESTS[index][1..];
        if right && index != 3 { Ok(()) } else { Err(format!("{index} is wrong")) }
    }
}

impl SpotChecks for Checked {
    fn count(&self) -> usize {
        3
    }

    fn accepts_status(&self, index: usize, code: u32) -> bool {
        (index, code) == (3, 13)
    }
}

#[test]
fn spot_checks_are_made_once_and_by_no_load() {
    for (behaviour, wrong) in [("honest", 0), ("swap", 1)] {
        let server = server(behaviour);
        let plan = LoadPlan { threads: 2, ..plan(server.address()) };
        let checked = Arc::new(Checked {
            target: Target::new("/rpcbench.v1.Echo/Text"),
            judged: Default::default(),
        });
        let payload: Arc<dyn Payload> = Arc::<Checked>::clone(&checked);
        let mut session = Session::open(&plan, &payload).unwrap();
        let judged = || checked.judged.each_ref().map(|it| it.load(Ordering::Relaxed));
        let found = session.spot_check().unwrap();
        assert_eq!((found.outcomes.total(), found.outcomes.errors()), (3, wrong), "{found:?}");
        assert_eq!(judged(), [0, 0, 1, wrong, 1]);
        assert_sums(&measure(&mut session, 50));
        assert_eq!(judged()[2..], [1, wrong, 1], "the load made some");
        assert!(judged()[..2].iter().all(|times| *times > 0));
        session.start();
        assert!(matches!(session.spot_check(), Err(SessionError::Loading)));
        let before = session.pause().unwrap().outcomes.total();
        let after = session.spot_check().unwrap().outcomes.total();
        assert_eq!(after - before, 3);
    }
}

#[test]
fn window_in_parts_lasts_as_long_as_its_parts() {
    let server = server("honest");
    let plan = LoadPlan { threads: 2, ..plan(server.address()) };
    let mut session = open(&plan);
    session.start();
    let length = Nanos::from_millis(15);
    for number in 1..=3 {
        session.leave().unwrap();
        session.leave().unwrap();
        let before = session.progress();
        session.enter();
        let start = clock::now() + Nanos::from_millis(2);
        session.measure_part(Span { start, end: start + length }, number == 3);
        while number < 3 && clock::now() < start + length {
            std::thread::yield_now();
        }
        assert!(session.progress().ended >= before.ended);
    }
    let first = session.finish().unwrap();
    assert_eq!(first.length, Nanos::from_millis(45));
    assert_sums(&first);
    // The load continues, and may be measured in one piece or end.
    let start = clock::now() + Nanos::from_millis(2);
    session.measure(Span { start, end: start + length });
    let second = session.finish().unwrap();
    assert_eq!((second.length, second.span), (length, Span { start, end: start + length }));
    assert_eq!(second.unmeasured.outcomes.errors(), 0);
    session.start();
    session.leave().unwrap();
    session.enter();
    assert_eq!(session.pause().unwrap().outcomes.errors(), 0);
}
