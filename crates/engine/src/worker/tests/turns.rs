//! Windows in parts, and time out of turn.

use proptest::prelude::*;
use rpcbench_clock::OwnClock;

use super::*;
use crate::counted::Part;

/// A server under load through all of its turns.
struct Turns {
    worker: Worker<Connection, Simulation>,
    turns: usize,
    /// Turns before which the server is frozen while the client is out of its turn.
    freezes: Vec<usize>,
}

/// Longer than all time limits.
const FROZEN: Nanos = Nanos(20_000 * MS);

impl Turns {
    fn new(service: Service, arrivals: &str, freezes: &[usize]) -> Self {
        let mut worker = connected(2, 6, service, usize::MAX);
        start(&mut worker, arrivals, None);
        Self { worker, turns: 0, freezes: freezes.to_vec() }
    }

    fn turn(&mut self) {
        if self.freezes.contains(&self.turns) {
            let left_at = self.worker.now();
            self.worker.driver.freeze(FROZEN);
            self.worker.set_clock(OwnClock::showing(left_at, self.worker.driver.now));
        }
        self.worker.turn().unwrap();
        self.turns += 1;
    }

    fn run_until(&mut self, at: u64) {
        self.worker.driver.wakes_at = Nanos(at * MS);
        while self.worker.now() < Nanos(at * MS) {
            self.turn();
        }
    }

    /// A window of these parts, in milliseconds of own time. Each part becomes known as it begins.
    fn window(&mut self, parts: &[(u64, u64)]) -> Tally {
        for (at, (from, to)) in parts.iter().enumerate() {
            self.run_until(from - 10);
            let span = Span { start: Nanos(from * MS), end: Nanos(to * MS) };
            let is_last = at + 1 == parts.len();
            self.worker.measure_part(Part { span, is_last });
        }
        while !self.worker.take_window_over() {
            self.turn();
        }
        self.worker.calls().recorder.take().unwrap().calls
    }
}

const PARTS: [(u64, u64); 3] = [(100, 180), (200, 280), (330, 411)];

#[test]
fn window_in_parts_counts_the_parts_alone() {
    let tally = Turns::new(Service::Queues(Nanos(2 * MS)), "closed", &[]).window(&PARTS);
    assert!((tally.ok_pro_rata() - 241.0 / 2.0).abs() < 1e-6, "{}", tally.ok_pro_rata());
    assert_eq!((tally.ok.min(), tally.ok.max()), (Some(12 * MS), Some(12 * MS)));
    assert_eq!((tally.series.len(), tally.outcomes.errors()), (3, 0));
}

/// All calls are answered at the same time, every 70 ms, before and after gaps.
#[test]
fn call_across_a_gap_counts_by_its_part_within() {
    let tally = Turns::new(Service::Takes(Nanos(70 * MS)), "closed", &[]).window(&PARTS);
    let expected = 6.0 * 241.0 / 70.0;
    assert!((tally.ok_pro_rata() - expected).abs() < 1e-6, "{}", tally.ok_pro_rata());
}

#[test]
fn time_in_flight_adds_up_over_the_parts() {
    for service in [Service::Queues(Nanos(2 * MS)), Service::Takes(Nanos(70 * MS))] {
        let tally = Turns::new(service, "closed", &[]).window(&PARTS);
        let sum = tally.ok.mean().unwrap() * tally.ok.count() as f64;
        let within = sum + tally.carried_in.0 as f64 - tally.carried_out.0 as f64;
        assert!((within / (241 * MS) as f64 - 6.0).abs() < 0.01, "{within}");
    }
}

#[test]
fn load_continues_after_a_window_in_parts() {
    let mut turns = Turns::new(Service::Takes(Nanos(5 * MS)), "closed", &[]);
    let first = turns.window(&PARTS);
    let second = turns.window(&PARTS.map(|(from, to)| (from + 400, to + 400)));
    assert_eq!(format!("{first:?}"), format!("{second:?}"));
    assert_eq!(turns.worker.calls().outstanding, 6);
    turns.worker.drain();
    while !turns.worker.is_drained() {
        turns.turn();
    }
    assert_eq!(turns.worker.calls().outstanding, 0);
}

#[test]
fn calls_of_a_silent_server_time_out_after_the_last_part() {
    let service = Service::StopsAt(Nanos(390 * MS), Nanos(5 * MS));
    let tally = Turns::new(service, "closed", &[]).window(&PARTS);
    assert_eq!((tally.outcomes.timeout, tally.errors.count()), (6, 6));
    assert!(tally.errors.max().unwrap() <= 130 * MS, "{:?}", tally.errors.max());
}

#[test]
fn calls_do_not_time_out_between_slices() {
    let mut turns = Turns::new(Service::Takes(Nanos(190 * MS)), "closed", &[4, 5, 6, 7, 8]);
    turns.run_until(1000);
    let (ended, failed) = (turns.worker.calls().ended, turns.worker.calls().failed);
    assert_eq!((ended, failed), (30, 0));
}

fn services() -> impl Strategy<Value = Service> {
    prop_oneof![
        (1_u64..30).prop_map(|ms| Service::Queues(Nanos(ms * MS))),
        (1_u64..150).prop_map(|ms| Service::Takes(Nanos(ms * MS))),
        (1_u64..30).prop_map(|ms| Service::Mixes(Nanos(ms * MS), 7, Nanos(180 * MS))),
    ]
}

proptest! {
    #[test]
    fn pause_anywhere_changes_no_figure(
        service in services(),
        arrivals in prop::sample::select(vec!["closed", "constant:300", "poisson:200"]),
        freezes in prop::collection::vec(0_usize..300, 1..8),
    ) {
        let tally = |freezes: &[usize]| {
            let mut turns = Turns::new(service, arrivals, freezes);
            if arrivals == "closed" {
                return format!("{:?}", turns.window(&PARTS));
            }
            turns.worker.measure(Span { start: Nanos(100 * MS), end: Nanos(500 * MS) });
            while !turns.worker.is_drained() {
                turns.turn();
            }
            format!("{:?}", turns.worker.calls().recorder.take())
        };
        prop_assert_eq!(tally(&[]), tally(&freezes));
    }
}
