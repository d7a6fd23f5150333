//! The contract's cases over the wire of each protocol, on the testkit's servers.

use std::net::SocketAddr;
use std::time::Duration;

use rpcbench_contract::Profile;
use rpcbench_contract::cases::{self, CheckReport};
use rpcbench_engine::ConnectionOptions;
use rpcbench_harness::EchoClient;
use rpcbench_record::Protocol;
use rpcbench_testkit::{Behaviour, Plan, Server};

/// How long a call may take, however busy the machine is.
const CALL: Duration = Duration::from_secs(20);
/// The same where no answer can come.
const WRONG_CALL: Duration = Duration::from_millis(200);

fn client(protocol: Protocol, address: SocketAddr, timeout: Duration) -> EchoClient {
    EchoClient::new(ConnectionOptions::new(protocol, address), Vec::new(), timeout)
}

/// The report on a server of a protocol that keeps the contract.
fn check(protocol: Protocol) -> CheckReport {
    let behaviour = if protocol == Protocol::Grpc { "honest" } else { protocol.name() };
    let server = Server::start(behaviour.parse().unwrap()).unwrap();
    let mut client = client(protocol, server.address(), CALL);
    cases::check(&mut client, Profile::of(protocol), 3)
}

#[test]
fn right_servers_pass_every_case_of_their_protocol() {
    for protocol in Protocol::with_contract() {
        let report = check(protocol);
        assert_eq!(report.failed, [], "{protocol}");
        assert_eq!(
            report.passed as usize,
            cases::applicable(Profile::of(protocol)).len(),
            "{protocol}"
        );
    }
}

/// Each cheat, and a case that gives it away: in gRPC, in JSON, in Thrift, and in tcp-echo if it is one there.
const CHEATS: [(&str, [&str; 3], Option<&str>); 10] = [
    ("byte-echo", ["text/filled"; 3], None),
    ("canned", ["text/filled"; 3], Some("text/filled")),
    ("swap", ["text/truncated", "json/truncated", "struct/twice"], None),
    ("swap-usual", ["text/invalid-utf8", "json/escapes", "struct/twice"], None),
    ("skim", ["tree/twice", "json/escapes", "struct/twice"], None),
    (
        "memo:40",
        ["record/many-requests", "dto/many-requests", "record/many-requests"],
        Some("record/many-requests"),
    ),
    ("always-internal", ["text/filled"; 3], Some("text/filled")),
    ("error-in-reply", ["text/filled"; 3], Some("text/filled")),
    ("ok-on-truncated", ["text/truncated", "json/truncated", "struct/truncated"], None),
    ("wrong-once:1000", ["text/many-requests"; 3], Some("text/many-requests")),
];

/// A server of a protocol with a behaviour.
fn server(protocol: Protocol, behaviour: &str) -> Server {
    let wire = (protocol != Protocol::Grpc).then_some(protocol.name());
    let behaviours: Vec<Behaviour> =
        wire.into_iter().chain([behaviour]).map(|it| it.parse().unwrap()).collect();
    Server::start_at(([127, 0, 0, 1], 0).into(), Plan::new(&behaviours).unwrap()).unwrap()
}

fn gives_away(protocol: Protocol, behaviour: &str, case: &str) {
    let server = server(protocol, behaviour);
    let mut client = client(protocol, server.address(), CALL);
    let report = cases::check(&mut client, Profile::of(protocol), 3);
    let failed: Vec<_> = report.failed.iter().map(|failure| failure.case).collect();
    assert!(failed.contains(&case), "{protocol} {behaviour}: {failed:?}");
}

#[test]
fn every_cheat_fails_in_grpc() {
    for (cheat, [case, ..], _) in CHEATS {
        gives_away(Protocol::Grpc, cheat, case);
    }
}

#[test]
fn every_cheat_fails_in_connect() {
    for (cheat, [case, ..], _) in CHEATS {
        gives_away(Protocol::Connect, cheat, case);
    }
}

#[test]
fn every_cheat_fails_in_json() {
    for protocol in [Protocol::Json, Protocol::JsonH2c] {
        for (cheat, [_, case, _], _) in CHEATS {
            gives_away(protocol, cheat, case);
        }
    }
}

#[test]
fn every_cheat_fails_in_thrift() {
    // No cheat looks at the transport; without frames a truncated request has no end, and no server can answer it.
    for protocol in [Protocol::Thrift, Protocol::ThriftCompact] {
        for (cheat, [.., case], _) in CHEATS {
            gives_away(protocol, cheat, case);
        }
    }
}

#[test]
fn every_cheat_fails_in_tcp_echo() {
    for (cheat, _, case) in CHEATS {
        if let Some(case) = case {
            gives_away(Protocol::TcpEcho, cheat, case);
        }
    }
}

#[test]
fn server_of_another_protocol_passes_no_case() {
    let others = [
        (Protocol::Grpc, "tcp-echo"),
        (Protocol::Grpc, "json"),
        (Protocol::Grpc, "thrift"),
        (Protocol::Json, "honest"),
        (Protocol::Json, "json-h2c"),
        (Protocol::Connect, "honest"),
        (Protocol::Connect, "thrift"),
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
        let mut client = client(protocol, server.address(), WRONG_CALL);
        let report = cases::check(&mut client, Profile::of(protocol), 3);
        assert_eq!(report.passed, 0, "{protocol}");
    }
}
