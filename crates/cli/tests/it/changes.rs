//! `rpcbench compare`, over runs that were made for it.

use std::fs;

use rpcbench_record::Age;
use rustix::process::Signal;
use serde_json::Value;

use crate::bench::Bench;
use crate::scripted::script;

const RUN: &str = "--warmup none --duration 200ms --processes 5 --rounds 1";

/// What a call costs before and after a change, nanoseconds.
const OLD: f64 = 60_000.0;
const NEW: f64 = 400_000.0;

/// A bench with an old run, and one of the same server that costs more.
fn two_runs() -> Bench {
    let bench = Bench::new().variant("changing", "--behaviour honest");
    for (results, cost) in [("old", OLD), ("new", NEW)] {
        bench.run(&format!("run @changing {RUN} --results {results}")).expect(0);
        script(&bench.work().join(only(&bench, results)), |_| cost);
    }
    bench
}

/// The one run in a folder of results.
fn only(bench: &Bench, results: &str) -> String {
    let mut runs = fs::read_dir(bench.work().join(results)).unwrap();
    let run = runs.next().unwrap().unwrap();
    format!("{results}/{}", run.file_name().to_str().unwrap())
}

#[test]
fn much_costlier_server_is_slower_and_exceeds_its_limit() {
    let bench = two_runs();
    let (old, new) = (only(&bench, "old"), only(&bench, "new"));
    let ended = bench.run(&format!("compare {old} {new}")).expect(0);
    ended.shows(&["testkit-liar@changing is slower: calls/cpu-s -", "old: ", "new: "]);
    let limit = "--fail-if calls_per_server_cpu_s<-30%";
    let ended = bench.run(&format!("compare {old} {new} {limit} --format json")).expect(1);
    assert!(
        ended.err.contains("testkit-liar@changing under ")
            && ended.err.contains(" exceeds calls_per_server_cpu_s<-30%")
    );
    let json: Value = serde_json::from_str(&ended.out).unwrap();
    let row = &json["changes"][0];
    assert!(row["ratio"].as_f64().unwrap() < 0.5 && row["finding"] == "slower", "{row}");
    bench.run(&format!("compare {new} {old} {limit}")).expect(0).shows(&["is faster"]);
    bench.run(&format!("compare {old} {new} --html changes.html")).expect(0);
    let page = fs::read_to_string(bench.work().join("changes.html")).unwrap();
    assert!(page.contains("<title>rpcbench: changes, old: quick, new: quick</title>"));
    assert!(page.contains("testkit-liar@changing is slower: calls/cpu-s -"));
}

#[test]
fn gate_names_what_it_cannot_judge_and_exits_with_3() {
    let bench = two_runs();
    bench.run(&format!("run @honest {RUN} --results other")).expect(0);
    // A folder with one record in it stands for that record.
    let limit = "--fail-if calls_per_server_cpu_s<-30%";
    bench.run(&format!("compare old new {limit}")).expect(1).complains(&[" exceeds "]);
    for format in ["table", "json", "csv", "markdown"] {
        let shared = bench.run(&format!("compare old other {limit} --format {format}")).expect(2);
        shared.complains(&["can't tell if testkit-liar@changing under ", "nothing to compare"]);
    }
    bench
        .run(&format!("compare new old {limit} --fail-if heap_peak_bytes>+5%"))
        .expect(3)
        .complains(&[
            "can't tell if testkit-liar@changing under ",
            " exceeds heap_peak_bytes>+5%: not measured in both",
        ]);
    bench.run(&format!("run @honest {RUN} --results other")).expect(0);
    let several = bench.run("compare old other").expect(2);
    several.complains(&["other has 2 records; name one of them:", "  other/"]);
}

#[test]
fn history_lists_every_run_and_what_it_omits() {
    let bench = two_runs();
    for results in ["old", "new"] {
        let run = only(&bench, results);
        fs::create_dir_all(bench.work().join("all")).unwrap();
        fs::rename(bench.work().join(&run), bench.work().join("all").join(results)).unwrap();
    }
    fs::create_dir(bench.work().join("all/broken")).unwrap();
    fs::write(bench.work().join("all/broken/run.json"), "{").unwrap();
    let ended = bench.run("history all").expect(0);
    ended.shows(&["2 runs, ", "testkit-liar@changing under quick", "slower"]);
    ended.complains(&["all/broken is left out"]);
    let points = &bench.run("history all @changing --format json").expect(0).json()["points"];
    assert_eq!((points.as_array().unwrap().len(), &points[1]["finding"]), (2, &"slower".into()));
    bench
        .run("history all no-such-server")
        .expect(2)
        .complains(&["no run in all measured no-such-server"]);
    bench.run("history nowhere").expect(2).complains(&["nowhere: no runs here"]);
}

#[test]
fn two_builds_are_compared_in_one_run() {
    let bench = Bench::new().variant("changing", "--behaviour busy:60").commit();
    let bench = bench.edit("servers/testkit/liar/server.toml", "busy:60", "busy:400");
    let new = bench.root().display().to_string();
    let limit = "--fail-if calls_per_server_cpu_s<-30%";
    let words = format!("compare --build HEAD --build {new} @changing {RUN} {limit} -v");
    bench.run(&format!("{words} --html .")).expect(2).complains(&["it is a folder; name a file"]);
    assert!(!bench.work().join("results").exists());
    let mut program = bench.start(&words);
    program.await_line("measuring, trial 1");
    program.signal(Signal::INT);
    let ended = program.finish().expect(2);
    ended.shows(&["old: HEAD (", &format!("new: {new}"), "run: "]);
    ended.complains(&["to resume: rpcbench run --resume"]);

    let folder = bench.results().display().to_string();
    bench.run(&format!("run --resume {folder}")).expect(0);
    let ages: Vec<Age> = bench
        .record()
        .header
        .plan
        .servers
        .iter()
        .map(|it| it.build.as_ref().unwrap().age)
        .collect();
    assert_eq!(ages, [Age::Old, Age::New]);
    let ended = bench.run(&format!("compare {folder} {limit} --format json")).expect(1);
    ended.complains(&["testkit-liar@changing under ", " exceeds calls_per_server_cpu_s<-"]);
    let json = ended.json();
    let row = &json["changes"][0];
    assert!(row["ratio"].as_f64().unwrap() < 0.5 && row["finding"] == "slower", "{row}");
    assert_eq!(json["old"]["build"], "HEAD");
    assert_eq!((&json["new"]["build"], &json["new"]["build_commit"]), (&new.into(), &Value::Null));
}

#[test]
fn invalid_builds_are_refused_by_name() {
    let bench = Bench::new();
    let refused = |words: &str, why: &str| bench.run(words).expect(2).complains(&[why]);
    refused("compare --build nowhere --build . @honest", "--build nowhere: neither a folder with");
    refused("compare --build . @honest", "1 --build; two are needed");
    refused("compare a b c", "3 runs: name two");
    refused("compare a b --duration 3s", "need two --build");
    let root = bench.root().display().to_string();
    refused(&format!("compare --build {root} --build {root} no-such-server"), "no-such-server");
    bench.run(&format!("run @honest {RUN}")).expect(0);
    let folder = bench.results().display().to_string();
    refused(&format!("compare {folder}"), "did not compare builds");
    let one = format!("{folder} and {folder}/. are one run; name an earlier run and a later one");
    refused(&format!("compare {folder} {folder}/."), &one);
}

#[test]
fn runs_with_other_differences_are_refused_unless_forced() {
    let bench = Bench::new();
    bench.run(&format!("run @honest {RUN} --results old")).expect(0);
    bench.run(&format!("run @honest {RUN} --results new -m 8")).expect(0);
    let (old, new) = (only(&bench, "old"), only(&bench, "new"));
    let ended = bench.run(&format!("compare {old} {new}")).expect(2);
    assert!(ended.err.contains("calls in flight: 16, now 32") && ended.err.contains("--force"));
    let ended = bench.run(&format!("compare {old} {new} --force")).expect(0);
    ended.shows(&["Warnings", "calls in flight: 16, now 32"]);
}

#[test]
fn unknown_runs_and_figures_are_refused_by_name() {
    let bench = Bench::new();
    let ended = bench.run("compare nowhere nowhere").expect(2);
    assert!(ended.err.contains("nowhere"), "{}", ended.err);
    let servers = bench.run("compare testkit-liar @honest").expect(2);
    servers.complains(&[
        "testkit-liar is a server; without --build, compare takes the folders of two runs",
        "rpcbench run testkit-liar testkit-liar@honest",
        "rpcbench compare --build OLD --build NEW testkit-liar",
    ]);
    let server = bench.run("history testkit-liar").expect(2);
    server.complains(&["testkit-liar is a server", "rpcbench history results testkit-liar"]);
    let ended = bench.run("compare a b --figure speed").expect(2);
    assert!(ended.err.contains("unknown figure 'speed'; expected one of "), "{}", ended.err);
    let ended = bench.run("compare a b --fail-if p99_ns>10%").expect(2);
    assert!(ended.err.contains("'p99_ns>+10%'"), "{}", ended.err);
}
