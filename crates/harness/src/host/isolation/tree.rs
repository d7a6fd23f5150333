//! A process with its descendants, and their counters in `/proc`.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::sync::{Mutex, PoisonError};

use procfs::process::{Process, Stat, all_processes};
use rustix::process::Pid;

use super::Counted;
use crate::host::readings::{CpuTime, MemoryUse};

/// A process, its process group, and all their descendants.
#[derive(Debug)]
pub struct ProcessTree {
    leader: Pid,
    /// Process ids and start times, to recognize processes that have left the tree.
    seen: Mutex<HashSet<(i32, u64)>>,
}

impl ProcessTree {
    /// The tree below `leader`.
    pub fn of(leader: Pid) -> Self {
        Self { leader, seen: Mutex::default() }
    }

    pub(super) fn stats(&self) -> io::Result<Vec<Stat>> {
        let all = all_stats()?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let family = family(self.leader.as_raw_pid(), &seen, all);
        *seen = family.iter().map(|stat| (stat.pid, stat.starttime)).collect();
        Ok(family)
    }
}

impl Counted for ProcessTree {
    fn pids(&self) -> io::Result<Vec<Pid>> {
        Ok(self.stats()?.iter().filter_map(|stat| Pid::from_raw(stat.pid)).collect())
    }

    /// CPU time to the clock tick. Ended processes count once their parent has waited for them.
    fn cpu(&self) -> io::Result<CpuTime> {
        let tick_ns = 1_000_000_000 / procfs::ticks_per_second().max(1);
        let (mut user, mut system) = (0, 0);
        for stat in self.stats()? {
            user += stat.utime + stat.cutime.max(0).cast_unsigned();
            system += stat.stime + stat.cstime.max(0).cast_unsigned();
        }
        let (user_ns, system_ns) = (user * tick_ns, system * tick_ns);
        Ok(CpuTime { total_ns: user_ns + system_ns, user_ns, system_ns, throttled_ns: None })
    }

    fn memory(&self) -> io::Result<MemoryUse> {
        let stats = self.stats()?;
        let own = |stat: &Stat| match stats.len() {
            // Nothing is shared, and this is cheaper.
            1 => resident(stat.pid),
            _ => proportional(stat.pid).or_else(|| resident(stat.pid)),
        };
        let anon = stats.iter().filter_map(own).sum();
        Ok(MemoryUse { anon, cache: None, highest: None })
    }
}

const KIB: u64 = 1024;

/// Anonymous and shared memory of a process, bytes.
fn resident(pid: i32) -> Option<u64> {
    let status = Process::new(pid).and_then(|process| process.status()).ok()?;
    Some((status.rssanon.unwrap_or(0) + status.rssshmem.unwrap_or(0)) * KIB)
}

/// Like [`resident`], but pages shared by several processes are divided among them, so that the sum counts them once.
fn proportional(pid: i32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    Some((field("Pss_Anon:")? + field("Pss_Shmem:")?) * KIB)
}

/// The processes started by a server that are not counted for it: descendants of `own` and of `started`, except `own`.
pub(in crate::host) fn uncounted_processes(
    own: &BTreeSet<i32>,
    started: &[Pid],
) -> io::Result<impl Iterator<Item = i32>> {
    let all = all_stats()?;
    let started = started.iter().map(|pid| pid.as_raw_pid());
    let family = with_descendants(own.iter().copied().chain(started).collect(), &all);
    // Ended processes do no work. The first thread may end before others.
    let runs = |stat: &Stat| !"ZXx".contains(stat.state) || stat.num_threads > 1;
    let left = all.into_iter().filter(move |stat| family.contains(&stat.pid) && runs(stat));
    Ok(left.map(|stat| stat.pid).filter(move |pid| !own.contains(pid)))
}

/// All processes of this machine, except those that end while /proc is read.
fn all_stats() -> io::Result<Vec<Stat>> {
    let all = all_processes().map_err(|error| {
        io::Error::other(format!("the processes in /proc can't be listed: {error}"))
    })?;
    Ok(all.flatten().filter_map(|process| process.stat().ok()).collect())
}

/// The leader, its process group, processes seen before, and all their descendants.
fn family(leader: i32, seen: &HashSet<(i32, u64)>, all: Vec<Stat>) -> Vec<Stat> {
    let is_root = |stat: &&Stat| {
        stat.pid == leader || stat.pgrp == leader || seen.contains(&(stat.pid, stat.starttime))
    };
    let roots = all.iter().filter(is_root).map(|stat| stat.pid).collect();
    let members = with_descendants(roots, &all);
    all.into_iter().filter(|stat| members.contains(&stat.pid)).collect()
}

fn with_descendants(mut members: HashSet<i32>, all: &[Stat]) -> HashSet<i32> {
    loop {
        let before = members.len();
        let children = all.iter().filter(|stat| members.contains(&stat.ppid)).map(|stat| stat.pid);
        members.extend(children.collect::<Vec<_>>());
        if members.len() == before {
            return members;
        }
    }
}
