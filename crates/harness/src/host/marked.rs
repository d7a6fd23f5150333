//! Processes with a mark in their environment, which children inherit and keep in other groups and sessions.

use std::ffi::OsStr;
use std::time::Duration;

use procfs::process::{Process, all_processes};
use rpcbench_clock::{self as clock, Nanos};
use rustix::process::{Pid, Signal, getpid, kill_process};

/// Processes may start others while they are killed.
const ROUNDS: usize = 20;
const PAUSE: Duration = Duration::from_millis(5);

/// Rounds in which a process without an environment may be about to get one.
const STARTING_ROUNDS: usize = 4;

/// Kills the processes, other than this one, that began with `name` set to `value`. Those that this process may not look into
/// are left alone.
pub(crate) fn kill_marked(name: &str, value: &str) {
    for round in 0..ROUNDS {
        let Look { marked, is_any_starting } = look(name, value);
        if marked.is_empty() && !(is_any_starting && round < STARTING_ROUNDS) {
            return;
        }
        for pid in marked {
            // It may have ended.
            let _ = kill_process(pid, Signal::KILL);
        }
        clock::sleep_until(clock::now() + Nanos::from(PAUSE));
    }
}

/// The processes, other than this one, that began with `name` set to `value`, without those that this process may not look into.
pub(crate) fn marked(name: &str, value: &str) -> Vec<Pid> {
    look(name, value).marked
}

#[derive(Default)]
struct Look {
    marked: Vec<Pid>,
    is_any_starting: bool,
}

fn look(name: &str, value: &str) -> Look {
    let mut look = Look::default();
    let all = all_processes().into_iter().flatten().flatten();
    for process in all.filter(|it| it.pid != getpid().as_raw_pid()) {
        let environment = process.environ().ok();
        let is_empty = environment.as_ref().is_some_and(|it| it.is_empty());
        look.is_any_starting |= is_empty && may_be_starting(&process);
        let found = environment.and_then(|mut it| it.remove(OsStr::new(name)));
        if found.is_some_and(|it| it.as_os_str() == value) {
            look.marked.extend(Pid::from_raw(process.pid));
        }
    }
    look
}

/// True for a process without an environment that may be within `exec`, where it has none yet: no thread of the kernel, and alive.
fn may_be_starting(process: &Process) -> bool {
    const KERNEL: i32 = 2;
    let stat = process.stat();
    stat.is_ok_and(|it| it.pid != KERNEL && it.ppid != KERNEL && it.state != 'Z')
}
