//! Loads that are ended early.

use std::fs::OpenOptions;
use std::process::Command;

use rustix::process::Signal;

use crate::bench::{Target, look, rpcbench};
use crate::load_results::window;
use crate::program::Program;

#[test]
fn ctrl_c_ends_the_window_without_losing_calls() {
    let honest = Target::new("honest");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("record");
    let address = honest.address().to_string();
    let mut words = vec!["load", &address, "-c", "4", "--rate", "1000", "--duration", "15s"];
    words.extend(["--warmup", "none", "--out", out.to_str().unwrap()]);
    let mut program = Program::start(&mut rpcbench(&words));
    program.await_line("measuring 1.");
    program.signal(Signal::INT);
    let ended = program.finish().expect(2);
    ended.complains(&[
        "ending the window here; once more to stop now",
        "stopped after ",
        " of 15s",
    ]);
    ended.shows(&["stopped after ", "p99 "]);
    let (run, measured) = window(&out);
    assert_eq!(run.finished, None);
    assert_eq!(look(&format!("report {}", out.display())).expect(0).out, ended.out);
    assert!((1_000_000_000..15_000_000_000).contains(&measured.window_ns));
    let (calls, due) = (measured.outcomes.total(), measured.pacing.unwrap().due);
    // One before the load shows that the server has the contract.
    assert_eq!((calls + 1, due), (honest.calls(), measured.window_ns.div_ceil(1_000_000)));
}

#[test]
fn signal_ends_the_wait_for_data_of_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let words = ["load", "http://127.0.0.1:9/", "-D", pipe.to_str().unwrap()];
    let program = Program::start(&mut rpcbench(&words));
    // Waits until it is open for reading.
    let writer = OpenOptions::new().write(true).open(&pipe).unwrap();
    program.signal(Signal::TERM);
    program.finish().expect(2).complains(&["stopping now"]);
    drop(writer);
}

#[test]
fn ctrl_c_ends_the_wait_for_connections() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let program = Program::start(&mut rpcbench(&["load", &address, "-c", "1", "-m", "1"]));
    let connection = silent.accept().unwrap();
    program.signal(Signal::INT);
    program.finish().expect(2).complains(&["stopped before anything was measured"]);
    drop(connection);
}

#[test]
fn ctrl_c_twice_does_not_wait_for_the_last_calls() {
    let hangs = Target::new("hang-after:200");
    let address = hangs.address().to_string();
    let words = ["load", &address, "-c", "4", "--rate", "1000", "--duration", "15s"];
    let words = [&words[..], &["--warmup", "none", "--timeout", "1h", "--grace", "1h"]].concat();
    let mut program = Program::start(&mut rpcbench(&words));
    program.await_line("measuring 1.");
    program.signal(Signal::INT);
    program.await_line("once more to stop now");
    program.signal(Signal::INT);
    program.finish().expect(2).complains(&["stopping now", "stopped before anything was measured"]);
}

#[test]
fn ctrl_c_ends_a_sweep_and_shows_its_finished_loads() {
    let honest = Target::new("honest");
    let address = honest.address().to_string();
    let words = ["load", &address, "-c", "4", "--sweep", "200..900+100", "--arrivals", "constant"];
    let mut program = Program::start(rpcbench(&words).args(["--duration", "1s"]));
    program.await_line("200: ");
    program.signal(Signal::INT);
    let ended = program.finish().expect(2);
    ended.shows(&["Latency over load", "\n   200 "]);
    ended.complains(&["stopped after 1 load; the results up to then are above"]);
}
