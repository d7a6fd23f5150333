//! The open loop.

use super::*;
use crate::log::{Ended, LoggedCall, call_log};
use crate::pacing::Schedule;
use crate::worker::open::MAX_GIVEN_UP;

pub(super) const SECOND: u64 = 1000 * MS;

/// What an open loop measured.
pub(super) struct Measured {
    pub tally: Tally,
    pub log: Vec<LoggedCall>,
    due: u64,
}

/// A load by `arrivals` with the given cap on calls in flight, over `seconds` after 0.1 s of warm-up.
fn load(arrivals: &str, in_flight: u32, seconds: u64, simulation: Simulation) -> Measured {
    let plan = plan(simulation.sockets.len() as u32, in_flight);
    load_as::<Connection>(plan, same(), (arrivals, seconds), simulation)
}

/// Same over any protocol, with arrivals for some seconds.
pub(super) fn load_as<C: protocol::Connection>(
    plan: LoadPlan,
    payload: Arc<dyn Payload>,
    (arrivals, seconds): (&str, u64),
    simulation: Simulation,
) -> Measured {
    let (timeout, grace) = (Nanos(20 * SECOND), Nanos(5 * SECOND));
    let plan = LoadPlan { timeout, grace, ..plan };
    let (log, batches) = call_log();
    let mut worker = connect_as::<C>(plan, payload, simulation, Some(log));
    start(&mut worker, arrivals, None);
    let start = worker.now() + Nanos(100 * MS);
    let end = start + Nanos(seconds * SECOND);
    worker.measure(Span { start, end });
    while !worker.is_drained() {
        worker.turn().unwrap();
    }
    let tally = worker.calls().recorder.take().unwrap().calls;
    assert_eq!(tally.ok.count(), tally.outcomes.ok);
    assert_eq!(tally.service.count(), tally.outcomes.ok);
    assert_eq!(tally.send_lag.count(), tally.outcomes.ok);
    let due = Schedule::new(arrivals.parse().unwrap(), 1).due_before(end - start);
    assert_eq!(tally.outcomes.total(), due);
    let log: Vec<_> = batches.try_iter().flatten().collect();
    assert_eq!(log.len() as u64, due);
    Measured { tally, log, due }
}

fn takes(connections: usize, time: Nanos) -> Simulation {
    Simulation::new(connections, Service::Takes(time))
}

/// Asserts that a value differs from the expected one by at most this share.
pub(super) fn assert_close(what: &str, value: u64, expected: u64, share: f64) {
    let off = value.abs_diff(expected) as f64 / expected as f64;
    assert!(off <= share, "{what}: {value}, expected {expected} within {share}");
}

#[test]
fn calls_are_sent_exactly_when_due_with_any_number_of_connections() {
    for connections in [1, 7, 50] {
        for arrivals in
            ["constant:1000", "poisson:1000", "ramp:100..2000/1s", "steps:100..900+400/500ms"]
        {
            let measured = load(arrivals, 5000, 2, takes(connections, Nanos(5 * MS)));
            let due = Schedule::new(arrivals.parse().unwrap(), 1).take(measured.due as usize);
            let mut logged: Vec<Nanos> = measured.log.iter().map(|call| call.due).collect();
            logged.sort();
            assert_eq!(logged, due.collect::<Vec<_>>(), "{arrivals}");
            assert!(measured.log.iter().all(|call| call.written == Some(call.due)), "{arrivals}");
            assert_eq!(measured.tally.ok.max(), Some(5 * MS));
            assert_eq!((measured.tally.pacing.late, measured.tally.pacing.held_back), (0, 0));
        }
    }
}

#[test]
fn stall_of_one_second_in_ten_is_in_the_quantiles() {
    // A tenth of all calls come due in the stall and wait 0 to 1 s, uniformly. So 5 % wait longer than 0.5 s, and 1 %
    // longer than 0.9 s.
    let stall = Service::Pauses(Nanos(4 * SECOND), Nanos(5 * SECOND), Nanos(MS / 10));
    let free = load("constant:1000", 5000, 10, Simulation::new(5, stall));
    // A cap on calls in flight moves the wait from the server to the client, but does not hide it.
    let capped = load("constant:1000", 50, 10, Simulation::new(5, stall));
    for measured in [&free, &capped] {
        let quantile = |q| measured.tally.ok.quantile(q).unwrap();
        assert_close("p95", quantile(0.95), SECOND / 2, 0.01);
        assert_close("p99", quantile(0.99), SECOND / 10 * 9, 0.01);
        assert_close("p50", quantile(0.5), MS / 10, 0.01);
        assert_eq!(measured.tally.pacing.late, 0);
    }
    assert_eq!(free.tally.pacing.held_back, 0);
    assert_close("service p99", free.tally.service.quantile(0.99).unwrap(), SECOND / 10 * 9, 0.01);
    assert_close("held back", capped.tally.pacing.held_back, 950, 0.01);
    assert_close("service p99", capped.tally.service.quantile(0.99).unwrap(), MS / 10, 0.01);
    assert_close("lag p95", capped.tally.send_lag.quantile(0.95).unwrap(), SECOND / 100 * 45, 0.01);
}

#[test]
fn one_slow_call_in_a_thousand_shows_at_the_last_quantiles_only() {
    let service = Service::Mixes(Nanos(MS), 1000, Nanos(100 * MS));
    let measured = load("constant:5000", 5000, 4, Simulation::new(10, service));
    let quantile = |q| measured.tally.ok.quantile(q).unwrap();
    assert_close("p99.95", quantile(0.9995), 100 * MS, 0.001);
    assert_close("p99", quantile(0.99), MS, 0.001);
}

#[test]
fn known_distribution_is_reproduced() {
    let one = load("poisson:1000", 5000, 10, takes(10, Nanos(MS)));
    for q in [0.5, 0.99, 0.999] {
        assert_close("1 ms", one.tally.ok.quantile(q).unwrap(), MS, 0.001);
    }
    let mix = Service::Mixes(Nanos(MS), 10, Nanos(10 * MS));
    let mixed = load("poisson:1000", 5000, 10, Simulation::new(10, mix));
    for (q, expected) in [(0.5, MS), (0.89, MS), (0.91, 10 * MS), (0.99, 10 * MS), (0.999, 10 * MS)]
    {
        assert_close("1 or 10 ms", mixed.tally.ok.quantile(q).unwrap(), expected, 0.001);
    }
}

#[test]
fn client_that_wakes_up_late_says_so_and_a_server_without_room_is_not_blamed_on_it() {
    let punctual = Simulation { oversleep: Nanos(MS / 2), ..takes(5, Nanos(5 * MS)) };
    assert_eq!(load("constant:100", 500, 2, punctual).tally.pacing.late, 0);
    let asleep = Simulation { oversleep: Nanos(3 * MS), ..takes(5, Nanos(5 * MS)) };
    let measured = load("constant:100", 500, 2, asleep);
    assert!(measured.tally.pacing.late > measured.due / 4, "{} late", measured.tally.pacing.late);
    assert_eq!(measured.tally.pacing.held_back, 0);
    // Response time still counts from due.
    assert!(measured.tally.ok.quantile(0.5).unwrap() >= 8 * MS - MS / 100);
}

#[test]
fn server_that_leaves_no_room_is_not_taken_for_a_late_client() {
    // A call each 5 ms. Five fill the connections; then there is no room, until all are answered at once.
    let stall = |millis: u64| {
        let end = SECOND + millis * MS;
        Service::Pauses(Nanos(SECOND), Nanos(end), Nanos(MS / 10))
    };
    let held_back = |millis| {
        let measured = load("constant:200", 5, 2, Simulation::new(5, stall(millis)));
        assert_eq!(measured.tally.pacing.late, 0, "{millis} ms");
        measured.tally.pacing.held_back
    };
    assert_eq!([10, 20, 41, 43].map(held_back), [0, 0, 4, 4]);
    let overloaded = load("constant:100", 5, 2, takes(5, Nanos(70 * MS)));
    let Pacing { late, held_back, .. } = overloaded.tally.pacing;
    assert!(late == 0 && held_back > overloaded.due * 8 / 10, "{late}, {held_back}");
}

#[test]
fn every_call_due_while_the_client_is_stopped_is_late_with_or_without_room() {
    let (from, to) = (Nanos(4 * SECOND), Nanos(5 * SECOND));
    for in_flight in [50, 5000] {
        let stopped = Simulation { stopped: Some((from, to)), ..takes(5, Nanos(MS / 10)) };
        let measured = load("constant:1000", in_flight, 10, stopped);
        // The last millisecond does not count as late.
        assert_close("late", measured.tally.pacing.late, 999, 0.002);
        // Those due in the last millisecond, and those due while the client catches up.
        assert!(measured.tally.pacing.held_back <= 5, "{}", measured.tally.pacing.held_back);
        assert_close("p99", measured.tally.ok.quantile(0.99).unwrap(), SECOND / 10 * 9, 0.01);
    }
}

#[test]
fn client_that_is_stopped_while_no_connection_has_room_is_late_too() {
    // Nothing is answered from 1 s to 3 s, and the client does not run for one second of that.
    let pauses = Service::Pauses(Nanos(SECOND), Nanos(3 * SECOND), Nanos(MS));
    let stopped = Some((Nanos(3 * SECOND / 2), Nanos(5 * SECOND / 2)));
    let simulation = Simulation { stopped, ..Simulation::new(5, pauses) };
    let Pacing { late, held_back, .. } = load("constant:1000", 50, 5, simulation).tally.pacing;
    assert_close("late", late, 999, 0.002);
    // The first 50 had room; 39 more came due while the client caught up.
    assert_close("held back", held_back, 1000 - 50 + 39, 0.01);
}

#[test]
fn calls_that_are_due_at_once_share_a_write() {
    let asleep = Simulation { oversleep: Nanos(39 * MS), ..takes(4, Nanos(5 * MS)) };
    let mut worker = connect(plan(4, 400), asleep, None);
    let sent = |worker: &Worker<Connection, Simulation>| -> Vec<u64> {
        worker.driver.sockets.iter().map(|socket| socket.calls).collect()
    };
    start(&mut worker, "constant:1000", None);
    assert_eq!(sent(&worker), [1, 0, 0, 0]);
    worker.turn().unwrap();
    assert_eq!(sent(&worker), [1, 16, 16, 8]);
    worker.driver.oversleep = Nanos(0);
    while sent(&worker).iter().sum::<u64>() < 41 + 8 {
        worker.turn().unwrap();
    }
    // Those that come due one by one go to the connections in turn.
    assert_eq!(sent(&worker), [3, 18, 18, 10]);
}

#[test]
fn calls_without_room_until_the_grace_period_ends_are_not_sent() {
    let silent = Service::StopsAt(Nanos(SECOND), Nanos(MS));
    let measured = load("constant:100", 5, 2, Simulation::new(5, silent));
    let outcomes = &measured.tally.outcomes;
    assert_eq!(outcomes.timeout, 5);
    assert_eq!(outcomes.ok + outcomes.timeout + outcomes.not_sent, 200);
    let unsent = measured.log.iter().filter(|call| call.ended == Ended::NotSent);
    assert!(unsent.clone().count() > 100);
    assert!(unsent.clone().all(|call| call.written.is_none()));
}

#[test]
fn calls_given_up_per_turn_are_bounded() {
    let nothing = Simulation::new(1, Service::StopsAt(Nanos(0), Nanos(MS)));
    let plan = LoadPlan { timeout: Nanos(MS), grace: Nanos(MS), ..plan(1, 1) };
    let mut worker = connect(plan, nothing, None);
    let begin = worker.now();
    let span = Span { start: begin, end: begin + Nanos(SECOND) };
    start(&mut worker, "constant:1000000", Some(span));
    worker.driver.now = begin + Nanos(2 * SECOND);
    let mut given_up = Vec::new();
    while !worker.is_drained() {
        worker.turn().unwrap();
        let so_far = worker.calls().recorder.so_far().1.not_sent;
        given_up.push(so_far - given_up.iter().sum::<u64>());
    }
    assert!(given_up.iter().all(|calls| *calls <= 2 * MAX_GIVEN_UP as u64), "{given_up:?}");
    let tally = worker.calls().recorder.take().unwrap().calls;
    assert_eq!(tally.outcomes.total(), 1_000_000);
    assert!(tally.outcomes.not_sent > 900_000, "{:?}", tally.outcomes);
    assert_eq!(tally.examples.len(), 1, "{:?}", tally.examples);
}

#[test]
fn every_start_has_its_own_arrivals_and_seed() {
    let plan = LoadPlan { grace: Nanos(SECOND), ..plan(2, 100) };
    let mut worker = connect(plan, takes(2, Nanos(100 * MS)), None);
    let mut measured = Vec::new();
    for (arrivals, seed) in [("constant:100", 1), ("closed", 2), ("poisson:50", 3)] {
        worker.start(Start::load(arrivals.parse().unwrap(), seed, None, None));
        let start = worker.now() + Nanos(MS);
        worker.measure(Span { start, end: start + Nanos(SECOND) });
        while !worker.is_drained() {
            worker.turn().unwrap();
        }
        measured.push(worker.calls().recorder.take().unwrap().calls.outcomes.ok);
    }
    let poisson = Schedule::new("poisson:50".parse().unwrap(), 3).due_before(Nanos(SECOND));
    assert_eq!(measured, [100, 1000, poisson]);
}

#[test]
fn cut_open_loop_sends_what_came_due_before_it() {
    let mut worker = connect(plan(2, 100), takes(2, Nanos(5 * MS)), None);
    let begin = worker.now();
    let span = Span { start: begin, end: begin + Nanos(SECOND) };
    start(&mut worker, "constant:1000", Some(span));
    while worker.now() < begin + Nanos(200 * MS) {
        worker.turn().unwrap();
    }
    worker.end_at(begin + Nanos(250 * MS)).unwrap();
    while !worker.is_drained() {
        worker.turn().unwrap();
    }
    let tally = worker.calls().recorder.take().unwrap().calls;
    assert_eq!((tally.outcomes.ok, tally.outcomes.total(), tally.series.len()), (250, 250, 3));
}

#[test]
fn late_thread_sends_all_calls_of_its_window() {
    let mut worker = connect(plan(2, 500), takes(2, Nanos(MS)), None);
    worker.driver.now = Nanos(20 * MS);
    let begin = Nanos(10 * MS);
    let span = Span { start: begin, end: begin + Nanos(SECOND) };
    start(&mut worker, "constant:1000", Some(span));
    while !worker.is_drained() {
        worker.turn().unwrap();
    }
    let before = worker.calls().recorder.outside().outcomes.total();
    let tally = worker.calls().recorder.take().unwrap().calls;
    assert_eq!((before, tally.outcomes.ok), (0, 1000));
    // Those due 1 to 10 ms before the client noticed them; up to a millisecond is not late.
    assert_eq!(tally.pacing.late, 9);
}
