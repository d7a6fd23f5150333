//! HTTP/1.1 connections that the peer ends.

use super::open::load_as;
use super::{peers, *};
use crate::protocol::json::Connection as Json;

const CALL: Nanos = Nanos::from_millis(1);

/// A server whose replies end with the connection.
fn until_close(connections: usize) -> Simulation {
    let simulation = Simulation::new(connections, Service::Takes(CALL));
    Simulation { peer: peers::until_close, ..simulation }
}

fn counted(life: &str, connections: u32, calls: u64) -> (WindowTally, Nanos) {
    let plan =
        LoadPlan { connection_life: life.parse().unwrap(), ..plan(connections, connections) };
    let mut worker = connect_as::<Json>(plan, same(), until_close(connections as usize), None);
    let begin = worker.now();
    let span = Some(Span { start: begin, end: Nanos::NEVER });
    worker.start(Start::load(Arrivals::Closed, 1, span, Some(calls)));
    while !worker.is_drained() {
        worker.turn().unwrap();
    }
    let took = worker.now() - begin;
    worker.take_counted().unwrap();
    (worker.calls().recorder.take().unwrap(), took)
}

#[test]
fn replies_that_end_with_the_connection_follow_each_other_without_a_pause() {
    for life in ["long", "short", "calls:5"] {
        for connections in [1, 4] {
            let (tally, took) = counted(life, connections, 400);
            assert_eq!(
                (tally.calls.outcomes.ok, tally.calls.outcomes.errors()),
                (400, 0),
                "{life}"
            );
            let expected = CALL.0 * 400 / u64::from(connections);
            assert!(took.0 <= 2 * expected, "{took:?} with {connections} {life}");
            let ends = &tally.connections;
            assert!(ends.ended >= 396 && ends.orderly == ends.ended, "{ends:?}");
        }
    }
}

#[test]
fn in_an_open_loop_every_call_is_sent_to_a_server_that_ends_connections() {
    let plan = plan(4, 4);
    let measured = load_as::<Json>(plan, same(), ("constant:200", 5), until_close(4));
    assert_eq!((measured.tally.outcomes.ok, measured.tally.outcomes.errors()), (1000, 0));
}

#[test]
fn status_408_on_an_idle_connection_is_an_orderly_end() {
    for body in ["", "<html>Request Time-out</html>"] {
        let simulation = Simulation { peer: peers::json, ..until_close(1) };
        let mut worker = connect_as::<Json>(plan(1, 1), same(), simulation, None);
        let span = Span { start: worker.now(), end: worker.now() + Nanos(100 * MS) };
        let head = "HTTP/1.0 408 Request Time-out\r\nConnection: close\r\n\r\n";
        let at = worker.now() + Nanos(5 * MS);
        worker.driver.arrive(at, 0, [head, body].concat().into_bytes());
        worker.driver.arrive(at, 0, Vec::new());
        start(&mut worker, "constant:100", Some(span));
        while !worker.is_drained() {
            worker.turn().unwrap();
        }
        let tally = worker.calls().recorder.take().unwrap();
        assert_eq!((tally.calls.outcomes.ok, tally.calls.outcomes.errors()), (10, 0));
        let ends = &tally.connections;
        assert_eq!((ends.ended, ends.orderly, ends.broken), (1, 1, 0), "{ends:?}");
    }
}
