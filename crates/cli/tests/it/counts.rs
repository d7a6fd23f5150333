//! Trials of a number of calls, on connections that live for a few of them.

use std::fs::File;

use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::bench::{Bench, measured};

#[test]
fn trials_make_the_calls_asked_for_and_end_when_two_agree() {
    let bench = Bench::new();
    bench.run("run @honest --suite counted").expect(0);
    let run = bench.record();
    let rule = run.header.plan.stopping.unwrap();
    let warm = run.preparations[0].warm.as_ref().unwrap();
    assert_eq!(warm.slices.iter().map(|slice| slice.calls).sum::<u64>(), 120, "{warm:?}");
    let trials = measured(&run, "honest");
    for trial in &trials {
        assert_eq!((trial.outcomes.ok, trial.outcomes.errors()), (500, 0));
        let connections = &trial.connections;
        // Of each of the six places the first was open before, or the last is left with calls.
        assert!(connections.opened.abs_diff(500 / 3) <= 7, "{connections:?}");
        assert_eq!((connections.ended, connections.connect_failed), (0, 0));
    }
    let spread: Vec<f64> =
        trials.iter().map(|trial| trial.latency.as_ref().unwrap().stddev_ns).collect();
    let agree: Vec<bool> = spread.windows(2).map(|pair| rule.agree(pair[0], pair[1])).collect();
    let (last, before) = agree.split_last().unwrap();
    assert!(before.iter().all(|agree| !agree), "{spread:?}");
    assert!(*last || trials.len() == 8, "{spread:?}");
    for number in 1..=trials.len() {
        assert_eq!(logged(&bench, &format!("testkit-liar@honest.counted.{number}")), 500);
    }
}

/// Calls in a file of a trial's.
fn logged(bench: &Bench, trial: &str) -> u64 {
    let file = File::open(bench.results().join(format!("calls/{trial}.parquet"))).unwrap();
    SerializedFileReader::new(file).unwrap().metadata().file_metadata().num_rows() as u64
}

#[test]
fn calls_of_a_run_are_written_to_the_named_folder() {
    let bench = Bench::new();
    bench.run("run @honest --log-calls --rounds 2").expect(0);
    let run = bench.record();
    let trials = measured(&run, "honest");
    assert!(trials.len() > 1);
    for (trial, number) in trials.iter().zip(1..) {
        let counted = trial.outcomes.total();
        assert!(counted > 0);
        assert_eq!(logged(&bench, &format!("testkit-liar@honest.quick.{number}")), counted);
    }
}

#[test]
fn published_figures_are_shown_next_to_measured_ratios() {
    let bench = Bench::new();
    let words = "run @honest @slow --suite counted --rounds 2";
    bench.run(words).expect(0).shows(&[
        "Compared with published figures from another machine",
        "testkit-liar@slow: 0.100x the calls/s of testkit-liar@honest as published, ",
    ]);
    // Other loads are no longer those that were published.
    let other = bench.run("run @honest @slow --suite counted --rounds 2 --shape record").expect(0);
    assert!(!other.out.contains("published"), "{}", other.out);
}
