//! The engine against an independent HTTP/2 server: Node's, which is built on nghttp2. The testkit's servers, in the other
//! tests, use the h2 crate.

use std::io::{self, BufRead, BufReader, Lines};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, ChildStdout, Command, Stdio};

use rpcbench_clock::{self as clock, Nanos, Span};
use rpcbench_engine::{LoadPlan, Session};
use rpcbench_record::Protocol;
use rpcbench_testkit::skip;

use crate::support;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/interop/server.mjs");

/// A running server.
struct Node {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    address: SocketAddr,
}

impl Node {
    /// `None`, with a message, if Node is missing.
    fn start(settings: &str) -> Option<Self> {
        let mut command = Command::new("node");
        command.args([SCRIPT, settings]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = match command.spawn() {
            Ok(process) => process,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                skip("no node, which has nghttp2");
                return None;
            }
            Err(error) => panic!("node: {error}"),
        };
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let port: u16 = lines.next().unwrap().unwrap().parse().unwrap();
        Some(Self { process, lines, address: (Ipv4Addr::LOCALHOST, port).into() })
    }

    /// Ends it; returns the number of calls answered.
    fn finish(mut self) -> u64 {
        drop(self.process.stdin.take());
        let answered = self.lines.next().unwrap().unwrap().parse().unwrap();
        assert!(self.process.wait().unwrap().success());
        answered
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Already ended by `finish`.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The plan of these tests.
fn plan(address: SocketAddr) -> LoadPlan {
    LoadPlan {
        connections: 2,
        in_flight: 8,
        timeout: Nanos::from_millis(20_000),
        grace: Nanos::from_millis(20_000),
        connect_timeout: Nanos::from_millis(20_000),
        ..support::plan(Protocol::Grpc, address)
    }
}

/// Asserts that every call is answered correctly, and that both sides count the same.
fn assert_interoperates(settings: &str, shapes: &[&str]) {
    let Some(node) = Node::start(settings) else { return };
    let mut ended = 0;
    for shape in shapes {
        let payload = support::plain(Protocol::Grpc, shape);
        let mut session = Session::open(&plan(node.address), &payload).unwrap();
        session.start();
        let start = clock::now() + Nanos::from_millis(20);
        session.measure(Span { start, end: start + Nanos::from_millis(150) });
        let measurement = session.finish().unwrap();
        let (measured, before) =
            (measurement.tally.calls.outcomes, measurement.unmeasured.outcomes);
        let errors = measured.errors() + before.errors();
        assert_eq!(errors, 0, "{settings} {shape}: {:?}", measurement.tally.calls.examples);
        assert!(before.ok + measured.ok >= 8, "{settings} {shape}");
        assert_eq!(session.progress().ended, before.ok + measured.ok);
        ended += session.progress().ended;
    }
    assert_eq!(node.finish(), ended);
}

#[test]
fn nghttp2_with_its_defaults() {
    assert_interoperates("{}", &["text:0", "text:100", "text:70000"]);
}

#[test]
fn nghttp2_that_allows_little() {
    let settings = r#"{"headerTableSize": 0, "initialWindowSize": 100, "maxConcurrentStreams": 1}"#;
    assert_interoperates(settings, &["text:100", "text:5000"]);
}

#[test]
fn nghttp2_that_allows_much() {
    let settings =
        r#"{"headerTableSize": 65536, "initialWindowSize": 2147483647, "maxFrameSize": 16777215}"#;
    assert_interoperates(settings, &["text:100", "text:200000"]);
}
