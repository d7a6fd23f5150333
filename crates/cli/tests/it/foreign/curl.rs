//! curl calls every JSON server, over each version of HTTP that it is measured by.

use std::net::SocketAddr;
use std::process::Command;

use rpcbench_record::Protocol;

use super::requests::{Request, answered_by_all};

#[test]
#[ignore = "needs the built servers"]
fn curl_gets_the_right_reply_from_every_json_server() {
    answered_by_all(Protocol::Json, |address, request| curl("--http1.1", address, request));
    let curl_h2c = |address, request: &_| curl("--http2-prior-knowledge", address, request);
    answered_by_all(Protocol::JsonH2c, curl_h2c);
}

fn curl(version: &str, address: SocketAddr, request: &Request) -> Command {
    let mut command = Command::new("curl");
    command.arg(version);
    command.args(["--silent", "--show-error", "--fail-with-body", "--max-time", "60"]);
    command.args(["--noproxy", "*", "--header", "Content-Type: application/json"]);
    command.args(["--data-binary", &request.body]);
    command.arg(format!("http://{address}/rpcbench.v1.Echo/{}", request.method));
    command
}
