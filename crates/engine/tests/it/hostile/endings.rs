//! Peers that end calls and connections early.

use std::collections::BTreeMap;

use rpcbench_testkit::scripted::{Frame, Request, Requests};

use super::{
    assert_answered, assert_lost, count_of, counting, greet, load, plan, serve, serve_next, take,
};

const INTERNAL_ERROR: u32 = 2;
const REFUSED_STREAM: u32 = 7;

fn bodies<'a>(requests: impl IntoIterator<Item = &'a Request>) -> BTreeMap<Vec<u8>, usize> {
    let mut count = BTreeMap::new();
    for request in requests {
        *count.entry(request.body.clone()).or_default() += 1;
    }
    count
}

#[test]
fn calls_above_the_last_stream_of_goaway_are_sent_again_and_the_others_answered() {
    let (peer, ended) = counting(|listener, test| {
        let mut wire = listener.accept()?;
        greet(&mut wire, &[])?;
        let first = take(&mut wire, &mut Requests::default(), 8)?;
        wire.send(&Frame::goaway(first[3].stream, 0))?;
        for request in &first[..4] {
            wire.send_all(&request.right_reply())?;
        }
        wire.expect_close()?;
        let mut wire = listener.accept()?;
        greet(&mut wire, &[])?;
        // The four that were refused, and four that came due when the others ended.
        let again = take(&mut wire, &mut Requests::default(), 8)?;
        let again_bodies = bodies(&again);
        assert!(bodies(&first[4..]).iter().all(|(body, n)| again_bodies.get(body) >= Some(n)));
        for request in again.iter().rev() {
            wire.send_all(&request.right_reply())?;
        }
        Ok(12 + serve(&mut wire, test)?)
    });
    let came = load(&ended, &plan(peer.address(), 8), "text:100");
    assert_lost(&came, 0, "");
    assert_answered(peer, &ended, &came);
}

#[test]
fn goaway_followed_by_close_fails_calls_in_flight() {
    let (peer, ended) = counting(|listener, test| {
        let mut wire = listener.accept()?;
        greet(&mut wire, &[])?;
        let first = take(&mut wire, &mut Requests::default(), 8)?;
        wire.send(&Frame::goaway(first[4].stream, INTERNAL_ERROR))?;
        wire.close()?;
        serve_next(listener, test)
    });
    let came = load(&ended, &plan(peer.address(), 8), "text:100");
    assert_lost(&came, 5, "INTERNAL_ERROR");
    assert_answered(peer, &ended, &came);
}

#[test]
fn half_of_the_streams_are_reset_and_the_others_answered() {
    let (peer, ended) = counting(|listener, test| {
        let mut wire = listener.accept()?;
        greet(&mut wire, &[])?;
        let (mut requests, mut answered) = (Requests::default(), 0);
        for n in 0..200 {
            let request = take(&mut wire, &mut requests, 1)?.remove(0);
            if n % 2 == 0 {
                wire.send(&Frame::rst_stream(request.stream, INTERNAL_ERROR))?;
            } else {
                wire.send_all(&request.right_reply())?;
                answered += 1;
            }
        }
        Ok(answered + serve(&mut wire, test)?)
    });
    let came = load(&ended, &plan(peer.address(), 10), "text:100");
    assert_lost(&came, 100, "RST_STREAM INTERNAL_ERROR");
    assert_answered(peer, &ended, &came);
}

#[test]
fn half_of_the_streams_are_refused_and_come_again() {
    let (peer, ended) = counting(|listener, test| {
        let mut wire = listener.accept()?;
        greet(&mut wire, &[])?;
        let (mut requests, mut answered) = (Requests::default(), 0);
        let (mut refused, mut served) = (Vec::new(), Vec::new());
        for n in 0..200 {
            let request = take(&mut wire, &mut requests, 1)?.remove(0);
            if n % 2 == 0 {
                wire.send(&Frame::rst_stream(request.stream, REFUSED_STREAM))?;
                refused.push(request);
            } else {
                wire.send_all(&request.right_reply())?;
                served.push(request);
                answered += 1;
            }
        }
        test.may_end();
        while let Some(request) = wire.next_request(&mut requests)? {
            wire.send_all(&request.right_reply())?;
            served.push(request);
            answered += 1;
        }
        let served = bodies(&served);
        assert!(refused.iter().all(|request| served.contains_key(&request.body)));
        Ok(answered)
    });
    let came = load(&ended, &plan(peer.address(), 10), "text:100");
    assert_lost(&came, 0, "");
    assert_answered(peer, &ended, &came);
}

#[test]
fn peer_that_refuses_every_call_is_named_and_every_call_ends() {
    let (peer, ended) = counting(|listener, test| {
        let mut wire = listener.accept()?;
        greet(&mut wire, &[])?;
        let (mut requests, mut refused) = (Requests::default(), 0);
        test.may_end();
        while let Some(request) = wire.next_request(&mut requests)? {
            wire.send(&Frame::rst_stream(request.stream, REFUSED_STREAM))?;
            refused += 1;
        }
        Ok(refused)
    });
    let came = load(&ended, &plan(peer.address(), 10), "text:100");
    // The first 32 refusals in a row are accepted: those calls are sent again.
    assert_eq!(came.outcomes.transport, count_of(peer, &ended) - 32);
    assert_eq!(came.outcomes.total(), came.outcomes.transport);
    assert!(came.examples[0].contains("REFUSED_STREAM"), "{:?}", came.examples);
}

#[test]
fn half_closed_connection_fails_calls_in_flight() {
    let (peer, ended) = counting(|listener, test| {
        let mut wire = listener.accept()?;
        greet(&mut wire, &[])?;
        let mut requests = Requests::default();
        let first = take(&mut wire, &mut requests, 6)?;
        wire.send_all(&first[0].right_reply())?;
        wire.send_all(&first[1].right_reply()[..2])?; // Without its trailers.
        take(&mut wire, &mut requests, 1)?;
        wire.half_close()?;
        wire.expect_close()?;
        Ok(1 + serve_next(listener, test)?)
    });
    let came = load(&ended, &plan(peer.address(), 6), "text:100");
    assert_lost(&came, 6, "peer closed the connection");
    assert_answered(peer, &ended, &came);
}

#[test]
fn answer_that_comes_twice_costs_the_connection() {
    let (peer, ended) = counting(|listener, test| {
        let mut wire = listener.accept()?;
        greet(&mut wire, &[])?;
        let first = take(&mut wire, &mut Requests::default(), 6)?;
        wire.send_all(&[first[0].right_reply(), first[0].right_reply()].concat())?;
        wire.expect_close()?;
        Ok(1 + serve_next(listener, test)?)
    });
    let came = load(&ended, &plan(peer.address(), 6), "text:100");
    assert_lost(&came, 5, "after END_STREAM");
    assert_answered(peer, &ended, &came);
}
