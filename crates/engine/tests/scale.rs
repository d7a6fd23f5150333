//! Ten thousand connections from one process; the server runs in another, so that each has a separate limit on open files.

mod other;
mod support;

use std::fs;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use other::Other;
use rpcbench_clock::{self as clock, Nanos, Span};
use rpcbench_engine::{LoadPlan, Measurement, Payload, Session};
use rpcbench_record::Protocol;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const CONNECTIONS: u32 = 10_000;
/// The engine's bound, bytes per connection.
const MEMORY: u64 = 16 * 1024;
/// One test at a time, as they measure the memory of the process.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
#[ignore = "the other process of the tests here"]
fn serves() {
    other::serve("null");
}

/// Resident memory of this process, bytes.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

fn plan(address: SocketAddr, threads: u32) -> LoadPlan {
    LoadPlan {
        connections: CONNECTIONS,
        in_flight: CONNECTIONS,
        threads,
        timeout: Nanos::from_millis(60_000),
        grace: Nanos::from_millis(60_000),
        connect_timeout: Nanos::from_millis(60_000),
        ..support::plan(Protocol::Grpc, address)
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
fn holds_ten_thousand(threads: u32) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // The usual soft limit; both processes raise it.
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(1024), ..limit }).unwrap();
    let (server, payload) = (Other::start("serves"), payload());
    let before = resident();
    let mut session = Session::open(&plan(server.address, threads), &payload).unwrap();
    let measurement = measure(&mut session, 1000);
    let each = resident().saturating_sub(before) / u64::from(CONNECTIONS);
    let outcomes = &measurement.tally.outcomes;
    assert_eq!(outcomes.errors(), 0, "{:?}", measurement.tally.examples);
    assert_eq!(
        measurement.unmeasured.outcomes.errors(),
        0,
        "{:?}",
        measurement.unmeasured.error_examples
    );
    // Each connection had a call at the start, and all calls in flight were awaited, so all were served.
    let all = outcomes.total() + measurement.unmeasured.outcomes.total();
    assert!(all >= u64::from(CONNECTIONS), "{all} calls");
    assert_eq!(session.progress().ended, all);
    assert_eq!(measurement.client.threads, threads);
    assert!(each <= MEMORY, "{threads} threads: {each} bytes a connection");
}

#[test]
fn one_thread_holds_ten_thousand_connections() {
    holds_ten_thousand(1);
}

#[test]
fn several_threads_hold_them_too() {
    holds_ten_thousand(4);
}
