//! Peers that send without end, and one that never reads.

use std::sync::mpsc;
use std::thread;

use rpcbench_clock::Nanos;
use rpcbench_engine::LoadPlan;
use rpcbench_testkit::scripted::{Frame, Requests, Wire, hpack, setting};

use super::{
    assert_answered, assert_lost, count_of, counting, greet, load, plan, serve_next, take,
};

/// Sends the same frames until the client closes.
fn flood(mut wire: Wire, frames: &[Frame]) {
    let chunk = frames.iter().flat_map(Frame::encode).collect::<Vec<u8>>().repeat(50);
    let taken = (0..100_000).take_while(|_| wire.send_bytes(&chunk).is_ok()).count();
    assert!(taken < 100_000, "the client took it all");
}

/// A first connection that is flooded after four requests, and a second one that behaves.
fn survives(begin: Vec<Frame>, without_end: Vec<Frame>, reason: &str) {
    let (peer, ended) = counting(move |listener, test| {
        let mut wire = listener.accept()?;
        greet(&mut wire, &[])?;
        take(&mut wire, &mut Requests::default(), 4)?;
        wire.send_all(&begin)?;
        let flood = thread::spawn(move || flood(wire, &without_end));
        let answered = serve_next(listener, test)?;
        flood.join().expect("the flood ends");
        Ok(answered)
    });
    let came = load(&ended, &plan(peer.address(), 4), "text:100");
    assert_lost(&came, 4, reason);
    assert_answered(peer, &ended, &came);
}

#[test]
fn continuations_without_end_cost_the_connection() {
    let begin = vec![Frame::headers(1, hpack::response_headers()).unfinished()];
    let piece = Frame::continuation(1, vec![0; 1000]).unfinished();
    survives(begin.clone(), vec![piece], "CONTINUATION");
    survives(begin, vec![Frame::continuation(1, []).unfinished()], "CONTINUATION");
}

#[test]
fn header_bomb_costs_the_connection() {
    // A field of 4 kB enters the table; then each byte repeats it.
    let field = [&b"\x40\x01a\x7f\xa1\x1e"[..], &[b'x'; 4000]].concat();
    let begin = vec![Frame::headers(1, [hpack::response_headers(), field].concat())];
    let bomb = Frame::headers(3, vec![0xbe; 16_000]);
    survives(begin, vec![bomb], "header list is larger");
}

#[test]
fn endless_pings_from_a_peer_that_does_not_read_break_the_connection() {
    survives(Vec::new(), vec![Frame::ping([1; 8])], "");
}

#[test]
fn peer_that_never_reads_costs_its_calls_and_nothing_else() {
    let (go_on, wait) = mpsc::channel();
    let (peer, ended) = counting(move |listener, test| {
        let mut wire = listener.accept()?;
        greet(&mut wire, &[(setting::INITIAL_WINDOW_SIZE, 0x7fff_ffff)])?;
        test.may_end();
        wire.stall(&wait)?;
        Ok(0)
    });
    let timeout = Nanos::from_millis(5);
    let plan = LoadPlan { timeout, grace: timeout, ..plan(peer.address(), 32) };
    // More than the kernel's buffers hold.
    let came = load(&ended, &plan, "text:1000000");
    go_on.send(()).unwrap();
    assert_eq!(count_of(peer, &ended), 0);
    let outcomes = came.outcomes;
    assert!(outcomes.timeout >= 32, "{outcomes:?}");
    assert_eq!(outcomes.total(), outcomes.timeout + outcomes.not_sent);
}
