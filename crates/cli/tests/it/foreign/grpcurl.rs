//! grpcurl calls every gRPC server.

use std::net::SocketAddr;
use std::process::Command;

use rpcbench_record::Protocol;

use super::peer;
use super::requests::{Request, answered_by_all};
use crate::bench::repository;

#[test]
#[ignore = "needs the built servers"]
fn grpcurl_gets_the_right_reply_from_every_grpc_server() {
    answered_by_all(Protocol::Grpc, grpcurl);
}

fn grpcurl(address: SocketAddr, request: &Request) -> Command {
    let mut command = Command::new(peer("grpcurl"));
    command.args(["-plaintext", "-max-time", "60", "-d", &request.body]);
    command.arg("-import-path").arg(repository().join("contract")).args(["-proto", "echo.proto"]);
    command.arg(address.to_string()).arg(format!("rpcbench.v1.Echo/{}", request.method));
    command
}
