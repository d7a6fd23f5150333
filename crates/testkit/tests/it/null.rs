//! The null servers against a real HTTP/2 client, and against plain bytes.

use std::io::{Read, Write};
use std::net::TcpStream;

use rpcbench_testkit::{Ended, Server};

use crate::client::{Client, field};

#[test]
fn null_echoes_text_of_any_length_and_counts() {
    let server = Server::start("null".parse().unwrap()).unwrap();
    let client = Client::connect(server.address());
    for length in [0, 1, 100, 127, 128, 16_000, 20_000, 70_000, 1 << 20] {
        let text = "z".repeat(length);
        let reply = client.text(&text).unwrap();
        assert_eq!((reply.http_status, reply.grpc_status), (200, Some(0)), "{length}");
        assert_eq!(reply.message(), field(0x12, text.as_bytes()), "{length}");
    }
    assert_eq!((server.calls(), server.connections()), (9, 1));
    assert_eq!(server.stop(), Ended::Stopped);
}

#[test]
fn null_answers_many_streams_on_several_connections() {
    let server = Server::start("null".parse().unwrap()).unwrap();
    let clients: Vec<_> = (0..8).map(|_| Client::connect(server.address())).collect();
    for (index, client) in clients.iter().enumerate() {
        let texts: Vec<String> =
            (0..500).map(|call| format!("{index}/{call} {}", "y".repeat(call))).collect();
        for (text, reply) in texts.iter().zip(client.texts(&texts)) {
            assert_eq!(reply.unwrap().message(), field(0x12, text.as_bytes()));
        }
    }
    assert_eq!((server.calls(), server.connections()), (4000, 8));
}

#[test]
fn null_refuses_malformed_requests_and_continues() {
    let server = Server::start("null".parse().unwrap()).unwrap();
    let client = Client::connect(server.address());
    assert_eq!(client.call("Text", b"\x0a\x09abc").unwrap().grpc_status, Some(13));
    assert_eq!(client.send("Text", b"").unwrap().grpc_status, Some(13));
    assert_eq!(client.send("Text", b"\x01\0\0\0\0").unwrap().grpc_status, Some(12));
    assert_eq!(client.text("still here").unwrap().grpc_status, Some(0));
}

#[test]
fn null_sends_goaway_if_the_peer_does_not_speak_http2() {
    let server = Server::start("null".parse().unwrap()).unwrap();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    let mut seen = Vec::new();
    stream.read_to_end(&mut seen).unwrap();
    assert_eq!(seen[3], 7, "GOAWAY");
    assert_eq!(seen[13..17], 1_u32.to_be_bytes(), "PROTOCOL_ERROR");
}

#[test]
fn null_json_answers_texts_of_any_length_in_order() {
    let server = Server::start("null-json".parse().unwrap()).unwrap();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    for length in [0, 1, 100, 20_000, 70_000, 1 << 20] {
        let body = format!("{{\"text\":\"{}\"}}", "z".repeat(length));
        let head = "POST /rpcbench.v1.Echo/Text HTTP/1.1\r\nHost: x\r\n";
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let reply = body.replace("text", "echo");
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
        let expected = format!("{head}Content-Length: {}\r\n\r\n{reply}", reply.len());
        let mut got = vec![0; expected.len()];
        stream.read_exact(&mut got).unwrap();
        assert_eq!(String::from_utf8(got).unwrap(), expected, "{length}");
    }
    assert_eq!((server.calls(), server.connections()), (6, 1));
}
