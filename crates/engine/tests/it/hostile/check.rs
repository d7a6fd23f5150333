//! The client that checks servers, against peers that refuse calls.

use std::time::Duration;

use rpcbench_engine::{CallError, CallPosition, Client, ConnectionOptions, Target};
use rpcbench_record::Protocol;
use rpcbench_testkit::scripted::{Frame, Requests, ScriptError, ScriptedPeer, Wire};

use super::{TIMEOUT, greet, take};

const NO_ERROR: u32 = 0;
const REFUSED_STREAM: u32 = 7;

fn client(peer: &ScriptedPeer) -> Client {
    Client::new(ConnectionOptions::new(Protocol::Grpc, peer.address()), TIMEOUT)
}

fn call(client: &mut Client, message: &[u8]) -> Result<Vec<u8>, CallError> {
    client.call(&Target::new("/rpcbench.v1.Echo/Text"), message, CallPosition::Any)
}

/// An echo of one letter.
fn echo(client: &mut Client, letter: u8) {
    let reply = call(client, &[0x0a, 1, letter]);
    assert_eq!(reply, Ok(vec![0x12, 1, letter]));
}

/// Takes this many requests and answers them.
fn answer(wire: &mut Wire, requests: &mut Requests, count: usize) -> Result<u32, ScriptError> {
    let mut last = 0;
    for _ in 0..count {
        let request = take(wire, requests, 1)?.remove(0);
        wire.send_all(&request.right_reply())?;
        last = request.stream;
    }
    Ok(last)
}

#[test]
fn call_that_goaway_refuses_is_sent_again() {
    let peer = ScriptedPeer::start_many(|listener| {
        for _ in 0..3 {
            let (mut wire, mut requests) = (listener.accept()?, Requests::default());
            greet(&mut wire, &[])?;
            let last = answer(&mut wire, &mut requests, 2)?;
            take(&mut wire, &mut requests, 1)?;
            wire.send(&Frame::goaway(last, NO_ERROR))?;
            wire.close()?;
        }
        let mut wire = listener.accept()?;
        greet(&mut wire, &[])?;
        answer(&mut wire, &mut Requests::default(), 1).map(drop)
    })
    .unwrap();
    let mut client = client(&peer);
    (b'a'..=b'g').for_each(|letter| echo(&mut client, letter));
    drop(client);
    peer.finish().unwrap();
}

#[test]
fn connection_that_ended_between_two_calls_costs_none() {
    let peer = ScriptedPeer::start_many(|listener| {
        for count in [2, 1, 1] {
            let mut wire = listener.accept()?;
            greet(&mut wire, &[])?;
            let last = answer(&mut wire, &mut Requests::default(), count)?;
            wire.send(&Frame::goaway(last, NO_ERROR))?;
        }
        Ok(())
    })
    .unwrap();
    let mut client = client(&peer);
    (b'a'..=b'd').for_each(|letter| echo(&mut client, letter));
    peer.finish().unwrap();
}

#[test]
fn call_that_is_refused_on_its_stream_is_sent_again() {
    let peer = ScriptedPeer::start(|wire| {
        greet(wire, &[])?;
        let mut requests = Requests::default();
        let refused = take(wire, &mut requests, 1)?.remove(0);
        wire.send(&Frame::rst_stream(refused.stream, REFUSED_STREAM))?;
        answer(wire, &mut requests, 1).map(drop)
    })
    .unwrap();
    echo(&mut client(&peer), b'a');
    peer.finish().unwrap();
}

#[test]
fn peer_that_refuses_every_call_is_named() {
    let peer = ScriptedPeer::start_many(|listener| {
        loop {
            let mut wire = listener.accept()?;
            if wire.expect_preface().is_err() {
                return Ok(());
            }
            wire.send_all(&[Frame::settings(&[]), Frame::goaway(0, NO_ERROR)])?;
            wire.expect_close()?;
        }
    })
    .unwrap();
    let address = peer.address();
    let mut client =
        Client::new(ConnectionOptions::new(Protocol::Grpc, address), Duration::from_secs(20));
    let error = call(&mut client, b"").unwrap_err();
    assert!(matches!(&error, CallError::Transport(why) if why.contains("peer")), "{error}");
    drop(std::net::TcpStream::connect(address).unwrap());
    peer.finish().unwrap();
}
