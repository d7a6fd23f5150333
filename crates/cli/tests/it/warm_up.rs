//! Warm-up lasts until the server is steady, and a server that was not steady is not ranked.

use rpcbench_record::{Measured, WarmSlice};

use crate::bench::{Bench, measured};

/// Calls of some slices for each nanosecond of the server's CPU time.
fn efficiency(slices: &[WarmSlice]) -> f64 {
    let (calls, cpu_ns) = slices
        .iter()
        .fold((0, 0), |(calls, ns), slice| (calls + slice.calls, ns + slice.server_cpu_ns));
    calls as f64 / cpu_ns as f64
}

fn efficiency_of(trial: &Measured) -> f64 {
    trial.ok_per_server_cpu_s().unwrap() / 1e9
}

/// The step is that of the server's own CPU time, and large, so that what else the machine does neither moves nor hides it. A busy
/// machine needs longer to be flat for five seconds.
#[test]
fn warm_up_waits_for_a_late_speed_up() {
    // The check uses some of it.
    let bench = Bench::alone().variant("late", "--behaviour warm-step:11:10");
    bench
        .run("run @late --warmup until-steady --warmup-max 180s --rounds 2 --duration 2s")
        .expect(0);
    let run = bench.record();
    let curve = run.preparations[0].warm.as_ref().unwrap();
    let steady_after = curve.steady_after_ms.unwrap();
    let cold = efficiency(&curve.slices[..4]);
    // It is steady once it has been flat for five seconds.
    let (before, last) = curve.slices.split_at(curve.slices.len() - 10);
    let warm = efficiency(last);
    assert!(warm > 3.0 * cold, "{curve:?}");
    // One or two outliers among the last slices don't count as unsteady.
    let climbing = before.iter().take_while(|slice| {
        let single = std::slice::from_ref(*slice);
        slice.server_cpu_ns == 0 || efficiency(single) < 2.0 * cold
    });
    assert!(steady_after + 1000 >= climbing.last().unwrap().at_ms, "{curve:?}");
    for trial in measured(&run, "late") {
        let measured = efficiency_of(trial);
        assert!(measured > 3.0 * cold, "{measured} against {cold}");
        assert!((0.5..2.0).contains(&(measured / warm)), "{measured} against {warm}");
    }
    let cells = bench.cells();
    assert_ne!(cells.verdict("late"), "still warming");
    let cell = cells.of("late");
    assert_eq!(cell["steady_after_ms"], steady_after);
    assert!(cell["calls_per_s"].as_f64() > cell["cold_calls_per_s"].as_f64(), "{cell:#}");
}

#[test]
fn warm_up_at_its_cap_is_not_steady() {
    let bench = Bench::new();
    bench.run("run @busy --warmup until-steady --warmup-max 500ms --rounds 1").expect(0);
    let cells = bench.cells();
    assert_eq!(cells.verdict("busy"), "still warming");
    assert!(cells.reason("busy").contains("the cap left too little time to judge"));
}

#[test]
fn time_limit_below_the_warm_up_suggests_a_longer_one() {
    let bench = Bench::new();
    let words = "run @honest @busy --max-time 4s --warmup 3s --duration 200ms --processes 2";
    let ended = bench.run(words).expect(0);
    ended.complains(&[
        "4s is too short for this run: warming its processes takes at least 18s",
        "use --max-time 1m, or fewer servers",
    ]);
}
