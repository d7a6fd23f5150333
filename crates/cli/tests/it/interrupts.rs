//! Ctrl-C once and twice, SIGKILL, and going on afterwards.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, ExitStatus};

use rpcbench_record::{Run, TrialResult};
use rpcbench_testkit::{skip, wait_until};
use rustix::process::Signal;

use crate::bench::Bench;
use crate::kernel::groups_of;
use crate::program::{Ended, Program};

/// Every planned trial once, and nothing else.
#[track_caller]
fn complete(run: &Run) {
    assert!(run.finished.is_some());
    let made: BTreeSet<_> = run.trials.iter().map(|t| (&t.entry, &t.workload, t.number)).collect();
    let planned: BTreeSet<_> =
        run.header.plan.order.iter().map(|t| (&t.entry, &t.workload, t.number)).collect();
    assert_eq!(made, planned);
    assert_eq!(run.trials.len(), planned.len(), "a trial twice");
    assert!(run.trials.iter().all(|t| matches!(t.result, TrialResult::Measured(_))));
}

#[test]
fn first_signal_ends_the_trial_and_the_run_can_be_resumed() {
    let bench = Bench::new();
    let mut program = bench.start("run @honest @busy --rounds 3 -v");
    program.await_line("measuring, trial 1");
    program.signal(Signal::INT);
    let ended = program.finish().expect(2);
    bench.nothing_left(ended.pid);
    let folder = bench.results();
    let resume = format!("run --resume results/{}", folder.file_name().unwrap().display());
    ended.complains(&[
        "stopping after the current measurement, which ends in ",
        &format!("to resume: rpcbench {resume}"),
    ]);
    ended.shows(&["calls/cpu-s", "the run is unfinished: 2 of 6 trials ended"]);

    let before = bench.record();
    assert_eq!(before.finished, None);
    // The round is whole.
    let entries: BTreeSet<&String> = before.trials.iter().map(|trial| &trial.entry).collect();
    assert_eq!((before.trials.len(), entries.len()), (2, 2));
    assert!(before.trials.iter().all(|trial| trial.measured().is_some()));

    bench.run(&resume).expect(0);
    let after = bench.record();
    complete(&after);
    assert_eq!(after.trials[..2], before.trials[..]);
    bench.run(&resume).expect(2).complains(&["this run is finished"]);
}

/// A run that is interrupted twice in its first trial.
fn stopped_twice(bench: &Bench, words: &str) -> Ended {
    let mut program = bench.start(words);
    program.await_line("measuring, trial 1");
    program.signal(Signal::INT);
    program.await_line("; once more to stop now");
    program.signal(Signal::INT);
    let ended = program.finish().expect(2);
    bench.nothing_left(ended.pid);
    ended
}

#[test]
fn second_signal_stops_at_once() {
    let bench = Bench::new();
    let ended = stopped_twice(&bench, "run @spawn-child --duration 1h -v");
    ended.complains(&["stopping now", "to resume: rpcbench run --resume"]);
    let run = bench.record();
    assert_eq!((run.preparations.len(), run.trials.len(), run.finished), (1, 0, None));
}

/// Far more calls come due than can be made, or than can be counted in the time in which they come.
#[test]
fn unreachable_load_is_stopped_at_once() {
    let bench = Bench::new();
    stopped_twice(&bench, "run @honest --rate 9M --duration 1h --timeout 1s --grace 1s -v");
}

/// Nothing of it is a result: there is nothing to wait for. The check of so slow a server takes minutes.
#[test]
fn first_signal_stops_a_check() {
    let bench = Bench::new().variant("slower", "--behaviour slow:50ms");
    for words in ["run @slower", "check @slower"] {
        let program = bench.start(words);
        // It is asked for readiness once, and then for everything in the check.
        wait_until("a check", || bench.processes().into_iter().any(|pid| waits(pid) > 50));
        program.signal(Signal::INT);
        let ended = program.finish().expect(2);
        ended.complains(&["stopping now"]);
        assert!(!ended.err.contains("failed"), "{}", ended.err);
        bench.nothing_left(ended.pid);
    }
    assert!(bench.record().preparations.is_empty(), "what was interrupted is no result");
}

/// A terminal that closes, and whoever ends a job.
#[test]
fn other_signals_end_a_run_like_ctrl_c() {
    for signal in [Signal::HUP, Signal::TERM] {
        let bench = Bench::new();
        let mut program = bench.start("run @honest --rounds 3 -v");
        program.await_line("measuring, trial 1");
        program.signal(signal);
        let ended = program.finish().expect(2);
        bench.nothing_left(ended.pid);
        ended.complains(&["to resume: rpcbench run --resume"]);
        ended.shows(&["calls/cpu-s", "the run is unfinished"]);
        assert_eq!(bench.record().trials.len(), 1);
    }
}

#[test]
fn stopped_build_ends_all_its_processes() {
    let script = "set -eu\necho $$ > \"$RPCBENCH_BUILD_DIR/pid\"\nsleep 1000\n";
    let bench = Bench::new().edit("servers/testkit/build.sh", "set -eu\n", script);
    for words in ["build testkit-liar", "run @honest", "check @honest"] {
        let pid = bench.root().join("build/servers/testkit-liar/pid");
        let program = bench.start(words);
        wait_until("the build", || fs::read_to_string(&pid).is_ok_and(|it| it.ends_with('\n')));
        program.signal(Signal::INT);
        let ended = program.finish().expect(2);
        ended.complains(&["stopping now"]);
        let pid: i32 = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
        wait_until("the build's end", || waits(pid) == 0);
        fs::remove_file(bench.root().join("build/servers/testkit-liar/pid")).unwrap();
    }
}

/// The kernel ends what waits with a time limit when a process goes on after it was stopped.
#[test]
fn suspended_check_continues() {
    let bench = Bench::new().variant("slower", "--behaviour slow:2ms");
    let program = bench.start("check @slower");
    for round in 1..=10 {
        wait_until("the check", || {
            bench.processes().into_iter().any(|pid| waits(pid) > 20 * round)
        });
        program.signal(Signal::STOP);
        program.signal(Signal::CONT);
    }
    program.finish().expect(0).shows(&["testkit-liar@slower", "passed"]);
}

/// How often a process's threads have waited for something; 0 for one that has ended.
fn waits(pid: i32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let statuses =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("status")).ok());
    statuses
        .filter_map(|status| {
            let mut lines = status.lines();
            let number = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
            number.trim().parse::<u64>().ok()
        })
        .sum()
}

#[test]
fn killed_run_ends_its_servers_and_can_be_resumed() {
    let bench = Bench::new();
    let mut program = bench.start("run @honest --processes 3 --rounds 1 -v");
    program.await_line("trial 1: ");
    program.await_line("measuring, trial");
    program.signal(Signal::KILL);
    let ended = program.finish();
    assert_eq!(ended.code, None);
    wait_until("the server's end", || bench.processes().is_empty());
    resume(&bench, ended.pid, 1);
}

/// One is idle when the run is killed, and the other has a child.
#[test]
fn killed_run_leaves_nothing() {
    let bench = Bench::new();
    let mut program = bench.start("run @honest @spawn-child -v");
    for _ in 0..2 {
        program.await_line(" calls/s, p99 ");
    }
    program.signal(Signal::KILL);
    let ended = program.finish();
    wait_until("the servers' end", || bench.processes().is_empty());
    wait_until("the end of their groups", || groups_of(ended.pid).is_empty());
    resume(&bench, ended.pid, 1);
}

/// As when a container is killed, with its guard: no one is left to thaw a frozen server, and the kernel waits for its end.
#[test]
fn killed_pid_namespace_ends_its_frozen_servers() {
    let launcher = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
    let can_unshare = Command::new(launcher[0]).args(&launcher[1..]).arg("true").status();
    if !can_unshare.as_ref().is_ok_and(ExitStatus::success) {
        return skip(format!("no right to make a PID namespace: {can_unshare:?}"));
    }
    let bench = Bench::new();
    let words = "run @honest @busy --warmup none --duration 1h -v";
    let mut program = Program::start(&mut bench.command_by(&launcher, words));
    program.await_line("measuring, trial 1");
    let server = bench.processes()[0];
    let namespace = fs::metadata(format!("/proc/{server}/ns/pid")).unwrap().ino();
    program.signal(Signal::KILL);
    program.finish();
    wait_until("the servers' end", || bench.processes().is_empty());
    for group in groups_of(namespace.try_into().unwrap()) {
        wait_until("the end of its processes", || fs::remove_dir(&group).is_ok());
    }
}

#[track_caller]
fn resume(bench: &Bench, killed: u32, trials: usize) {
    let before = bench.record();
    assert!(before.trials.len() >= trials && before.finished.is_none());
    bench.run(&format!("run --resume {}", bench.results().display())).expect(0);
    bench.nothing_left(killed);
    let after = bench.record();
    complete(&after);
    assert_eq!(after.trials[..before.trials.len()], before.trials[..]);
}

/// As under `nohup`, and in the background of a script.
#[test]
fn signals_ignored_from_the_start_stay_ignored() {
    let bench = Bench::new();
    let ignoring = ["sh", "-c", "trap '' HUP INT; exec \"$@\"", "sh"];
    let words = "run @honest --rounds 2 --processes 1 --warmup none -v";
    let mut program = Program::start(&mut bench.command_by(&ignoring, words));
    program.await_line("measuring, trial 1");
    program.signal(Signal::HUP);
    program.signal(Signal::INT);
    program.finish().expect(0);
    complete(&bench.record());
}

#[test]
fn record_deleted_during_the_run_is_reported_and_figures_are_shown() {
    let bench = Bench::new();
    let mut program = bench.start("run @honest --rounds 50 --processes 1 --warmup none -v");
    program.await_line("measuring, trial 2");
    fs::remove_dir_all(bench.results()).unwrap();
    let ended = program.finish().expect(2);
    bench.nothing_left(ended.pid);
    ended.shows(&["testkit-liar@honest", "calls/cpu-s", "the run is unfinished"]);
    ended.complains(&["what was measured is shown above", "events.jsonl", "the record is lost"]);
}
