//! What is counted beside outcomes: connections that end, and calls that are refused and sent again.

use rpcbench_engine::clock;
use rpcbench_engine::{LoadPlan, Measurement, Session};
use rpcbench_record::Connections;
use rpcbench_testkit::scripted::{Frame, Listener, Requests, ScriptError, ScriptedPeer};

use super::{greet, payload, plan, take};

const ENHANCE_YOUR_CALM: u32 = 11;

/// Makes so many calls, all of them measured.
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
    assert_eq!(measured.tally.outcomes.ok, 20);
    assert_eq!(
        measured.tally.connections,
        Connections { ended: 1, broken: 0, reopened: 1, refused: 4, resent: 4, reason }
    );
}

/// Even where it costs no call.
#[test]
fn an_answer_that_comes_twice_is_a_fault_of_the_peer() {
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
