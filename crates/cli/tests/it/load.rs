//! `rpcbench load`: the engine alone against an address.

use std::net::TcpListener;

use rpcbench_testkit::relay_unix;
use serde_json::Value;

use crate::bench::{Target, look};

fn load(server: &Target, words: &str) -> crate::program::Ended {
    look(&format!("load {} -c 4 -m 4 --duration 300ms {words}", server.address()))
}

#[test]
fn honest_server_is_loaded() {
    let honest = Target::new("honest");
    let ended = load(&honest, "--warmup 100ms --format json").expect_ok_or_late();
    let json: Value = ended.json();
    let text = json.to_string();
    assert!(text.contains("\"connections\":4") && text.contains("\"in_flight\":16"), "{text}");
    for shape in ["text:0", "record", "dto", "tree"] {
        let ended = load(&honest, &format!("--shape {shape}")).expect_ok_or_late();
        ended.shows(&[shape, "calls/s", "p99.9"]);
    }
    load(&honest, "--format markdown").expect_ok_or_late().shows(&["|"]);
    let csv = load(&honest, "--format csv").expect_ok_or_late().out;
    assert_eq!(csv.lines().count(), 2, "{csv}");
}

#[test]
fn failing_calls_exit_with_1() {
    let fails = |behaviour: &str, part: &str| {
        let words = "--warmup none --timeout 200ms --grace 200ms";
        load(&Target::new(behaviour), words).expect(1).shows(&[part]);
    };
    fails("status-once:100", "13 INTERNAL");
    fails("wrong-once:100", "wrong answer");
    fails("canned", "wrong answer");
    fails("reset-after:100", "Connection reset by peer");
    fails("truncate-after:100", "peer closed the connection");
    fails("garbage-after:100", "peer broke HTTP/2");
    fails("hang-after:100", "timeout");
}

#[test]
fn failing_warm_up_is_reported() {
    let ended = load(&Target::new("reset-after:100"), "--warmup 100ms").expect(1);
    ended.complains(&[" in the window, and ", " outside it, such as: Connection reset by peer"]);
}

#[test]
fn unix_socket_is_an_address() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.sock");
    let honest = Target::new("honest");
    relay_unix(&path, honest.address()).unwrap();
    let ended = look(&format!("load unix:{} -c 4 --duration 300ms", path.display()));
    ended.expect_ok_or_late().shows(&[&format!("unix:{}", path.display()), "calls/s"]);
    let ended = look(&format!("load unix:{}.gone", path.display())).expect(2);
    ended.complains(&["server.sock.gone", "No such file or directory", "start the server"]);
}

#[test]
fn closed_port_is_reported() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ended = look(&format!("load {free} -c 2")).expect(2);
    ended.complains(&[&free.to_string(), "nothing listens there"]);
    assert_eq!(ended.out, "");
}
