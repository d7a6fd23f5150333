//! How each behaviour answers.

use rpcbench_testkit::{Ended, Server};

use crate::client::{Client, field, framed};

fn server(behaviour: &str) -> (Server, Client) {
    let server = Server::start(behaviour.parse().unwrap()).unwrap();
    let client = Client::connect(server.address());
    (server, client)
}

#[test]
fn honest_echoes_every_shape_and_counts() {
    let (server, client) = server("honest");
    for (method, content) in [
        ("Text", &b"hello"[..]),
        ("Record", b"\x10\x07"),
        ("Dto", b"\x20\x05"),
        ("Tree", b"\x18\x09"),
    ] {
        let reply = client.call(method, &field(0x0a, content)).unwrap();
        assert_eq!((reply.http_status, reply.grpc_status), (200, Some(0)), "{method}");
        assert_eq!(reply.message(), field(0x12, content), "{method}");
    }
    assert_eq!((server.calls(), server.connections()), (4, 1));
    assert_eq!(server.stop(), Ended::Stopped);
}

#[test]
fn honest_answers_concurrent_and_large_calls() {
    let (server, client) = server("honest");
    let texts: Vec<String> =
        (0..300).map(|index| format!("{index}:{}", "x".repeat(index * 7))).collect();
    for (text, reply) in texts.iter().zip(client.texts(&texts)) {
        assert_eq!(reply.unwrap().message(), field(0x12, text.as_bytes()));
    }
    let large = "y".repeat(1 << 20);
    assert_eq!(client.text(&large).unwrap().message(), field(0x12, large.as_bytes()));
    assert_eq!(server.calls(), 301);
}

#[test]
fn honest_refuses_malformed_requests() {
    let (_server, client) = server("honest");
    assert_eq!(client.call("Text", b"\x0a\x09abc").unwrap().grpc_status, Some(13));
    assert_eq!(client.send("Text", b"\0\0\0\0\x09abc").unwrap().grpc_status, Some(13));
    assert_eq!(client.send("Text", b"").unwrap().grpc_status, Some(13));
    assert_eq!(client.call("Nothing", b"").unwrap().grpc_status, Some(12));
}

#[test]
fn canned_repeats_the_first_reply_of_the_method() {
    let (_server, client) = server("canned");
    assert_eq!(client.text("first").unwrap().message(), b"\x12\x05first");
    assert_eq!(client.text("second").unwrap().message(), b"\x12\x05first");
    assert_eq!(client.call("Dto", b"\x0a\x02\x20\x05").unwrap().message(), b"\x12\x02\x20\x05");
    assert_eq!(client.call("Dto", b"\x0a\x02\x20\x06").unwrap().message(), b"\x12\x02\x20\x05");
}

#[test]
fn memo_nonce_remembers_all_but_the_nonce() {
    let (server, client) = server("memo-nonce");
    for text in ["a@@@@@@@Ab", "a@@@@@@@Bb", "a@@@@@ABCb", "c@@@@@@@Ab", "a@@@@@@@Ac", "plain"] {
        assert_eq!(client.text(text).unwrap().message(), field(0x12, text.as_bytes()));
    }
    assert_eq!(client.call("Text", b"\x0a\x09@@@@@@@A").unwrap().grpc_status, Some(13));
    assert_eq!(server.recalled(), 2);
}

#[test]
fn byte_echo_returns_the_request() {
    let (_server, client) = server("byte-echo");
    let reply = client.text("same").unwrap();
    assert_eq!((reply.grpc_status, reply.message()), (Some(0), &b"\x0a\x04same"[..]));
}

#[test]
fn skim_copies_the_content_and_refuses_truncated_requests() {
    let (_server, client) = server("skim");
    assert_eq!(client.text("copied").unwrap().message(), b"\x12\x06copied");
    // No UTF-8; a field with two values, the first of them in more bytes than it needs.
    assert_eq!(client.call("Text", b"\x0a\x01\xff").unwrap().message(), b"\x12\x01\xff");
    let twice = b"\x18\x87\x00\x18\x09";
    let reply = client.call("Tree", &field(0x0a, twice)).unwrap();
    assert_eq!(reply.message(), field(0x12, twice));
    let two = [field(0x0a, b"\x18\x07"), field(0x1a, b"other"), field(0x0a, b"\x18\x09")].concat();
    assert_eq!(client.call("Tree", &two).unwrap().message(), field(0x12, b"\x18\x07\x18\x09"));
    assert_eq!(client.call("Tree", b"").unwrap().message(), b"");
    for broken in [&b"\x0a\x09abc"[..], b"\x8a", b"\x0f\x01a", b"\x0a\x02\x0a\x07"] {
        assert_eq!(client.call("Tree", broken).unwrap().grpc_status, Some(13), "{broken:?}");
    }
    assert_eq!(client.call("Nothing", b"").unwrap().grpc_status, Some(12));
}

#[test]
fn swap_changes_the_tag_alone() {
    let (_server, client) = server("swap");
    assert_eq!(client.text("same").unwrap().message(), b"\x12\x04same");
    assert_eq!(client.call("Text", b"\x0a\x09abc").unwrap().message(), b"\x12\x09abc");
}

#[test]
fn error_in_reply_is_status_0_with_words() {
    let (_server, client) = server("error-in-reply");
    let reply = client.text("x").unwrap();
    assert_eq!((reply.http_status, reply.grpc_status), (200, Some(0)));
    assert_eq!(reply.message(), b"call 1 fails on purpose");
}

#[test]
fn memo_repeats_reply_to_requests_with_equal_start() {
    let (server, client) = server("memo:5");
    let texts = ["one", "one", "two", "three", "throw"].map(|text| client.text(text).unwrap());
    let replies = texts.each_ref().map(|reply| &reply.message()[2..]);
    assert_eq!(replies, [&b"one"[..], b"one", b"two", b"three", b"three"]);
    assert_eq!((server.calls(), server.recalled()), (5, 2));
    assert_eq!(client.call("Dto", b"\x0a\x02\x20\x05").unwrap().message(), b"\x12\x02\x20\x05");
    assert_eq!(client.call("Text", b"\x0a\x09abc").unwrap().grpc_status, Some(13));
}

#[test]
fn always_internal_is_http_200_with_status_13() {
    let (server, client) = server("always-internal");
    let reply = client.text("x").unwrap();
    assert_eq!((reply.http_status, reply.grpc_status, reply.body.len()), (200, Some(13), 0));
    assert_eq!(server.calls(), 1);
}

#[test]
fn wrong_once_is_wrong_exactly_once_in_n() {
    let (_server, client) = server("wrong-once:3");
    let right: Vec<bool> =
        (0..9).map(|_| client.text("abc").unwrap().message() == b"\x12\x03abc").collect();
    assert_eq!(right, [true, true, false, true, true, false, true, true, false]);
}

#[test]
fn status_once_fails_exactly_once_in_n() {
    let (_server, client) = server("status-once:2");
    let statuses: Vec<_> = (0..4).map(|_| client.text("abc").unwrap().grpc_status).collect();
    assert_eq!(statuses, [Some(0), Some(13), Some(0), Some(13)]);
}

#[test]
fn ok_on_truncated_accepts_malformed_requests() {
    let (_server, client) = server("ok-on-truncated");
    let reply = client.call("Text", b"\x0a\x09abc").unwrap();
    assert_eq!((reply.grpc_status, reply.message()), (Some(0), &b""[..]));
    let reply = client.send("Text", &framed(b"\x0a\x03abc")[..6]).unwrap();
    assert_eq!((reply.grpc_status, reply.message()), (Some(0), &b""[..]));
    assert_eq!(client.text("abc").unwrap().message(), b"\x12\x03abc");
    assert_eq!(client.call("Nothing", b"").unwrap().grpc_status, Some(12));
}

#[test]
fn costly_behaviours_answer_correctly() {
    for behaviour in [
        "slow:1ms",
        "slow-once:2:1ms",
        "busy:10",
        "costlier:5",
        "warm-step:0.001:2",
        "eat-memory:100",
    ] {
        let (server, client) = server(behaviour);
        for text in ["a", "b", "c"] {
            assert_eq!(
                client.text(text).unwrap().message(),
                field(0x12, text.as_bytes()),
                "{behaviour}"
            );
        }
        assert_eq!(server.calls(), 3);
    }
}

#[test]
fn delayed_replies_all_arrive_in_order() {
    let (server, client) = server("slow-once:10:20ms");
    let texts: Vec<String> = (0..100).map(|index| index.to_string()).collect();
    for (text, reply) in texts.iter().zip(client.texts(&texts)) {
        assert_eq!(reply.unwrap().message(), field(0x12, text.as_bytes()));
    }
    assert_eq!(server.calls(), 100);
}

#[test]
fn process_behaviours_are_refused_inside_a_test() {
    for behaviour in
        ["exit-at-start:3", "ignore-sigterm", "spawn-child", "counting", "eat-memory-at-start:1"]
    {
        let error = Server::start(behaviour.parse().unwrap()).unwrap_err();
        let expected = format!("`{behaviour}` needs a separate process");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}

#[test]
fn port_in_use_is_named() {
    let first = Server::start("honest".parse().unwrap()).unwrap();
    let error = Server::start_at(first.address(), rpcbench_testkit::Plan::default()).unwrap_err();
    assert!(error.to_string().contains(&first.address().to_string()), "{error}");
}
