//! What the engine measures of a known server, over real sockets and each protocol.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;

use rpcbench_clock::{self as clock, Nanos, Span};
use rpcbench_contract::Shape;
use rpcbench_engine::{ConnectionOptions, LoadPlan, Measurement, Payload, Session};
use rpcbench_harness::load::{EchoPayload, Requests};
use rpcbench_record::{Arrivals, ConnectionLife, Protocol};
use rpcbench_testkit::{Plan, Server, raise_file_limit};
use rustix::process::{Pid, Signal, kill_process};

use crate::testkit;

const SECOND: Nanos = Nanos::from_millis(1000);

/// More calls may be in flight than come due while a server is stopped.
fn plan(protocol: Protocol, address: SocketAddr, arrivals: &str) -> LoadPlan {
    let (connections, in_flight) =
        if protocol.takes_one_call_at_a_time() { (250, 250) } else { (6, 6000) };
    LoadPlan {
        server: ConnectionOptions::new(protocol, address),
        connections,
        in_flight,
        arrivals: arrivals.parse().unwrap(),
        seed: 7,
        threads: 2,
        cpus: Vec::new(),
        timeout: Nanos(10 * SECOND.0),
        grace: Nanos(10 * SECOND.0),
        connect_timeout: Nanos(10 * SECOND.0),
        connection_life: ConnectionLife::Long,
        pipelining: false,
    }
}

fn open(plan: &LoadPlan) -> Session {
    let payload: Arc<dyn Payload> =
        Arc::new(EchoPayload::new(plan.server.protocol, &Shape::Text(100), 1, Requests::Usual));
    Session::open(plan, &payload).unwrap()
}

/// Starts a load and measures `length` of it from 100 ms on; `meanwhile` gets that time.
fn measure(session: &mut Session, length: Nanos, meanwhile: impl FnOnce(Nanos)) -> Measurement {
    let start = clock::now() + Nanos::from_millis(100);
    session.start_measuring(Span { start, end: start + length });
    meanwhile(start);
    session.finish().unwrap()
}

/// A server in another process.
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

/// The testkit's server that does the least work.
fn behaviour(protocol: Protocol) -> &'static str {
    if protocol == Protocol::Grpc { "null" } else { protocol.name() }
}

/// Runs `part` for every protocol at the same time, since most of each is waiting.
fn over_each_protocol(part: fn(Protocol)) {
    raise_file_limit().unwrap();
    thread::scope(|scope| {
        let parts = Protocol::with_contract()
            .map(|it| (it, scope.spawn(move || part(it))))
            .collect::<Vec<_>>();
        let failed = parts.into_iter().filter_map(|(it, part)| part.join().is_err().then_some(it));
        assert_eq!(Vec::from_iter(failed), [], "the protocols that failed; see above");
    });
}

/// Time for which a process's threads were ready to run and had no CPU.
fn run_delay(process: &str) -> Nanos {
    let threads = fs::read_dir(format!("/proc/{process}/task")).unwrap().flatten();
    let delays = threads.filter_map(|thread| {
        let schedstat = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        schedstat.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    Nanos(delays.sum())
}

/// Loads for 10 s a server that is stopped for one second of them; each protocol's at another time, since held-back calls come
/// all at once. Returns the measurement, for how long the server was stopped at least, and for how long the machine kept the CPU
/// from the server and this process at most.
fn load_with_a_stop(protocol: Protocol) -> (Measurement, Nanos, Nanos) {
    let server = Process::start(behaviour(protocol));
    let mut session = open(&plan(protocol, server.address, "constant:200"));
    let position = Protocol::with_contract().position(|it| it == protocol).unwrap() as u64;
    let pid = server.child.id().to_string();
    let delay = || run_delay(&pid).0 + run_delay("self").0;
    let (mut stopped, mut before, mut after) = (Nanos(0), 0, 0);
    let measurement = measure(&mut session, Nanos(10 * SECOND.0), |start| {
        let share = 8 * SECOND.0 / Protocol::with_contract().count() as u64;
        clock::sleep_until(start + SECOND + Nanos(position * share));
        before = delay();
        server.signal(Signal::STOP);
        let since = clock::now();
        clock::sleep_until(since + SECOND);
        // Not after it, since this thread may lose its CPU in between.
        stopped = clock::now() - since;
        server.signal(Signal::CONT);
        clock::sleep_until(start + Nanos(10 * SECOND.0));
        after = delay();
    });
    (measurement, stopped, Nanos(after.saturating_sub(before)))
}

/// Calls that come due while the server is stopped wait until it continues. A second's stop affects a tenth of all calls: 5 % of
/// all wait longer than 0.5 s, and 1 % longer than 0.9 s; if the stop lasted longer, by that much longer. The upper bounds allow
/// for time in which the machine gave the processes no CPU. The engine's tests have exact bounds, in virtual time.
#[test]
fn stall_of_one_second_in_ten_shows_in_the_quantiles() {
    over_each_protocol(|protocol| {
        let (measurement, stopped, delay) = load_with_a_stop(protocol);
        let calls = &measurement.tally.calls;
        assert_eq!((calls.outcomes.ok, calls.outcomes.errors()), (2_000, 0), "{protocol}");
        for (q, beyond) in [(0.95, 0.5), (0.99, 0.1)] {
            let found = calls.ok.quantile(q).unwrap() as f64;
            let expected = stopped.0 as f64 - beyond * SECOND.0 as f64;
            let bounds = 0.95 * expected..expected + 0.5 * SECOND.0 as f64 + delay.0 as f64;
            assert!(bounds.contains(&found), "{protocol}, {q}: {found} ns, not in {bounds:?}");
        }
    });
}

#[test]
fn open_loop_follows_its_arrival_process_and_the_server_counts_agree() {
    over_each_protocol(|protocol| {
        let own = behaviour(protocol).parse().unwrap();
        let any_port = ([127, 0, 0, 1], 0).into();
        let server = Server::start_at(any_port, Plan::new(&[own]).unwrap()).unwrap();
        let mut all = 0;
        for arrivals in
            ["constant:700", "poisson:700", "ramp:100..900/1s", "steps:200..600+200/250ms"]
        {
            let mut session = open(&plan(protocol, server.address(), arrivals));
            let measurement = measure(&mut session, SECOND, |_| ());
            let (pacing, outcomes) =
                (measurement.pacing.unwrap(), measurement.tally.calls.outcomes);
            let what = format!("{protocol}, {arrivals}: {outcomes:?}");
            // A late client finds many calls due at once; only connections with one call at a time have no room for them.
            assert!(pacing.held_back == 0 || protocol.takes_one_call_at_a_time(), "{what}");
            assert_eq!((outcomes.ok, outcomes.errors()), (pacing.due, 0), "{what}");
            all += pacing.due + measurement.unmeasured.outcomes.total();
            assert_eq!(server.calls(), all, "{what}");
        }
    });
}

#[test]
fn arrival_process_cannot_change_under_load() {
    let server = Server::start("honest".parse().unwrap()).unwrap();
    let mut session = open(&plan(Protocol::Grpc, server.address(), "closed"));
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
    assert_eq!(measurement.tally.calls.outcomes.ok, 500);
    assert!(sampled.outcomes.ok > 0 && sampled.outcomes.ok < 500, "{:?}", sampled.outcomes);
    assert_eq!(sampled.ok.count(), sampled.outcomes.ok);
}
