//! Processes with a mark in their environment, which children inherit and keep in other groups and sessions.

use std::ffi::OsStr;
use std::time::Duration;

use procfs::process::{Process, all_processes};
use rpcbench_clock::{self as clock, Nanos};
use rustix::process::{Pid, Signal, getpid, kill_process};

/// Processes may start others while they are killed.
const ROUNDS: usize = 20;
const PAUSE: Duration = Duration::from_millis(5);

/// Kills the processes, other than this one, that began with `name` set to `value`. Those that this process may not look into
/// are left alone.
pub(crate) fn kill_marked(name: &str, value: &str) {
    for _ in 0..ROUNDS {
        let found = marked(name, value);
        if found.is_empty() {
            return;
        }
        for pid in found {
            // It may have ended.
            let _ = kill_process(pid, Signal::KILL);
        }
        clock::sleep_until(clock::now() + Nanos::from(PAUSE));
    }
}

fn marked(name: &str, value: &str) -> Vec<Pid> {
    let is_marked = |process: &Process| {
        let environment = process.environ().unwrap_or_default();
        environment.get(OsStr::new(name)).is_some_and(|it| it.as_os_str() == value)
    };
    let others = all_processes().into_iter().flatten().flatten();
    let others = others.filter(|it| it.pid != getpid().as_raw_pid() && is_marked(it));
    others.filter_map(|process| Pid::from_raw(process.pid)).collect()
}
