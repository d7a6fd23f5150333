//! Comparisons by hand, and what holds for all of them.

use proptest::prelude::*;
use rpcbench_stats::{Finding, Observation, Question, RankRange, analysis_level, compare};

const SEEN: Question = Question { confidence: 0.95, precision: 0.05 };

/// Observations of entries' processes, one window each: `values[process][entry]`.
fn table<const E: usize>(values: &[[f64; E]]) -> Vec<Observation> {
    let cell = |process, entry, value| Observation::new(entry, process, process, value);
    (0_u32..)
        .zip(values)
        .flat_map(|(g, row)| row.iter().enumerate().map(move |(e, value)| cell(g, e, *value)))
        .collect()
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-4 * expected.abs(), "{expected}, not {found}");
}

/// Within a hundredth, as degrees of freedom are rounded down.
fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 0.01, "{expected}, not {found}");
}

#[test]
fn three_entries_and_three_processes_by_hand() {
    // The rest is 0, 1 and -1 of each entry in turn, so large that what is known of processes beforehand does not show.
    let logs = [[-1.0, 10.0, 51.0], [1.0, 9.0, 50.0], [0.0, 11.0, 49.0]];
    let found = compare(&table(&logs.map(|row| row.map(f64::exp))), 3, &Question::default());
    near(found.estimate(2).unwrap().mean.ln(), 50.0);
    // Squares 6, with 4 degrees of freedom; q(0.95; 3, 4) = 5.040.
    let half = 5.040 / 2_f64.sqrt() * (1.5_f64 * 2.0 / 3.0).sqrt();
    let pair = found.pair(1, 0).unwrap();
    near(pair.ratio.ln(), 10.0);
    near(pair.range.unwrap().high.ln() - 10.0, half);
    let interval = found.estimate(1).unwrap().comparison.unwrap();
    near(interval.high.ln() - 10.0, half / 2.0);
    near(10.0 - interval.low.ln(), half / 2.0);
    assert_eq!(pair.finding, Finding::Faster);
    assert_eq!(found.pair(0, 1).unwrap().finding, Finding::Slower);
    assert_eq!(found.order(), [2, 1, 0]);
    assert!(found.is_decided());
}

#[test]
fn one_process_shows_only_large_differences() {
    let window = |entry: usize, round: u32| {
        let noise = 1.0 + 0.01 * f64::from((round * 3 + entry as u32 * 5) % 7);
        let value = [226e3, 13.7e3, 14e3][entry] * noise;
        Observation::new(entry, 1, round, value)
    };
    let windows: Vec<_> = (0..6).flat_map(|r| (0..3).map(move |e| window(e, r))).collect();
    let found = compare(&windows, 3, &Question::default());
    assert_eq!(found.pair(0, 1).unwrap().finding, Finding::Faster);
    assert_eq!(found.pair(1, 2).unwrap().finding, Finding::Open);
    let range = found.pair(1, 2).unwrap().range.unwrap();
    assert!(range.high / range.low > 1.1, "processes may differ: {range:?}");
}

#[test]
fn single_stall_counts_little() {
    let window = |entry: usize, round: u32, stall: f64| {
        let noise = 0.02 * f64::from((round * 3 + entry as u32 * 5) % 7) - 0.06;
        let value = 1000.0 * noise.exp() * if (entry, round) == (1, 4) { stall } else { 1.0 };
        Observation::new(entry, round % 2, round / 2, value)
    };
    let run = |stall| {
        let windows = (0..16).flat_map(|r| (0..4).map(move |e| window(e, r, stall)));
        compare(&windows.collect::<Vec<_>>(), 4, &Question::default()).estimate(1).unwrap()
    };
    let (calm, stalled) = (run(1.0), run(0.1));
    assert!((stalled.mean / calm.mean).ln().abs() < 0.02, "{calm:?} {stalled:?}");
    assert!(stalled.raw / calm.raw < 0.93 && stalled.stalls_decide);
}

#[test]
fn single_stall_changes_no_finding() {
    // Entries 0 and 1 are equal, entry 2 is 15 % faster and entry 3 half as fast.
    let window = |entry: usize, round: u32, stall: Option<(usize, u32)>| {
        let noise = 0.02 * f64::from((round * 3 + entry as u32 * 5) % 7) - 0.06;
        let speed = [1000.0, 1000.0, 1150.0, 500.0][entry] * noise.exp();
        let value = speed * if stall == Some((entry, round)) { 0.2 } else { 1.0 };
        Observation::new(entry, round % 2, round / 2, value)
    };
    let findings = |stall| {
        let windows = (0..28).flat_map(|r| (0..4).map(move |e| window(e, r, stall)));
        let found = compare(&windows.collect::<Vec<_>>(), 4, &Question::default());
        [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
            .map(|(a, b)| found.pair(a, b).unwrap().finding.is_difference())
    };
    assert_eq!(findings(None), [false, true, true, true, true, true]);
    for stall in (0..4).flat_map(|entry| (0..28).map(move |round| (entry, round))) {
        assert_eq!(findings(None), findings(Some(stall)), "{stall:?}");
    }
}

#[test]
fn noisy_entry_does_not_widen_quiet_intervals() {
    let window = |entry: usize, process: u32, round: u32| {
        let noise = f64::from((round * 5 + process * 3 + entry as u32 * 2) % 9) - 4.0;
        let value = 1000.0 * (noise * [0.005, 0.005, 0.005, 0.1][entry]).exp();
        Observation::new(entry, process, round, value)
    };
    let of = |round| (0..2).flat_map(move |p| (0..4).map(move |e| window(e, p, round)));
    let found = compare(&(0..18).flat_map(of).collect::<Vec<_>>(), 4, &Question::default());
    let width = |a, b| {
        let range = found.pair(a, b).unwrap().range.unwrap();
        (range.high / range.low).ln()
    };
    assert!(
        width(0, 1) < 0.2 && width(0, 3) > 1.4 * width(0, 1),
        "{} {}",
        width(0, 1),
        width(0, 3)
    );
    let interval = |entry: usize| found.estimate(entry).unwrap().comparison.unwrap();
    assert!(
        (interval(3).high / interval(3).low).ln() > 1.5 * (interval(0).high / interval(0).low).ln()
    );
}

#[test]
fn disjoint_comparison_intervals_differ_clearly() {
    let logs = [[0.00, 0.30, 0.37, 0.90], [0.02, 0.36, 0.33, 0.89], [0.04, 0.33, 0.30, 0.97]];
    let found = compare(&table(&logs.map(|row| row.map(f64::exp))), 4, &SEEN);
    let interval = |entry| found.estimate(entry).unwrap().comparison.unwrap();
    let mut told = 0;
    for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
        let apart = interval(a).high < interval(b).low || interval(b).high < interval(a).low;
        assert_eq!(
            apart,
            found.pair(a, b).unwrap().range.is_some_and(|r| r.low > 1.0 || r.high < 1.0)
        );
        told += usize::from(apart);
    }
    assert_eq!(told, 5);
}

#[test]
fn one_window_leaves_everything_open() {
    let found = compare(&table(&[[100.0, 200.0, 300.0]]), 3, &Question::default());
    assert_eq!(found.estimate(0).unwrap().range, None);
    assert_eq!(found.estimate(0).unwrap().comparison, None);
    let pair = found.pair(0, 2).unwrap();
    assert_eq!((pair.range, pair.finding), (None, Finding::Open));
    assert_eq!(found.place(2), Some(RankRange { best: 1, worst: 3 }));
    assert_eq!(found.open_neighbours(), [(2, 1), (1, 0)]);
    assert_eq!(found.resolution(), None);
}

#[test]
fn single_entry_has_students_t_interval() {
    let logs = [[0.0], [1.0], [0.0], [1.0]];
    let found = compare(&table(&logs.map(|row| row.map(f64::exp))), 1, &SEEN);
    // t(0.975; 3) = 3.182, s = 0.57735
    let range = found.estimate(0).unwrap().range.unwrap();
    near(range.high.ln() - 0.5, 3.182 * 0.577_35 / 2.0);
    assert_eq!(found.estimate(0).unwrap().comparison, None);
    assert_eq!(found.place(0), Some(RankRange { best: 1, worst: 1 }));
    assert!(found.is_decided());
}

#[test]
fn two_entries_are_a_paired_t_test() {
    let logs = [[0.0, 1.0], [3.0, 3.6], [1.0, 2.3], [2.0, 3.1], [0.5, 1.5]];
    let found = compare(&table(&logs.map(|row| row.map(f64::exp))), 2, &SEEN);
    // Differences 1.0 0.6 1.3 1.1 1.0: mean 1.0, s = 0.254951, t(0.975; 4) = 2.776, and processes as known beforehand.
    let half = 2.776_445 * 0.254_951 / 5_f64.sqrt();
    let range = found.pair(1, 0).unwrap().range.unwrap();
    assert!((range.low.ln() - 1.0 + half).abs() < 0.04 * half, "{range:?}");
    assert!((range.high.ln() - 1.0 - half).abs() < 0.04 * half, "{range:?}");
}

#[test]
fn no_observations_give_no_finding() {
    let found = compare(&[], 3, &Question::default());
    assert_eq!((found.estimate(0), found.pair(0, 1), found.place(0)), (None, None, None));
    let wrong = [0.0, -1.0, f64::NAN, f64::INFINITY].map(|value| [value]);
    assert_eq!(compare(&table(&wrong), 1, &Question::default()).estimate(0), None);
    assert_eq!(compare(&table(&[[1.0, 1.0]]), 1, &Question::default()).estimate(1), None);
}

#[test]
fn interim_levels_add_up() {
    let analyses = [0.25, 0.5, 1.0];
    let spent: f64 = analyses
        .iter()
        .scan(0.0, |before, now| {
            let level = analysis_level(0.05, *before, *now);
            *before = *now;
            Some(level)
        })
        .sum();
    close(spent, 0.05);
    close(analysis_level(0.05, 0.0, 1.0), 0.05);
}

#[test]
fn entries_without_common_generation_are_not_compared() {
    let level = |entry, process, value| Observation::new(entry, process, process, value);
    let pair =
        |a, b, process| [level(a, process, 100.0 + f64::from(process)), level(b, process, 300.0)];
    let apart = [pair(0, 1, 0), pair(0, 1, 1), pair(2, 3, 2), pair(2, 3, 3)].concat();
    let found = compare(&apart, 4, &Question::default());
    assert_eq!(found.pair(0, 3).unwrap().finding, Finding::Open);
    assert_eq!(found.pair(0, 2).unwrap().finding, Finding::Open);
}

fn observations() -> impl Strategy<Value = Vec<Observation>> {
    let one = (0_usize..5, 0_u32..4, 0_u32..5, 0.0_f64..1e6);
    let one = one
        .prop_map(|(entry, process, round, value)| Observation::new(entry, process, round, value));
    prop::collection::vec(one, 0..80)
}

proptest! {
    #[test]
    fn estimates_lie_within_ranges_and_places_are_valid(
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
    fn units_and_order_do_not_matter(
        observations in observations(), scale in 0.01_f64..100.0,
    ) {
        let one = compare(&observations, 5, &Question::default());
        let turned: Vec<_> = observations
            .iter()
            .rev()
            .map(|o| Observation { value: o.value * scale, ..*o })
            .collect();
        let two = compare(&turned, 5, &Question::default());
        for (a, b) in (0..5).flat_map(|a| (0..5).map(move |b| (a, b))) {
            let (Some(one), Some(two)) = (one.pair(a, b), two.pair(a, b)) else { continue };
            prop_assert!((one.ratio / two.ratio - 1.0).abs() < 1e-6);
        }
    }
}
