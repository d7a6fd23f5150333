//! How often one run compared with another is right, in simulated runs on the noise of a shared virtual machine.

#![allow(clippy::print_stderr, reason = "the rates are in docs/evidence.md")]

use rpcbench_stats::{Change, Changes, Observation, Question, between_runs};

use crate::noise::Design;

const RUNS: u64 = 600;
/// Six entries: none may be called changed in 95 % of the pairs of runs.
const SIX: Question = Question { confidence: 1.0 - 0.05 / 6.0, precision: 0.05 };

fn design(generations: u32, rounds: u32, correlation: f64) -> Design {
    Design { generations, rounds, ..Design::equal(0.18, correlation) }
}

fn changes(old: &[Observation], new: &[Observation]) -> Changes {
    let same: Vec<(usize, usize)> = (0..6).map(|entry| (entry, entry)).collect();
    between_runs(old, new, &same, &SIX)
}

/// The change of the fourth entry alone.
fn change(old: &[Observation], new: &[Observation]) -> Option<Change> {
    between_runs(old, new, &[(3, 3)], &Question::default()).list[0]
}

fn list(changes: &Changes) -> impl Iterator<Item = &Change> {
    changes.list.iter().flatten()
}

fn any_change(changes: &Changes) -> bool {
    list(changes).any(|it| it.pair.finding.is_difference())
}

/// Share of pairs of runs for which `holds` is true, after `alter` changed the new one.
fn share(
    what: &str,
    design: &Design,
    alter: impl Fn(&mut Observation),
    holds: impl Fn(&Changes) -> bool,
) -> f64 {
    let held = (0..RUNS).filter(|seed| {
        let (old, mut new) = (design.run(2 * seed), design.run(2 * seed + 1));
        new.iter_mut().for_each(&alter);
        holds(&changes(&old, &new))
    });
    let share = held.count() as f64 / RUNS as f64;
    eprintln!("{what}: {:.1} % of {RUNS}", share * 100.0);
    share
}

#[test]
fn equal_runs_rarely_differ() {
    for correlation in [0.0, 0.7, 0.9] {
        for (generations, rounds) in [(2, 16), (4, 8), (8, 8), (12, 8)] {
            let design = design(generations, rounds, correlation);
            let what = format!("false, r {correlation}, {generations} x {rounds}");
            assert!(share(&what, &design, |_| {}, any_change) <= 0.08);
        }
    }
}

#[test]
fn change_of_one_entry_is_found_only_if_it_is_large() {
    let slower = |change: Option<Change>| change.is_some_and(|it| it.pair.finding.is_slower());
    let design = design(12, 8, 0.9);
    let found = |by: f64| {
        let costlier = |o: &mut Observation| o.value *= if o.entry == 3 { 1.0 - by } else { 1.0 };
        let found = (0..RUNS).filter(|seed| {
            let (old, mut new) = (design.run(2 * seed), design.run(2 * seed + 1));
            new.iter_mut().for_each(costlier);
            slower(change(&old, &new))
        });
        let found = found.count() as f64 / RUNS as f64;
        eprintln!("{by} slower found, 12 x 8, r 0.9: {:.1} % of {RUNS}", found * 100.0);
        found
    };
    assert!(found(0.10) < 0.5 && found(0.30) >= 0.8);
}

/// Entries feel 18 % for each 15 % that the reference sees.
fn on_a_slower_machine(o: &mut Observation) {
    o.value *= (-0.18_f64 * 0.9).exp();
    o.reference = o.reference.map(|it| it * (-0.15_f64).exp());
}

fn unseen(o: &mut Observation) {
    on_a_slower_machine(o);
    o.reference = None;
}

#[test]
fn slower_machine_is_not_slower_server() {
    let what = "false on a machine that is slower, r 0.9, 8 x 8";
    assert!(share(what, &design(8, 8, 0.9), on_a_slower_machine, any_change) <= 0.08);
    let what = "the same without a reference";
    assert!(share(what, &design(8, 8, 0.9), unseen, any_change) <= 0.08);
    let unequal = Design { generations: 6, rounds: 8, ..Design::unequal() };
    let what = "the same where entries feel it differently, 6 x 8";
    let felt = |o: &mut Observation| {
        let deviation: f64 = [0.12, 0.23, 0.19, 0.14, 0.12, 0.23][o.entry];
        o.value *= (-deviation).exp();
        o.reference = None;
    };
    assert!(share(what, &unequal, felt, any_change) <= 0.08);
}

#[test]
fn reference_separates_machine_from_single_entry() {
    let wrong = |what, alter: &dyn Fn(&mut Observation)| {
        let design = design(8, 8, 0.9);
        let changed = (0..RUNS).filter(|seed| {
            let (old, mut new) = (design.run(2 * seed), design.run(2 * seed + 1));
            new.iter_mut().for_each(alter);
            change(&old, &new).is_some_and(|it| it.pair.finding.is_difference())
        });
        let wrong = changed.count() as f64 / RUNS as f64;
        eprintln!("{what}: {:.1} % of {RUNS}", wrong * 100.0);
        wrong
    };
    assert!(
        wrong("false of one entry on a machine that is slower, r 0.9", &on_a_slower_machine)
            <= 0.08
    );
    assert!(wrong("the same without a reference", &unseen) >= 0.5);
}

#[test]
fn change_is_found_among_unchanged_entries() {
    let costlier = |o: &mut Observation| {
        on_a_slower_machine(o);
        o.value *= if o.entry == 3 { 0.90 } else { 1.0 };
    };
    let found = |changes: &Changes| {
        let slower = |it: &Option<Change>| it.is_some_and(|it| it.pair.finding.is_slower());
        slower(&changes.list[3]) && changes.list.iter().filter(|it| slower(it)).count() == 1
    };
    for (generations, rounds, least) in [(3, 10, 0.25), (6, 10, 0.5)] {
        let what = format!("10 % slower of six found, {generations} x {rounds}, r 0.9");
        assert!(share(&what, &design(generations, rounds, 0.9), costlier, found) >= least);
    }
}

#[test]
fn change_has_ratio_and_both_means() {
    let design = design(8, 8, 0.9);
    let (old, mut new) = (design.run(1), design.run(2));
    new.iter_mut().for_each(|o| o.value *= 2.0);
    let three = between_runs(&old, &new, &[(0, 0), (1, 1), (2, 2)], &SIX);
    assert_eq!(three.common, None);
    for change in list(&three) {
        let range = change.pair.range.unwrap();
        assert!((change.new / change.old / change.pair.ratio - 1.0).abs() < 1e-9);
        assert!(range.low < change.pair.ratio && change.pair.ratio < range.high);
        // As wide as the reference moved, at least.
        assert!(range.high / range.low >= three.reference.unwrap().ln().abs().exp(), "{range:?}");
    }
}

#[test]
fn common_change_is_reported_and_removed() {
    let design = design(8, 8, 0.9);
    let (old, mut new) = (design.run(1), design.run(2));
    new.iter_mut().for_each(|o| o.value *= if o.entry == 3 { 1.0 } else { 2.0 });
    let changes = changes(&old, &new);
    assert!((changes.common.unwrap() / 2.0).ln().abs() < 0.1, "{:?}", changes.common);
    for (entry, change) in list(&changes).enumerate() {
        assert!((change.new / change.old / change.pair.ratio - 1.0).abs() < 1e-9);
        let expected = if entry == 3 { 0.5 } else { 1.0 };
        assert!((change.pair.ratio / expected).ln().abs() < 0.1, "{entry}: {:?}", change.pair);
    }
}

#[test]
fn one_window_shows_no_change() {
    let design = design(1, 1, 0.0);
    let (old, mut new) = (design.run(1), design.run(2));
    new.retain(|o| o.entry != 2);
    let changes = changes(&old, &new);
    assert!(changes.list[2].is_none());
    assert!(list(&changes).all(|change| change.pair.range.is_none()));
    assert!(!any_change(&changes));
    assert_eq!(between_runs(&[], &[], &[(0, 0)], &SIX).list, [None]);
}
