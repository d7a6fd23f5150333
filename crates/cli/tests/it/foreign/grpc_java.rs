//! The services that come with grpc-java, described by reflection. Its Channelz counts calls.

use std::process::Command;

use super::loads::{all_ok, load, succeeded, without_wait};
use super::{file, peer};
use crate::program::Program;
use crate::serve::port;
use crate::tls::issued;

/// The services on a free port, with these further arguments.
fn services(arguments: &[&str]) -> (Program, String) {
    let port = port();
    let mut command = Command::new("java");
    command.arg("-cp").arg(peer("grpc-java").join("*")).arg(file("grpc_java/GrpcJava.java"));
    let program = Program::start(command.arg(port.to_string()).args(arguments));
    (program, format!("127.0.0.1:{port}"))
}

#[test]
#[ignore = "needs scripts/peers.sh"]
fn grpc_java_is_called_with_client_certificates() {
    let files = issued();
    let path = |name: &str| files.path().join(name).display().to_string();
    let [authority, cert, key] = ["authority.pem", "cert.pem", "key.pem"].map(path);
    let (_server, address) = services(&[&cert, &key, &authority]);
    let (proto, serving) = (file("health.proto"), "$.status == \"SERVING\"");
    let call = ["--proto", &proto, "--call", "Health/Check", "-d", "{}", "--expect", serving];
    let tls = ["--wait", "60s", "--tls", "--cacert", &authority];
    let words = [&[address.as_str()], &call[..], &tls].concat();
    all_ok(&[&words[..], &["--cert", &cert, "--key", &key]].concat());
    let refused = load(&[&without_wait(&words)[..], &["-c", "1", "-n", "1"]].concat());
    assert_ne!(refused.code, Some(0));
    refused.complains(&["TLS: the server ", "client certificate"]);
}

#[test]
#[ignore = "needs scripts/peers.sh"]
fn grpc_java_counts_the_calls_of_its_health_service() {
    let (_server, address) = services(&[]);
    load(&[&address, "--list", "--wait", "60s"]).expect(0).shows(&["Health/Check\n"]);
    // What one look at the counter adds to it.
    let first = succeeded(&address);
    let before = succeeded(&address);
    let proto = file("health.proto");
    let check = ["--call", "Health/Check", "-d", "{}", "--expect", "$.status == \"SERVING\""];
    let made = all_ok(&[&[address.as_str(), "--proto", &proto], &check[..]].concat());
    assert_eq!(succeeded(&address) - before, made + (before - first));
}
