//! Keeping a server apart without cgroups: CPU affinity, signals, and the tree of its processes.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use procfs::process::{Process, Stat, all_processes};
use rustix::process::{Pid, Signal, kill_process};

use super::files::{stuck, until};
use super::{CpuTime, IsolationError, MemoryUse};

/// The processes that descend from one leader, or are in its process group.
#[derive(Debug)]
pub(super) struct Group {
    name: String,
    leader: Option<Pid>,
    /// Process ids with their start times, so that one that left the tree is still known.
    seen: Mutex<HashSet<(i32, u64)>>,
}

impl Group {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), leader: None, seen: Mutex::default() }
    }

    pub(super) fn adopt(&mut self, leader: Pid) {
        self.leader = Some(leader);
    }

    pub(super) fn pids(&self) -> Result<Vec<Pid>, IsolationError> {
        Ok(self.tree()?.iter().filter_map(|stat| Pid::from_raw(stat.pid)).collect())
    }

    fn tree(&self) -> Result<Vec<Stat>, IsolationError> {
        let Some(leader) = self.leader else { return Ok(Vec::new()) };
        // A process that ends while /proc is read is not of interest.
        let all = all_processes()?.flatten().filter_map(|process| process.stat().ok());
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let family = family(leader.as_raw_pid(), &seen, all.collect());
        *seen = family.iter().map(|stat| (stat.pid, stat.starttime)).collect();
        Ok(family)
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
            let mut wrong = self.tree()?;
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

    /// CPU time of the living, and of the dead whose parent has waited for them, to the clock tick.
    pub(super) fn cpu(&self) -> Result<CpuTime, IsolationError> {
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
        let (mut user, mut system) = (0, 0);
        for stat in self.tree()? {
            user += stat.utime + stat.cutime.max(0).cast_unsigned();
            system += stat.stime + stat.cstime.max(0).cast_unsigned();
        }
        let (user_ns, system_ns) = (user * tick_ns, system * tick_ns);
        Ok(CpuTime { total_ns: user_ns + system_ns, user_ns, system_ns, throttled_ns: None })
    }

    pub(super) fn memory(&self) -> Result<MemoryUse, IsolationError> {
        const KIB: u64 = 1024;
        let statuses = self
            .tree()?
            .into_iter()
            .filter_map(|stat| Process::new(stat.pid).and_then(|process| process.status()).ok());
        let anon = statuses
            .map(|status| (status.rssanon.unwrap_or(0) + status.rssshmem.unwrap_or(0)) * KIB)
            .sum();
        Ok(MemoryUse { anon, cache: None, highest: None })
    }

    pub(super) fn kill(&self) -> Result<(), IsolationError> {
        let dead = until(|| {
            let tree = self.tree()?;
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

/// The leader, its process group, those seen before, and whatever descends from any of them.
fn family(leader: i32, seen: &HashSet<(i32, u64)>, all: Vec<Stat>) -> Vec<Stat> {
    let is_root = |stat: &&Stat| {
        stat.pid == leader || stat.pgrp == leader || seen.contains(&(stat.pid, stat.starttime))
    };
    let mut members: HashSet<i32> = all.iter().filter(is_root).map(|stat| stat.pid).collect();
    loop {
        let before = members.len();
        let children = all.iter().filter(|stat| members.contains(&stat.ppid)).map(|stat| stat.pid);
        members.extend(children.collect::<Vec<_>>());
        if members.len() == before {
            break;
        }
    }
    all.into_iter().filter(|stat| members.contains(&stat.pid)).collect()
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
