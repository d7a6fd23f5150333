//! Comparisons by hand.

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
    assert_eq!(pair.finding, Finding::Faster);
    assert_eq!(found.pair(0, 1).unwrap().finding, Finding::Slower);
    assert_eq!(found.order(), [2, 1, 0]);
    assert!(found.is_decided());
}

#[test]
fn with_one_process_everything_is_open() {
    let found = compare(&table(&[[100.0, 200.0, 300.0]]), 3, &Question::default());
    assert_eq!(found.estimate(0).unwrap().range, None);
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
