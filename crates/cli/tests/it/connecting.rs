//! Where connections go, how they are kept, and what describes a service.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::bench::{Machine, repository, rpcbench};
use crate::grpc_peer::{self, Reply};
use crate::program::{Ended, Program};

/// Calls of the contract's `Text`.
fn text_calls(address: &str, options: &[&str]) -> Ended {
    let proto = repository().join("contract/echo.proto");
    let fixed = ["load", address, "--proto", proto.to_str().unwrap(), "--call", "Echo/Text"];
    let load = ["-d", r#"{"text": "a"}"#, "--warmup", "none"];
    Program::start(&mut rpcbench(&[&fixed, &load[..], options].concat())).finish()
}

/// Servers at one port of these addresses, which count their calls.
fn serve_at(hosts: &[&str]) -> (u16, Vec<Arc<AtomicU64>>) {
    let mut port = 0;
    let counts = hosts.iter().map(|host| {
        let count = Arc::new(AtomicU64::new(0));
        let calls = Arc::clone(&count);
        let address = grpc_peer::serve_at(&format!("{host}:{port}"), move |_| {
            calls.fetch_add(1, Ordering::Relaxed);
            Reply::message(false, b"\x12\x01a")
        });
        port = address.port();
        count
    });
    let counts = counts.collect();
    (port, counts)
}

#[test]
fn connections_are_spread_over_all_addresses_of_a_name() {
    let _machine = Machine::shared();
    let (port, counts) = serve_at(&["127.0.0.1", "127.0.0.2"]);
    let resolve = format!("api.test:{port}:127.0.0.1,127.0.0.2,127.0.0.3,[::1]");
    let address = format!("grpc://api.test:{port}");
    let options = ["--resolve", &resolve, "-n", "400", "-c", "4", "-m", "1"];
    let ended = text_calls(&address, &options).expect_ok_or_late();
    let counted: Vec<u64> = counts.iter().map(|it| it.load(Ordering::Relaxed)).collect();
    assert_eq!(counted.iter().sum::<u64>(), 400);
    let table = ended.out.split("Addresses").nth(1).expect("a table of addresses");
    for (host, calls) in ["127.0.0.1", "127.0.0.2"].iter().zip(&counted) {
        assert!(*calls > 0, "{counted:?}");
        let line = table.lines().find(|line| line.contains(&format!("{host}:{port}")));
        let words: Vec<&str> = line.expect("a line").split_whitespace().collect();
        assert_eq!(words[1], calls.to_string(), "{table}");
    }
    assert!(ended.err.contains("127.0.0.3"), "{}", ended.err);
    assert!(ended.err.contains("connections are spread over 127.0.0.1"), "{}", ended.err);
    let json = text_calls(&address, &[&options[..], &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let calls =
        json["addresses"].as_array().unwrap().iter().map(|it| it["calls"].as_u64().unwrap());
    assert_eq!(calls.sum::<u64>(), 400, "{json}");
}

#[test]
fn connect_to_redirects_connections() {
    let _machine = Machine::shared();
    let (port, counts) = serve_at(&["127.0.0.1"]);
    let to = format!("api.test:443:127.0.0.1:{port}");
    let options = ["--connect-to", &to, "-n", "50", "-c", "1", "--quiet"];
    text_calls("grpc://api.test:443", &options).expect_ok_or_late();
    assert_eq!(counts[0].load(Ordering::Relaxed), 50);
    let ended = text_calls(&format!("127.0.0.1:{port}"), &["-6"]).expect(2);
    assert!(ended.err.contains("no IPv6 address; leave -6 out"), "{}", ended.err);
}

/// A peer that opens connections of HTTP/2, and then says nothing.
fn serve_silence() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                stream.write_all(b"\0\0\0\x04\0\0\0\0\0").unwrap();
                // Until the client has closed it.
                let _ = stream.read_to_end(&mut Vec::new());
            });
        }
    });
    address
}

#[test]
fn peer_that_answers_no_ping_is_given_up() {
    let _machine = Machine::shared();
    let address = serve_silence();
    let pings = ["--keepalive", "1s", "--keepalive-timeout", "1s"];
    let options = [&pings[..], &["--timeout", "1m", "-n", "1", "-c", "1", "--quiet"]].concat();
    let ended = text_calls(&address, &options).expect(1);
    let reason = "the peer did not answer a keepalive ping in time";
    assert!(ended.out.contains(reason), "{}", ended.out);
    let warning = "--keepalive 1s: servers of gRPC end";
    assert!(ended.err.contains(warning) && ended.out.contains(warning), "{ended:?}");
    let ended = text_calls(&address, &["--keepalive", "1s", "--protocol", "connect"]).expect(2);
    assert!(ended.err.contains("--keepalive: connect has no pings"), "{}", ended.err);
}

#[test]
fn written_description_serves_as_protoset_again() {
    let _machine = Machine::shared();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("echo.protoset");
    let file = file.to_str().unwrap();
    let listed = |options: &[&str]| {
        let fixed = ["load", "127.0.0.1:1", "--list"];
        Program::start(&mut rpcbench(&[&fixed, options].concat())).finish().expect(0).out
    };
    let proto = repository().join("contract/echo.proto");
    let proto = proto.to_str().unwrap();
    let expected = listed(&["--proto", proto, "--protoset-out", file]);
    assert_eq!(listed(&["--protoset", file]), expected);
    let description = std::fs::read(file).unwrap();
    let address = grpc_peer::serve(move |request| match request.path.ends_with("Info") {
        true => reflection(request.message(), &description),
        false => Reply::message(false, b"\x12\x01a"),
    });
    let reflected = folder.path().join("reflected.protoset");
    let reflected = reflected.to_str().unwrap();
    let address = address.to_string();
    let load = |options: &[&str]| {
        let fixed = ["load", &address, "--call", "Echo/Text", "-n", "20", "-c", "1", "--quiet"];
        Program::start(&mut rpcbench(&[&fixed, options].concat())).finish().expect_ok_or_late();
    };
    load(&["--protoset-out", reflected]);
    load(&["--protoset", reflected]);
    assert_eq!(listed(&["--protoset", reflected]), expected);
    let nowhere = ["load", &address, "--list", "--protoset-out", "/no/folder/f"];
    let ended = Program::start(&mut rpcbench(&nowhere)).finish().expect(2);
    assert!(ended.err.contains("--protoset-out /no/folder/f: can't be written"), "{}", ended.err);
}

/// The answer to a question of reflection about the service in a set of one file.
fn reflection(question: &[u8], set: &[u8]) -> Reply {
    // list_services_response { service { name } }
    if question[0] >> 3 == 7 {
        let name = b"rpcbench.v1.Echo";
        let length = name.len() as u8;
        let head = [0x32, length + 4, 0x0a, length + 2, 0x0a, length];
        return Reply::message(false, &[&head[..], name].concat());
    }
    // file_descriptor_response has the files under the set's own number.
    let mut length = set.len();
    let mut message = vec![0x22];
    while length >= 0x80 {
        message.push(length as u8 | 0x80);
        length >>= 7;
    }
    message.push(length as u8);
    message.extend_from_slice(set);
    Reply::message(false, &message)
}
