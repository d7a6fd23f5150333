//! Ten thousand connections from one process; the server runs in another, so that each has a separate limit on open files.

mod other;
#[path = "it/support.rs"]
mod support;

use std::fs;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use other::Other;
use rpcbench_clock::{self as clock, Nanos, Span};
use rpcbench_engine::{ConnectionOptions, LoadPlan, Measurement, Payload, Session, TlsClient};
use rpcbench_record::Protocol;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const CONNECTIONS: u32 = 10_000;
/// The engine's bound, bytes per connection.
const MEMORY: u64 = 16 * 1024;
/// What a session of TLS adds to it.
const TLS_MEMORY: u64 = 16 * 1024;
/// One test at a time, as they measure the memory of the process.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
#[ignore = "the other process of the tests here"]
fn serves() {
    other::serve("null");
}

#[test]
#[ignore = "the other process of the tests here"]
fn serves_over_tls() {
    other::serve_tls("null");
}

/// Resident memory of this process, bytes.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

/// A load, and what it may take.
struct Scale {
    connections: u32,
    threads: u32,
    tls: Option<TlsClient>,
    /// Most memory of a connection, bytes.
    memory: u64,
}

impl Scale {
    fn plan(&self, address: SocketAddr) -> LoadPlan {
        let Self { connections, threads, .. } = *self;
        let plain = support::plan(Protocol::Grpc, address);
        LoadPlan {
            server: ConnectionOptions { tls: self.tls.clone(), ..plain.server.clone() },
            connections,
            in_flight: connections,
            threads,
            timeout: Nanos::from_millis(60_000),
            grace: Nanos::from_millis(60_000),
            connect_timeout: Nanos::from_millis(60_000),
            ..plain
        }
    }
}

fn payload() -> Arc<dyn Payload> {
    support::payload(Protocol::Grpc, "text:100")
}

fn measure(session: &mut Session, millis: u64) -> Measurement {
    session.start();
    let start = clock::now() + Nanos::from_millis(20);
    session.measure(Span { start, end: start + Nanos::from_millis(millis) });
    session.finish().unwrap()
}

/// Every connection works, and each takes a bounded share of memory.
fn holds(scale: &Scale) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // The usual soft limit; both processes raise it.
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(1024), ..limit }).unwrap();
    let server = if scale.tls.is_some() { "serves_over_tls" } else { "serves" };
    let (server, payload) = (Other::start(server), payload());
    let before = resident();
    let mut session = Session::open(&scale.plan(server.address), &payload).unwrap();
    let measurement = measure(&mut session, 1000);
    let each = resident().saturating_sub(before) / u64::from(scale.connections);
    let outcomes = &measurement.tally.calls.outcomes;
    assert_eq!(outcomes.errors(), 0, "{:?}", measurement.tally.calls.examples);
    assert_eq!(
        measurement.unmeasured.outcomes.errors(),
        0,
        "{:?}",
        measurement.unmeasured.error_examples
    );
    // Each connection had a call at the start, and all calls in flight were awaited, so all were served.
    let all = outcomes.total() + measurement.unmeasured.outcomes.total();
    assert!(all >= u64::from(scale.connections), "{all} calls");
    assert_eq!(session.progress().ended, all);
    assert_eq!(measurement.client.threads, scale.threads);
    assert!(each <= scale.memory, "{} threads: {each} bytes a connection", scale.threads);
}

#[test]
fn one_thread_holds_ten_thousand_connections() {
    holds(&Scale { connections: CONNECTIONS, threads: 1, tls: None, memory: MEMORY });
}

#[test]
fn several_threads_hold_ten_thousand_connections() {
    holds(&Scale { connections: CONNECTIONS, threads: 4, tls: None, memory: MEMORY });
}

/// As many as the server bears, which has two threads for each.
#[test]
fn thousand_connections_with_tls_take_little_more_memory() {
    let tls = Some(support::unverified_tls());
    holds(&Scale { connections: 1000, threads: 2, tls, memory: MEMORY + TLS_MEMORY });
}
