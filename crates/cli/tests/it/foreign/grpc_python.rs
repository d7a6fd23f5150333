//! The services that come with grpcio, described by reflection. Its Channelz counts calls.

use std::process::Command;

use super::loads::{all_ok, load, succeeded};
use super::{file, peer};
use crate::program::Program;
use crate::serve::port;

#[test]
#[ignore = "needs scripts/peers.sh"]
fn grpc_python_counts_the_calls_of_its_health_service() {
    let port = port();
    let mut command = Command::new(peer("grpcio").join("bin/python"));
    let address = format!("127.0.0.1:{port}");
    let _server = Program::start(command.arg(file("grpc_python/server.py")).arg(&address));
    load(&[&address, "--list", "--wait", "60s"]).expect(0).shows(&["Health/Check\n"]);
    // What one look at the counter adds to it.
    let first = succeeded(&address);
    let before = succeeded(&address);
    let proto = file("health.proto");
    let check = ["--call", "Health/Check", "-d", "{}", "--expect", "$.status == \"SERVING\""];
    let made = all_ok(&[&[address.as_str(), "--proto", &proto], &check[..]].concat());
    assert_eq!(succeeded(&address) - before, made + (before - first));
}
