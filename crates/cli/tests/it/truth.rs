//! What the engine says of a server that is known, over real sockets.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use rpcbench_contract::{Corpus, Encoding, Shape};
use rpcbench_engine::clock::{self, Nanos};
use rpcbench_engine::{LoadPlan, Measurement, Payload, Session, Span};
use rpcbench_record::{Arrivals, ConnectionLife, Protocol};
use rpcbench_testkit::Server;
use rustix::process::{Pid, Signal, kill_process};

use crate::testkit;

const SECOND: Nanos = Nanos::from_millis(1000);

fn plan(address: SocketAddr, arrivals: &str) -> LoadPlan {
    LoadPlan {
        protocol: Protocol::Grpc,
        address: address.into(),
        authority: address.to_string(),
        connections: 6,
        in_flight: 6000,
        arrivals: arrivals.parse().unwrap(),
        seed: 7,
        threads: 2,
        cpus: Vec::new(),
        timeout: Nanos(10 * SECOND.0),
        grace: Nanos(10 * SECOND.0),
        connect_timeout: Nanos(10 * SECOND.0),
        connection_life: ConnectionLife::Long,
        first_request: 0,
        pipelining: false,
    }
}

fn open(plan: &LoadPlan) -> Session {
    let payload: Arc<dyn Payload> =
        Arc::new(Corpus::generate(&Shape::Text(100), 1, Encoding::Protobuf));
    Session::open(plan, &payload).unwrap()
}

/// Starts a load and measures `length` of it from 100 ms on; `meanwhile` is told when that is.
fn measure(session: &mut Session, length: Nanos, meanwhile: impl FnOnce(Nanos)) -> Measurement {
    let start = clock::now() + Nanos::from_millis(100);
    session.start_measuring(Span { start, end: start + length });
    meanwhile(start);
    session.finish().unwrap()
}

/// A server in a process of its own.
struct Process {
    child: Child,
    address: SocketAddr,
}

impl Process {
    fn start(behaviour: &str) -> Self {
        let mut child = Command::new(testkit::program())
            .args(["--print-address", "--behaviour", behaviour])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, address: line.trim().parse().unwrap() }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A tenth of the calls come due while the server is stopped, and wait 0 to 1 s for it: 5 % of all wait
/// longer than 0.5 s, and 1 % longer than 0.9 s.
#[test]
fn a_server_stopped_for_one_second_in_ten_is_in_the_quantiles() {
    let server = Process::start("null");
    let mut session = open(&plan(server.address, "constant:1000"));
    let measurement = measure(&mut session, Nanos(10 * SECOND.0), |start| {
        clock::sleep_until(start + Nanos(4 * SECOND.0));
        server.signal(Signal::STOP);
        clock::sleep_until(start + Nanos(5 * SECOND.0));
        server.signal(Signal::CONT);
    });
    let tally = &measurement.tally;
    assert_eq!((tally.outcomes.ok, tally.outcomes.errors()), (10_000, 0));
    for (q, expected) in [(0.95, 0.5e9), (0.99, 0.9e9)] {
        let found = tally.ok.quantile(q).unwrap() as f64;
        assert!((found / expected - 1.0).abs() < 0.05, "{q}: {found} ns for {expected}");
    }
}

#[test]
fn an_open_loop_sends_what_its_arrival_process_says_and_the_server_counts_the_same() {
    let mut all = 0;
    let server = Server::start("honest".parse().unwrap()).unwrap();
    for arrivals in ["constant:700", "poisson:700", "ramp:100..900/1s", "steps:200..600+200/250ms"]
    {
        let mut session = open(&plan(server.address(), arrivals));
        let measurement = measure(&mut session, SECOND, |_| ());
        let pacing = measurement.pacing.unwrap();
        assert_eq!(measurement.tally.outcomes.ok, pacing.due, "{arrivals}");
        assert_eq!((measurement.tally.outcomes.errors(), pacing.held_back), (0, 0), "{arrivals}");
        all += pacing.due + measurement.unmeasured.outcomes.total();
        assert_eq!(server.calls(), all, "{arrivals}");
    }
}

#[test]
fn an_arrival_process_can_not_change_under_calls() {
    let server = Server::start("honest".parse().unwrap()).unwrap();
    let mut session = open(&plan(server.address(), "closed"));
    session.start();
    let change = session.change_arrivals(Arrivals::Closed).unwrap_err().to_string();
    assert!(change.contains("end it first"), "{change}");
    session.pause().unwrap();
    let unknown = session.change_arrivals("poisson:40%".parse().unwrap()).unwrap_err().to_string();
    assert!(unknown.contains("poisson:40%"), "{unknown}");
    session.change_arrivals("constant:500".parse().unwrap()).unwrap();
    let sampled = {
        let start = clock::now();
        session.start_measuring(Span { start, end: start + SECOND });
        clock::sleep_until(start + Nanos(SECOND.0 / 2));
        session.sample().unwrap()
    };
    let measurement = session.finish().unwrap();
    assert_eq!(measurement.tally.outcomes.ok, 500);
    assert!(sampled.outcomes.ok > 0 && sampled.outcomes.ok < 500, "{:?}", sampled.outcomes);
    assert_eq!(sampled.ok.count(), sampled.outcomes.ok);
}
