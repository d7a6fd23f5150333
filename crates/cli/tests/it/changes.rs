//! `rpcbench compare`, over runs that were made for it.

use serde_json::Value;

use crate::bench::Bench;

const RUN: &str = "--warmup none --duration 200ms --processes 5 --rounds 1";

/// A bench with an old run, and one of the same server that costs `cost` microseconds a call instead of 60.
fn two_runs(cost: &str) -> Bench {
    let bench = Bench::new().variant("changing", "--behaviour busy:60");
    bench.run(&format!("run @changing {RUN} --results old")).expect(0);
    let bench = bench.edit("servers/testkit/liar/server.toml", "busy:60", &format!("busy:{cost}"));
    bench.run(&format!("run @changing {RUN} --results new")).expect(0);
    bench
}

/// The one run in a folder of results.
fn only(bench: &Bench, results: &str) -> String {
    let mut runs = std::fs::read_dir(bench.work().join(results)).unwrap();
    let run = runs.next().unwrap().unwrap();
    format!("{results}/{}", run.file_name().to_str().unwrap())
}

#[test]
fn a_server_that_got_much_dearer_is_slower_and_breaks_its_limit() {
    let bench = two_runs("400");
    let (old, new) = (only(&bench, "old"), only(&bench, "new"));
    let ended = bench.run(&format!("compare {old} {new}")).expect(0);
    ended.shows(&["testkit-liar@changing is slower: calls/cpu-s -", "old: ", "new: "]);
    let limit = "--fail-if calls_per_server_cpu_s<-30%";
    let ended = bench.run(&format!("compare {old} {new} {limit} --format json")).expect(1);
    assert!(ended.err.contains("calls_per_server_cpu_s<-30% is broken by testkit-liar@changing"));
    let json: Value = serde_json::from_str(&ended.out).unwrap();
    let row = &json["changes"][0];
    assert!(row["ratio"].as_f64().unwrap() < 0.5 && row["finding"] == "slower", "{row}");
    bench.run(&format!("compare {new} {old} {limit}")).expect(0).shows(&["is faster"]);
}

#[test]
fn runs_that_differ_in_more_than_servers_are_refused_unless_forced() {
    let bench = Bench::new();
    bench.run(&format!("run @honest {RUN} --results old")).expect(0);
    bench.run(&format!("run @honest {RUN} --results new --in-flight 32")).expect(0);
    let (old, new) = (only(&bench, "old"), only(&bench, "new"));
    let ended = bench.run(&format!("compare {old} {new}")).expect(2);
    assert!(ended.err.contains("in_flight: 16, now 32") && ended.err.contains("--force"));
    let ended = bench.run(&format!("compare {old} {new} --force")).expect(0);
    ended.shows(&["Warnings", "in_flight: 16, now 32"]);
}

#[test]
fn what_is_no_run_or_no_figure_is_refused_by_name() {
    let bench = Bench::new();
    let ended = bench.run("compare nowhere nowhere").expect(2);
    assert!(ended.err.contains("nowhere"), "{}", ended.err);
    let ended = bench.run("compare a b --figure speed").expect(2);
    assert!(ended.err.contains("there is no figure speed that can be compared"), "{}", ended.err);
    let ended = bench.run("compare a b --fail-if p99_ns>10%").expect(2);
    assert!(ended.err.contains("'p99_ns>+10%'"), "{}", ended.err);
}
