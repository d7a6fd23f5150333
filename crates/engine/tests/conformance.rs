//! The contract's cases over the wire of each protocol, on the testkit's servers.

use std::time::Duration;

use rpcbench_contract::cases::{self, CheckReport};
use rpcbench_engine::{Client, profile};
use rpcbench_record::Protocol;
use rpcbench_testkit::{Plan, Server};

/// How long a call may take, however busy the machine is.
const CALL: Duration = Duration::from_secs(20);
/// The same where no answer can come.
const WRONG_CALL: Duration = Duration::from_millis(200);

/// A server of each protocol that keeps the contract.
const RIGHT: [(Protocol, &str); 8] = [
    (Protocol::Grpc, "honest"),
    (Protocol::Json, "json"),
    (Protocol::JsonH2c, "json-h2c"),
    (Protocol::Thrift, "thrift"),
    (Protocol::ThriftCompact, "thrift-compact"),
    (Protocol::ThriftBuffered, "thrift-buffered"),
    (Protocol::ThriftBufferedCompact, "thrift-buffered-compact"),
    (Protocol::TcpEcho, "tcp-echo"),
];

fn check(protocol: Protocol, behaviour: &str) -> CheckReport {
    let server = Server::start(behaviour.parse().unwrap()).unwrap();
    let mut client = Client::new(protocol, server.address(), CALL);
    cases::check(&mut client, profile(protocol), 3)
}

#[test]
fn right_servers_pass_every_case_of_their_protocol() {
    for (protocol, behaviour) in RIGHT {
        let report = check(protocol, behaviour);
        assert_eq!(report.failed, [], "{protocol}");
        assert_eq!(report.passed as usize, cases::tried(profile(protocol)).len(), "{protocol}");
    }
}

/// Each cheat, and a case that gives it away, in gRPC and in JSON.
const CHEATS: [(&str, &str, &str); 9] = [
    ("byte-echo", "text/filled", "text/filled"),
    ("canned", "text/filled", "text/filled"),
    ("swap", "text/truncated", "json/truncated"),
    ("skim", "tree/twice", "json/escapes"),
    ("memo:40", "record/many-requests", "dto/many-requests"),
    ("always-internal", "text/filled", "text/filled"),
    ("error-in-reply", "text/filled", "text/filled"),
    ("ok-on-truncated", "text/truncated", "json/truncated"),
    ("wrong-once:1000", "text/many-requests", "text/many-requests"),
];

fn gives_away(protocol: Protocol, behaviours: &[&str], case: &str) {
    let behaviours: Vec<_> = behaviours.iter().map(|text| text.parse().unwrap()).collect();
    let free = "127.0.0.1:0".parse().unwrap();
    let server = Server::start_at(free, Plan::new(&behaviours).unwrap()).unwrap();
    let mut client = Client::new(protocol, server.address(), CALL);
    let report = cases::check(&mut client, profile(protocol), 3);
    let failed: Vec<_> = report.failed.iter().map(|failure| failure.case).collect();
    assert!(failed.contains(&case), "{protocol} {behaviours:?}: {failed:?}");
}

#[test]
fn every_cheat_fails_in_grpc() {
    for (cheat, case, _) in CHEATS {
        gives_away(Protocol::Grpc, &[cheat], case);
    }
}

#[test]
fn every_cheat_fails_in_json() {
    for (cheat, _, case) in CHEATS {
        gives_away(Protocol::Json, &["json", cheat], case);
    }
}

#[test]
fn every_cheat_fails_in_json_over_http2() {
    for (cheat, _, case) in CHEATS {
        gives_away(Protocol::JsonH2c, &["json-h2c", cheat], case);
    }
}

#[test]
fn a_server_of_another_protocol_passes_none() {
    let others = [
        (Protocol::Grpc, "tcp-echo"),
        (Protocol::Grpc, "json"),
        (Protocol::Grpc, "thrift"),
        (Protocol::Json, "honest"),
        (Protocol::Json, "json-h2c"),
        (Protocol::JsonH2c, "honest"),
        (Protocol::JsonH2c, "json"),
        (Protocol::TcpEcho, "honest"),
        (Protocol::Thrift, "honest"),
        (Protocol::Thrift, "thrift-buffered"),
        (Protocol::Thrift, "thrift-compact"),
        (Protocol::ThriftCompact, "tcp-echo"),
        (Protocol::ThriftBuffered, "thrift"),
        (Protocol::ThriftBuffered, "thrift-buffered-compact"),
        (Protocol::ThriftBufferedCompact, "honest"),
    ];
    for (protocol, behaviour) in others {
        let server = Server::start(behaviour.parse().unwrap()).unwrap();
        let mut client = Client::new(protocol, server.address(), WRONG_CALL);
        let report = cases::check(&mut client, profile(protocol), 3);
        assert_eq!(report.passed, 0, "{protocol}");
    }
}
