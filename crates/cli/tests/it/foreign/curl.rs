//! curl calls every JSON server.

use std::net::SocketAddr;
use std::process::Command;

use rpcbench_record::Protocol;

use super::requests::{Request, answered_by_all};

#[test]
#[ignore = "needs the built servers"]
fn curl_gets_the_right_reply_from_every_json_server() {
    answered_by_all(Protocol::Json, curl);
}

fn curl(address: SocketAddr, request: &Request) -> Command {
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--fail-with-body", "--max-time", "60"]);
    command.args(["--noproxy", "*", "--header", "Content-Type: application/json"]);
    command.args(["--data-binary", &request.body]);
    command.arg(format!("http://{address}/rpcbench.v1.Echo/{}", request.method));
    command
}
