//! Processes whose parent has ended, in any session and with any environment.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use procfs::process::all_processes;
use rpcbench_clock::{self as clock, Nanos};
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};

/// Maximum number of rounds: the children of an orphan become orphans when it ends.
const ROUNDS: usize = 100;
const PAUSE: Duration = Duration::from_millis(5);

static STATE: Mutex<State> = Mutex::new(State { adoptions: 0, others: BTreeSet::new() });

struct State {
    adoptions: usize,
    /// Children of this process before the first adoption.
    others: BTreeSet<i32>,
}

/// While one exists, descendants of this process become its children when their parents end. Dropping the last one kills them, so
/// no other process may be started meanwhile unless it also ends before.
pub(crate) struct Adoption(());

impl Adoption {
    pub(crate) fn begin() -> Self {
        let mut state = state();
        if state.adoptions == 0 {
            state.others = children();
            // Supported since Linux 3.4.
            let _ = set_child_subreaper(Some(getpid()));
        }
        state.adoptions += 1;
        Self(())
    }
}

impl Drop for Adoption {
    fn drop(&mut self) {
        let mut state = state();
        state.adoptions -= 1;
        if state.adoptions == 0 {
            kill_children_but(&state.others);
            let _ = set_child_subreaper(None);
        }
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kill_children_but(others: &BTreeSet<i32>) {
    for _ in 0..ROUNDS {
        let children = children();
        let orphans: Vec<Pid> =
            children.difference(others).copied().filter_map(Pid::from_raw).collect();
        if orphans.is_empty() {
            return;
        }
        for pid in orphans {
            // The process may have ended already.
            let _ = kill_process(pid, Signal::KILL);
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
        clock::sleep_until(clock::now() + Nanos::from(PAUSE));
    }
}

fn children() -> BTreeSet<i32> {
    let own = getpid().as_raw_pid();
    let all = all_processes().into_iter().flatten().flatten();
    let children = all.filter(|it| it.stat().is_ok_and(|stat| stat.ppid == own));
    children.map(|it| it.pid).collect()
}
