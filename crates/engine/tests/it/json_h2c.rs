//! Loads in JSON over HTTP/2, on peers that follow a script of frames. `hostile` tests HTTP/2 itself.

use std::net::SocketAddr;

use rpcbench_clock::{self as clock, Nanos};
use rpcbench_engine::{LoadPlan, Measurement, Session};
use rpcbench_record::Protocol;
use rpcbench_testkit::scripted::{Frame, Request, Requests, ScriptError, ScriptedPeer, Wire};

use crate::support;

const INTERNAL_ERROR: u32 = 2;
const REFUSED_STREAM: u32 = 7;

/// Makes `calls` calls on one connection, `in_flight` at a time.
fn make(address: SocketAddr, in_flight: u32, calls: u64) -> Measurement {
    let plan = LoadPlan { in_flight, ..support::plan(Protocol::JsonH2c, address) };
    let payload = support::plain(Protocol::JsonH2c, "text:100");
    let mut session = Session::open(&plan, &payload).unwrap();
    session.start_measuring_calls(clock::now(), calls);
    while !session.is_drained() {
        clock::sleep_until(clock::now() + Nanos::from_millis(1));
    }
    session.finish().unwrap()
}

/// A header block: a status, of those that have an index, and the length of the body that is said to follow.
fn head(status: u8, length: usize) -> Vec<u8> {
    let digits = length.to_string();
    [&[status, 0x0f, 0x0d, digits.len() as u8], digits.as_bytes()].concat()
}

const OK: u8 = 0x88;
const NOT_FOUND: u8 = 0x8d;

fn echo(request: &Request) -> Vec<u8> {
    let text = String::from_utf8(request.body.clone()).unwrap();
    text.replacen("\"text\"", "\"echo\"", 1).into_bytes()
}

fn right_reply(request: &Request) -> Vec<Frame> {
    let echo = echo(request);
    let headers = Frame::headers(request.stream, head(OK, echo.len()));
    vec![headers, Frame::data(request.stream, echo).end_stream()]
}

/// Answers requests with the result of `answer` for each request and its number, until the client has closed.
fn serve(
    wire: &mut Wire,
    mut answer: impl FnMut(usize, &Request) -> Vec<Frame>,
) -> Result<(), ScriptError> {
    wire.handshake(&[])?;
    let mut requests = Requests::default();
    for number in 0.. {
        let Some(request) = wire.next_request(&mut requests)? else { break };
        wire.send_bytewise(&answer(number, &request))?;
    }
    Ok(())
}

#[test]
fn each_call_ends_as_http_says() {
    let peer = ScriptedPeer::start(|wire| {
        serve(wire, |number, request| {
            let (stream, echo) = (request.stream, echo(request));
            let headers = |block: Vec<u8>| Frame::headers(stream, block);
            match number % 10 {
                0 => vec![headers(head(NOT_FOUND, 2)), Frame::data(stream, b"no").end_stream()],
                1 => vec![headers(b"\x08\x03503".to_vec()).end_stream()],
                2 => vec![headers(head(OK, 7)), Frame::data(stream, b"{\"e\":1}").end_stream()],
                3 => {
                    vec![headers(head(OK, echo.len() + 1)), Frame::data(stream, echo).end_stream()]
                }
                4 => vec![headers(head(OK, 3)), Frame::data(stream, echo)],
                5 => vec![headers(b"\x00\x01a\x01b".to_vec())],
                6 => vec![Frame::rst_stream(stream, INTERNAL_ERROR)],
                7 => {
                    let (first, rest) = echo.split_at(9);
                    vec![
                        headers(b"\x08\x03103".to_vec()),
                        headers(vec![OK]),
                        Frame::data(stream, first),
                        Frame::data(stream, rest),
                        headers(b"\x00\x04grpc\x01x".to_vec()).end_stream(),
                    ]
                }
                8 => vec![headers(b"\x89".to_vec()), Frame::data(stream, b"x").end_stream()],
                _ => right_reply(request),
            }
        })
    })
    .unwrap();
    let Measurement { tally, .. } = make(peer.address(), 1, 100);
    peer.finish().unwrap();
    let outcomes = &tally.calls.outcomes;
    assert_eq!((outcomes.ok, outcomes.wrong_answer), (20, 10), "{:?}", tally.calls.examples);
    assert_eq!(outcomes.status, [(404, 10), (503, 10)].into(), "{:?}", tally.calls.examples);
    assert_eq!((outcomes.transport, outcomes.total()), (50, 100), "{:?}", tally.calls.examples);
    assert_eq!(tally.connections.opened, 0, "the connection goes on");
}

#[test]
fn refused_call_is_sent_again() {
    let peer = ScriptedPeer::start(|wire| {
        serve(wire, |number, request| match number % 2 {
            0 => vec![Frame::rst_stream(request.stream, REFUSED_STREAM)],
            _ => right_reply(request),
        })
    })
    .unwrap();
    let Measurement { tally, .. } = make(peer.address(), 4, 100);
    peer.finish().unwrap();
    assert_eq!(
        (tally.calls.outcomes.ok, tally.calls.outcomes.total()),
        (100, 100),
        "{:?}",
        tally.calls.examples
    );
}

#[test]
fn calls_behind_a_goaway_go_to_the_next_connection() {
    let peer = ScriptedPeer::start_many(|listener| {
        let mut wire = listener.accept()?;
        wire.handshake(&[])?;
        let mut requests = Requests::default();
        let mut taken = Vec::new();
        while taken.len() < 4 {
            taken.extend(wire.next_request(&mut requests)?);
        }
        wire.send(&Frame::goaway(taken[1].stream, 0))?;
        wire.send_all(&right_reply(&taken[1]))?;
        wire.send_all(&right_reply(&taken[0]))?;
        wire.expect_close()?;
        serve(&mut listener.accept()?, |_, request| right_reply(request))
    })
    .unwrap();
    let Measurement { tally, .. } = make(peer.address(), 4, 50);
    peer.finish().unwrap();
    assert_eq!(
        (tally.calls.outcomes.ok, tally.calls.outcomes.total()),
        (50, 50),
        "{:?}",
        tally.calls.examples
    );
}
