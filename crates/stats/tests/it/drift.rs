//! Entries that change while they are measured.

#![allow(clippy::print_stderr, reason = "the rates are in docs/evidence.md")]

use rpcbench_stats::{Drift, Observation, drift};

use crate::noise::{Design, Entry};

const PRECISION: f64 = 0.05;
const RUNS: u64 = 500;

/// One process each over 32 rounds.
fn kept(deviation: f64, correlation: f64) -> Design {
    Design { generations: 1, rounds: 32, ..Design::equal(deviation, correlation) }
}

/// A run in which entry 0 has this speed in each round of each process.
fn changing(design: &Design, seed: u64, speed: impl Fn(u32) -> f64) -> Vec<Observation> {
    let mut observations = design.run(seed);
    let own = observations.iter_mut().filter(|o| o.entry == 0);
    own.for_each(|o| o.value *= speed(o.round % design.rounds));
    observations
}

fn drifts(design: &Design, seed: u64, speed: impl Fn(u32) -> f64) -> Vec<Option<Drift>> {
    drift(&changing(design, seed, speed), design.entries.len(), PRECISION)
}

/// Share of runs in which entry 0 is found to change in the direction of `sign`, and in which another one drifts.
fn found(what: &str, design: &Design, speed: impl Fn(u32) -> f64) -> (f64, f64) {
    let (mut own, mut others) = (0, 0);
    for seed in 0..RUNS {
        let found = drifts(design, seed, &speed);
        own += u32::from(found[0].is_some_and(|drift| drift.change > 0.0));
        others += u32::from(found[1..].iter().any(Option::is_some));
    }
    let share = |count: u32| f64::from(count) / RUNS as f64;
    eprintln!(
        "{what}: found in {:.1} %, others in {:.1} %",
        share(own) * 100.0,
        share(others) * 100.0
    );
    (share(own), share(others))
}

#[test]
fn unchanged_entries_rarely_drift() {
    for (deviation, correlation) in [(0.12, 0.0), (0.18, 0.7), (0.23, 0.0), (0.23, 0.9)] {
        let short = Design { generations: 4, rounds: 8, ..kept(deviation, correlation) };
        for (design, what) in [(kept(deviation, correlation), "1 x 32"), (short, "4 x 8")] {
            let what = format!("none, sd {deviation}, r {correlation}, {what}");
            let (own, others) = found(&what, &design, |_| 1.0);
            assert!(own <= 0.02 && others <= 0.03);
        }
    }
    let unequal = Design { generations: 4, ..Design::unequal() };
    let (own, others) = found("none, unequal", &unequal, |_| 1.0);
    assert!(own <= 0.02 && others <= 0.03);
}

#[test]
fn step_in_long_process_is_found() {
    let step = |size: f64| move |round| if round < 12 { 1.0 } else { 1.0 + size };
    for (deviation, correlation, size) in
        [(0.12, 0.0, 0.25), (0.23, 0.0, 0.55), (0.12, 0.9, 0.13), (0.23, 0.9, 0.27)]
    {
        let what = format!("step of {size}, sd {deviation}, r {correlation}");
        let (own, _) = found(&what, &kept(deviation, correlation), step(size));
        assert!(own >= 0.75);
    }
}

#[test]
fn doubling_in_short_processes_is_attributed_to_entry() {
    let design = Design { generations: 2, rounds: 8, ..Design::equal(0.23, 0.0) };
    let (own, others) =
        found("doubling, 2 x 8", &design, |round| if round < 4 { 1.0 } else { 2.0 });
    assert!(own >= 0.85 && others <= 0.05);
}

#[test]
fn climb_of_2_percent_is_found_under_3_percent_noise() {
    // A window of 0.5 s in each round; between them the server is frozen.
    let climb = |round: u32| 1.01_f64.powi(round as i32);
    let design = Design { generations: 2, rounds: 16, ..Design::equal(0.03, 0.0) };
    let (own, others) = found("climb, 2 x 16", &design, climb);
    assert!(own >= 0.95 && others <= 0.03);
}

#[test]
fn drift_size_is_that_of_entry() {
    let quiet = Design { generations: 2, rounds: 10, ..Design::equal(0.01, 0.0) };
    let change = |speed: &dyn Fn(u32) -> f64| drifts(&quiet, 7, speed)[0].unwrap().change;
    assert!((change(&|round| if round < 3 { 1.0 } else { 1.5 }) - 0.5).abs() < 0.05);
    assert!((change(&|round| if round < 7 { 1.0 } else { 0.5 }) + 0.5).abs() < 0.05);
    let climbed = change(&|round| 1.0 + 0.3 * f64::from(round) / 9.0);
    assert!((climbed - 0.3).abs() < 0.1, "{climbed}");
}

#[test]
fn change_within_precision_is_no_drift() {
    let quiet = Design { generations: 2, rounds: 10, ..Design::equal(0.001, 0.0) };
    assert_eq!(drifts(&quiet, 7, |round| if round < 5 { 1.0 } else { 1.04 })[0], None);
}

#[test]
fn single_entry_or_round_has_no_drift() {
    let mut alone = Design::equal(0.01, 0.0);
    alone.entries = vec![Entry { speed: 1.0, deviation: 0.01, correlation: 0.0 }];
    assert_eq!(drifts(&alone, 7, |round| 1.0 + f64::from(round)), [None]);
    let single = Design { generations: 5, rounds: 1, ..Design::equal(0.1, 0.0) };
    assert_eq!(drifts(&single, 7, |_| 1.0), [None; 6]);
    assert_eq!(drift(&[], 2, PRECISION), [None; 2]);
}
