//! The search for the highest rate, end to end.

use rpcbench_record::{Law, Rate, StepVerdict, TrialResult};

use crate::bench::Bench;

/// A call costs 2 ms of one CPU, so no more than 500 a second can be answered. Below that the highest rate depends
/// on the machine, so it is compared with the capacity that the same run measured just before.
#[test]
fn the_limit_of_a_known_server_is_found() {
    let bench = Bench::alone().variant("two-ms", "--behaviour busy:2000");
    let ended = bench.run("run @two-ms --suite slo --seed 3").expect(0);
    let run = bench.record();
    let trial = run.trials.last().expect("a trial");
    let capacity = run.capacity(&trial.entry, &trial.workload).expect("a capacity");
    let search = trial.search.as_ref().expect("a search");
    let (met, unmet) = (search.met().expect("a rate"), search.unmet().expect("a limit"));
    let (low, high) = (met.rate.get(), unmet.rate.get());
    assert!(low < high && high <= low * 1.05, "{low} {high}");
    assert!(low < 525.0 && high > 0.4 * capacity, "{low} {high}, capacity {capacity}");
    // The trial is the last window at that rate, and every window is in the record.
    let Some(Law::Poisson { rate: Rate::PerSecond(rate) }) = trial.law else {
        panic!("{:?}", trial.law);
    };
    assert_eq!(rate, met.rate);
    let TrialResult::Measured(measured) = &trial.result else { panic!("{trial:?}") };
    assert_eq!(Some(&**measured), met.windows.last());
    assert!(search.threshold.holds(measured) == Some(true));
    assert!(search.steps.iter().all(|step| !step.windows.is_empty()));
    let mut rates: Vec<_> = search.steps.iter().map(|step| step.rate).collect();
    rates.sort();
    rates.dedup();
    assert_eq!(rates.len(), search.steps.len(), "a rate twice");
    ended.shows(&["open loop, highest rate of Poisson arrivals with p99<1s"]);
    ended.complains(&["highest-rate, trial 1: ", " calls/s met p99<1s, "]);
}

/// Each call takes 50 ms, whatever the load.
#[test]
fn a_limit_that_no_rate_keeps_is_a_failure() {
    let bench = Bench::new().variant("fifty-ms", "--behaviour slow:50ms").edit(
        "suites/slo.toml",
        "p99<1s",
        "p99<20ms",
    );
    let ended = bench.run("run @fifty-ms --suite slo --duration 100ms").expect(1);
    let run = bench.record();
    let trial = run.trials.last().expect("a trial");
    let search = trial.search.as_ref().expect("a search");
    assert!(search.met().is_none());
    assert!(search.steps.iter().all(|step| step.verdict != StepVerdict::Met));
    ended.shows(&["failed: p99<20ms was met at no rate, not even "]);
}
