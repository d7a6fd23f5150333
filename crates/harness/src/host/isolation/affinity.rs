//! Keeping a server apart without cgroups: CPU affinity, and signals.

use std::collections::HashSet;

use procfs::process::{Process, Stat};
use rustix::process::{Pid, Signal, kill_process};

use super::files::{stuck, until};
use super::tree::ProcessTree;
use super::{Counted, CpuTime, IsolationError, MemoryUse};

/// The processes of one server.
#[derive(Debug)]
pub(super) struct Group {
    name: String,
    tree: Option<ProcessTree>,
}

impl Group {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), tree: None }
    }

    pub(super) fn adopt(&mut self, leader: Pid) {
        self.tree = Some(ProcessTree::of(leader));
    }

    pub(super) fn pids(&self) -> Result<Vec<Pid>, IsolationError> {
        self.tree.as_ref().map_or(Ok(Vec::new()), ProcessTree::pids)
    }

    fn stats(&self) -> Result<Vec<Stat>, IsolationError> {
        self.tree.as_ref().map_or(Ok(Vec::new()), ProcessTree::stats)
    }

    pub(super) fn cpu(&self) -> Result<CpuTime, IsolationError> {
        self.tree.as_ref().map_or(Ok(CpuTime::default()), ProcessTree::cpu)
    }

    pub(super) fn memory(&self) -> Result<MemoryUse, IsolationError> {
        self.tree.as_ref().map_or(Ok(MemoryUse::default()), ProcessTree::memory)
    }

    /// A thread in uninterruptible sleep with the signal pending runs no more of its program either: it
    /// may wait there for a child that was stopped between vfork and exec.
    pub(super) fn freeze(&self) -> Result<(), IsolationError> {
        self.signal_until(Signal::STOP, "frozen", |state, signalled| {
            "TtZXx".contains(state) || (state == 'D' && signalled)
        })
    }

    pub(super) fn thaw(&self) -> Result<(), IsolationError> {
        self.signal_until(Signal::CONT, "thawed", |state, _| state != 'T')
    }

    /// Signals all whose threads are not all in the right state, until twice in a row none is found: one
    /// may have been born while the first look was on its way.
    fn signal_until(
        &self,
        signal: Signal,
        adjective: &'static str,
        right: impl Fn(char, bool) -> bool,
    ) -> Result<(), IsolationError> {
        let mut signalled = HashSet::new();
        let mut quiet = false;
        let done = until(|| {
            let mut wrong = self.stats()?;
            wrong.retain(|stat| {
                let known = signalled.contains(&stat.pid);
                !thread_states(stat.pid).into_iter().all(|state| right(state, known))
            });
            for stat in &wrong {
                send(stat.pid, signal)?;
                signalled.insert(stat.pid);
            }
            let was_quiet = quiet;
            quiet = wrong.is_empty();
            Ok(quiet && was_quiet)
        })?;
        if done { Ok(()) } else { Err(stuck(&self.name, adjective)) }
    }

    pub(super) fn kill(&self) -> Result<(), IsolationError> {
        let dead = until(|| {
            let tree = self.stats()?;
            let alive: Vec<&Stat> =
                tree.iter().filter(|stat| !"ZXx".contains(stat.state)).collect();
            for stat in &alive {
                send(stat.pid, Signal::KILL)?;
            }
            Ok(alive.is_empty())
        })?;
        if dead { Ok(()) } else { Err(stuck(&self.name, "dead")) }
    }
}

fn thread_states(pid: i32) -> Vec<char> {
    let tasks = Process::new(pid).and_then(|process| process.tasks());
    let states = tasks.map(|tasks| {
        tasks.flatten().filter_map(|task| task.stat().ok()).map(|stat| stat.state).collect()
    });
    states.unwrap_or_default()
}

fn send(pid: i32, signal: Signal) -> Result<(), IsolationError> {
    let Some(target) = Pid::from_raw(pid) else { return Ok(()) };
    match kill_process(target, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(IsolationError::Signal { pid, source: error.into() }),
    }
}
