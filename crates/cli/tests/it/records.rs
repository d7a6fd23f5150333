//! The arithmetic of a real record, and what a report makes of one that was tampered with.

use std::fs;

use rpcbench_record::Measured;
use rpcbench_stats::Histogram;
use serde_json::Value;

use crate::bench::{Bench, measured};

const IN_FLIGHT: u32 = 16;

#[test]
fn every_trial_adds_up() {
    let bench = Bench::new()
        .variant("errs", "--behaviour status-once:40000")
        .variant("later", "--behaviour slow:500us");
    bench.run("run @honest @busy @later @errs --warmup none --duration 500ms");
    let run = bench.record();
    for name in ["honest", "busy", "later"] {
        let trials = measured(&run, name);
        assert_eq!(trials.len(), 2, "{name}");
        trials.into_iter().for_each(adds_up);
    }
    measured(&run, "errs").into_iter().for_each(adds_up);
}

fn adds_up(trial: &Measured) {
    let latencies = [&trial.latency, &trial.error_latency];
    let counted = [trial.outcomes.ok, trial.outcomes.errors()];
    let mut sum_ns = 0.0;
    for (latency, counted) in latencies.into_iter().zip(counted) {
        let held =
            latency.as_ref().map_or(0, |l| Histogram::from_base64(&l.histogram).unwrap().count());
        assert_eq!(held, counted);
        assert_eq!(latency.as_ref().map_or(0, |l| l.count), counted);
        sum_ns += latency.as_ref().map_or(0.0, |l| l.mean_ns * l.count as f64);
    }
    let (ok, all): (u64, u64) = (trial.outcomes.ok, trial.outcomes.total());
    assert!(ok > 0);
    let in_slices: u64 = trial.series.iter().map(|slice| slice.ok + slice.errors).sum();
    // Those in flight at the end, or at the ends of the slices in which entries take turns, are in no slice.
    let ends = trial.slicing.map_or(1, |slicing| slicing.slices);
    let most = in_slices + u64::from(IN_FLIGHT * ends);
    assert!((in_slices..=most).contains(&all), "{in_slices} of {all}");
    // N = X * R: the time that calls spent in the window is N windows long.
    let spent = sum_ns + trial.carried_in_ns as f64 - trial.carried_out_ns as f64;
    let in_flight = spent / trial.window_ns as f64;
    assert!((in_flight / f64::from(IN_FLIGHT) - 1.0).abs() < 0.02, "{in_flight} in flight");
}

/// Changes the first trial of the record.
fn tamper(bench: &Bench, change: impl Fn(&mut Value)) {
    let path = bench.results().join("events.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let mut events: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let trial = events.iter_mut().find(|event| event["trial"].is_object()).unwrap();
    change(&mut trial["trial"]["result"]["measured"]);
    let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
    fs::write(path, lines).unwrap();
}

#[test]
fn tampered_record_is_suspect() {
    let bench = Bench::new();
    bench.run("run @busy").expect(0);
    let path = bench.results().join("events.jsonl");
    let sound = fs::read_to_string(&path).unwrap();
    assert_ne!(bench.cells().verdict("busy"), "suspect");
    let plus = |value: &mut Value, n: u64| *value = (value.as_u64().unwrap() + n).into();

    tamper(&bench, |trial| plus(&mut trial["outcomes"]["ok"], 1));
    assert_eq!(bench.cells().verdict("busy"), "suspect");
    assert!(bench.cells().reason("busy").contains("its histogram holds "));
    assert!(bench.cells().of("busy")["place_best"].is_null());

    fs::write(&path, &sound).unwrap();
    tamper(&bench, |trial| {
        trial["latency"]["mean_ns"] = (trial["latency"]["mean_ns"].as_f64().unwrap() / 2.0).into();
    });
    assert_eq!(bench.cells().verdict("busy"), "suspect");
    assert!(bench.cells().reason("busy").contains("calls were in flight, but rate x mean"));

    fs::write(&path, sound.replace("\"trial\":{", "\"trail\":{")).unwrap();
    let words = format!("report {}", bench.results().display());
    bench.run(&words).expect(2).complains(&["events.jsonl:", "not a run record of schema"]);
}

/// Each call costs 500 us of CPU time, so that of the window is at least that of its calls, and at most the server's own
/// account without that of its other calls.
#[test]
fn cpu_time_matches_the_servers() {
    let bench = Bench::new().variant("counts", "--behaviour counting --behaviour busy:500");
    bench.run("run @counts --rounds 1 --duration 8s").expect(0);
    let log = fs::read_to_string(bench.root().join("build/logs/testkit-liar@counts.log")).unwrap();
    let own: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    let of = |key: &str| own[key].as_f64().unwrap();
    let all = of("cpu_user_ns") + of("cpu_system_ns");
    let run = bench.record();
    let trial = measured(&run, "counts")[0];
    let usage = trial.server.as_ref().unwrap();
    let used = (usage.cpu_user_ns + usage.cpu_system_ns) as f64;
    let cost = |calls: f64| calls * 500_000.0;
    let ok = trial.outcomes.ok as f64;
    // Calls that end in the window may have begun before it.
    let least = cost(ok) * 0.98;
    let most = all - cost(of("calls") - ok) + cost(ok) * 0.02;
    assert!((least..most).contains(&used), "{used} ns, not {least} to {most} ns");
}
