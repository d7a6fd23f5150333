//! The floor against the testkit's servers.

use std::net::SocketAddr;
use std::time::Duration;

use rpcbench_record::Protocol;
use rpcbench_testkit::{Behaviour, Plan, Server};

use super::load::{Floor, Load};

/// Calls made on each connection before any is counted.
const OPENING: u64 = 3;

fn server(behaviour: &str) -> Server {
    Server::start(behaviour.parse().unwrap()).unwrap()
}

fn open(
    address: SocketAddr,
    protocol: Protocol,
    (connections, in_flight): (u32, u32),
    shape: &str,
) -> anyhow::Result<Floor> {
    let load = Load { connections, in_flight };
    Floor::open(address, protocol, load, &shape.parse().unwrap())
}

#[test]
fn answered_calls_are_counted_exactly() {
    for (protocol, behaviour) in
        [(Protocol::Grpc, "null"), (Protocol::Json, "null-json"), (Protocol::Thrift, "thrift")]
    {
        let server = server(behaviour);
        let mut floor = open(server.address(), protocol, (3, 7), "text:100").unwrap();
        let calls = floor.run(Duration::from_millis(100)).unwrap();
        assert!(calls > 21, "{calls} calls of {protocol}, and 21 at once");
        assert_eq!(server.calls(), calls + 3 * OPENING, "{protocol}");
    }
}

/// Sends more than both windows of a connection: the server's, opened again every 512 MiB, and our own of 2 GiB.
#[test]
fn load_continues_when_windows_are_opened_again() {
    let server = server("null");
    let mut floor = open(server.address(), Protocol::Grpc, (1, 20), "text:16000").unwrap();
    let mut calls = OPENING;
    while calls * 16_000 < (1 << 31) {
        calls += floor.run(Duration::from_millis(200)).unwrap();
    }
    assert_eq!(server.calls(), calls);
}

#[test]
fn wrong_answer_is_refused_before_counting() {
    for (protocol, behaviours) in [
        (Protocol::Grpc, &["byte-echo"][..]),
        (Protocol::Json, &["json", "byte-echo"]),
        (Protocol::Json, &["json", "always-internal"]),
        (Protocol::Thrift, &["thrift", "byte-echo"]),
        (Protocol::Thrift, &["thrift", "always-internal"]),
    ] {
        let behaviours: Vec<Behaviour> = behaviours.iter().map(|it| it.parse().unwrap()).collect();
        let plan = Plan::new(&behaviours).unwrap();
        let server = Server::start_at(([127, 0, 0, 1], 0).into(), plan).unwrap();
        let opened = open(server.address(), protocol, (1, 1), "text:100");
        let error = format!("{:#}", opened.err().unwrap());
        assert!(error.starts_with("first calls on a connection"), "{behaviours:?}: {error}");
    }
}

#[test]
fn missing_server_is_named() {
    let address = server("null").address();
    let error = open(address, Protocol::Grpc, (1, 1), "text:100").err().unwrap();
    assert!(error.to_string().starts_with(&format!("can't connect to {address};")), "{error}");
}
