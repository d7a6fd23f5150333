//! Processes with the sockets, pipes and files that they hold.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::path::PathBuf;

use procfs::process::{FDInfo, FDTarget, all_processes};
use rustix::process::getpid;

use crate::error::about;

/// An open file of a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Held {
    /// A socket's inode.
    Socket(u64),
    /// A pipe's inode.
    Pipe(u64),
    /// The same, as standard output or standard error, which may be a log.
    Output(u64),
    File(PathBuf),
}

/// The open files of all processes, without devices.
#[derive(Debug)]
pub(super) struct Holders {
    /// Open files by process.
    visible: BTreeMap<i32, HashSet<Held>>,
    /// Processes whose files can't be read.
    pub closed: BTreeSet<i32>,
    /// Open files of this process, which its children may inherit.
    this: HashSet<Held>,
}

impl Holders {
    /// Processes that end while /proc is read are left out.
    pub fn look() -> io::Result<Self> {
        let mut found =
            Self { visible: BTreeMap::new(), closed: BTreeSet::new(), this: HashSet::new() };
        let this = getpid().as_raw_pid();
        let all =
            all_processes().map_err(io::Error::other).map_err(about("the processes in /proc"))?;
        for process in all.flatten() {
            let Ok(files) = process.fd() else {
                found.closed.insert(process.pid);
                continue;
            };
            let files: Vec<FDInfo> = files.flatten().collect();
            // Root without CAP_SYS_PTRACE may count the files of other users, but not read them.
            if files.is_empty() && process.fd_count().is_ok_and(|count| count > 0) {
                found.closed.insert(process.pid);
            }
            let held = files.into_iter().filter_map(held).collect();
            match process.pid == this {
                true => found.this = held,
                false => drop(found.visible.insert(process.pid, held)),
            }
        }
        Ok(found)
    }

    /// The open files of `pids`, without those that they may have inherited from this process.
    pub fn of(&self, pids: &BTreeSet<i32>) -> HashSet<&Held> {
        let all = pids.iter().filter_map(|pid| self.visible.get(pid)).flatten();
        all.filter(|held| !self.this.contains(held)).collect()
    }

    pub fn any_holds(&self, pids: &BTreeSet<i32>, held: &Held) -> bool {
        pids.iter().any(|pid| self.visible.get(pid).is_some_and(|all| all.contains(held)))
    }

    /// True if some process is seen to have it open.
    pub fn is_held(&self, held: &Held) -> bool {
        self.this.contains(held) || self.visible.values().any(|all| all.contains(held))
    }

    /// The processes, other than `own` and this one, that have one of `held` open.
    pub fn others(&self, held: &[Held], own: &BTreeSet<i32>) -> impl Iterator<Item = i32> {
        let holds = move |all: &HashSet<Held>| held.iter().any(|it| all.contains(it));
        let strange = self.visible.iter().filter(|(pid, _)| !own.contains(pid));
        strange.filter(move |(_, all)| holds(all)).map(|(pid, _)| *pid)
    }

    /// The processes other than `own` whose files were read.
    pub fn strangers(&self, own: &BTreeSet<i32>) -> impl Iterator<Item = i32> {
        self.visible.keys().copied().filter(move |pid| !own.contains(pid))
    }
}

fn held(file: FDInfo) -> Option<Held> {
    match file.target {
        FDTarget::Socket(inode) => Some(Held::Socket(inode)),
        FDTarget::Pipe(inode) if matches!(file.fd, 1 | 2) => Some(Held::Output(inode)),
        FDTarget::Pipe(inode) => Some(Held::Pipe(inode)),
        FDTarget::Path(path) if !path.starts_with("/dev") => Some(Held::File(path)),
        _ => None,
    }
}
