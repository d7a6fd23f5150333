//! How often comparisons are right, in simulated runs on the noise of a shared virtual machine.

#![allow(clippy::print_stderr, reason = "the rates are in docs/evidence.md")]

use rpcbench_stats::{Comparison, Observation, Question, Spread, analysis_level, compare};

use crate::noise::{self, Design};

const RUNS: u64 = 300;
/// 5 %, and two standard errors of a rate of `RUNS`.
const FALSE: f64 = 0.075;
const SEEN: Question = Question { confidence: 0.95, precision: 0.05 };

fn pairs(entries: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..entries).flat_map(move |a| (0..entries).map(move |b| (a, b))).filter(|(a, b)| a != b)
}

fn is_faster(found: &Comparison, a: usize, b: usize) -> bool {
    found.pair(a, b).is_some_and(|pair| pair.finding.is_faster())
}

fn any_difference(found: &Comparison) -> bool {
    pairs(found.order().len()).any(|(a, b)| is_faster(found, a, b))
}

/// Share of runs for which `holds` is true.
fn share(what: &str, runs: u64, holds: impl Fn(u64) -> bool) -> f64 {
    let share = (0..runs).filter(|seed| holds(*seed)).count() as f64 / runs as f64;
    eprintln!("{what}: {:.1} % of {runs}", share * 100.0);
    share
}

fn compared(design: &Design, seed: u64, question: &Question) -> Comparison {
    compare(&design.run(seed), design.entries.len(), question)
}

/// Share of runs in which some of the entries, all equal in the long run, are called different.
fn false_share(what: &str, design: &Design) -> f64 {
    share(&format!("false, {what}"), RUNS, |seed| any_difference(&compared(design, seed, &SEEN)))
}

#[test]
fn equal_entries_rarely_differ() {
    for (deviation, correlation) in [(0.12, 0.0), (0.18, 0.7), (0.18, 0.9), (0.23, 0.9)] {
        for (generations, rounds) in [(2, 16), (4, 8), (8, 8)] {
            let design = Design { generations, rounds, ..Design::equal(deviation, correlation) };
            let what = format!("sd {deviation}, r {correlation}, {generations} x {rounds}");
            assert!(false_share(&what, &design) <= FALSE);
        }
    }
}

/// Runs as of real servers: every round has a window of every process, entries have noise of 10 to 25 %, and feel a drift of 5 %
/// within a minute 0.25 to 1.75-fold.
#[test]
fn equal_entries_under_drift_rarely_differ() {
    for (entries, generations, rounds) in [(12, 2, 8), (6, 2, 16)] {
        for processes in [0.0, 0.015, 0.03] {
            rarely_differ(Design { processes, ..Design::shared(entries, generations, rounds) });
        }
    }
}

/// With one process each, their difference is assumed: alike in all, or smaller in most.
#[test]
fn equal_entries_of_one_process_rarely_differ() {
    for (entries, rounds) in [(12, 12), (6, 32)] {
        for processes in [0.0, 0.015, 0.024] {
            rarely_differ(Design { processes, ..Design::shared(entries, 1, rounds) });
        }
        // 0.9 %, of which 1.2 % are assumed.
        for parts in [(0.0, 0.5), (0.375, 0.5)] {
            let design = Design { parts, ..Design::shared(entries, 1, rounds) };
            rarely_differ(Design { processes: 0.024, ..design });
        }
    }
}

fn rarely_differ(design: Design) {
    for drift in [0.0, 0.05] {
        let design = Design { drift, ..design.clone() };
        let Design { generations, rounds, processes, parts, .. } = design;
        let entries = design.entries.len();
        let runs = format!("{entries} x {generations} x {rounds}");
        let what = format!("{runs}, processes {processes}, parts {parts:?}, drift {drift}");
        assert!(false_share(&what, &design) <= FALSE);
    }
}

#[test]
fn windows_as_unit_would_find_false_differences() {
    let alive = Design { generations: 2, rounds: 16, live: true, ..Design::equal(0.10, 0.0) };
    let design = Design { processes: 0.03, ..alive };
    let as_units = |mut o: Observation| {
        o.process += 2 * o.round;
        o
    };
    let wrong = share("false, windows as the unit", RUNS, |seed| {
        let windows: Vec<_> = design.run(seed).into_iter().map(as_units).collect();
        any_difference(&compare(&windows, 6, &SEEN))
    });
    assert!(wrong >= 0.15);
    assert!(false_share("processes as the unit", &design) <= FALSE);
}

#[test]
fn server_listed_twice_rarely_differs_under_drift() {
    // Entries e and e + 6 feel the machine alike.
    let mut design = Design { drift: 0.10, processes: 0.015, ..Design::shared(12, 2, 8) };
    for entry in 0..6 {
        design.entries[entry + 6] = design.entries[entry];
    }
    design.alike = 6;
    let wrong = share("false, listed twice", RUNS, |seed| {
        let found = compared(&design, seed, &SEEN);
        (0..6).any(|at| found.pair(at, at + 6).unwrap().finding.is_difference())
    });
    assert!(wrong <= FALSE);
}

#[test]
fn six_minutes_resolve_what_noise_allows() {
    for (entries, generations, rounds, most) in [(12, 2, 8, 0.24), (6, 2, 16, 0.17)] {
        let design = Design::shared(entries, generations, rounds);
        let halves = (0..RUNS).filter_map(|seed| compared(&design, seed, &SEEN).resolution());
        let mean = halves.sum::<f64>() / RUNS as f64;
        eprintln!("smallest difference, {entries} x {generations} x {rounds}: {mean:.3}");
        assert!(mean <= most);
    }
}

#[test]
fn equal_entries_with_unequal_reactions_rarely_differ() {
    for (generations, rounds) in [(2, 16), (4, 8), (8, 8), (12, 8)] {
        let design = Design { generations, rounds, ..Design::unequal() };
        let wrong = share(&format!("false, unequal, {generations} x {rounds}"), RUNS, |seed| {
            any_difference(&compared(&design, seed, &SEEN))
        });
        assert!(wrong <= FALSE);
    }
}

#[test]
fn equal_entries_with_unequal_processes_rarely_differ() {
    for processes in [0.0, 0.01, 0.03] {
        let design = Design { processes, generations: 4, ..Design::equal(0.18, 0.9) };
        assert!(false_share(&format!("sd of processes {processes}"), &design) <= FALSE);
    }
}

#[test]
fn two_or_ten_equal_entries_rarely_differ() {
    for entries in [2, 3, 10] {
        let mut design = Design { generations: 4, ..Design::equal(0.18, 0.9) };
        design.entries = vec![design.entries[0]; entries];
        assert!(false_share(&format!("{entries} entries"), &design) <= FALSE);
    }
}

/// The observations without one process, and without every seventh window of those left.
fn with_losses(mut observations: Vec<Observation>) -> Vec<Observation> {
    observations.retain(|o| (o.entry, o.process) != (2, 1));
    let mut at = 0;
    observations.retain(|o| {
        at += 1;
        at % 7 != 0 && !(o.entry == 1 && o.process == 3 && o.round % 8 > 1)
    });
    observations
}

#[test]
fn lost_windows_and_processes_do_no_harm() {
    let design = Design::equal(0.18, 0.9);
    let wrong = share("false, with losses", RUNS, |seed| {
        any_difference(&compare(&with_losses(design.run(seed)), 6, &SEEN))
    });
    assert!(wrong <= FALSE);
}

#[test]
fn entry_of_a_single_process_is_compared_with_the_others_variance() {
    let mut lone = Design::equal(0.18, 0.9);
    lone.entries[0].speed += 1.0;
    let wrong = share("false, one entry of one process", RUNS, |seed| {
        let mut observations = lone.run(seed);
        observations.retain(|o| o.entry != 0 || o.process == 5);
        let found = compare(&observations, 6, &SEEN);
        assert!(is_faster(&found, 0, 1));
        pairs(6).any(|(a, b)| a != 0 && b != 0 && is_faster(&found, a, b))
    });
    assert!(wrong <= FALSE);
}

/// Slows each window to the share `kept` of its speed, with this probability.
fn with_stalls(design: &Design, seed: u64, probability: f64, kept: f64) -> Vec<Observation> {
    let mut random = noise::Random(!seed);
    let mut observations = design.run(seed);
    let hit = observations.iter_mut().filter(|_| random.uniform() < probability);
    hit.for_each(|o| o.value *= kept);
    observations
}

#[test]
fn stalls_cause_no_false_differences() {
    let design = Design::equal(0.18, 0.9);
    let wrong = share("false, with stalls", RUNS, |seed| {
        any_difference(&compare(&with_stalls(&design, seed, 0.03, 0.6), 6, &SEEN))
    });
    assert!(wrong <= FALSE);
}

#[test]
fn deciding_stalls_are_reported() {
    let design = Design::equal(0.06, 0.0);
    let flagged = |seed, kept| {
        let mut observations = design.run(seed);
        let of_first = observations.iter_mut().filter(|o| o.entry == 0 && o.round % 8 == 3);
        of_first.for_each(|o| o.value *= kept);
        compare(&observations, 6, &SEEN).estimate(0).unwrap()
    };
    let seen = share("stalls seen", RUNS, |seed| flagged(seed, 0.2).stalls_decide);
    assert!(seen >= 0.95);
    let none = share("stalls without any", RUNS, |seed| flagged(seed, 1.0).stalls_decide);
    assert!(none <= 0.02);
    let stalled = flagged(0, 0.2);
    assert!(stalled.mean > stalled.raw * 1.1);
}

/// Shares of runs in which entry 0, made costlier, is found slower than a given other, and than any other.
fn power(what: &str, mut design: Design, costlier: f64) -> (f64, f64) {
    design.entries[0].speed -= costlier.ln_1p();
    let given = share(&format!("{what}, against a given one"), RUNS, |seed| {
        is_faster(&compared(&design, seed, &SEEN), 3, 0)
    });
    let any = share(&format!("{what}, against any"), RUNS, |seed| {
        let found = compared(&design, seed, &SEEN);
        (1..6).any(|other| is_faster(&found, other, 0))
    });
    (given, any)
}

#[test]
fn four_minutes_find_10_percent_and_six_find_5() {
    let (given, any) = power("10 % in 8 x 8, r 0.9", Design::equal(0.18, 0.9), 0.10);
    assert!(given >= 0.90 && any >= 0.97);
    let (given, any) = power("10 % in 8 x 8, r 0.7", Design::equal(0.18, 0.7), 0.10);
    assert!(given >= 0.75 && any >= 0.92);
    let longer = Design { generations: 12, ..Design::equal(0.18, 0.9) };
    let (given, any) = power("5 % in 12 x 8, r 0.9", longer, 0.05);
    assert!(given >= 0.65 && any >= 0.88);
}

#[test]
fn time_shows_equality_of_equal_entries_only() {
    let mut design = Design { generations: 12, ..Design::equal(0.18, 0.9) };
    let equal = |found: &Comparison, a, b| found.pair(a, b).unwrap().finding.is_equal();
    let found = share("a pair called equal within 5 %", RUNS, |seed| {
        equal(&compared(&design, seed, &SEEN), 1, 4)
    });
    assert!(found >= 0.6);
    // Differences of just 5 % between neighbours: no pair is equal within 5 %.
    for (at, entry) in design.entries.iter_mut().enumerate() {
        entry.speed += at as f64 * 1.05_f64.ln();
    }
    let wrong = share("falsely equal", RUNS, |seed| {
        let found = compared(&design, seed, &SEEN);
        pairs(6).any(|(a, b)| equal(&found, a, b))
    });
    assert!(wrong <= FALSE);
}

#[test]
fn interim_analyses_keep_error_rate() {
    let design = Design { generations: 16, ..Design::equal(0.18, 0.9) };
    let at_some_analysis = |seed| {
        let all = design.run(seed);
        let mut before = 0.0;
        [2, 4, 6, 8, 12, 16].into_iter().any(|generations| {
            let done = f64::from(generations) / 16.0;
            let level = analysis_level(0.05, before, done);
            before = done;
            let seen = all.iter().filter(|o| o.process < generations).copied();
            let question = Question { confidence: 1.0 - level, ..SEEN };
            any_difference(&compare(&seen.collect::<Vec<_>>(), 6, &question))
        })
    };
    assert!(share("false at some of six analyses", RUNS, at_some_analysis) <= FALSE);
}

#[test]
fn gain_of_more_processes_is_predicted() {
    let few = Design { generations: 4, ..Design::equal(0.18, 0.9) };
    let many = Design { generations: 12, ..Design::equal(0.18, 0.9) };
    let mean = |told: &dyn Fn(u64) -> Option<f64>| {
        (0..RUNS).map(|seed| told(seed).unwrap()).sum::<f64>() / RUNS as f64
    };
    let foreseen = mean(&|seed| compared(&few, seed, &SEEN).resolution_after(12));
    let actual = mean(&|seed| compared(&many, seed, &SEEN).resolution());
    eprintln!("resolution predicted {foreseen:.4}, actual {actual:.4}");
    assert!((foreseen / actual - 1.0).abs() < 0.25);
}

#[test]
fn noise_is_split_into_components() {
    let design = Design { generations: 12, processes: 0.04, ..Design::equal(0.18, 0.9) };
    let spread = |seed| compared(&design, seed, &SEEN).spread().unwrap();
    let mean = |part: &dyn Fn(Spread) -> f64| {
        (0..RUNS).map(|seed| part(spread(seed))).sum::<f64>() / RUNS as f64
    };
    let (windows, in_rounds) = (mean(&|s| s.windows), mean(&|s| s.in_rounds));
    let processes = mean(&|s| s.processes);
    eprintln!("windows {windows:.3}, in rounds {in_rounds:.3}, processes {processes:.3}");
    assert!(windows > 1.5 * in_rounds);
    assert!((0.03..0.05).contains(&processes));
}

#[test]
fn own_interval_covers_speed() {
    for (design, what) in [
        (Design { generations: 2, rounds: 16, ..Design::equal(0.18, 0.0) }, "2 x 16, r 0"),
        (Design { generations: 4, ..Design::equal(0.18, 0.9) }, "4 x 8, r 0.9"),
        (Design::unequal(), "8 x 8, unequal"),
    ] {
        let truth = design.entries[1].speed.exp();
        let held = share(&format!("own interval holds, {what}"), RUNS, |seed| {
            let range = compared(&design, seed, &SEEN).estimate(1).unwrap().range.unwrap();
            range.low <= truth && truth <= range.high
        });
        assert!(held >= 0.87);
    }
}
