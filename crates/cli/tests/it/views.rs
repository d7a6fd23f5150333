//! What is printed, where it goes, and how it looks there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::bench::{Bench, look, rpcbench};
use crate::program::Program;
use crate::testkit;

const COMMANDS: [&str; 11] = [
    "run",
    "check",
    "build",
    "new",
    "list",
    "doctor",
    "report",
    "compare",
    "serve",
    "load",
    "completions",
];

#[test]
fn every_command_has_help_with_examples() {
    look("--help").expect(0).shows(&COMMANDS);
    for command in COMMANDS {
        let ended = look(&format!("{command} --help")).expect(0);
        ended.shows(&[&format!("Usage: rpcbench {command}"), "Examples:"]);
        assert_eq!(ended.out.matches('\u{1b}').count(), 0, "{}", ended.out);
    }
    look("--version").expect(0).shows(&["rpcbench 0."]);
}

#[test]
fn completions_are_a_valid_shell_script() {
    let script = look("completions bash").expect(0).out;
    assert!(script.contains("_rpcbench()") && script.contains("--in-flight"), "{script}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rpcbench.bash");
    fs::write(&file, script).unwrap();
    let parsed = Command::new("bash").arg("-n").arg(&file).output().unwrap();
    assert!(parsed.status.success(), "{parsed:?}");
    look("completions fish").expect(0).shows(&["complete -c rpcbench"]);
}

#[test]
fn list_has_every_server_and_suite() {
    let ended = look("list").expect(0);
    ended.shows(&["testkit-liar ", "can run", "testkit-liar@honest", "quick ", "fresh "]);
    let servers = look("list servers").expect(0).out;
    assert!(servers.contains("answers correctly") && !servers.contains("Suites"), "{servers}");
    let suites = look("list suites").expect(0).out;
    assert!(
        suites.contains("256 MiB, 1 process x 2 windows\n") && !suites.contains("honest"),
        "{suites}"
    );
}

/// The repository's own servers and suites, found from within it.
#[test]
fn repository_is_a_root() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let ended = Program::start(rpcbench(&["list"]).current_dir(sources)).finish().expect(0);
    ended.shows(&["rust-tonic", "go-grpc", "java-grpc", "quick"]);
}

#[test]
fn doctor_has_a_remedy_for_each_fault() {
    let out = look("doctor").expect(0).out;
    let words = ["ok ", "advice ", "problem "];
    let mut lines = out.lines().peekable();
    let mut findings = 0;
    while let Some(line) = lines.next() {
        findings += 1;
        assert!(words.iter().any(|word| line.starts_with(word)), "{line}");
        let is_more = |line: &&str| line.starts_with(' ') && !line.trim_start().starts_with("-> ");
        while lines.next_if(is_more).is_some() {}
        let remedy = lines.next_if(|next| next.trim_start().starts_with("-> "));
        assert_eq!(remedy.is_some(), !line.starts_with("ok "), "{line}");
        while lines.next_if(is_more).is_some() {}
    }
    assert!(findings > 5, "{out}");
    for about in ["toolchain-", "cgroup", "cpu"] {
        assert!(out.contains(about), "nothing about {about} in:\n{out}");
    }
}

/// Client and server would share it.
#[test]
fn doctor_rejects_a_machine_of_one_cpu() {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let first = list.trim().split([',', '-']).next().unwrap();
    let mut command = Command::new("taskset");
    let root = testkit::folder().join("root");
    command.args(["--cpu-list", first, env!("CARGO_BIN_EXE_rpcbench"), "doctor", "--root"]);
    let ended = Program::start(command.arg(root)).finish().expect(1);
    ended.shows(&["problem  cpus ", "-> use a machine with at least 2 CPUs"]);
}

#[test]
fn run_is_shown_in_every_format() {
    let bench = Bench::new();
    let made = bench.run("run @honest @canned").expect(1);
    let folder = bench.results();
    let report = |words: &str| bench.run(&format!("report {} {words}", folder.display())).expect(0);
    assert_eq!(report("").out, made.out);
    let (_, warnings) = made.out.split_once("Warnings\n").unwrap_or_default();
    let warnings: Vec<&str> = warnings.lines().filter(|line| line.starts_with("  ")).collect();
    assert_eq!(warnings.len(), warnings.iter().collect::<BTreeSet<_>>().len(), "{warnings:?}");
    // JavaScript and jq round what is larger.
    assert!(bench.record().header.plan.seed < 1 << 53);
    let markdown = report("--format markdown").out;
    assert!(
        markdown.contains("| testkit-liar@honest") || markdown.contains("testkit-liar@honest |")
    );
    let csv = report("--format csv").out;
    let cells = report("--format json").json();
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(csv.starts_with("workload,entry,server,"), "{csv}");
    assert_eq!(cells["workloads"][0]["cells"].as_array().map(Vec::len), Some(2));
    let beside = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!((beside("report.md"), beside("cells.csv")), (markdown, csv));
    assert_eq!(beside("trials.csv").lines().count(), 3);
    let page = folder.join("again.html");
    assert_eq!(report(&format!("--html {}", page.display())).out, "");
    assert_eq!(beside("again.html"), beside("report.html"));

    for format in ["table", "markdown", "json", "csv"] {
        let out = report(&format!("--format {format}")).out;
        assert!(!out.contains('\u{1b}'), "{format} into a pipe has colours");
    }
    assert!(!made.err.contains(['\u{1b}', '\r']), "progress into a pipe: {:?}", made.err);
    let painted = report("--color always").out;
    assert!(painted.contains("\u{1b}["), "{painted}");
    assert_eq!(strip(&painted), made.out);
}

#[test]
fn run_records_its_price_and_can_be_shown_at_another() {
    let bench = Bench::new();
    let made = bench.run("run @honest --price 0.04/cpu-hour").expect(0);
    made.shows(&["cost/M calls", "; price 0.04/cpu-hour"]);
    let folder = bench.results();
    let report = |words: &str| bench.run(&format!("report {} {words}", folder.display()));
    assert_eq!(report("").expect(0).out, made.out);
    let cost = |words: &str| {
        let json = report(&format!("--format json {words}")).expect(0).json();
        json["workloads"][0]["cells"][0]["cost_per_million_calls"].as_f64().unwrap()
    };
    let ratio = cost("--price $0.08/cpu-hour") / cost("");
    assert!((ratio - 2.0).abs() < 1e-9, "{ratio}");
    report("--price $0.08/cpu-hour").expect(0).shows(&["; price $0.08/cpu-hour"]);
    let page = bench.work().join("priced.html");
    report(&format!("--price $0.08/cpu-hour --html {}", page.display())).expect(0);
    assert!(fs::read_to_string(&page).unwrap().contains("; price $0.08/cpu-hour"));
    // The record of a load has no such table.
    let file = folder.join("run.json");
    let load = fs::read_to_string(&file).unwrap().replace("\"native\"", "\"unmanaged\"");
    fs::write(&file, load).unwrap();
    report("--price 0.04/cpu-hour").expect(2).complains(&["--price is for runs"]);
}

#[test]
fn several_records_make_one_page() {
    let bench = Bench::new();
    bench.run("run @honest --results a").expect(0);
    bench.run("run @honest --results b").expect(0);
    let folders = |name: &str| fs::read_dir(bench.work().join(name)).unwrap();
    let record = |name: &str| folders(name).next().unwrap().unwrap().path();
    let records = format!("{} {}", record("a").display(), record("b").display());
    let page = bench.work().join("both.html");
    bench.run(&format!("report {records} --html {}", page.display())).expect(0);
    assert!(fs::read_to_string(&page).unwrap().contains("<title>rpcbench: quick, quick<"));
    bench.run(&format!("report {records}")).expect(2).complains(&["--html FILE"]);
    let both = format!("report {} --html x.html --format csv", record("a").display());
    bench.run(&both).expect(2).complains(&["--html", "--format"]);
    let nowhere = format!("report {} --html no/such/folder/x.html", record("a").display());
    bench.run(&nowhere).expect(2).complains(&["no/such/folder/x.html: can't be written"]);
}

/// Colours on a terminal, unless NO_COLOR is set; `script` gives the program one.
#[test]
fn no_color_is_respected_on_a_terminal() {
    let on_terminal = |variable: &str, value: &str| {
        let line = format!("'{}' report --help", env!("CARGO_BIN_EXE_rpcbench"));
        let mut command = Command::new("script");
        command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
        command.env_remove("NO_COLOR").env("TERM", "xterm").env(variable, value);
        Program::start(&mut command).finish().expect(0).out
    };
    assert!(on_terminal("TERM", "xterm").contains("\u{1b}["));
    assert!(!on_terminal("NO_COLOR", "1").contains("\u{1b}["));
}

/// Without escape sequences for colours.
fn strip(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(|part| part.split_once('m').unwrap().1).collect::<String>()
}

#[test]
fn progress_shows_every_step() {
    let ended = Bench::new().run("run @honest --rounds 2 --format json").expect(0);
    let json: Value = ended.json();
    assert_eq!(json["run"]["finished"], true);
    ended.complains(&[
        "testkit-liar",
        "built in ",
        " s, h2 ",
        "ready: ",
        "cases passed",
        "trial 1: ",
        "trial 2: ",
    ]);
    ended.complains(&["record: results/"]);
}

/// As in `rpcbench list | head -1`.
#[test]
fn closed_pipe_is_not_a_failure() {
    let words = "\"$0\" --help; \"$0\" list --root \"$1\"; echo $? >&2";
    let root = testkit::folder().join("root");
    let ended = Program::start(
        Command::new("bash")
            .args(["-c", &format!("({words}) | true"), env!("CARGO_BIN_EXE_rpcbench")])
            .arg(root),
    )
    .finish();
    assert!(!ended.err.contains("panicked"), "{}", ended.err);
}
