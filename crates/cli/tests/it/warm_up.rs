//! Warm-up lasts until the server is steady, and a server that was not is not ranked.

use rpcbench_record::WarmSlice;

use crate::bench::{Bench, measured};

fn efficiency(slice: &WarmSlice) -> f64 {
    slice.calls as f64 / slice.server_cpu_ns.max(1) as f64
}

#[test]
fn a_late_speed_up_is_waited_for() {
    // So much costlier before that what the server does anyway does not hide it; the check is load too.
    let bench = Bench::alone().variant("late", "--behaviour warm-step:11:10");
    bench.run("run @late --warmup until-steady --rounds 2").expect(0);
    let run = bench.record();
    let curve = run.preparations[0].warm.as_ref().unwrap();
    let steady_after = curve.steady_after_ms.unwrap();
    let (first, last) = (&curve.slices[0], curve.slices.last().unwrap());
    assert!(efficiency(last) > 3.0 * efficiency(first), "{curve:?}");
    // A slice or two that stand out are not taken for unsteadiness.
    let cold = curve.slices.iter().take_while(|slice| efficiency(slice) < 2.0 * efficiency(first));
    assert!(steady_after + 1000 >= cold.last().unwrap().at_ms, "{curve:?}");
    for trial in measured(&run, "late") {
        let usage = trial.server.as_ref().unwrap();
        let warm = trial.outcomes.ok as f64 / (usage.cpu_user_ns + usage.cpu_system_ns) as f64;
        assert!(warm > 3.0 * efficiency(first), "{warm} against {}", efficiency(first));
        assert!((0.5..2.0).contains(&(warm / efficiency(last))));
    }
    let cells = bench.cells();
    assert_ne!(cells.verdict("late"), "still warming");
    let cell = cells.of("late");
    assert_eq!(cell["steady_after_ms"], steady_after);
    assert!(cell["calls_per_s"].as_f64() > cell["cold_calls_per_s"].as_f64(), "{cell:#}");
}

#[test]
fn a_server_that_never_settles_is_not_ranked() {
    let bench = Bench::alone();
    let words = "run @never-settles --warmup until-steady --warmup-max 7s --rounds 2";
    let ended = bench.run(words).expect(0);
    ended.shows(&["testkit-liar@never-settles: still warming: not steady when its warm-up ended"]);
    let cells = bench.cells();
    assert_eq!(cells.verdict("never-settles"), "still warming");
    assert!(cells.of("never-settles")["place_best"].is_null());
    assert!(cells.reason("never-settles").contains("calls per CPU-second still"), "{}", ended.out);
    assert_eq!(bench.record().preparations[0].warm.as_ref().unwrap().steady_after_ms, None);
}

#[test]
fn a_cap_that_leaves_no_time_is_not_taken_for_steady() {
    let bench = Bench::alone();
    bench.run("run @busy --warmup until-steady --warmup-max 500ms --rounds 1").expect(0);
    let cells = bench.cells();
    assert_eq!(cells.verdict("busy"), "still warming");
    assert!(cells.reason("busy").contains("the cap left too little time to judge"));
}
