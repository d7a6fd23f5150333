//! Servers that break: one line says how, the log's last lines say why, and the others are still measured.

use std::net::TcpListener;

use crate::bench::Bench;
use crate::program::Program;

/// More calls than the check makes. A load makes the rest in a fraction of a second.
const CALLS: u32 = 6000;

fn faults(names: &[&str]) -> Bench {
    names.iter().fold(Bench::new(), |bench, fault| {
        bench.variant(&format!("{fault}s"), &format!("--behaviour {fault}-after:{CALLS}"))
    })
}

#[track_caller]
fn evidence(bench: &Bench, behaviour: &str, part: &str) {
    let ended = bench.run(&format!("report {}", bench.results().display())).expect(0);
    let head = format!("  testkit-liar@{behaviour}: failed: ");
    let lines = ended.out.lines().skip_while(|line| !line.starts_with(&head)).skip(1);
    let found = lines.take_while(|line| line.starts_with("    | ")).any(|l| l.contains(part));
    assert!(found, "no '{part}' under {behaviour} in:\n{}", ended.out);
}

#[test]
fn server_that_breaks_under_load_fails_alone() {
    let bench = faults(&["exit", "reset"]);
    let all = "run @exits @honest @resets";
    let ended = bench.run(&format!("{all} --warmup none --duration 500ms --rounds 1")).expect(1);
    ended.shows(&["testkit-liar@exits: failed: exited with code 3"]);
    let cells = bench.cells();
    cells.failed("exits", "exited with code 3");
    cells.failed("resets", "Connection reset by peer");
    cells.measured("honest");
    evidence(&bench, "exits", "rpcbench-testkit: exits on purpose");
}

/// Apart from the others, since an honest server on a busy machine takes longer than this timeout.
#[test]
fn server_that_stops_answering_under_load_fails() {
    let bench = faults(&["hang"]);
    let all = "run @hangs @honest --timeout 1s --grace 1s";
    bench.run(&format!("{all} --warmup none --duration 500ms --rounds 1")).expect(1);
    let cells = bench.cells();
    cells.failed("hangs", " timeout");
    assert_ne!(cells.verdict("honest"), "failed");
}

/// It rests while the other one warms up, for longer than the 10 s after which it is judged.
#[test]
fn server_that_works_without_calls_is_named_and_still_measured() {
    let bench = Bench::new();
    // The seed that prepares it first.
    let words = "run @restless @honest --seed 2 --warmup 11s --duration 200ms";
    let ended = bench.run(&format!("{words} --processes 1 --rounds 2")).expect(0);
    assert_eq!(bench.record().header.plan.order[0].entry, "testkit-liar@restless");
    ended.shows(&["testkit-liar@restless: it used ", " of a CPU while it had no calls"]);
    let cells = bench.cells();
    cells.measured("restless");
    cells.measured("honest");
}

/// The last call before the rest is named, not only the reset.
#[test]
fn idle_connection_limit_is_reported_with_the_idle_time() {
    let bench = Bench::new();
    let words = "run @idle-limit @honest --rate 500 --warmup none --duration 4s --processes 1";
    bench.run(&format!("{words} --rounds 2")).expect(1);
    let cells = bench.cells();
    cells.failed("idle-limit", "; before that, it had no calls for ");
    cells.measured("honest");
}

#[test]
fn server_never_ready_is_abandoned() {
    let bench = Bench::new().edit("servers/_defaults.toml", "\"5s\"", "\"1s\"");
    let ended = bench.run("run @no-listen @never-ready @honest --rounds 1").expect(1);
    ended.shows(&["testkit-liar@no-listen: failed: not ready within 1s"]);
    let cells = bench.cells();
    cells.failed("no-listen", "not ready within 1s; the last call failed: ");
    cells.failed("never-ready", "no answer in time");
    cells.measured("honest");
    let ended = bench.run("check @no-listen").expect(1);
    ended.shows(&["FAILED: not ready within 1s"]);
}

/// Files for the connections of one server, and not for those of two.
#[test]
fn servers_restart_for_each_window_when_connections_do_not_fit() {
    let bench = Bench::new().variant("a", "").variant("b", "");
    let all =
        "run @a @b --connections 300 --in-flight-per-connection 1 --warmup none --duration 200ms";
    let words = format!("{all} --processes 1 --rounds 2");
    let mut few = bench.command_by(&["prlimit", "--nofile=500:500"], &words);
    Program::start(&mut few).finish().expect(0);
    let cells = bench.cells();
    cells.measured("a");
    cells.measured("b");
}

#[test]
fn exit_at_start_shows_the_end_of_the_log() {
    let bench = Bench::new();
    let ended = bench.run("run @exit-at-start --rounds 1").expect(1);
    ended.shows(&["testkit-liar@exit-at-start: failed: exited with code 7 before it was ready"]);
    evidence(&bench, "exit-at-start", "exits on purpose with code 7");
    let ended = bench.run("check @exit-at-start").expect(1);
    ended.shows(&["FAILED: exited with code 7 before it was ready"]);
    ended.complains(&["exits on purpose with code 7"]);
}

#[test]
fn port_in_use_is_reported_in_the_servers_words() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let bench = Bench::new().variant("fixed-port", &format!("--port {port}"));
    bench.run("run @fixed-port @honest --rounds 1").expect(1);
    let cells = bench.cells();
    cells.failed("fixed-port", "before it was ready");
    cells.measured("honest");
    evidence(&bench, "fixed-port", &format!("cannot listen on 127.0.0.1:{port}"));
    evidence(&bench, "fixed-port", "is the port in use?");
}

/// `run` sees to it that nothing is left: neither the child nor the server that ignores SIGTERM.
#[test]
fn children_and_deaf_servers_are_killed() {
    let bench = Bench::new();
    bench.run("run @spawn-child @ignore-sigterm --rounds 2").expect(0);
    let cells = bench.cells();
    cells.measured("spawn-child");
    cells.measured("ignore-sigterm");
    let log = bench.root().join("build/logs/testkit-liar@spawn-child.log");
    assert!(std::fs::read_to_string(log).unwrap().contains("started child"));
    bench.run("check @spawn-child").expect(0);
}
