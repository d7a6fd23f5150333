//! What the runtimes of servers tell of themselves, against what each runtime counts by other means: programs that collect garbage a
//! known number of times, on the very code that servers share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rpcbench_clock::{Nanos, Span};
use rpcbench_harness::host::freezes::Freezes;
use rpcbench_harness::host::runtime_log::RuntimeLog;
use rpcbench_record::RuntimeStatistics;
use rpcbench_testkit::skip;
use tempfile::TempDir;

fn oracles() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracles")
}

fn servers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../servers").canonicalize().unwrap()
}

/// Whether a program is installed; reports it if not.
fn is_there(program: &str, version: &str) -> bool {
    let found = Command::new(program).arg(version).output().is_ok_and(|out| out.status.success());
    if !found {
        skip(format!("there is no {program}"));
    }
    found
}

fn succeed(command: &mut Command) -> Output {
    let out = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{command:?}: {said}{}", String::from_utf8_lossy(&out.stdout));
    out
}

/// A program that has run with a log, what it counted by itself, and what the log has of its window.
struct Outcome {
    stderr: String,
    counted: BTreeMap<String, u64>,
    window: Span,
    statistics: RuntimeStatistics,
    _folder: TempDir,
}

fn run(command: &mut Command) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let mut log = RuntimeLog::create(folder.path().join("log")).unwrap();
    let settings = [("HOST", "127.0.0.1"), ("CPUS", "1")];
    for (name, value) in settings {
        command.env(format!("RPCBENCH_{name}"), value);
    }
    let out = succeed(command.env(RuntimeLog::VARIABLE, log.path()));
    let stdout = String::from_utf8(out.stdout).unwrap();
    let mut window = Span { start: Nanos(0), end: Nanos(0) };
    let mut counted = BTreeMap::new();
    for line in stdout.lines() {
        match *line.split(' ').collect::<Vec<_>>() {
            ["window", start, end] => {
                window =
                    Span { start: Nanos(start.parse().unwrap()), end: Nanos(end.parse().unwrap()) };
            }
            [name, count] => drop(counted.insert(name.to_owned(), count.parse().unwrap())),
            _ => panic!("{stdout}"),
        }
    }
    let statistics = log.over(&[window], &Freezes::default()).unwrap().expect("it tells something");
    let stderr = String::from_utf8(out.stderr).unwrap();
    Outcome { stderr, counted, window, statistics, _folder: folder }
}

impl Outcome {
    fn count(&self, kind: &str) -> u64 {
        self.statistics.pauses.get(kind).map_or(0, |pauses| pauses.count)
    }

    /// Pauses of one thread follow one another, so that they fit into the window, that which began before it apart.
    fn pauses_are_possible(&self) {
        let all = self.statistics.all();
        let length = self.window.end.since(self.window.start);
        assert!(0 < all.max_ns && all.max_ns <= all.total_ns, "{all:?}");
        assert!(all.total_ns <= length, "{all:?} in {length}");
    }

    /// What the program allocated, with what runtimes round up and need themselves.
    fn allocation_is_right(&self) {
        let (allocated, least) =
            (self.statistics.allocated_bytes.unwrap(), self.counted["allocated"]);
        assert!(
            (least..=least + least / 10).contains(&allocated),
            "{allocated} reported, {least} allocated"
        );
        assert!(self.statistics.heap_peak_bytes.is_some_and(|peak| 0 < peak && peak < allocated));
    }
}

#[test]
fn python_log_matches_its_collections() {
    if !is_there("python3", "--version") {
        return;
    }
    let mut python = Command::new("python3");
    python.arg(oracles().join("oracle.py")).env("PYTHONPATH", servers().join("python"));
    let outcome = run(python.env("PYTHONDONTWRITEBYTECODE", "1"));
    assert!(outcome.counted["generation-0"] >= 2 && outcome.counted["generation-2"] >= 2);
    for (kind, count) in &outcome.counted {
        assert_eq!(outcome.count(kind), *count, "{kind}: {:?}", outcome.statistics);
    }
    outcome.pauses_are_possible();
    assert_eq!(
        (outcome.statistics.allocated_bytes, outcome.statistics.heap_peak_bytes),
        (None, None)
    );
}

#[test]
fn node_log_matches_its_profiler() {
    if !is_there("node", "--version") {
        return;
    }
    let mut node = Command::new("node");
    node.arg("--expose-gc").arg(oracles().join("oracle.mjs"));
    let outcome = run(node.arg(servers().join("node/runtime-log.js")));
    assert!(
        outcome.counted["major"] >= 5 && outcome.counted["minor"] >= 1,
        "{:?}",
        outcome.counted
    );
    for (kind, count) in &outcome.counted {
        assert_eq!(outcome.count(kind), *count, "{kind}: {:?}", outcome.statistics);
    }
    outcome.pauses_are_possible();
    assert!(outcome.statistics.heap_peak_bytes.is_some_and(|peak| peak > 1 << 20));
}

#[test]
fn go_log_matches_its_trace() {
    if !is_there("go", "version") {
        return;
    }
    let build = tempfile::tempdir().unwrap();
    let program = build.path().join("oracle");
    let mut go = Command::new("go");
    let go = go.args(["build", "-buildvcs=false", "-o"]).arg(&program).arg(".");
    succeed(go.current_dir(oracles().join("go")).env("GOTOOLCHAIN", "auto").env("GOWORK", "off"));
    let agrees = (0..CHANCES).any(|_| go_agrees_with_its_trace(&program));
    assert!(agrees, "pauses far shorter than traced, {CHANCES} times");
}

/// Runs of a program before it is accepted that the kernel did not take its CPU between two readings of the clock.
const CHANCES: usize = 5;

/// Whether the pauses have the length that the trace says. They may be shorter: the trace's clock starts before that of the pause.
fn go_agrees_with_its_trace(program: &Path) -> bool {
    let outcome = run(Command::new(program).env("GODEBUG", "gctrace=1").env("RPCBENCH_PORT", "0"));
    let inside = outcome.stderr.split("begin\n").nth(1).and_then(|rest| rest.split("end\n").next());
    let traced: Vec<&str> =
        inside.unwrap().lines().filter(|line| line.starts_with("gc ")).collect();
    assert!(traced.len() >= 5, "{}", outcome.stderr);
    assert_eq!(outcome.count("cycle"), traced.len() as u64, "{}", outcome.stderr);
    // `0.018+1.3+0.076 ms clock`: the first and the last stop the world, printed to three digits or to the microsecond.
    let stopped = |line: &&str| -> f64 {
        let clock = line.split(": ").nth(1).unwrap().split(" ms clock").next().unwrap();
        let phases: Vec<f64> = clock.split('+').map(|phase| phase.parse().unwrap()).collect();
        phases[0] + phases[2]
    };
    let traced_ns = traced.iter().map(stopped).sum::<f64>() * 1e6;
    let reported_ns = outcome.statistics.all().total_ns as f64;
    let slack = traced_ns * 0.2 + traced.len() as f64 * 3000.0;
    assert!(reported_ns <= traced_ns + slack, "{reported_ns}, traced {traced_ns}");
    outcome.pauses_are_possible();
    outcome.allocation_is_right();
    reported_ns >= traced_ns - slack
}

#[test]
fn jvm_log_matches_its_beans() {
    let jdk = Command::new("sh").arg(servers().join("java/jdk.sh")).output().unwrap();
    if !jdk.status.success() {
        skip(String::from_utf8_lossy(&jdk.stderr).trim());
        return;
    }
    let jdk = PathBuf::from(String::from_utf8(jdk.stdout).unwrap().trim());
    let build = tempfile::tempdir().unwrap();
    let classes = build.path().join("classes");
    let mut javac = Command::new(jdk.join("bin/javac"));
    succeed(javac.args(["--release", "17", "-d"]).arg(&classes).arg(oracles().join("Oracle.java")));
    let mut jar = Command::new(jdk.join("bin/jar"));
    let jar = jar.arg("--create").arg("--file").arg(build.path().join("server.jar"));
    succeed(jar.arg("-C").arg(&classes).arg("."));
    let mut agent = Command::new("sh");
    succeed(agent.arg(servers().join("java/agent.sh")).env("RPCBENCH_BUILD_DIR", build.path()));
    for collector in ["Serial", "Parallel", "G1"] {
        let mut java = Command::new("sh");
        let java = java.arg(servers().join("java/run.sh")).arg(build.path()).arg("Oracle");
        let java = java.arg(format!("-XX:+Use{collector}GC"));
        // It listens nowhere.
        java.env("RPCBENCH_PORT", "1");
        let outcome = run(java.env("RPCBENCH_MEMORY", (128 << 20).to_string()));
        assert!(outcome.counted["all"] >= 4, "{collector}: {:?}", outcome.counted);
        assert_eq!(
            outcome.statistics.all().count,
            outcome.counted["all"],
            "{:?}",
            outcome.statistics
        );
        assert_eq!(outcome.count("full"), 3, "{collector}: {:?}", outcome.statistics);
        outcome.pauses_are_possible();
        outcome.allocation_is_right();
    }
}

#[test]
fn dotnet_log_matches_its_collections() {
    let sdk = Command::new("dotnet").arg("--version").output();
    let version = sdk.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
    let release = version.unwrap_or_default().split('.').next().unwrap_or_default().parse::<u32>();
    if !release.is_ok_and(|release| release >= 10) {
        skip("there is no .NET SDK 10");
        return;
    }
    let build = tempfile::tempdir().unwrap();
    let mut dotnet = Command::new("dotnet");
    dotnet.args(["publish", "--configuration", "Release", "--disable-build-servers", "--output"]);
    let dotnet = dotnet.arg(build.path().join("app")).env("DOTNET_CLI_TELEMETRY_OPTOUT", "1");
    let dotnet = dotnet.env("RPCBENCH_BUILD_DIR", build.path());
    succeed(dotnet.current_dir(oracles().join("dotnet")).env("DOTNET_NOLOGO", "1"));
    let outcome = run(Command::new("dotnet").arg(build.path().join("app/oracle.dll")));
    assert!(outcome.counted["gen0"] >= 3 && outcome.counted["gen2"] >= 1, "{:?}", outcome.counted);
    for kind in ["gen0", "gen1", "gen2"] {
        assert_eq!(outcome.count(kind), outcome.counted[kind], "{kind}: {:?}", outcome.statistics);
    }
    outcome.pauses_are_possible();
    outcome.allocation_is_right();
}
