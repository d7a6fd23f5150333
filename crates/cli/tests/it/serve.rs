//! What a new user does first: a server that runs, the line that loads it, the newest results, a folder for a server.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use crate::bench::{Bench, rpcbench};
use crate::program::Program;
use crate::testkit;

/// A port that was free a moment ago.
pub fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn served_server_is_loaded_by_the_printed_command() {
    let bench = Bench::new();
    let port = port();
    let mut program = bench.start(&format!("serve @honest --port {port}"));
    program.await_line("testkit-liar@honest serves grpc on CPU ");
    let load = program.await_line(&format!("rpcbench load 127.0.0.1:{port} --pid "));
    let program_folder = Path::new(env!("CARGO_BIN_EXE_rpcbench")).parent().unwrap();
    let line = format!("PATH={}:$PATH; {load} -c 4 -z 200ms", program_folder.display());
    let loaded = Program::start(Command::new("sh").args(["-c", &line])).finish();
    let loaded = loaded.expect_ok_or_late();
    loaded.shows(&["ok calls/s", "calls/cpu-s"]);
    let taken = bench.start(&format!("serve @honest --port {port}")).finish().expect(2);
    taken.complains(&[&format!("--port {port} can't be used; give another")]);
    program.signal(Signal::INT);
    let ended = program.finish().expect(0);
    assert_eq!(ended.out, format!("127.0.0.1:{port}\n"));
    bench.nothing_left(ended.pid);
}

#[test]
fn unservable_server_reports_the_reason() {
    let bench = Bench::new();
    let serve = |words: &str| bench.run(&format!("serve {words} --port {}", port())).expect(2);
    serve("@exit-at-start").complains(&["exits on purpose with code 7", "before it was ready"]);
    serve("testkit-liar")
        .complains(&["'testkit-liar' matches several entries: ", "name one of them"]);
    serve("@honset").complains(&["did you mean 'testkit-liar@honest'"]);
    serve("@honest --cpus 4096").complains(&["--cpus 4096: only "]);
    serve("@honest --memory 4096T").complains(&["a memory limit of 4096 TiB: this machine has "]);
}

#[test]
fn newest_run_is_shown_by_default() {
    let bench = Bench::new();
    bench.run("report").expect(2).complains(&["results: no runs here; name one, or create one"]);
    fs::create_dir_all(bench.work().join("results/notes")).unwrap();
    bench.run("run @honest --rounds 1 --duration 100ms").expect(0);
    let newest = bench.run("run @busy --rounds 1 --duration 100ms").expect(0);
    assert_eq!(bench.run("report").expect(0).out, newest.out);
}

#[test]
fn full_disk_behind_standard_output_is_an_error() {
    let root = testkit::folder().join("root");
    for words in ["list", "completions bash", "doctor", "list --matrix", "--help", "--version"] {
        let full = fs::File::create("/dev/full").unwrap();
        let mut command = rpcbench(&["--root", root.to_str().unwrap()]);
        let ended = command.args(words.split(' ')).stdout(full).output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{words}: {said}");
        assert_eq!(said, "rpcbench: standard output: No space left on device (os error 28)\n");
    }
}

#[test]
fn limits_beyond_the_machine_are_refused_before_anything_runs() {
    let bench = Bench::new();
    let refused = |words: &str, part: &str| {
        let ended = bench.run(&format!("run @honest {words}")).expect(2);
        ended.complains(&[part]);
        assert!(!ended.err.contains("building"), "{}", ended.err);
    };
    refused("--cpus 4096", "--cpus 4096: only ");
    refused("--connections 70000 --in-flight-per-connection 1", "70000 connections");
    refused("--rounds 999999999", "more than the 1,000,000 windows that a plan may have");
    refused("--rate 1e9", "more than a client can make");
    refused("--memory 4096T", "a memory limit of 4096 TiB: this machine has ");
    refused("--duration 99h", "--duration 99h: must be at most 48h");
    refused("--results /dev/null/x", "--results /dev/null/x: /dev/null is a file; name a folder");
    refused("--results /proc/x", "--results /proc/x: can't be written: ");
}

#[test]
fn unwritable_log_is_not_the_servers_failure() {
    let bench = Bench::new();
    let logs = bench.root().join("build/logs");
    fs::create_dir_all(logs.parent().unwrap()).unwrap();
    fs::write(&logs, "a file where the folder belongs").unwrap();
    let said = format!("{}: the servers' logs can't be written", logs.display());
    let ended = bench.run("check @honest").expect(2);
    ended.complains(&[&said]);
    assert!(!ended.err.contains("FAILED"), "{}", ended.err);
}

#[test]
fn run_with_other_servers_is_not_resumed() {
    let bench = Bench::new();
    let mut program = bench.start("run @honest --rounds 3 -v");
    program.await_line("measuring, trial 1");
    program.signal(Signal::INT);
    program.finish().expect(2);
    let resume = format!("run --resume {}", bench.results().display());
    let lock = bench.root().join("servers/testkit/liar/Cargo.lock");
    let before = fs::read_to_string(&lock).unwrap();
    fs::write(&lock, format!("{before}# another\n")).unwrap();
    bench
        .run(&resume)
        .expect(2)
        .complains(&["this run was made with testkit-liar@honest (", "start a new run"]);
    fs::write(&lock, before).unwrap();
    bench.run(&resume).expect(0);
}

/// A record may come from anywhere, and a run that is resumed names files by it.
#[test]
fn record_with_a_path_as_a_name_is_not_resumed() {
    let bench = Bench::new();
    let mut program = bench.start("run @honest --rounds 3 --warmup none -v");
    program.await_line("measuring, trial 1");
    program.signal(Signal::INT);
    program.finish().expect(2);
    let header = bench.results().join("run.json");
    let text = fs::read_to_string(&header).unwrap();
    let name = bench.record().header.plan.workloads[0].name.clone();
    fs::write(&header, text.replace(&format!("\"{name}\""), "\"/../../x\"")).unwrap();
    let resume = format!("run --resume {}", bench.results().display());
    bench.run(&resume).expect(2).complains(&["'/../../x' can't be the name of a file"]);
}

#[test]
fn unstartable_command_names_file_and_key() {
    let bench = Bench::new().edit(
        "servers/testkit/floor/server.toml",
        "command = [\"{build}/",
        "command = [\"{build}/no-such-",
    );
    let ended = bench.run("check testkit-floor").expect(1);
    ended.shows(&["can't be started", "correct 'run.command' in ", "testkit/floor/server.toml"]);
}

#[test]
fn bad_manifest_leaves_the_other_servers() {
    let bench = Bench::new().edit("servers/testkit/floor/server.toml", "library = ", "libary = ");
    let ended = bench.run("check @honest").expect(0);
    ended.complains(&["testkit-floor is left out: ", "did you mean 'library'?"]);
    bench.run("check testkit-floor").expect(2).complains(&["did you mean 'library'?"]);
}

#[test]
fn bad_suite_leaves_the_others() {
    let bench = Bench::new().edit("suites/slo.toml", "processes = ", "proceses = ");
    let ended = bench.run("list suites").expect(0);
    ended.complains(&["slo.toml is left out: ", "did you mean 'processes'?"]);
    assert_eq!(ended.err.matches("suites/slo.toml").count(), 1, "{}", ended.err);
    ended.shows(&["quick", "latency"]);
}

#[test]
fn new_server_lists_the_next_steps() {
    let bench = Bench::new();
    let template = bench.root().join("servers/testkit/_new");
    fs::create_dir(&template).unwrap();
    fs::write(template.join("server.toml"), "library = \"LIBRARY\"\nprotocols = [\"PROTOCOL\"]\n")
        .unwrap();
    let ended = bench.run("new server testkit mine --protocol grpc").expect(0);
    ended.shows(&["servers/testkit/mine: server.toml", "check testkit-mine"]);
    ended
        .shows(&["1. replace the template's packages", "by those for grpc; testkit-liar has some"]);
    let made = fs::read_to_string(bench.root().join("servers/testkit/mine/server.toml")).unwrap();
    assert_eq!(made, "library = \"mine\"\nprotocols = [\"grpc\"]\n");
    bench.run("new server testkit mine").expect(2).complains(&["already exists"]);
    bench
        .run("build --lock testkit-liar")
        .expect(2)
        .complains(&["no command writes its lock file"]);
}
