//! The server side of each protocol for the simulation: correct for canonical requests.

use rpcbench_contract::{Method, thrift_reply};
use rpcbench_testkit::thrift::{Form, Message, kind};

use crate::protocol::http2::frame::{self, Head, put};

/// What a server sends after it has read something.
pub(super) enum ServerOutput {
    /// Its part of the handshake.
    AtOnce(Vec<u8>),
    /// A reply, when the call is done.
    InReply(Vec<u8>),
    /// A reply, after which it closes the connection.
    LastReply(Vec<u8>),
}

/// Takes complete requests from the bytes of a connection, and returns what to send.
pub(super) type Peer = fn(&mut Vec<u8>) -> Vec<ServerOutput>;

/// A protobuf message comes back with field 1 as field 2; any other comes back unchanged.
pub(super) fn grpc(bytes: &mut Vec<u8>) -> Vec<ServerOutput> {
    http2(bytes, |stream, mut message| {
        if let Some(tag @ 0x0a) = message.get_mut(5) {
            *tag = 0x12;
        }
        let mut reply = Vec::new();
        let head = b"\x88\x0f\x10\x10application/grpc";
        put(&mut reply, frame::HEADERS, frame::END_HEADERS, stream, head);
        put(&mut reply, frame::DATA, 0, stream, &message);
        put(&mut reply, frame::HEADERS, 0x5, stream, b"\x00\x0bgrpc-status\x010");
        reply
    })
}

/// Requests are one DATA frame each; `answer` makes the reply from its content.
fn http2(bytes: &mut Vec<u8>, answer: impl Fn(u32, Vec<u8>) -> Vec<u8>) -> Vec<ServerOutput> {
    let mut said = Vec::new();
    if bytes.starts_with(frame::PREFACE) {
        bytes.drain(..frame::PREFACE.len());
        let mut settings = Vec::new();
        put(&mut settings, frame::SETTINGS, 0, 0, &[]);
        let window = 0x7fff_ffff_u32 - 0xffff;
        put(&mut settings, frame::WINDOW_UPDATE, 0, 0, &window.to_be_bytes());
        said.push(ServerOutput::AtOnce(settings));
    }
    if bytes.len() < frame::PREFACE.len() && frame::PREFACE.starts_with(bytes) {
        return said;
    }
    while let Some(head) = Head::parse(bytes) {
        let Some(message) = bytes.get(frame::HEADER..frame::HEADER + head.length()) else { break };
        let message = message.to_vec();
        bytes.drain(..frame::HEADER + head.length());
        if head.kind() == frame::DATA {
            said.push(ServerOutput::InReply(answer(head.stream, message)));
        }
    }
    said
}

/// A text in JSON comes back under another key.
pub(super) fn json_h2c(bytes: &mut Vec<u8>) -> Vec<ServerOutput> {
    http2(bytes, |stream, message| {
        let mut reply = Vec::new();
        put(&mut reply, frame::HEADERS, frame::END_HEADERS, stream, b"\x88");
        put(&mut reply, frame::DATA, frame::END_STREAM, stream, &under_another_key(message));
        reply
    })
}

fn under_another_key(text: Vec<u8>) -> Vec<u8> {
    String::from_utf8(text).unwrap().replacen("text", "echo", 1).into_bytes()
}

/// The same over HTTP/1.1.
pub(super) fn json(bytes: &mut Vec<u8>) -> Vec<ServerOutput> {
    http1(bytes, under_another_key)
}

/// HTTP/1.1 replies without a length, which end with the connection.
pub(super) fn until_close(bytes: &mut Vec<u8>) -> Vec<ServerOutput> {
    let whole = bytes.ends_with(b"same").then(|| std::mem::take(bytes));
    let reply = || ServerOutput::LastReply(b"HTTP/1.0 200 OK\r\n\r\nsame".to_vec());
    whole.into_iter().map(|_| reply()).collect()
}

/// A protobuf message with field 1 as field 2.
pub(super) fn connect(bytes: &mut Vec<u8>) -> Vec<ServerOutput> {
    http1(bytes, |mut message| {
        if let Some(tag @ 0x0a) = message.first_mut() {
            *tag = 0x12;
        }
        message
    })
}

fn http1(bytes: &mut Vec<u8>, answer: impl Fn(Vec<u8>) -> Vec<u8>) -> Vec<ServerOutput> {
    let mut said = Vec::new();
    while let Some(start) = bytes.windows(4).position(|it| it == b"\r\n\r\n").map(|at| at + 4) {
        let head = String::from_utf8(bytes[..start].to_vec()).unwrap().to_lowercase();
        let (_, length) = head.split_once("content-length:").unwrap();
        let length: usize = length.lines().next().unwrap().trim().parse().unwrap();
        let Some(body) = bytes.get(start..start + length) else { break };
        let reply = answer(body.to_vec());
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", reply.len());
        said.push(ServerOutput::InReply([head.into_bytes(), reply].concat()));
        bytes.drain(..start + length);
    }
    said
}

/// Thrift in the form of this index.
pub(super) fn thrift<const FORM: usize>(bytes: &mut Vec<u8>) -> Vec<ServerOutput> {
    let form = Form::all().nth(FORM).unwrap();
    let mut said = Vec::new();
    while let Some((call, length)) = form.read(bytes).unwrap() {
        let request = form.unwrap(1, call.body).unwrap();
        let reply = thrift_reply(form.encoding, Method::Text, request).unwrap();
        let body = form.wrap(0, &reply);
        said.push(ServerOutput::InReply(form.write(&Message {
            kind: kind::REPLY,
            body: &body,
            ..call
        })));
        bytes.drain(..length);
    }
    said
}

/// A length and that many bytes come back unchanged.
pub(super) fn tcp_echo(bytes: &mut Vec<u8>) -> Vec<ServerOutput> {
    let mut said = Vec::new();
    while let Some((prefix, rest)) = bytes.split_first_chunk() {
        let length = u32::from_be_bytes(*prefix) as usize;
        if rest.len() < length {
            break;
        }
        said.push(ServerOutput::InReply(bytes.drain(..prefix.len() + length).collect()));
    }
    said
}
