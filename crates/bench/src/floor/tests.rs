//! Tests the floor against the testkit's servers.

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rpcbench_record::Protocol;
use rpcbench_testkit::{Behaviour, Plan, Records, Server, tls_config};
use tempfile::NamedTempFile;

use super::load::{Floor, Load};
use super::short::Short;
use super::tls;

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
    Floor::open(address, None, protocol, load, &shape.parse().unwrap())
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

/// Sends more than both windows of a connection: the server's, which is reopened every 512 MiB, and our own of 2 GiB.
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

/// A null server with TLS, and the file with its certificate, which is its own authority.
fn secure(behaviour: &str, records: Records) -> (Server, NamedTempFile) {
    let issued = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (certificate, key) = (NamedTempFile::new().unwrap(), NamedTempFile::new().unwrap());
    fs::write(&certificate, issued.cert.pem()).unwrap();
    fs::write(&key, issued.signing_key.serialize_pem()).unwrap();
    let plan = Plan::new(&[behaviour.parse().unwrap()]).unwrap();
    let config = tls_config((certificate.path(), key.path()), plan.protocol, None).unwrap();
    let address = ([127, 0, 0, 1], 0).into();
    (Server::start_secure(address, plan, config, records).unwrap(), certificate)
}

#[test]
fn calls_over_tls_are_counted_exactly_however_replies_are_cut_into_records() {
    for (behaviour, protocol) in
        [("null", Protocol::Grpc), ("null-json", Protocol::Json), ("thrift", Protocol::Thrift)]
    {
        for records in [Records::Shared, Records::PerReply] {
            let (server, authority) = secure(behaviour, records);
            let config = Arc::new(tls::config(authority.path(), true).unwrap());
            let load = Load { connections: 3, in_flight: 200 };
            let shape = "text:100".parse().unwrap();
            let mut floor =
                Floor::open(server.address(), Some(&config), protocol, load, &shape).unwrap();
            let calls = floor.run(Duration::from_millis(100)).unwrap();
            assert!(calls >= 600, "{calls} calls of {protocol}, and 600 at once");
            assert_eq!(server.calls(), calls + 3 * OPENING, "{protocol}");
        }
    }
}

#[test]
fn short_connections_resume_sessions_only_if_they_may() {
    let (server, authority) = secure("null-json", Records::Shared);
    for resume in [true, false] {
        let config = Arc::new(tls::config(authority.path(), resume).unwrap());
        let shape = "text:100".parse().unwrap();
        let mut short = Short::new(server.address(), config, Protocol::Json, &shape).unwrap();
        let (mut calls, mut resumed) = (0, 0);
        // The first ones have no tickets yet.
        while calls < 5 {
            let done = short.run(2, Duration::from_millis(100)).unwrap();
            (calls, resumed) = (calls + done.calls, resumed + done.resumed);
        }
        assert_eq!(resumed > 0, resume, "{resumed} of {calls}");
    }
}
