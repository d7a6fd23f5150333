//! Scripted peers against a real HTTP/2 client.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use rpcbench_testkit::scripted::{
    Frame, FrameType, Request, Requests, ScriptError, ScriptedPeer, Wire, hpack, setting,
};

use crate::client::Client;

fn next_request(wire: &mut Wire) -> Result<Request, ScriptError> {
    Ok(wire.next_request(&mut Requests::default())?.expect("a request"))
}

#[test]
fn script_answers_byte_by_byte_with_padding_and_continuation() {
    let peer = ScriptedPeer::start(|wire| {
        wire.handshake(&[(setting::HEADER_TABLE_SIZE, 0), (setting::MAX_CONCURRENT_STREAMS, 1)])?;
        let request = next_request(wire)?;
        assert_eq!(request.message(), b"\x0a\x02hi");
        let [_, data, end] = request.right_reply();
        let (start, rest) = (hpack::table_size(0), hpack::response_headers());
        wire.send_bytewise(&[
            Frame::headers(request.stream, start).prioritised().padded(9).unfinished(),
            Frame::continuation(request.stream, &rest[..5]).unfinished(),
            Frame::continuation(request.stream, &rest[5..]),
            data.padded(3),
            end,
        ])?;
        wire.send(&Frame::ping(*b"12345678"))?;
        wire.skip_until("the PING's answer", |frame| *frame == Frame::pong(*b"12345678"))?;
        wire.close()
    })
    .unwrap();
    let client = Client::connect(peer.address());
    let reply = client.text("hi").unwrap();
    assert_eq!((reply.grpc_status, reply.message()), (Some(0), &b"\x12\x02hi"[..]));
    peer.finish().unwrap();
}

#[test]
fn script_resets_streams_and_sends_goaway() {
    let peer = ScriptedPeer::start(|wire| {
        wire.handshake(&[])?;
        let first = next_request(wire)?;
        wire.send(&Frame::rst_stream(first.stream, 2))?;
        let second = next_request(wire)?;
        wire.send(&Frame::goaway(first.stream, 0))?;
        assert_eq!(second.stream, 3);
        wire.expect_close()
    })
    .unwrap();
    let client = Client::connect(peer.address());
    let reset = client.text("a").unwrap_err();
    assert_eq!((reset.is_reset(), reset.reason()), (true, Some(h2::Reason::INTERNAL_ERROR)));
    assert!(client.text("b").unwrap_err().is_go_away());
    drop(client);
    peer.finish().unwrap();
}

#[test]
fn script_stalls_until_resumed_over_several_connections() {
    let (go_on, gate) = channel();
    let resumed = Arc::new(AtomicBool::new(false));
    let is_resumed = Arc::clone(&resumed);
    let peer = ScriptedPeer::start_many(move |listener| {
        let mut refused = listener.accept()?;
        refused.expect_preface()?;
        refused.reset()?;
        drop(refused);
        let mut wire = listener.accept()?;
        wire.handshake(&[])?;
        wire.stall(&gate)?;
        assert!(is_resumed.load(Ordering::SeqCst));
        let request = next_request(&mut wire)?;
        wire.send_all(&request.right_reply())?;
        wire.expect_close()
    })
    .unwrap();
    assert!(Client::connect(peer.address()).text("a").is_err());
    let client = Client::connect(peer.address());
    resumed.store(true, Ordering::SeqCst);
    go_on.send(()).unwrap();
    assert_eq!(client.text("b").unwrap().message(), b"\x12\x01b");
    drop(client);
    peer.finish().unwrap();
}

#[test]
fn failed_step_is_named() {
    let peer = ScriptedPeer::start(|wire| wire.expect_preface()).unwrap();
    TcpStream::connect(peer.address())
        .unwrap()
        .write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        .unwrap();
    let error = peer.finish().unwrap_err().to_string();
    assert!(error.starts_with("expected the connection preface, got [71, 69, 84"), "{error}");

    let peer = ScriptedPeer::start(|wire| wire.expect(FrameType::Ping).map(drop)).unwrap();
    TcpStream::connect(peer.address()).unwrap().write_all(&Frame::settings_ack().encode()).unwrap();
    let error = peer.finish().unwrap_err().to_string();
    assert!(error.starts_with("expected Ping, got Frame { kind: Settings"), "{error}");

    let peer = ScriptedPeer::start(|wire| wire.receive().map(drop)).unwrap();
    drop(TcpStream::connect(peer.address()).unwrap());
    assert!(peer.finish().unwrap_err().to_string().starts_with("waiting for a frame:"));
}
