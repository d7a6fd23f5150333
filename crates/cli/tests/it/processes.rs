//! How long a server's process lives.

use rpcbench_record::{Preparation, Run};

use crate::bench::Bench;

/// The server's process at each of three trials, and the record.
fn pids(words: &str) -> (Vec<i32>, Run) {
    let bench = Bench::new();
    let mut program = bench.start(&format!("run @honest -v {words}"));
    let pids = (0..3).map(|_| {
        program.await_line("measuring, trial ");
        let pids = bench.processes();
        assert_eq!(pids.len(), 1, "{pids:?}");
        pids[0]
    });
    let pids = pids.collect();
    let ended = program.finish().expect(0);
    bench.nothing_left(ended.pid);
    (pids, bench.record())
}

#[test]
fn single_round_has_one_process() {
    let (pids, run) = pids("--suite fresh --processes 3");
    assert!(pids[0] != pids[1] && pids[1] != pids[2] && pids[0] != pids[2], "{pids:?}");
    let prepared: Vec<u32> = run.preparations.iter().map(|p| p.process).collect();
    let measured: Vec<u32> = run.trials.iter().map(|trial| trial.process).collect();
    assert_eq!((prepared, measured), (vec![1, 2, 3], vec![1, 2, 3]));
}

/// The first shows when it is steady, by three flat seconds; the others need no proof.
#[test]
fn later_processes_warm_up_as_long_as_the_first() {
    let bench = Bench::new();
    bench
        .run("run @honest --processes 3 --rounds 1 --warmup until-steady --warmup-max 60s")
        .expect(0);
    let run = bench.record();
    let curves: Vec<_> = run.preparations.iter().map(|p| p.warm.clone().unwrap()).collect();
    let (first, later) = curves.split_first().unwrap();
    assert!(!first.as_earlier && first.slices.len() >= 12, "{first:?}");
    for curve in later {
        assert!(curve.as_earlier && curve.steady_after_ms.is_none(), "{curve:?}");
        let length = curve.slices.len() as u64 * 250;
        assert_eq!(length, first.later_ms.unwrap().next_multiple_of(250));
    }
}

/// Otherwise a run would expect as much of its second processes, and leave them out for lack of time.
#[test]
fn check_time_of_the_first_process_is_not_expected_of_later_ones() {
    let bench = Bench::new();
    bench.run("run @honest --processes 2 --rounds 1 --warmup until-steady").expect(0);
    let run = bench.record();
    let spared = |at: usize| {
        let Preparation { first_only_ns, warm, .. } = &run.preparations[at];
        (*first_only_ns, warm.as_ref().unwrap().spared_later_ms() * 1_000_000)
    };
    let (first, warm_up) = spared(0);
    assert!(first > warm_up, "{first} ns, {warm_up} of them of the warm-up");
    assert_eq!(spared(1), (0, 0));
}

#[test]
fn one_process_serves_all_rounds() {
    let (pids, run) = pids("--rounds 3");
    assert!(pids[0] == pids[1] && pids[1] == pids[2], "{pids:?}");
    assert_eq!(run.preparations.len(), 1);
    assert_eq!(run.trials.len(), 3);
}

#[test]
fn seed_decides_the_order() {
    let order = |seed: u32| {
        let bench = Bench::new();
        bench
            .run(&format!(
                "run @honest @busy --seed {seed} --rounds 3 --duration 100ms --warmup none"
            ))
            .expect(0);
        let run = bench.record();
        let mut made: Vec<_> = run.trials.iter().map(|t| (t.number, t.entry.clone())).collect();
        let planned: Vec<_> =
            run.header.plan.order.iter().map(|t| (t.number, t.entry.clone())).collect();
        // Within a round, entries take turns.
        assert!(made.is_sorted_by_key(|(round, _)| *round), "{made:?}");
        made.sort();
        let mut expected = planned.clone();
        expected.sort();
        assert_eq!(made, expected);
        planned
    };
    assert_eq!(order(7), order(7));
}
