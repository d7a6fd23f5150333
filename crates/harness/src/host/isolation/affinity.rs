//! Isolates a server without cgroups: CPU affinity, and signals.

use std::collections::HashSet;
use std::io;

use procfs::process::{Process, Stat};
use rpcbench_record::IsolationMode;
use rustix::process::{Pid, Signal, kill_process};

use super::files::await_state;
use super::tree::ProcessTree;
use super::{Backend, Counted, GroupLimits};
use crate::error::about;
use crate::host::readings::{CpuTime, MemoryUse};

#[derive(Debug)]
pub(super) struct Home;

impl super::Home for Home {
    fn mode(&self) -> IsolationMode {
        IsolationMode::Affinity
    }

    fn create(&self, label: &str, _: &GroupLimits) -> io::Result<Box<dyn Backend>> {
        Ok(Box::new(Group { name: label.to_owned(), tree: None }))
    }
}

/// The processes of one server.
#[derive(Debug)]
struct Group {
    name: String,
    tree: Option<ProcessTree>,
}

impl Group {
    fn stats(&self) -> io::Result<Vec<Stat>> {
        self.tree.as_ref().map_or(Ok(Vec::new()), ProcessTree::stats)
    }

    /// Signals all processes with a thread in a wrong state, until two scans in a row find none: one may have been started during
    /// the first look.
    fn signal_until(
        &self,
        signal: Signal,
        state: &str,
        right: impl Fn(char, bool) -> bool,
    ) -> io::Result<()> {
        let mut signalled = HashSet::new();
        let mut quiet = false;
        await_state(&self.name, state, || {
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
        })
    }
}

impl Counted for Group {
    fn pids(&self) -> io::Result<Vec<Pid>> {
        self.tree.as_ref().map_or(Ok(Vec::new()), ProcessTree::pids)
    }

    fn cpu(&self) -> io::Result<CpuTime> {
        self.tree.as_ref().map_or(Ok(CpuTime::default()), ProcessTree::cpu)
    }

    fn memory(&self) -> io::Result<MemoryUse> {
        self.tree.as_ref().map_or(Ok(MemoryUse::default()), ProcessTree::memory)
    }
}

impl Backend for Group {
    fn adopt(&mut self, leader: Pid) {
        self.tree = Some(ProcessTree::of(leader));
    }

    /// A thread in uninterruptible sleep with the signal pending runs no more of its program either: it may wait there for a
    /// child that was stopped between vfork and exec.
    fn freeze(&self) -> io::Result<()> {
        self.signal_until(Signal::STOP, "frozen", |state, signalled| {
            "TtZXx".contains(state) || (state == 'D' && signalled)
        })
    }

    /// Signals every process: one that waits for its child between vfork and exec is not stopped yet, but would be by the
    /// pending signal.
    fn thaw(&self) -> io::Result<()> {
        self.signal_until(Signal::CONT, "thawed", |state, signalled| signalled && state != 'T')
    }

    fn kill(&self) -> io::Result<()> {
        await_state(&self.name, "dead", || {
            let mut alive = self.stats()?;
            alive.retain(|stat| !"ZXx".contains(stat.state));
            for stat in &alive {
                send(stat.pid, Signal::KILL)?;
            }
            Ok(alive.is_empty())
        })
    }
}

fn thread_states(pid: i32) -> Vec<char> {
    let tasks = Process::new(pid).and_then(|process| process.tasks());
    let states = tasks.map(|tasks| {
        tasks.flatten().filter_map(|task| task.stat().ok()).map(|stat| stat.state).collect()
    });
    states.unwrap_or_default()
}

fn send(pid: i32, signal: Signal) -> io::Result<()> {
    let Some(target) = Pid::from_raw(pid) else { return Ok(()) };
    match kill_process(target, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(about(format!("process {pid} can't be signalled"))(error)),
    }
}
