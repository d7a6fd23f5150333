//! A Connect service: connect-go's health service, described by reflection and called over each protocol that it speaks.

use std::process::Command;

use rustix::process::Signal;

use super::loads::{all_ok, load};
use super::peer;
use crate::program::Program;
use crate::serve::port;

#[test]
#[ignore = "needs scripts/peers.sh"]
fn connect_service_counts_the_calls_over_grpc_and_connect() {
    let address = format!("127.0.0.1:{}", port());
    let server = Program::start(Command::new(peer("connect-go")).arg(&address));
    load(&[&address, "--list", "--wait", "60s"]).expect(0).shows(&["Health/Check\n"]);
    let check = ["--call", "Health/Check", "-d", r#"{"service": "orders.v1.Orders"}"#];
    let call = [&[address.as_str()], &check[..], &["--expect", "$.status == \"SERVING\""]].concat();
    let made: u64 = ["grpc", "connect"]
        .map(|protocol| all_ok(&[&call[..], &["--protocol", protocol]].concat()))
        .iter()
        .sum();
    let unknown = ["--call", "Health/Check", "-d", r#"{"service": "other"}"#, "--once"];
    let refused = load(&[&[address.as_str()], &unknown[..], &["--protocol", "connect"]].concat());
    refused.expect(1).shows(&["unknown service other"]);
    server.signal(Signal::TERM);
    let counted: u64 = server.finish().expect(0).out.trim().parse().unwrap();
    assert!(counted > made, "{counted} calls, {made} of them by loads");
}
