//! The contract's cases over the wire of each protocol, on the testkit's servers.

use std::time::Duration;

use rpcbench_contract::cases::{self, CheckReport};
use rpcbench_engine::{Client, profile};
use rpcbench_record::Protocol;
use rpcbench_testkit::Server;

/// How long a call may take, however busy the machine is.
const CALL: Duration = Duration::from_secs(20);
/// The same where no answer can come.
const WRONG_CALL: Duration = Duration::from_millis(200);

fn check(protocol: Protocol, behaviour: &str) -> CheckReport {
    let server = Server::start(behaviour.parse().unwrap()).unwrap();
    let mut client = Client::new(protocol, server.address(), CALL);
    cases::check(&mut client, profile(protocol), 3)
}

#[test]
fn right_servers_pass_every_case_of_their_protocol() {
    for (protocol, behaviour) in
        [(Protocol::Grpc, "honest"), (Protocol::Json, "json"), (Protocol::TcpEcho, "tcp-echo")]
    {
        let report = check(protocol, behaviour);
        assert_eq!(report.failed, [], "{protocol}");
        assert_eq!(report.passed as usize, cases::tried(profile(protocol)).len(), "{protocol}");
    }
}

#[test]
fn a_server_of_another_protocol_passes_none() {
    for (protocol, behaviour) in [
        (Protocol::Grpc, "tcp-echo"),
        (Protocol::Grpc, "json"),
        (Protocol::Json, "honest"),
        (Protocol::TcpEcho, "honest"),
    ] {
        let server = Server::start(behaviour.parse().unwrap()).unwrap();
        let mut client = Client::new(protocol, server.address(), WRONG_CALL);
        let report = cases::check(&mut client, profile(protocol), 3);
        assert_eq!(report.passed, 0, "{protocol}");
    }
}
