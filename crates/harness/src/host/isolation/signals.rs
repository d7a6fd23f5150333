//! Stops processes by signals, where the kernel's freezer can't be used.

use std::collections::HashSet;
use std::io;

use procfs::process::Process;
use rustix::process::{Pid, Signal, kill_process};

use super::Counted;
use super::files::await_state;
use crate::error::about;

/// Stops all processes of the group `name`, and returns when they have stopped.
///
/// A thread in uninterruptible sleep with a pending signal counts as stopped, since it can't run any of its program. It may be
/// waiting for a child that was stopped between vfork and exec.
pub(super) fn freeze(name: &str, group: &impl Counted) -> io::Result<()> {
    signal_until((name, "frozen"), group, Signal::STOP, |state, signalled| {
        "TtZXx".contains(state) || (state == 'D' && signalled)
    })
}

/// Lets all processes of the group `name` run again, and returns when they do.
///
/// Signals every process. One that waits for its child between vfork and exec is not stopped yet, but the pending signal would
/// stop it.
pub(super) fn thaw(name: &str, group: &impl Counted) -> io::Result<()> {
    signal_until((name, "thawed"), group, Signal::CONT, |state, signalled| {
        signalled && state != 'T'
    })
}

/// Signals all processes with a thread in a wrong state, until two scans in a row find none: a process may have been
/// started during the first scan.
fn signal_until(
    (name, state): (&str, &str),
    group: &impl Counted,
    signal: Signal,
    right: impl Fn(char, bool) -> bool,
) -> io::Result<()> {
    let mut signalled = HashSet::new();
    let mut quiet = false;
    await_state(name, state, || {
        let mut wrong = group.pids()?;
        wrong.retain(|pid| {
            let known = signalled.contains(pid);
            !thread_states(*pid).into_iter().all(|state| right(state, known))
        });
        for pid in &wrong {
            send(*pid, signal)?;
            signalled.insert(*pid);
        }
        let was_quiet = quiet;
        quiet = wrong.is_empty();
        Ok(quiet && was_quiet)
    })
}

fn thread_states(pid: Pid) -> Vec<char> {
    let tasks = Process::new(pid.as_raw_pid()).and_then(|process| process.tasks());
    let states = tasks.map(|tasks| {
        tasks.flatten().filter_map(|task| task.stat().ok()).map(|stat| stat.state).collect()
    });
    states.unwrap_or_default()
}

/// Does nothing if the process has ended.
pub(super) fn send(pid: Pid, signal: Signal) -> io::Result<()> {
    match kill_process(pid, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(about(format!("process {} can't be signalled", pid.as_raw_pid()))(error)),
    }
}
