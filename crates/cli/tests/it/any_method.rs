//! Loads of any gRPC method: by a schema of files, what is checked, and what is shown before a load.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use crate::bench::{Machine, Target, look, repository, rpcbench};
use crate::grpc_peer::{self, Reply};
use crate::program::{Ended, Program};

fn proto() -> PathBuf {
    repository().join("contract/echo.proto")
}

/// `load` with the contract's `.proto` file.
fn load(server: &Target, options: &[&str]) -> Ended {
    let (address, proto) = (server.address().to_string(), proto());
    let fixed = ["load", &address, "--proto", proto.to_str().unwrap()];
    Program::start(&mut rpcbench(&[&fixed, options].concat())).finish()
}

/// 200 measured calls of a method.
fn calls(server: &Target, method: &str, options: &[&str]) -> Ended {
    let fixed = ["--call", method, "-n", "200", "-c", "2", "--warmup", "none", "--quiet"];
    load(server, &[&fixed[..], options].concat())
}

#[test]
fn method_of_a_proto_file_is_called_over_grpc_and_connect() {
    for behaviour in ["honest", "connect"] {
        let server = Target::new(behaviour);
        let before = server.calls();
        let protocol = if behaviour == "honest" { "grpc" } else { "connect" };
        let data = r#"{"text": "hello"}"#;
        let ended = calls(&server, "Echo/Text", &["-d", data, "--protocol", protocol]);
        let ended = ended.expect_ok_or_late();
        assert!(ended.out.contains("rpcbench.v1.Echo/Text, 7 B"), "{}", ended.out);
        assert!(ended.out.contains("ok (status)  200"), "{}", ended.out);
        assert!(ended.out.contains("1 of the replies decoded"), "{}", ended.out);
        assert_eq!(server.calls() - before, 200, "{behaviour}");
    }
}

#[test]
fn status_of_a_method_counts_as_success_if_it_is_listed() {
    let server = Target::new("always-internal");
    let data = ["-d", r#"{"text": "hello"}"#];
    let ended = calls(&server, "Echo/Text", &data).expect(1);
    assert!(ended.out.contains("status 13 INTERNAL  200 (100 %)"), "{}", ended.out);
    calls(&server, "Echo/Text", &[&data[..], &["--ok", "OK,internal"]].concat())
        .expect_ok_or_late();
}

#[test]
fn server_learns_the_deadline_of_calls() {
    let server = Target::new("honest");
    for (options, expected) in [
        (&["--timeout", "3s"][..], "grpc-timeout: 3000m"),
        (&["--deadline", "250ms"], "grpc-timeout: 250m"),
        (&["--deadline", "2s", "--protocol", "connect"], "connect-timeout-ms: 2000"),
    ] {
        let ended = calls(&server, "Echo/Text", &[options, &["--dry-run"]].concat()).expect(0);
        assert!(ended.out.contains(expected), "{}", ended.out);
    }
}

#[test]
fn every_reply_is_checked_against_expectations() {
    let server = Target::new("honest");
    let data = ["-d", r#"{"text": "hello"}"#, "--expect", r#"$.echo == "hello""#];
    let ended = calls(&server, "Echo/Text", &data).expect_ok_or_late();
    assert!(ended.out.contains("$.echo of 200; "), "{}", ended.out);
    assert!(!ended.out.contains("ok (status)"), "{}", ended.out);
    let wrong = ["-d", r#"{"text": "hello"}"#, "--expect", r#"$.echo in ["other"]"#];
    let ended = calls(&server, "Echo/Text", &wrong).expect(1);
    assert!(ended.out.contains("wrong answer  200 (100 %)"), "{}", ended.out);
    let example = r#"wrong answer: $.echo is "hello"; reply: { "echo": "hello" }"#;
    assert!(ended.out.contains(example), "{}", ended.out);
    assert!(ended.out.lines().all(|line| line.trim() != "wrong answer"), "{}", ended.out);
    let ended = calls(&server, "Echo/Text", &["--expect", "$.ech exists"]).expect(2);
    assert!(ended.err.contains("has no field 'ech'; expected one of echo"), "{}", ended.err);
}

#[test]
fn reply_that_is_not_the_declared_message_is_wrong() {
    let server = Target::new("honest");
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.proto");
    let text = "syntax = \"proto3\"; package rpcbench.v1; service Echo { rpc Text(Request) returns (Reply); } \
                message Request { string text = 1; } message Reply { double echo = 2; }";
    fs::write(&other, text).unwrap();
    let address = server.address().to_string();
    let arguments = [
        "load",
        &address,
        "--proto",
        other.to_str().unwrap(),
        "--call",
        "Text",
        "-d",
        "{\"text\": \"a\"}",
        "-n",
        "200",
        "-c",
        "1",
        "--warmup",
        "none",
        "--quiet",
    ];
    let ended = Program::start(&mut rpcbench(&arguments)).finish().expect(1);
    assert!(ended.out.contains("not a rpcbench.v1.Reply: "), "{}", ended.out);
}

#[test]
fn unusable_data_is_refused_before_the_load() {
    let server = Target::new("honest");
    let refusal = |options: &[&str]| calls(&server, "Echo/Text", options).expect(2).err;
    insta::assert_snapshot!(refusal(&["-d", r#"{"text": 7}"#]), @"rpcbench: --data: $.text: 7 is no string");
    insta::assert_snapshot!(refusal(&["-d", r#"[{"text": "a"}, {"txt": "b"}]"#]), @"rpcbench: --data: request 2 of the list: $: unrecognized field name 'txt'; expected one of text");
    let folder = tempfile::tempdir().unwrap();
    let lines = folder.path().join("a.jsonl");
    fs::write(&lines, "{\"text\": \"a\"}\n\n{\"text\"}\n").unwrap();
    let refusal = refusal(&["-D", lines.to_str().unwrap()]);
    let refusal = refusal.replace(folder.path().to_str().unwrap(), "DIR");
    insta::assert_snapshot!(refusal, @"rpcbench: DIR/a.jsonl:3: invalid JSON: expected `:`; expected a rpcbench.v1.TextRequest");
}

#[test]
fn methods_are_listed_and_described_without_a_server() {
    let proto = proto();
    let run = |options: &[&str]| {
        let fixed = ["load", "127.0.0.1:1", "--proto", proto.to_str().unwrap()];
        Program::start(&mut rpcbench(&[&fixed, options].concat())).finish().expect(0).out
    };
    assert!(run(&["--list"]).starts_with("rpcbench.v1.Echo\n  rpcbench.v1.Echo/Text\n"));
    let described = run(&["--describe", "Echo/Text"]);
    assert!(
        described.starts_with("rpc Text(rpcbench.v1.TextRequest) returns (rpcbench.v1.TextReply);")
    );
    assert!(described.contains(
        "rpcbench load 127.0.0.1:1 --call rpcbench.v1.Echo/Text -d '{\n  \"text\": \"\"\n}'"
    ));
    insta::assert_snapshot!(run(&["--call", "Echo/Text", "-d", r#"{"text": "a"}"#, "-H", "authorization: Bearer s3cr3t", "--dry-run"]), @r#"
    grpc rpcbench.v1.Echo/Text
      authorization: [redacted]
      grpc-timeout: 10000m
    Data, 3 B
    {
      "text": "a"
    }
    "#);
}

#[test]
fn one_call_shows_request_and_reply() {
    let server = Target::new("honest");
    let ended =
        load(&server, &["--call", "Echo/Text", "-d", r#"{"text": "a"}"#, "--once"]).expect(0);
    assert!(ended.out.contains("{\n  \"echo\": \"a\"\n}"), "{}", ended.out);
    for part in [
        "\nStatus 0 OK after ",
        "\n  content-type: application/grpc",
        "\nTrailers\n  grpc-status: 0",
    ] {
        assert!(ended.out.contains(part), "{}", ended.out);
    }
    let failing = Target::new("always-internal");
    let ended = load(&failing, &["--call", "Echo/Text", "--once"]).expect(1);
    assert!(ended.out.contains("\nStatus 13 INTERNAL after "), "{}", ended.out);
    load(&failing, &["--call", "Echo/Text", "--once", "--ok", "INTERNAL"]).expect(0);
}

#[test]
fn binary_secret_that_a_server_sends_back_is_concealed() {
    let _machine = Machine::shared();
    let address = grpc_peer::serve(|request| {
        assert_eq!(request.headers["x-trace-bin"], "c2VjcmV0dmFsdWUxMjM=");
        Reply::message(false, b"\x12\x11 secretvalue123 .")
    });
    let folder = tempfile::tempdir().unwrap();
    let (address, proto, out) = (address.to_string(), proto(), folder.path().join("record"));
    let fixed = ["load", &address, "--proto", proto.to_str().unwrap(), "--call", "Echo/Text"];
    let calls = ["-d", "{}", "-H", "x-trace-bin: c2VjcmV0dmFsdWUxMjM=", "-n", "5", "-c", "1"];
    let run = |options: &[&str]| {
        Program::start(&mut rpcbench(&[&fixed, &calls[..], options].concat())).finish()
    };
    let once = run(&["--once"]).expect(0);
    assert!(once.out.contains(r#""echo": " [redacted] .""#), "{}", once.out);
    let out = out.to_str().unwrap();
    let ended = run(&["--expect", "$.echo == \"\"", "--out", out]).expect(1);
    assert!(ended.out.contains(r#"$.echo is " [redacted] .""#), "{}", ended.out);
    for file in ["run.json", "events.jsonl", "report.html"] {
        let text = fs::read_to_string(folder.path().join("record").join(file)).unwrap();
        assert!(!text.contains("secretvalue123"), "{file}");
    }
}

#[test]
fn server_that_is_never_reached_ends_the_wait() {
    let ended = look("load 127.0.0.1:1 --wait 1s").expect(2);
    assert!(
        ended.err.contains("--wait 1s is over: 127.0.0.1:1: nothing listens there"),
        "{}",
        ended.err
    );
}

/// A server of gRPC that has nothing but reflection, if that, and counts calls of other services.
fn serve_stranger(reflects: bool) -> (SocketAddr, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    let address = grpc_peer::serve(move |request| {
        let reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
        if reflects && request.path == reflection {
            // list_services_response { service { name: "shop.Orders" } }
            return Reply::message(false, b"\x32\x0f\x0a\x0d\x0a\x0bshop.Orders");
        }
        counted.fetch_add(u32::from(request.path.starts_with("/rpcbench.")), Ordering::Relaxed);
        Reply { status: 12, ..Reply::default() }
    });
    (address, calls)
}

#[test]
fn server_without_the_contract_is_refused_with_what_to_type() {
    let _machine = Machine::shared();
    let refusal = |reflects| {
        let (address, calls) = serve_stranger(reflects);
        let ended = look(&format!("load {address}")).expect(2);
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        ended.err.replace(&address.to_string(), "ADDRESS")
    };
    insta::assert_snapshot!(refusal(true), @r"
    rpcbench: ADDRESS does not have rpcbench's contract, but offers shop.Orders. To call one of its methods:

      rpcbench load ADDRESS --list
      rpcbench load ADDRESS --describe SERVICE/METHOD
      rpcbench load ADDRESS --call SERVICE/METHOD -d 'JSON'
    ");
    insta::assert_snapshot!(refusal(false), @r"
    rpcbench: ADDRESS does not have rpcbench's contract, and offers no reflection. To call one of its methods, give the file that describes it:

      rpcbench load ADDRESS --proto FILE --list
      rpcbench load ADDRESS --proto FILE --describe SERVICE/METHOD
      rpcbench load ADDRESS --proto FILE --call SERVICE/METHOD -d JSON
    ");
}

#[test]
fn reflection_gets_the_headers_of_calls_and_its_own() {
    let _machine = Machine::shared();
    let seen = Arc::new(Mutex::new(String::new()));
    let last = Arc::clone(&seen);
    let address = grpc_peer::serve(move |request| {
        let value = |name| request.headers.get(name).map_or("none", |it| it.to_str().unwrap());
        *last.lock().unwrap() = format!("{} {}", value("authorization"), value("x-tenant"));
        Reply { status: 7, ..Reply::default() }
    });
    let list = |options: &[&str]| {
        let address = address.to_string();
        let fixed = ["load", &address, "--list", "-H", "x-tenant: a"];
        Program::start(&mut rpcbench(&[&fixed, options].concat())).finish().expect(2);
        seen.lock().unwrap().clone()
    };
    assert_eq!(list(&["--token-command", "echo t0ken"]), "Bearer t0ken a");
    assert_eq!(list(&["--user", "ann:pa55"]), "Basic YW5uOnBhNTU= a");
    assert_eq!(list(&["--reflect-header", "x-tenant: b"]), "none b");
}

#[test]
fn server_without_reflection_is_named_with_the_way_out() {
    let server = Target::new("honest");
    let ended = look(&format!("load {} --list", server.address())).expect(2);
    assert!(
        ended.err.contains("offers no reflection") && ended.err.contains("--proto FILE"),
        "{}",
        ended.err
    );
}
