//! Processes with a mark in their environment. Children inherit it and keep it in other groups and sessions.

use std::ffi::OsStr;
use std::time::Duration;

use procfs::process::{Process, all_processes};
use rpcbench_clock::{self as clock, Nanos};
use rustix::process::{Pid, Signal, getpid, kill_process};

/// Maximum number of rounds: processes may start others while they are being killed.
const ROUNDS: usize = 20;
const PAUSE: Duration = Duration::from_millis(5);

/// Maximum number of rounds to wait for a process without an environment, which may be about to get one.
const STARTING_ROUNDS: usize = 4;

/// Kills all processes, except this one, that started with `name` set to `value`. Processes that this process may not inspect are
/// left alone.
pub(crate) fn kill_marked(name: &str, value: &str) {
    for round in 0..ROUNDS {
        let Scan { marked, is_any_starting } = scan(name, value);
        if marked.is_empty() && !(is_any_starting && round < STARTING_ROUNDS) {
            return;
        }
        for pid in marked {
            // The process may have ended already.
            let _ = kill_process(pid, Signal::KILL);
        }
        clock::sleep_until(clock::now() + Nanos::from(PAUSE));
    }
}

/// All processes, except this one, that started with `name` set to `value`. Those that this process may not inspect are left out.
pub(crate) fn marked(name: &str, value: &str) -> Vec<Pid> {
    scan(name, value).marked
}

#[derive(Default)]
struct Scan {
    marked: Vec<Pid>,
    is_any_starting: bool,
}

fn scan(name: &str, value: &str) -> Scan {
    let mut scan = Scan::default();
    let all = all_processes().into_iter().flatten().flatten();
    for process in all.filter(|it| it.pid != getpid().as_raw_pid()) {
        let environment = process.environ().ok();
        let is_empty = environment.as_ref().is_some_and(|it| it.is_empty());
        scan.is_any_starting |= is_empty && may_be_starting(&process);
        let found = environment.and_then(|mut it| it.remove(OsStr::new(name)));
        if found.is_some_and(|it| it.as_os_str() == value) {
            scan.marked.extend(Pid::from_raw(process.pid));
        }
    }
    scan
}

/// True if a process without an environment may be inside `exec`, where it has none yet: it is alive, and not a kernel thread.
fn may_be_starting(process: &Process) -> bool {
    const KERNEL: i32 = 2;
    let stat = process.stat();
    stat.is_ok_and(|it| it.pid != KERNEL && it.ppid != KERNEL && it.state != 'Z')
}
