//! Processes, and the sockets, pipes and terminals that they hold open.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;

use procfs::process::{FDInfo, FDTarget, all_processes};
use rustix::fs::{AtFlags, CWD, FileType, Statx, StatxFlags, statx};
use rustix::process::getpid;

use crate::error::about;

/// An open file of a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Held {
    /// A socket's inode.
    Socket(u64),
    /// A pipe's inode.
    Pipe(u64),
    /// A pipe's inode, if the pipe is standard output or standard error, which may be a log.
    Output(u64),
    /// Device and inode of a named pipe; its name may have been removed.
    NamedPipe { device: (u32, u32), inode: u64 },
    /// Either side of a pseudo-terminal: its number, and the mount namespace.
    Terminal { number: u32, namespace: u64 },
}

/// The open files through which processes can communicate with others.
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
    /// Reads the open files of all processes. Processes that end while /proc is read are left out.
    pub fn scan() -> io::Result<Self> {
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
            // Without CAP_SYS_PTRACE, root can count the files of other users, but not read them.
            if files.is_empty() && process.fd_count().is_ok_and(|count| count > 0) {
                found.closed.insert(process.pid);
            }
            let held = files.into_iter().filter_map(|file| held(process.pid, file)).collect();
            match process.pid == this {
                true => found.this = held,
                false => drop(found.visible.insert(process.pid, held)),
            }
        }
        Ok(found)
    }

    /// The open files of `pids`, except those that may be inherited from this process.
    pub fn of(&self, pids: &BTreeSet<i32>) -> HashSet<&Held> {
        let all = pids.iter().filter_map(|pid| self.visible.get(pid)).flatten();
        all.filter(|held| !self.this.contains(held)).collect()
    }

    pub fn any_holds(&self, pids: &BTreeSet<i32>, held: &Held) -> bool {
        pids.iter().any(|pid| self.visible.get(pid).is_some_and(|all| all.contains(held)))
    }

    /// True if a visible process holds it open.
    pub fn is_held(&self, held: &Held) -> bool {
        self.this.contains(held) || self.visible.values().any(|all| all.contains(held))
    }

    /// The processes, except `own` and this one, that hold one of `held` open.
    pub fn others(&self, held: &[Held], own: &BTreeSet<i32>) -> impl Iterator<Item = i32> {
        let holds = move |all: &HashSet<Held>| held.iter().any(|it| all.contains(it));
        let strange = self.visible.iter().filter(|(pid, _)| !own.contains(pid));
        strange.filter(move |(_, all)| holds(all)).map(|(pid, _)| *pid)
    }

    /// The processes, except `own`, whose files were read.
    pub fn other_pids(&self, own: &BTreeSet<i32>) -> impl Iterator<Item = i32> {
        self.visible.keys().copied().filter(move |pid| !own.contains(pid))
    }
}

fn held(pid: i32, file: FDInfo) -> Option<Held> {
    match file.target {
        FDTarget::Socket(inode) => Some(Held::Socket(inode)),
        FDTarget::Pipe(inode) if matches!(file.fd, 1 | 2) => Some(Held::Output(inode)),
        FDTarget::Pipe(inode) => Some(Held::Pipe(inode)),
        FDTarget::Path(_) => named(pid, file.fd),
        _ => None,
    }
}

/// An open file with a path, if it is a named pipe or a terminal.
fn named(pid: i32, fd: i32) -> Option<Held> {
    const TERMINALS: u32 = 136;
    const MASTERS: (u32, u32) = (5, 2);
    // The kernel knows the type, so don't query a file server, which may not answer.
    let (path, flags) = (format!("/proc/{pid}/fd/{fd}"), AtFlags::STATX_DONT_SYNC);
    let file = statx(CWD, &path, flags, StatxFlags::TYPE | StatxFlags::INO).ok()?;
    let Statx { stx_ino: inode, stx_rdev_major: major, stx_rdev_minor: minor, .. } = file;
    let number = match FileType::from_raw_mode(file.stx_mode.into()) {
        FileType::Fifo => {
            let device = (file.stx_dev_major, file.stx_dev_minor);
            return Some(Held::NamedPipe { device, inode });
        }
        FileType::CharacterDevice if major == TERMINALS => minor,
        FileType::CharacterDevice if (major, minor) == MASTERS => terminal_of(pid, fd)?,
        _ => return None,
    };
    let namespace = fs::metadata(format!("/proc/{pid}/ns/mnt")).ok()?.ino();
    Some(Held::Terminal { number, namespace })
}

/// The number of the terminal whose other side is an open /dev/ptmx (proc_pid_fdinfo(5)).
pub(super) fn terminal_of(pid: i32, fd: i32) -> Option<u32> {
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{fd}")).ok()?;
    info.lines().find_map(|line| line.strip_prefix("tty-index:"))?.trim().parse().ok()
}
