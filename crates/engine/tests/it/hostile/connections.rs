//! Counts other than outcomes: connections that end, and calls that are refused and sent again.

use std::net::TcpStream;

use rpcbench_clock::{self as clock, Nanos};
use rpcbench_engine::{LoadPlan, Measurement, Session};
use rpcbench_record::Connections;
use rpcbench_testkit::scripted::{Frame, Listener, Requests, ScriptError, ScriptedPeer, setting};

use super::{greet, payload, plan, take};

const NO_ERROR: u32 = 0;
const ENHANCE_YOUR_CALM: u32 = 11;

/// Makes `calls` calls and measures them all.
fn measure(plan: &LoadPlan, calls: u64) -> Measurement {
    let mut session = Session::open(plan, &payload("text:100")).unwrap();
    session.start_measuring_calls(clock::now(), calls);
    session.finish().unwrap()
}

/// A connection on which every call is answered.
fn serve(listener: &Listener) -> Result<(), ScriptError> {
    let mut wire = listener.accept()?;
    greet(&mut wire, &[])?;
    let mut requests = Requests::default();
    while let Some(request) = wire.next_request(&mut requests)? {
        wire.send_all(&request.right_reply())?;
    }
    Ok(())
}

/// A load whose calls time out unsent or just sent; and why.
fn unsent<S>(script: S, reason: &str)
where
    S: FnOnce(&Listener) -> Result<(), ScriptError> + Send + 'static,
{
    let peer = ScriptedPeer::start_many(script).unwrap();
    let timeout = Nanos::from_millis(2000);
    let plan = LoadPlan { timeout, grace: timeout, ..plan(peer.address(), 4) };
    let tally = measure(&plan, 4).tally;
    let outcomes = tally.calls.outcomes;
    assert_eq!(outcomes.not_sent + outcomes.timeout, outcomes.total(), "{outcomes:?}");
    let expected = format!("not sent: {reason}");
    let examples = &tally.calls.examples;
    assert!(examples.iter().any(|it| it.starts_with(&expected)), "{examples:?}");
    // The script may wait for another connection.
    drop(TcpStream::connect(peer.address()));
    peer.finish().unwrap();
}

#[test]
fn unsent_calls_name_the_peers_stream_limit() {
    let script = |listener: &Listener| {
        let mut wire = listener.accept()?;
        greet(&mut wire, &[(setting::MAX_CONCURRENT_STREAMS, 0)])?;
        wire.expect_close()
    };
    unsent(script, "the peer allows 0 calls at once on a connection");
}

#[test]
fn unsent_calls_name_the_refusal() {
    let script = |listener: &Listener| {
        loop {
            let mut wire = listener.accept()?;
            if wire.expect_preface().is_err() {
                return Ok(());
            }
            wire.send(&Frame::settings(&[]))?;
            if wire.skip_until("a call", |frame| frame.stream != 0).is_ok() {
                wire.send(&Frame::goaway(0, NO_ERROR))?;
                wire.expect_close()?;
            }
        }
    };
    unsent(script, "no connection: peer closed the connection with NO_ERROR");
}

#[test]
fn unsent_calls_name_the_missing_listener() {
    let script = |listener: &Listener| {
        let mut wire = listener.accept()?;
        greet(&mut wire, &[])?;
        take(&mut wire, &mut Requests::default(), 4)?;
        wire.send(&Frame::goaway(0, NO_ERROR))
    };
    unsent(script, "no connection: Connection refused");
}

#[test]
fn refused_calls_and_connections_that_ended_are_counted() {
    let peer = ScriptedPeer::start_many(|listener| {
        let mut wire = listener.accept()?;
        greet(&mut wire, &[])?;
        let first = take(&mut wire, &mut Requests::default(), 8)?;
        wire.send(&Frame::goaway(first[3].stream, ENHANCE_YOUR_CALM))?;
        for request in &first[..4] {
            wire.send_all(&request.right_reply())?;
        }
        wire.expect_close()?;
        serve(listener)
    })
    .unwrap();
    let measured = measure(&plan(peer.address(), 8), 20);
    peer.finish().unwrap();
    let reason = Some("peer closed the connection with ENHANCE_YOUR_CALM".to_owned());
    assert_eq!(measured.tally.calls.outcomes.ok, 20);
    assert_eq!(
        measured.tally.connections,
        Connections {
            ended: 1,
            orderly: 1,
            reopened: 1,
            refused: 4,
            resent: 4,
            reason,
            ..Connections::default()
        }
    );
}

/// Even where it costs no call.
#[test]
fn answer_that_comes_twice_is_a_fault_of_the_peer() {
    let peer = ScriptedPeer::start_many(|listener| {
        let mut wire = listener.accept()?;
        greet(&mut wire, &[])?;
        let first = take(&mut wire, &mut Requests::default(), 1)?.remove(0);
        wire.send_all(&[first.right_reply(), first.right_reply()].concat())?;
        wire.expect_close()?;
        serve(listener)
    })
    .unwrap();
    let connections = measure(&plan(peer.address(), 1), 10).tally.connections;
    peer.finish().unwrap();
    assert_eq!((connections.broken, connections.ended, connections.reopened), (1, 1, 1));
    let reason = "peer broke HTTP/2: HEADERS or DATA after END_STREAM";
    assert_eq!(connections.reason.as_deref(), Some(reason));
}

/// Refused calls are sent on the next connection while it still answers the others.
#[test]
fn after_goaway_another_connection_is_opened_at_once() {
    let peer = ScriptedPeer::start_many(|listener| {
        let mut wire = listener.accept()?;
        greet(&mut wire, &[])?;
        let first = take(&mut wire, &mut Requests::default(), 8)?;
        wire.send(&Frame::goaway(first[3].stream, NO_ERROR))?;
        let (mut next, mut requests) = (listener.accept()?, Requests::default());
        greet(&mut next, &[])?;
        for request in take(&mut next, &mut requests, 4)? {
            next.send_all(&request.right_reply())?;
        }
        for request in &first[..4] {
            wire.send_all(&request.right_reply())?;
        }
        wire.expect_close()?;
        while let Some(request) = next.next_request(&mut requests)? {
            next.send_all(&request.right_reply())?;
        }
        Ok(())
    })
    .unwrap();
    let tally = measure(&plan(peer.address(), 8), 40).tally;
    peer.finish().unwrap();
    assert_eq!(tally.calls.outcomes.ok, 40, "{:?}", tally.calls.examples);
    let Connections { ended, broken, reopened, refused, resent, .. } = tally.connections;
    assert_eq!((ended, broken, reopened, refused, resent), (1, 0, 1, 4, 4));
}
