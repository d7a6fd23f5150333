//! Servers of grpc-go's examples: one whose services only reflection describes, one with the health service, and the route guide.

use std::fs;
use std::process::Command;

use super::loads::{all_ok, load, without_wait};
use super::{file, peer};
use crate::bench::{look, rpcbench};
use crate::program::Program;
use crate::serve::port;

#[test]
#[ignore = "needs scripts/peers.sh"]
fn services_of_grpc_go_are_listed_called_and_loaded_by_reflection() {
    let port = port();
    let mut command = Command::new(peer("grpc-go-reflection"));
    let _server = Program::start(command.args(["-port", &port.to_string()]));
    let address = format!("127.0.0.1:{port}");
    let listed = look(&format!("load {address} --list --wait 60s")).expect(0).out;
    for method in
        ["helloworld.Greeter/SayHello\n", "Echo/ServerStreamingEcho   (streams replies)\n"]
    {
        assert!(listed.contains(method), "{listed}");
    }
    let call = |options: &[&str]| {
        let fixed = ["load", &address, "--call", "Greeter/SayHello", "-d", r#"{"name": "ann"}"#];
        Program::start(&mut rpcbench(&[&fixed, options].concat())).finish()
    };
    let once = call(&["--once"]).expect(0).out;
    assert!(once.contains("\"message\": \"Hello ann\""), "{once}");
    let load = call(&["-n", "5000", "-c", "4", "--warmup", "none"]).expect_ok_or_late();
    assert!(load.out.contains("ok (status)  5,000"), "{}", load.out);
    let streams = look(&format!("load {address} --call ServerStreamingEcho")).expect(2);
    assert!(
        streams.err.contains("streams replies; only unary methods can be called"),
        "{}",
        streams.err
    );
}

/// An example on a free port.
fn example(name: &str, arguments: &[&str]) -> (Program, String) {
    let port = port();
    let mut command = Command::new(peer(name));
    let program = Program::start(command.args(["-port", &port.to_string()]).args(arguments));
    (program, format!("127.0.0.1:{port}"))
}

#[test]
#[ignore = "needs scripts/peers.sh"]
fn health_service_of_grpc_go_is_loaded_by_a_proto_file() {
    let (_server, address) = example("grpc-go-health", &["-sleep", "1h"]);
    let proto = file("health.proto");
    let call = [&address, "--wait", "60s", "--proto", &proto, "--call", "Health/Check", "-d", "{}"];
    all_ok(&[&call[..], &["--expect", "$.status == \"SERVING\""]].concat());
}

/// Of grpc-go's examples, whose servers' certificate is for names below test.example.com.
#[test]
#[ignore = "needs scripts/peers.sh"]
fn certificates_of_grpc_go_are_verified_and_asked_for() {
    let issued = |name: &str| peer("grpc-go-files").join(name).display().to_string();
    let [authority, cert, key, proto] =
        ["ca_cert.pem", "client_cert.pem", "client_key.pem", "echo.proto"].map(issued);
    let identity = ["--cert", &cert, "--key", &key];
    for (name, identity) in [("grpc-go-tls", &[][..]), ("grpc-go-mtls", &identity[..])] {
        let (_server, address) = example(name, &[]);
        let tls = ["--tls", "--cacert", &authority, "--wait", "60s", "--proto", &proto];
        let call = ["--call", "Echo/UnaryEcho", "-d", r#"{"message": "ann"}"#];
        let words = [&[address.as_str()], &tls[..], &call].concat();
        let named = ["--servername", "a.test.example.com", "--expect", "$.message == \"ann\""];
        all_ok(&[&words[..], &named, identity].concat());
        let words = without_wait(&words);
        load(&[&words[..], identity].concat()).expect(2).complains(&[
            "TLS: the server's certificate is not for '127.0.0.1', but for *.test.example.com",
        ]);
        // It closes connections that begin otherwise without a word.
        let url = format!("http://{address}/");
        load(&[&address])
            .expect(2)
            .complains(&["it speaks TLS; give --tls, or a URL with grpcs://"]);
        load(&[&url]).expect(2).complains(&["it speaks TLS; write https:// in place of http://"]);
        if !identity.is_empty() {
            let without = [&words[..], &named[..2], &["-c", "1", "-n", "1"]].concat();
            let refused = load(&without);
            assert_ne!(refused.code, Some(0));
            refused.complains(&["TLS: the server requires a client certificate"]);
        }
    }
}

#[test]
#[ignore = "needs scripts/peers.sh"]
fn route_guide_of_grpc_go_answers_each_request_of_a_file() {
    let (_server, address) = example("grpc-go-route-guide", &[]);
    let proto = file("route_guide.proto");
    let folder = tempfile::tempdir().unwrap();
    let points = folder.path().join("points.jsonl");
    let named = [(407838351, -746143763), (408122808, -743999179), (413628156, -749015468)];
    let lines = named.map(|(latitude, longitude)| {
        format!("{{\"latitude\": {latitude}, \"longitude\": {longitude}}}\n")
    });
    fs::write(&points, lines.concat()).unwrap();
    let schema = [&address, "--wait", "60s", "--proto", &proto, "--call"];
    let call = |method| [&schema[..], &[method, "-D", points.to_str().unwrap()]].concat();
    let names = "$.name in [\"Patriots Path, Mendham, NJ 07945, USA\", \
                 \"101 New Jersey 10, Whippany, NJ 07981, USA\", \
                 \"U.S. 6, Shohola, PA 18458, USA\"]";
    all_ok(&[&call("GetFeature")[..], &["--expect", names]].concat());
    let wrong = [&call("GetFeature")[..], &["--expect", "$.name == \"\"", "--once"]].concat();
    load(&wrong).expect(1);
    let streams = load(&call("ListFeatures")).expect(2);
    assert!(streams.err.contains("streams replies"), "{}", streams.err);
}
