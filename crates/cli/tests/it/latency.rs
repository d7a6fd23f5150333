//! Response times over load, end to end.

use std::collections::BTreeSet;

use rpcbench_record::{Arrivals, Rate, Run};
use rustix::process::Signal;

use crate::bench::Bench;

const LOADS: [(&str, f64); 3] = [("load-20", 0.2), ("load-40", 0.4), ("load-60", 0.6)];

/// Each load of each entry was at its share of that entry's own capacity, and every call that its schedule made due is
/// accounted for.
#[track_caller]
fn loads_are_shares(run: &Run) {
    for (workload, share) in LOADS {
        let trials: Vec<_> = run.trials.iter().filter(|t| t.workload == workload).collect();
        assert_eq!(trials.len(), 2 * run.header.plan.servers.len(), "{workload}");
        for trial in trials {
            let capacity =
                run.capacity(&trial.entry, workload, Some(trial.process)).expect("a capacity");
            let Some(Arrivals::Poisson { rate: Rate::PerSecond(rate) }) = trial.arrivals else {
                panic!("{:?}", trial.arrivals);
            };
            let off = rate.get() / (capacity * share) - 1.0;
            assert!(off.abs() < 1e-3, "{rate} of {capacity}");
            let measured = trial.measured().unwrap_or_else(|| panic!("{trial:?}"));
            let pacing = measured.pacing.expect("an open loop");
            assert_eq!(measured.outcomes.total(), pacing.due);
            assert_eq!(measured.latency.as_ref().expect("answers").count, measured.outcomes.ok);
        }
    }
}

/// Every planned trial once.
#[track_caller]
fn complete(run: &Run) {
    assert!(run.finished.is_some());
    let made: BTreeSet<_> = run.trials.iter().map(|t| (&t.entry, &t.workload, t.number)).collect();
    assert_eq!(made.len(), run.trials.len(), "a trial twice");
    assert_eq!(made.len(), run.header.plan.order.len());
}

#[test]
fn loads_are_shares_of_the_servers_capacity() {
    let bench = Bench::new();
    let ended = bench.run("run @busy @honest --suite latency").expect(0);
    let run = bench.record();
    complete(&run);
    loads_are_shares(&run);
    // One process for all loads: warmed once, and at full load.
    assert_eq!(run.preparations.len(), 2);
    assert!(run.preparations.iter().all(|p| p.workload == "capacity"));
    ended.shows(&[
        "latency / capacity: ",
        "latency / load-20 to load-60: grpc text:100, 4 connections, 16 calls in flight at most, \
         open loop, Poisson arrivals at 20 % to 60 % of capacity",
        "offered/s",
    ]);
    assert_eq!(ended.out.lines().filter(|line| line.starts_with("testkit-liar@busy")).count(), 3);
}

#[test]
fn each_process_gets_all_loads() {
    let bench = Bench::new();
    bench.run("run @busy --suite latency --processes 2 --rounds 1").expect(0);
    let run = bench.record();
    complete(&run);
    loads_are_shares(&run);
    let prepared = run.preparations.iter().map(|p| (p.process, p.workload.as_str()));
    assert!(prepared.eq([(1, "capacity"), (2, "capacity")]));
    let loads = |process| -> BTreeSet<&str> {
        let own = run.trials.iter().filter(|trial| trial.process == process);
        own.map(|trial| trial.workload.as_str()).collect()
    };
    assert_eq!((loads(1).len(), loads(1)), (4, loads(2)));
}

#[test]
fn resumed_run_uses_the_measured_capacity() {
    let bench = Bench::new();
    let mut program = bench.start("run @busy --suite latency -v");
    program.await_line("load-40, trial 1: ");
    program.await_line("measuring, trial");
    program.signal(Signal::KILL);
    program.finish();
    let before = bench.record();
    assert!(before.finished.is_none() && before.trials.len() >= 5, "{}", before.trials.len());
    bench.run(&format!("run --resume {}", bench.results().display())).expect(0);
    let after = bench.record();
    complete(&after);
    loads_are_shares(&after);
    assert_eq!(after.trials[..before.trials.len()], before.trials[..]);
    let [first, second] = after.preparations.as_slice() else { panic!("{:?}", after.preparations) };
    assert_eq!((first.workload.as_str(), second.workload.as_str()), ("capacity", "load-40"));
}

#[test]
fn server_without_a_capacity_gets_no_loads() {
    let bench = Bench::new();
    let ended = bench.run("run @exit-after @honest --suite latency --duration 1s").expect(1);
    let run = bench.record();
    assert!(run.finished.is_some());
    assert_eq!(run.trials.iter().filter(|t| t.workload == "load-20").count(), 2);
    ended.shows(&[
        "testkit-liar@exit-after: failed: exited with code 3",
        "(load-20, load-40, load-60): ",
    ]);
}
