//! The closed loop.

use super::*;
use crate::protocol::Connection as _;
use crate::protocol::http2::frame::{self, put};
use crate::slot::Slot;

#[test]
fn response_time_equals_service_time() {
    let length = Nanos(1000 * MS);
    let (tally, outside) = measure(4, 10, Service::Takes(Nanos(5 * MS)), length);
    assert_eq!((tally.outcomes.ok, tally.outcomes.errors(), outside), (2000, 0, 2010));
    assert_eq!((tally.ok.min(), tally.ok.max()), (Some(5 * MS), Some(5 * MS)));
    let slices: Vec<u64> = tally.series.iter().map(|slice| slice.ok).collect();
    assert_eq!(slices.len(), 10);
    assert!(slices.iter().all(|ok| (190..=210).contains(ok)), "{slices:?}");
    // No ramp: calls due before the window complete in its first slice.
    let done: Vec<u64> = tally.series.iter().map(|slice| slice.ok + slice.carried_in).collect();
    assert_eq!(done, [200; 10]);
}

#[test]
fn calls_in_a_queue_wait_for_all_earlier_ones() {
    let (tally, _) = measure(3, 20, Service::Queues(Nanos(2 * MS)), Nanos(1000 * MS));
    assert_eq!(tally.outcomes.ok, 500);
    assert_eq!((tally.ok.min(), tally.ok.max()), (Some(40 * MS), Some(40 * MS)));
    // An answer arrives at each edge, and the nineteen other calls have 2 to 38 ms left.
    let carried: Vec<u64> = tally.series.iter().map(|slice| slice.carried_in).collect();
    // One of them ends at the window's first instant.
    assert_eq!(carried, [20, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!((tally.replies_in(), tally.requests_out()), (500, 500));
    assert_eq!(tally.carried_in, tally.carried_out);
    assert_eq!(tally.carried_in.0 / MS, (1..20).map(|place| 2 * place).sum::<u64>());
}

/// All ten calls are answered at the same time, three or four times in a window.
#[test]
fn call_that_an_edge_cuts_counts_by_the_part_of_it_that_lies_within() {
    for length in [180, 250, 330] {
        let (tally, _) = measure(2, 10, Service::Takes(Nanos(70 * MS)), Nanos(length * MS));
        let answers: u64 = tally.series.iter().map(|slice| slice.ok + slice.carried_in).sum();
        assert_eq!(answers % 10, 0);
        let parts = tally.ok_pro_rata();
        assert!((parts - 10.0 * length as f64 / 70.0).abs() < 1e-6, "{length} ms: {parts}");
    }
    let (tally, _) = measure(3, 20, Service::Queues(Nanos(2 * MS)), Nanos(1000 * MS));
    assert!((tally.ok_pro_rata() - 500.0).abs() < 1e-6, "{}", tally.ok_pro_rata());
}

#[test]
fn silence_ends_in_timeouts_each_counted_once_and_never_later_than_the_grace() {
    let stop = Nanos(1500 * MS);
    let service = Service::StopsAt(stop, Nanos(10 * MS));
    let (tally, _) = measure(2, 4, service, Nanos(1000 * MS));
    let outcomes = &tally.outcomes;
    assert_eq!(outcomes.ok + outcomes.timeout, outcomes.total());
    assert_eq!(tally.errors.count(), outcomes.timeout);
    // From 1.5 s to 2 s each of four slots times out every 0.2 to 0.25 s; the last calls have 0.1 s.
    assert!((8..=12).contains(&outcomes.timeout), "{outcomes:?}");
    assert!(tally.errors.max().unwrap() <= 250 * MS);
    assert!(tally.errors.min().unwrap() >= 100 * MS);
}

/// The grace period of 100 ms is for measured calls; the timeout is 200 ms.
#[test]
fn calls_outside_of_the_window_have_their_whole_timeout() {
    let service = Service::Takes(Nanos(150 * MS));
    let mut worker = connected(2, 4, service, usize::MAX);
    start(&mut worker, "closed", None);
    worker.drain();
    let paused = |worker: &mut Worker<_, _>| {
        while !worker.is_drained() {
            worker.turn().unwrap();
        }
        let outside = &worker.calls().recorder.outside().outcomes;
        (outside.ok, outside.errors())
    };
    assert_eq!(paused(&mut worker), (4, 0));
    start(&mut worker, "closed", None);
    let begin = worker.now();
    worker.measure(Span { start: begin, end: begin + Nanos(10 * MS) });
    // Four calls are due in the window; only the timeout leaves them enough time. The calls after them are not cut off.
    assert_eq!(paused(&mut worker).1, 0);
}

#[test]
fn late_answer_is_a_timeout_even_before_the_next_timeout_check() {
    // It times out after 200 ms, checked every 50 ms.
    for (takes, ok) in [(199, 16), (200, 0), (210, 0)] {
        let (tally, _) = measure(2, 4, Service::Takes(Nanos(takes * MS)), Nanos(1000 * MS));
        assert_eq!(tally.outcomes.ok, ok, "{takes} ms: {:?}", tally.outcomes);
    }
}

#[test]
fn answers_of_the_grace_period_count() {
    let (tally, _) = measure(1, 1, Service::Takes(Nanos(90 * MS)), Nanos(100 * MS));
    assert_eq!(tally.outcomes.ok, tally.outcomes.total());
    let in_window: u64 = tally.series.iter().map(|slice| slice.ok).sum();
    assert!(in_window < tally.outcomes.ok);
}

#[test]
fn requests_cut_anywhere_by_the_kernel_arrive_whole() {
    for room in [1, 7, 50] {
        let mut worker = connected(2, 6, Service::Takes(Nanos(MS)), room);
        start(&mut worker, "closed", None);
        let end = worker.now() + Nanos(50 * MS);
        worker.measure(Span { start: worker.now(), end });
        while !worker.is_drained() {
            worker.turn().unwrap();
        }
        let tally = worker.calls().recorder.take().unwrap().calls;
        assert_eq!((tally.outcomes.ok, tally.outcomes.errors()), (300, 0), "room for {room}");
    }
}

#[test]
fn calls_to_a_peer_that_does_not_read_do_not_accumulate() {
    let mut worker = connected(1, 4, Service::Takes(Nanos(MS)), usize::MAX);
    worker.driver.room = 0;
    worker.driver.sockets[0].taken = 0;
    start(&mut worker, "closed", None);
    let end = worker.now() + Nanos(5000 * MS);
    worker.measure(Span { start: worker.now(), end });
    while !worker.is_drained() {
        worker.turn().unwrap();
    }
    let tally = worker.calls().recorder.take().unwrap().calls;
    // The first four were written before the kernel refused more.
    assert_eq!((tally.outcomes.ok, tally.outcomes.timeout), (0, 4));
    assert!(tally.outcomes.not_sent >= 4 * 15, "{:?}", tally.outcomes);
    assert!(worker.slots[0].output().len() < 300, "{}", worker.slots[0].output().len());
}

#[test]
fn second_start_changes_nothing() {
    let mut worker = connected(1, 4, Service::Takes(Nanos(MS)), usize::MAX);
    start(&mut worker, "closed", None);
    start(&mut worker, "closed", None);
    assert_eq!(worker.calls().outstanding, 4);
}

/// A window that ends with a number of calls has a series that grows.
#[test]
fn cut_leaves_the_series_room_up_to_the_new_end() {
    let mut worker = connected(2, 6, Service::Takes(Nanos(MS)), usize::MAX);
    let begin = worker.now();
    let at = |millis| begin + Nanos(millis * MS);
    let span = Span { start: begin, end: Nanos::NEVER };
    let (arrivals, calls) = (Arrivals::Closed, Some(u64::MAX));
    worker.start(Start::load(arrivals, 1, Some(span), calls));
    while worker.now() < at(95) {
        worker.turn().unwrap();
    }
    assert_eq!(worker.end_at(at(130)), Some(Span { start: begin, end: at(130) }));
    while !worker.is_drained() {
        worker.turn().unwrap();
    }
    let tally = worker.calls().recorder.take().unwrap().calls;
    let sliced: u64 = tally.series.iter().map(|slice| slice.ok).sum();
    // The last ones are answered after the window's end.
    assert_eq!((tally.series.len(), tally.outcomes.ok - sliced), (2, 6));
}

#[test]
fn window_ends_at_the_given_time() {
    // An end in the past takes effect an instant later. Calls come due each millisecond, six at a time.
    let late = Nanos(30 * MS + 1);
    for (cut, end, due) in [(40, Nanos(40 * MS), 40), (10, late, 31), (200, Nanos(200 * MS), 200)] {
        let mut worker = connected(2, 6, Service::Takes(Nanos(MS)), usize::MAX);
        let begin = worker.now();
        let at = |millis| begin + Nanos(millis * MS);
        start(&mut worker, "closed", Some(Span { start: begin, end: at(100) }));
        while worker.now() < at(30) {
            worker.turn().unwrap();
        }
        assert_eq!(worker.end_at(at(cut)), Some(Span { start: begin, end: begin + end }));
        while !worker.is_drained() {
            worker.turn().unwrap();
        }
        assert_eq!(worker.end_at(at(cut)), None);
        let tally = worker.calls().recorder.take().unwrap().calls;
        let slices = u64::div_ceil(due, 100) as usize;
        assert_eq!((tally.outcomes.ok, tally.series.len()), (6 * due, slices), "{cut} ms");
        // The last ones are answered after the end.
        let sliced: u64 = tally.series.iter().map(|slice| slice.ok).sum();
        assert_eq!(sliced, 6 * (due - 1));
    }
}

#[test]
fn graceful_goodbye_after_work_does_not_make_the_next_one_slower() {
    let mut worker = connected(1, 1, Service::Takes(Nanos(MS)), usize::MAX);
    start(&mut worker, "closed", None);
    for _ in 0..12 {
        let before = worker.calls().ended;
        while worker.calls().ended == before {
            worker.turn().unwrap();
        }
        let now = worker.driver.now;
        let mut goodbye = Vec::new();
        put(&mut goodbye, frame::GOAWAY, 0, 0, &[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
        worker.driver.arrive(now, 0, goodbye);
        while worker.is_connected() {
            worker.turn().unwrap();
        }
        while !worker.is_connected() {
            worker.turn().unwrap();
        }
        assert!(worker.driver.now <= now + Nanos(5 * MS), "{:?} after {now:?}", worker.driver.now);
    }
}

#[test]
fn peer_that_does_not_finish_the_handshake_is_tried_again() {
    let mut worker = connected(1, 1, Service::Takes(Nanos(MS)), usize::MAX);
    start(&mut worker, "closed", None);
    worker.lose(0, "for the test");
    worker.driver.room = 0;
    let mut attempts = 0;
    while worker.now() < Nanos(10_000 * MS) {
        let was = worker.slots[0].connection.is_some();
        worker.turn().unwrap();
        attempts += u32::from(!was && worker.slots[0].connection.is_some());
    }
    assert!((8..=10).contains(&attempts), "{attempts}");
}

#[test]
fn calls_are_stamped_when_the_kernel_has_taken_them_whole() {
    let written = |worker: &mut Worker<Connection, Simulation>| {
        let calls = worker.slots[0].connection.as_mut().unwrap().abandon();
        calls.iter().map(|call| call.written > Nanos(0)).collect::<Vec<_>>()
    };
    let started = || {
        let mut worker = connected(1, 2, Service::Takes(Nanos(MS)), usize::MAX);
        (worker.driver.room, worker.driver.sockets[0].taken) = (20, 0);
        start(&mut worker, "closed", None);
        worker
    };
    assert_eq!(written(&mut started()), [false, false]);
    let mut worker = started();
    while worker.slots[0].has_output() {
        worker.turn().unwrap();
    }
    assert_eq!(written(&mut worker), [true, true]);
}

/// A listener's queue may have room for only 128.
#[test]
fn connections_are_opened_one_after_another() {
    let began = Simulation::new(1000, Service::Takes(Nanos(MS))).now;
    let worker = connected(1000, 1, Service::Takes(Nanos(MS)), usize::MAX);
    assert_eq!(worker.now() - began, Nanos(999 * MS / 10));
}

#[test]
fn reason_of_a_goaway_is_reported_until_the_connection_is_open_again() {
    let mut worker = connected(1, 1, Service::Takes(Nanos(MS)), usize::MAX);
    let mut goodbye = Vec::new();
    put(&mut goodbye, frame::GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 11]);
    worker.driver.arrive(worker.driver.now, 0, goodbye);
    worker.turn().unwrap();
    let problem = "peer closed the connection with ENHANCE_YOUR_CALM".to_owned();
    assert_eq!(worker.connect_problem(), (0, Some(problem)));
    while !worker.is_connected() {
        worker.turn().unwrap();
    }
    assert_eq!(worker.connect_problem(), (1, None));
}

/// The tally and the span of a window of this many calls, after `warm_up`. Calls take 2 ms, until the server stops.
fn counted(calls: u64, warm_up: Nanos, stops_after: Nanos) -> (Tally, Span) {
    let mut worker = connected(5, 10, Service::Takes(Nanos(2 * MS)), usize::MAX);
    let now = worker.now();
    worker.driver.service = Service::StopsAt(now + stops_after, Nanos(2 * MS));
    let span = Span { start: now + warm_up, end: Nanos::NEVER };
    let arrivals = Arrivals::Closed;
    worker.start(Start::load(arrivals, 1, Some(span), Some(calls)));
    while !worker.is_drained() {
        worker.turn().unwrap();
    }
    let span = worker.take_counted().unwrap();
    (worker.calls().recorder.take().unwrap().calls, span)
}

#[test]
fn window_of_calls_has_exactly_these_and_ends_with_the_last() {
    for (calls, rounds) in [(1, 1), (10, 1), (11, 2), (1000, 100)] {
        let (tally, span) = counted(calls, Nanos(0), Nanos::NEVER);
        assert_eq!((tally.outcomes.ok, tally.outcomes.errors()), (calls, 0));
        // Ten at once, in rounds of 2 ms.
        assert_eq!(span.end - span.start, Nanos(rounds * 2 * MS + 1), "{calls}");
        let sliced: u64 = tally.series.iter().map(|slice| slice.ok).sum();
        assert_eq!((sliced, tally.carried_out), (calls, Nanos(0)), "{calls}");
        let (warm, _) = counted(calls, Nanos(7 * MS), Nanos::NEVER);
        assert_eq!(warm.outcomes.total(), calls, "after a warm-up");
        // Ten replies to the warm-up arrive within the window.
        assert_eq!((warm.replies_in(), warm.requests_out()), (calls + 10, calls));
    }
}

#[test]
fn calls_of_a_counted_window_that_get_no_answer_end_it_too() {
    let (tally, _) = counted(1000, Nanos(0), Nanos(100 * MS));
    // Each call that times out lets the next one come due, until all have.
    assert_eq!(tally.outcomes.total(), 1000);
    assert!(tally.outcomes.timeout > 0 && tally.outcomes.ok > 0, "{:?}", tally.outcomes);
}

#[test]
fn first_calls_of_a_counted_window_are_spread_over_all_connections() {
    for (calls, each) in [(50, [5; 10]), (13, [2, 2, 2, 1, 1, 1, 1, 1, 1, 1]), (200, [20; 10])] {
        let mut worker = connected(10, 200, Service::Takes(Nanos(MS)), usize::MAX);
        let span = Span { start: worker.now(), end: Nanos::NEVER };
        worker.start(Start::load(Arrivals::Closed, 1, Some(span), Some(calls)));
        let open = |slot: &Slot<Connection>| slot.connection.as_ref().unwrap().open_calls();
        assert!(worker.slots.iter().map(open).eq(each), "{calls}");
    }
}

#[test]
fn stream_limit_below_the_plan_is_reported() {
    let mut worker = connected(2, 40, Service::Takes(Nanos(MS)), usize::MAX);
    assert_eq!(worker.calls_allowed(), None);
    for (connection, allowed) in [(0, 20), (0, 4), (1, 7)] {
        let mut settings = Vec::new();
        put(&mut settings, frame::SETTINGS, 0, 0, &[0, 3, 0, 0, 0, allowed]);
        worker.driver.arrive(worker.driver.now, connection, settings);
        worker.turn().unwrap();
        assert_eq!(worker.calls_allowed(), (allowed < 20).then_some(4));
    }
    start(&mut worker, "closed", None);
    let open = worker.slots.iter().map(|slot| slot.connection.as_ref().unwrap().open_calls());
    assert!(open.eq([4, 7]));
}

/// What counts as the client's absence in a window from 1 s to 2 s, milliseconds.
fn absence_in(simulation: Simulation) -> u64 {
    let mut worker = connect(plan(2, 4), simulation, None);
    start(&mut worker, "closed", None);
    worker.measure(Span { start: Nanos(1000 * MS), end: Nanos(2000 * MS) });
    while !worker.is_drained() {
        worker.turn().unwrap();
    }
    worker.calls().recorder.take().unwrap().longest_absence.0 / MS
}

/// Same if the client's thread does not run for some time.
fn absence(from: u64, to: u64, oversleep: u64) -> u64 {
    absence_in(Simulation {
        stopped: Some((Nanos(from * MS), Nanos(to * MS))),
        oversleep: Nanos(oversleep),
        ..Simulation::new(2, Service::Takes(Nanos(MS)))
    })
}

#[test]
fn longest_time_for_which_the_client_did_not_run_is_known() {
    // A turn that waited for replies was to end 50 ms after it began at the latest.
    assert!((250..=300).contains(&absence(1200, 1500, 0)));
    assert!((650..=700).contains(&absence(1500, 2200, 0)), "until its last calls have ended");
    assert!((450..=500).contains(&absence(2000, 2500, 0)), "after it, while they are in flight");
    assert!((150..=200).contains(&absence(500, 1200, 0)), "cut by its start");
    assert_eq!([absence(1200, 1200, 0), absence(300, 900, 0), absence(2010, 2500, 0)], [0; 3]);
    assert_eq!(absence(0, 0, 900_000), 0, "a thread that wakes late by less than a millisecond");
}

#[test]
fn handshakes_do_not_count_as_client_absence() {
    let turn_of_300_ms = |handshakes_ms: u64| {
        absence_in(Simulation {
            stopped: Some((Nanos(1200 * MS), Nanos(1500 * MS))),
            handshaking: Nanos(handshakes_ms * MS),
            ..Simulation::new(2, Service::Takes(Nanos(MS)))
        })
    };
    assert_eq!(turn_of_300_ms(300), 0);
    assert!((250..=300).contains(&turn_of_300_ms(100)), "the client was not at work for the rest");
}
