//! Connections with a call limit.

use super::*;
use crate::protocol::http2::frame::{self, put};

/// Time that a connect and a call take.
const CONNECT: Nanos = Nanos::from_millis(3);
const CALL: Nanos = Nanos::from_millis(5);

/// A worker whose connections have the limit `life`. A connect takes [`CONNECT`], and a call [`CALL`].
fn with_life(life: &str, connections: u32, in_flight: u32) -> Worker<Connection, Simulation> {
    let plan = LoadPlan { connection_life: life.parse().unwrap(), ..plan(connections, in_flight) };
    let simulation = Simulation::new(connections as usize, Service::Takes(CALL));
    connect(plan, Simulation { connect_takes: CONNECT, ..simulation }, None)
}

/// Makes this many calls in a closed loop.
fn make(worker: &mut Worker<Connection, Simulation>, calls: u64) -> WindowTally {
    let span = Some(Span { start: worker.now(), end: Nanos::NEVER });
    worker.start(Start::load(Arrivals::Closed, 1, span, Some(calls)));
    while !worker.is_drained() {
        worker.turn().unwrap();
    }
    worker.take_counted().unwrap();
    worker.calls().recorder.take().unwrap()
}

#[test]
fn short_connection_carries_one_call_and_the_caller_waits_for_both() {
    let mut worker = with_life("short", 4, 4);
    let tally = make(&mut worker, 100);
    assert_eq!((tally.calls.outcomes.ok, tally.calls.outcomes.errors()), (100, 0));
    // The first calls find their connections open.
    assert_eq!((worker.driver.opened, tally.connect.count()), (100, 96));
    assert_eq!((tally.connect.min(), tally.connect.max()), (Some(CONNECT.0), Some(CONNECT.0)));
    let opening = tally.opening.unwrap();
    assert_eq!((opening.tcp.count(), opening.tcp.max()), (96, Some(CONNECT.0)));
    assert_eq!((opening.first_byte.count(), opening.full_handshake.count()), (96, 0));
    assert_eq!(
        (tally.calls.service.min(), tally.calls.service.max()),
        (Some(CALL.0), Some(CALL.0))
    );
    assert_eq!(
        (tally.calls.ok.min(), tally.calls.ok.max()),
        (Some(CALL.0), Some((CONNECT + CALL).0))
    );
    let connections = &tally.connections;
    assert_eq!((connections.retired, connections.ended, connections.reopened), (100, 0, 0));
}

#[test]
fn connections_carry_as_many_calls_as_they_live_for_and_none_is_lost_between_two() {
    for (life, each, in_flight) in [("calls:5", 5, 4), ("calls:5", 5, 20), ("calls:7", 7, 12)] {
        let mut worker = with_life(life, 4, in_flight);
        let tally = make(&mut worker, 1001);
        assert_eq!((tally.calls.outcomes.ok, tally.calls.outcomes.errors()), (1001, 0), "{life}");
        let (fewest, opened) = (1001_u64.div_ceil(each), worker.driver.opened);
        assert!((fewest..=fewest + 4).contains(&opened), "{opened} connections, {life}");
        // The last connections may have calls left.
        assert!((opened - 4..=opened).contains(&tally.connections.retired));
    }
}

#[test]
fn in_an_open_loop_a_connection_is_opened_when_its_call_is_due() {
    let mut worker = with_life("short", 8, 8);
    let begin = worker.now();
    let span = Span { start: begin, end: begin + Nanos(1000 * MS) };
    start(&mut worker, "constant:100", Some(span));
    while !worker.is_drained() {
        worker.turn().unwrap();
    }
    let tally = worker.calls().recorder.take().unwrap();
    assert_eq!((tally.calls.outcomes.ok, tally.calls.outcomes.errors()), (100, 0));
    assert_eq!((tally.calls.pacing.late, tally.calls.pacing.held_back), (0, 0));
    assert_eq!((worker.driver.opened, tally.connect.count()), (100, 92));
    // All but the first eight wait for their own connection, from their due time on.
    assert_eq!(tally.calls.ok.quantile(0.5), Some((CONNECT + CALL).0));
    assert_eq!(tally.calls.ok.max(), Some((CONNECT + CALL).0));
    assert_eq!(tally.calls.send_lag.max(), Some(CONNECT.0));
}

#[test]
fn call_whose_connection_is_refused_was_not_sent_and_the_next_waits_longer() {
    let mut worker = with_life("short", 2, 2);
    worker.driver.refuses = true;
    let begin = worker.now();
    let tally = make(&mut worker, 12);
    // Two had connections already.
    assert_eq!(
        (tally.calls.outcomes.ok, tally.calls.outcomes.not_sent, tally.calls.outcomes.errors()),
        (2, 10, 10)
    );
    assert_eq!((tally.connections.connect_failed, tally.connections.connect_refused), (10, 10));
    assert_eq!(tally.calls.examples, ["not sent: no connection: connection refused"]);
    assert!(worker.now() > begin + Nanos(15 * MS), "pauses grow: {:?}", worker.now());
    worker.driver.refuses = false;
    assert_eq!(make(&mut worker, 50).calls.outcomes.ok, 50);
}

#[test]
fn goodbye_in_the_middle_of_a_call_is_orderly_and_costs_no_call() {
    let mut goodbye = Vec::new();
    put(&mut goodbye, frame::GOAWAY, 0, 0, &[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
    // Before the reply, or in a wait with it and read on its own.
    for (segment, oversleep) in [(usize::MAX, Nanos(0)), (goodbye.len(), CALL)] {
        let mut worker = with_life("calls:100", 1, 1);
        let span = Some(Span { start: worker.now(), end: Nanos::NEVER });
        worker.start(Start::load(Arrivals::Closed, 1, span, Some(30)));
        let at = worker.driver.now + Nanos(2 * MS);
        worker.driver.arrive(at, 0, goodbye.clone());
        (worker.driver.segment, worker.driver.oversleep) = (segment, oversleep);
        while !worker.is_drained() {
            worker.turn().unwrap();
        }
        let tally = worker.calls().recorder.take().unwrap();
        assert_eq!((tally.calls.outcomes.ok, tally.calls.outcomes.errors()), (30, 0));
        assert_eq!((tally.connections.ended, tally.connections.orderly), (1, 1));
        assert_eq!((tally.connections.retired, worker.driver.opened), (0, 2));
    }
}

#[test]
fn call_out_of_time_ends_its_connection_and_is_counted_once() {
    let mut worker = with_life("short", 2, 2);
    worker.driver.service = Service::StopsAt(worker.now() + Nanos(50 * MS), CALL);
    let tally = make(&mut worker, 30);
    assert_eq!(tally.calls.outcomes.total(), 30);
    assert_eq!(tally.calls.outcomes.ok + tally.calls.outcomes.timeout, 30);
    assert!(
        tally.calls.outcomes.ok > 0 && tally.calls.outcomes.timeout > 0,
        "{:?}",
        tally.calls.outcomes
    );
    assert_eq!(worker.driver.opened, 30);
}
