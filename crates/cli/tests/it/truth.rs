//! What the engine says of a server that is known, over real sockets and each protocol.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::thread;

use rpcbench_contract::{Corpus, Shape};
use rpcbench_engine::clock::{self, Nanos};
use rpcbench_engine::{LoadPlan, Measurement, Payload, Session, Span, profile};
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
        protocol,
        address: address.into(),
        authority: address.to_string(),
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
        first_request: 0,
        pipelining: false,
    }
}

fn open(plan: &LoadPlan) -> Session {
    let payload: Arc<dyn Payload> =
        Arc::new(Corpus::generate(&Shape::Text(100), 1, profile(plan.protocol).encoding));
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

/// The servers of the testkit that do the least work, or nothing but answer.
fn behaviour(protocol: Protocol) -> &'static str {
    if protocol == Protocol::Grpc { "null" } else { protocol.name() }
}

/// Every protocol's result: they are had side by side, as they take their time asleep, and once for all tests.
type Results<T> = OnceLock<HashMap<Protocol, T>>;

/// The result of a protocol, if its part did not fail.
fn result_of<T: Send>(results: &Results<T>, protocol: Protocol, part: fn(Protocol) -> T) -> &T {
    let all = results.get_or_init(|| {
        raise_file_limit().unwrap();
        thread::scope(|scope| {
            let parts = Protocol::ALL.map(|it| (it, scope.spawn(move || part(it))));
            parts.into_iter().filter_map(|(it, part)| Some((it, part.join().ok()?))).collect()
        })
    });
    all.get(&protocol).unwrap_or_else(|| panic!("no result over {protocol}"))
}

macro_rules! over_each_protocol {
    ($($module:ident: $protocol:ident),+ $(,)?) => {
        $(mod $module {
            use rpcbench_record::Protocol;

            #[test]
            fn a_server_stopped_for_one_second_in_ten_is_in_the_quantiles() {
                super::stopped_for_one_second_in_ten(Protocol::$protocol);
            }

            #[test]
            fn an_open_loop_sends_what_its_arrival_process_says_and_the_server_counts_the_same() {
                super::sent_as_the_arrival_process_says(Protocol::$protocol);
            }
        })+
    };
}

over_each_protocol!(
    grpc: Grpc,
    json: Json,
    json_h2c: JsonH2c,
    thrift: Thrift,
    thrift_compact: ThriftCompact,
    thrift_buffered: ThriftBuffered,
    thrift_buffered_compact: ThriftBufferedCompact,
    tcp_echo: TcpEcho,
);

/// A load of 10 s, and for how long the server was stopped in it: for one second, each protocol's for another, since what
/// was held up then comes all at once.
fn load_with_a_stop(protocol: Protocol) -> (Measurement, Nanos) {
    let server = Process::start(behaviour(protocol));
    let mut session = open(&plan(protocol, server.address, "constant:200"));
    let place = Protocol::ALL.iter().position(|it| *it == protocol).unwrap() as u64;
    let mut stopped = Nanos(0);
    let measurement = measure(&mut session, Nanos(10 * SECOND.0), |start| {
        clock::sleep_until(start + Nanos((1 + place) * SECOND.0));
        server.signal(Signal::STOP);
        let since = clock::now();
        clock::sleep_until(since + SECOND);
        server.signal(Signal::CONT);
        stopped = clock::now() - since;
    });
    (measurement, stopped)
}

/// Calls that come due while the server is stopped wait until it goes on. Of a second's stop a tenth of all do: 5 % of all
/// wait longer than 0.5 s, and 1 % longer than 0.9 s; of a stop that lasted longer, by as much longer. How soon the server
/// has caught up is the machine's doing, so that only bounds what is found; the engine's tests say it exactly, in virtual
/// time.
fn stopped_for_one_second_in_ten(protocol: Protocol) {
    static LOADS: Results<(Measurement, Nanos)> = OnceLock::new();
    let (measurement, stopped) = result_of(&LOADS, protocol, load_with_a_stop);
    let tally = &measurement.tally;
    assert_eq!((tally.outcomes.ok, tally.outcomes.errors()), (2_000, 0));
    for (q, beyond) in [(0.95, 0.5), (0.99, 0.1)] {
        let found = tally.ok.quantile(q).unwrap() as f64;
        let expected = stopped.0 as f64 - beyond * SECOND.0 as f64;
        let bounds = 0.95 * expected..expected + 0.5 * SECOND.0 as f64;
        assert!(bounds.contains(&found), "{q}: {found} ns, which is not in {bounds:?}");
    }
}

/// A load of 1 s by each arrival process, and how many calls the server has counted after it.
fn load_by_each_arrival_process(protocol: Protocol) -> Vec<(&'static str, Measurement, u64)> {
    let own = behaviour(protocol).parse().unwrap();
    let server = Server::start_at(([127, 0, 0, 1], 0).into(), Plan::new(&[own]).unwrap()).unwrap();
    let load = |arrivals| {
        let mut session = open(&plan(protocol, server.address(), arrivals));
        (arrivals, measure(&mut session, SECOND, |_| ()), server.calls())
    };
    ["constant:700", "poisson:700", "ramp:100..900/1s", "steps:200..600+200/250ms"].map(load).into()
}

fn sent_as_the_arrival_process_says(protocol: Protocol) {
    static LOADS: Results<Vec<(&str, Measurement, u64)>> = OnceLock::new();
    let mut all = 0;
    for (arrivals, measurement, counted) in
        result_of(&LOADS, protocol, load_by_each_arrival_process)
    {
        let pacing = measurement.pacing.as_ref().unwrap();
        assert_eq!(measurement.tally.outcomes.ok, pacing.due, "{arrivals}");
        assert_eq!(measurement.tally.outcomes.errors(), 0, "{arrivals}");
        // A connection with a call of its own to wait for can take no other.
        assert!(pacing.held_back == 0 || protocol.takes_one_call_at_a_time(), "{arrivals}");
        all += pacing.due + measurement.unmeasured.outcomes.total();
        assert_eq!(*counted, all, "{arrivals}");
    }
}

#[test]
fn an_arrival_process_can_not_change_under_calls() {
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
    assert_eq!(measurement.tally.outcomes.ok, 500);
    assert!(sampled.outcomes.ok > 0 && sampled.outcomes.ok < 500, "{:?}", sampled.outcomes);
    assert_eq!(sampled.ok.count(), sampled.outcomes.ok);
}
