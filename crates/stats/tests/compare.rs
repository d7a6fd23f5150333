//! Comparisons by hand, and what holds for all of them.

use proptest::prelude::*;
use rpcbench_stats::{
    Adjustment, Finding, Observation, Place, Question, Unadjusted, compare, look_level,
};

const SEEN: Question = Question { confidence: 0.95, precision: 0.05, baseline: Some(1.0) };

/// Observations of entries' processes, one window each: `values[process][entry]`.
fn table<const E: usize>(values: &[[f64; E]]) -> Vec<Observation> {
    let cell =
        |process, entry, value| Observation { entry, process, round: 0, value, reference: None };
    (0_u32..)
        .zip(values)
        .flat_map(|(g, row)| row.iter().enumerate().map(move |(e, value)| cell(g, e, *value)))
        .collect()
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-4 * expected.abs(), "{expected}, not {found}");
}

#[test]
fn three_entries_and_three_processes_by_hand() {
    let logs = [[0.00, 0.10, 0.50], [0.02, 0.16, 0.49], [0.04, 0.13, 0.57]];
    let found = compare(&table(&logs.map(|row| row.map(f64::exp))), 3, &Question::default());
    close(found.estimate(0).unwrap().mean, 0.02_f64.exp());
    close(found.estimate(2).unwrap().mean, 0.52_f64.exp());
    let squares: f64 = {
        let all: f64 = logs.iter().flatten().sum::<f64>() / 9.0;
        let row = |g: usize| logs[g].iter().sum::<f64>() / 3.0;
        let column = |e: usize| logs.iter().map(|row| row[e]).sum::<f64>() / 3.0;
        let rest = |g: usize, e: usize| logs[g][e] - row(g) - column(e) + all;
        (0..9).map(|at| rest(at / 3, at % 3).powi(2)).sum()
    };
    // q(0.95; 3, 4) = 5.040
    let half = 5.040 / 2_f64.sqrt() * (squares / 4.0 * 2.0 / 3.0).sqrt();
    let pair = found.pair(1, 0).unwrap();
    close(pair.ratio, 0.11_f64.exp());
    assert!((pair.range.unwrap().high.ln() - 0.11 - half).abs() < 1e-4);
    let beside = found.estimate(1).unwrap().comparison.unwrap();
    assert!((beside.high.ln() - 0.13 - half / 2.0).abs() < 1e-4);
    assert!((beside.low.ln() - 0.13 + half / 2.0).abs() < 1e-4);
    assert_eq!(pair.finding, Finding::Faster);
    assert_eq!(found.pair(0, 1).unwrap().finding, Finding::Slower);
    assert_eq!(found.order(), [2, 1, 0]);
    assert!(found.is_decided());
}

#[test]
fn entries_are_told_apart_where_their_comparison_intervals_do_not_overlap() {
    let logs = [[0.00, 0.10, 0.17, 0.90], [0.02, 0.16, 0.13, 0.89], [0.04, 0.13, 0.10, 0.97]];
    let found = compare(&table(&logs.map(|row| row.map(f64::exp))), 4, &SEEN);
    let beside = |entry| found.estimate(entry).unwrap().comparison.unwrap();
    let mut told = 0;
    for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
        let apart = beside(a).high < beside(b).low || beside(b).high < beside(a).low;
        assert_eq!(
            apart,
            found.pair(a, b).unwrap().range.is_some_and(|r| r.low > 1.0 || r.high < 1.0)
        );
        told += usize::from(apart);
    }
    assert_eq!(told, 5);
}

#[test]
fn with_one_process_everything_is_open() {
    let found = compare(&table(&[[100.0, 200.0, 300.0]]), 3, &Question::default());
    assert_eq!(found.estimate(0).unwrap().range, None);
    assert_eq!(found.estimate(0).unwrap().comparison, None);
    let pair = found.pair(0, 2).unwrap();
    assert_eq!((pair.range, pair.finding), (None, Finding::Open));
    assert_eq!(found.place(2), Some(Place { best: 1, worst: 3 }));
    assert_eq!(found.open_neighbours(), [(2, 1), (1, 0)]);
    assert_eq!(found.resolution(), None);
}

#[test]
fn an_entry_alone_has_its_own_interval_by_students_t() {
    let found = compare(&table(&[[0.0], [0.1], [0.2]].map(|row| row.map(f64::exp))), 1, &SEEN);
    // t(0.975; 2) = 4.303
    let range = found.estimate(0).unwrap().range.unwrap();
    assert!((range.high.ln() - 0.1 - 4.303 * 0.1 / 3_f64.sqrt()).abs() < 1e-3);
    assert_eq!(found.estimate(0).unwrap().comparison, None);
    assert_eq!(found.place(0), Some(Place { best: 1, worst: 1 }));
    assert!(found.is_decided());
}

#[test]
fn two_entries_are_a_paired_t_test() {
    let logs = [[0.00, 0.10], [0.30, 0.36], [0.10, 0.23], [0.20, 0.31], [0.05, 0.15]];
    let found = compare(&table(&logs.map(|row| row.map(f64::exp))), 2, &SEEN);
    // Differences 0.10 0.06 0.13 0.11 0.10: mean 0.10, s = 0.025495, t(0.975; 4) = 2.776
    let half = 2.776_445 * 0.025_495 / 5_f64.sqrt();
    let range = found.pair(1, 0).unwrap().range.unwrap();
    assert!((range.low.ln() - 0.10 + half).abs() < 1e-5, "{range:?}");
    assert!((range.high.ln() - 0.10 - half).abs() < 1e-5, "{range:?}");
}

#[test]
fn nothing_observed_is_nothing_found() {
    let found = compare(&[], 3, &Question::default());
    assert_eq!((found.estimate(0), found.pair(0, 1), found.place(0)), (None, None, None));
    assert_eq!(found.adjustment(), Adjustment::Raw(Unadjusted::NoReference));
    let wrong = [0.0, -1.0, f64::NAN, f64::INFINITY].map(|value| [value]);
    assert_eq!(compare(&table(&wrong), 1, &Question::default()).estimate(0), None);
    assert_eq!(compare(&table(&[[1.0, 1.0]]), 1, &Question::default()).estimate(1), None);
}

#[test]
fn levels_of_looks_add_up() {
    let looks = [0.25, 0.5, 1.0];
    let spent: f64 = looks
        .iter()
        .scan(0.0, |before, now| {
            let level = look_level(0.05, *before, *now);
            *before = *now;
            Some(level)
        })
        .sum();
    close(spent, 0.05);
    close(look_level(0.05, 0.0, 1.0), 0.05);
}

#[test]
fn entries_that_no_generation_joins_are_not_compared() {
    let level =
        |entry, process, value| Observation { entry, process, round: 0, value, reference: None };
    let pair =
        |a, b, process| [level(a, process, 100.0 + f64::from(process)), level(b, process, 300.0)];
    let apart = [pair(0, 1, 0), pair(0, 1, 1), pair(2, 3, 2), pair(2, 3, 3)].concat();
    let found = compare(&apart, 4, &Question::default());
    assert_eq!(found.pair(0, 3).unwrap().finding, Finding::Open);
    assert_eq!(found.pair(0, 2).unwrap().finding, Finding::Open);
}

/// Entries with slopes of their own on a reference that goes up and down, seen at another state each.
fn felt(reference: impl Fn(u32, usize) -> f64) -> Vec<Observation> {
    let mut observations = Vec::new();
    for (process, round, entry) in
        (0..3).flat_map(|g| (0..6).flat_map(move |r| (0..2).map(move |e| (g, r, e))))
    {
        let x = reference(process * 6 + round, entry);
        let slope = [0.5, 2.0][entry];
        let jitter = 1.0 + 0.001 * f64::from((process + round) % 2);
        observations.push(Observation {
            entry,
            process,
            round,
            value: 1000.0 * x.powf(slope) * jitter,
            reference: Some(x),
        });
    }
    observations
}

#[test]
fn entries_are_compared_at_the_baseline() {
    let wandering = |at: u32, entry: usize| 1.2 + 0.1 * f64::from((at + entry as u32) % 3);
    let found = compare(&felt(wandering), 2, &SEEN);
    assert_eq!(found.adjustment(), Adjustment::To { baseline: 1.0 });
    let (first, second) = (found.estimate(0).unwrap(), found.estimate(1).unwrap());
    assert!(
        (first.slope.unwrap() - 0.5).abs() < 0.02 && (second.slope.unwrap() - 2.0).abs() < 0.02
    );
    assert!((found.pair(0, 1).unwrap().ratio - 1.0).abs() < 0.01);
    // Without a baseline it is the mean state, where the second is faster; raw figures say much the same.
    let here = compare(&felt(wandering), 2, &Question { baseline: None, ..SEEN });
    assert!((here.pair(1, 0).unwrap().ratio - 1.3_f64.powf(1.5)).abs() < 0.03);
    assert!((second.raw / first.raw - 1.3_f64.powf(1.5)).abs() < 0.03);
    let far = compare(&felt(wandering), 2, &Question { baseline: Some(3.0), ..SEEN });
    assert!(matches!(far.adjustment(), Adjustment::Raw(Unadjusted::Far { mean }) if mean < 1.4));
}

#[test]
fn a_reference_that_cannot_serve_is_not_used() {
    let still = compare(&felt(|_, _| 1.1), 2, &SEEN);
    assert_eq!(still.adjustment(), Adjustment::Raw(Unadjusted::NoSlope));
    let moved =
        compare(&felt(|at, entry| 1.0 + 0.01 * f64::from(at) + 0.2 * entry as f64), 2, &SEEN);
    assert!(matches!(moved.adjustment(), Adjustment::Raw(Unadjusted::Moved { .. })));
    let mut alone = felt(|at, _| 1.0 + 0.01 * f64::from(at));
    alone.retain(|o| o.entry == 0);
    assert_eq!(compare(&alone, 1, &SEEN).adjustment(), Adjustment::Raw(Unadjusted::Alone));
    let mut unread = felt(|at, entry| 1.2 + 0.1 * f64::from((at + entry as u32) % 3));
    unread[7].reference = None;
    assert_eq!(compare(&unread, 2, &SEEN).adjustment(), Adjustment::To { baseline: 1.0 });
    unread.iter_mut().filter(|o| o.process == 1).for_each(|o| o.reference = None);
    assert_eq!(compare(&unread, 2, &SEEN).adjustment(), Adjustment::Raw(Unadjusted::NoReference));
}

fn observations() -> impl Strategy<Value = Vec<Observation>> {
    let one = (0_usize..5, 0_u32..4, 0_u32..5, 0.0_f64..1e6, prop::option::of(0.5_f64..2.0));
    let one = one.prop_map(|(entry, process, round, value, reference)| Observation {
        entry,
        process,
        round,
        value,
        reference,
    });
    prop::collection::vec(one, 0..80)
}

proptest! {
    #[test]
    fn whatever_was_observed_estimates_are_within_their_ranges_and_places_are_places(
        observations in observations(),
    ) {
        let found = compare(&observations, 5, &Question::default());
        let order = found.order();
        for entry in &order {
            let estimate = found.estimate(*entry).unwrap();
            prop_assert!(estimate.mean.is_finite() && estimate.raw.is_finite());
            prop_assert!(estimate.range.is_none_or(|r| r.low <= estimate.mean && estimate.mean <= r.high));
            let place = found.place(*entry).unwrap();
            prop_assert!(1 <= place.best && place.best <= place.worst && place.worst <= order.len());
        }
        for (a, b) in order.iter().flat_map(|a| order.iter().map(move |b| (*a, *b))) {
            let Some(pair) = found.pair(a, b) else { prop_assert!(a == b); continue };
            let back = found.pair(b, a).unwrap();
            prop_assert!((pair.ratio * back.ratio - 1.0).abs() < 1e-9);
            prop_assert_eq!(pair.finding.is_faster(), back.finding.is_slower());
            prop_assert!(!pair.finding.is_faster() || pair.ratio > 1.0);
        }
    }

    #[test]
    fn neither_units_nor_the_order_of_observations_matter(
        observations in observations(), scale in 0.01_f64..100.0,
    ) {
        let one = compare(&observations, 5, &Question::default());
        let turned: Vec<_> = observations
            .iter()
            .rev()
            .map(|o| Observation {
                value: o.value * scale,
                reference: o.reference.map(|x| x * scale),
                ..*o
            })
            .collect();
        let two = compare(&turned, 5, &Question::default());
        for (a, b) in (0..5).flat_map(|a| (0..5).map(move |b| (a, b))) {
            let (Some(one), Some(two)) = (one.pair(a, b), two.pair(a, b)) else { continue };
            prop_assert!((one.ratio / two.ratio - 1.0).abs() < 1e-6);
        }
    }
}
