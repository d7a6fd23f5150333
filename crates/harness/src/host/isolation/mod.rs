//! Keeping a server apart from everything else: its own CPUs, its own memory limit, its own counters.
//!
//! With the rights for it a server runs in a cgroup of its own, version 2 or 1. Without, it gets CPU
//! affinity only, and the notes say what that leaves out.

mod affinity;
mod error;
mod files;
mod guard;
mod join;
mod mounts;
mod names;
mod tree;
mod v1;
mod v2;

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use rpcbench_record::IsolationMode;
use rustix::process::Pid;

pub use error::IsolationError;
use guard::Guard;
pub use join::Joiner;
use mounts::Mounts;
use names::Owner;
pub use tree::ProcessTree;

/// What the processes of a group may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupLimits {
    /// CPU numbers; at least one.
    pub cpus: Vec<u32>,
    /// Bytes. `None`: no limit.
    pub memory_bytes: Option<u64>,
}

/// CPU time that a group has used since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// All of it, nanoseconds: exact to the nanosecond (cgroup v1) or microsecond (v2), to the clock tick
    /// without a cgroup.
    pub total_ns: u64,
    /// In user mode, nanoseconds. The kernel estimates it by sampling, so that it tells a share of the
    /// total, and with `system_ns` need not add up to it.
    pub user_ns: u64,
    /// In the kernel, nanoseconds, likewise.
    pub system_ns: u64,
    /// Time for which the CPU controller held it back, nanoseconds. `None` where nothing counts it.
    pub throttled_ns: Option<u64>,
}

/// Processes whose use of CPU and memory can be read.
pub trait Counted {
    /// All of them.
    ///
    /// # Errors
    /// If the list can't be read.
    fn pids(&self) -> Result<Vec<Pid>, IsolationError>;

    /// CPU time used so far.
    ///
    /// # Errors
    /// If the counters can't be read.
    fn cpu(&self) -> Result<CpuTime, IsolationError>;

    /// Memory used now.
    ///
    /// # Errors
    /// If the counters can't be read.
    fn memory(&self) -> Result<MemoryUse, IsolationError>;
}

impl Counted for Group {
    fn pids(&self) -> Result<Vec<Pid>, IsolationError> {
        Self::pids(self)
    }

    fn cpu(&self) -> Result<CpuTime, IsolationError> {
        Self::cpu(self)
    }

    fn memory(&self) -> Result<MemoryUse, IsolationError> {
        Self::memory(self)
    }
}

/// Memory that a group uses now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Anonymous and shared memory (a runtime may keep its heap there), bytes.
    pub anon: u64,
    /// Page cache of files charged to the group, bytes. `None` without a cgroup.
    pub cache: Option<u64>,
    /// The most that was ever charged to the group, page cache and kernel memory included, bytes.
    /// `None` where nothing counts it.
    pub highest: Option<u64>,
}

/// How servers are kept apart on this machine. Dropping it undoes what finding it changed.
#[derive(Debug)]
pub struct Isolation {
    home: Home,
    mounts: Mounts,
    notes: Vec<String>,
    /// Started with the first group. `None` in it where none is needed, or none can be had: the next harness
    /// sweeps up then.
    guard: OnceLock<Option<Guard>>,
}

#[derive(Debug)]
enum Home {
    V2(v2::Home, Owner),
    V1(v1::Home, Owner),
    Affinity,
}

impl Isolation {
    /// The best way that this machine and this process's rights allow. Where that is affinity only, a
    /// note says why.
    ///
    /// `cpus` are those that this process may use; a group with them is made and removed to see that it
    /// can be.
    #[must_use]
    pub fn detect(cpus: &[u32]) -> Self {
        let (mounts, owner) = match (Mounts::of_this_process(), Owner::this_process()) {
            (Ok(mounts), Ok(owner)) => (mounts, owner),
            (Err(error), _) | (_, Err(error)) => return Self::affinity(&error.to_string()),
        };
        let mut reasons = Vec::new();
        let v2 = v2::Home::find(&mounts, owner).map(|home| Home::V2(home, owner));
        let v1 = || v1::Home::find(&mounts).map(|home| Home::V1(home, owner));
        for home in [v2].into_iter().chain(std::iter::once_with(v1)) {
            match home.and_then(|home| usable(home, cpus)) {
                Ok(home) => {
                    let notes = home.note().into_iter().collect();
                    return Self { home, mounts, notes, guard: OnceLock::new() };
                }
                Err(reason) => reasons.push(reason),
            }
        }
        Self { mounts, ..Self::affinity(&reasons.join("; ")) }
    }

    /// CPU affinity only, whatever the machine allows; `reason` goes into the note.
    #[must_use]
    pub fn affinity(reason: &str) -> Self {
        let note = format!(
            "no cgroup ({reason}): CPUs by affinity only, no memory limit enforced, \
             CPU time to the clock tick; run as root, or in a delegated cgroup, for more"
        );
        let (mounts, guard) = (Mounts::default(), OnceLock::new());
        Self { home: Home::Affinity, mounts, notes: vec![note], guard }
    }

    /// How servers are kept apart.
    #[must_use]
    pub fn mode(&self) -> IsolationMode {
        match self.home {
            Home::V2(..) => IsolationMode::CgroupV2,
            Home::V1(..) => IsolationMode::CgroupV1,
            Home::Affinity => IsolationMode::Affinity,
        }
    }

    /// What a reader of the record must know about it.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Removes the groups of harnesses that died without doing so, killing what is left in them. The
    /// folders removed.
    pub fn sweep(&self) -> Vec<PathBuf> {
        names::sweep(&self.mounts)
    }

    /// Makes an empty group. `label` becomes a part of its name.
    ///
    /// # Errors
    /// If the kernel refuses: the file and the value are named.
    pub fn create(&self, label: &str, limits: GroupLimits) -> Result<Group, IsolationError> {
        self.guard.get_or_init(|| self.home.guard());
        self.home.create(label, limits)
    }
}

fn usable(home: Home, cpus: &[u32]) -> Result<Home, String> {
    let limits = GroupLimits { cpus: cpus.to_vec(), memory_bytes: Some(1 << 30) };
    let probe = home.create("probe", limits).map_err(|error| error.to_string())?;
    probe.destroy().map_err(|error| error.to_string())?;
    Ok(home)
}

impl Home {
    fn note(&self) -> Option<String> {
        match self {
            Self::V2(home, _) => home.note(),
            Self::V1(..) | Self::Affinity => None,
        }
    }

    /// Elsewhere frozen processes die of a signal.
    fn guard(&self) -> Option<Guard> {
        match self {
            Self::V1(home, owner) => home.guard(*owner).ok(),
            Self::V2(..) | Self::Affinity => None,
        }
    }

    fn create(&self, label: &str, limits: GroupLimits) -> Result<Group, IsolationError> {
        let kind = match self {
            Self::V2(home, owner) => Kind::V2(home.create(&owner.name(label), &limits)?),
            Self::V1(home, owner) => Kind::V1(home.create(&owner.name(label), &limits)?),
            Self::Affinity => Kind::Affinity(affinity::Group::new(label)),
        };
        Ok(Group { kind, limits, destroyed: false })
    }
}

/// The processes of one server. Dropping it kills what is left in it and removes it.
#[derive(Debug)]
pub struct Group {
    kind: Kind,
    limits: GroupLimits,
    destroyed: bool,
}

#[derive(Debug)]
enum Kind {
    V2(v2::Group),
    V1(v1::Group),
    Affinity(affinity::Group),
}

/// Calls the same method of whichever group it is.
macro_rules! each {
    ($group:expr, $it:ident => $call:expr) => {
        match &$group.kind {
            Kind::V2($it) => $call,
            Kind::V1($it) => $call,
            Kind::Affinity($it) => $call,
        }
    };
}

impl Group {
    /// What its processes may use. Without a cgroup the memory limit is not enforced.
    #[must_use]
    pub fn limits(&self) -> &GroupLimits {
        &self.limits
    }

    /// The memory limit that is in force, bytes.
    #[must_use]
    pub fn memory_enforced(&self) -> Option<u64> {
        match self.kind {
            Kind::V2(_) | Kind::V1(_) => self.limits.memory_bytes,
            Kind::Affinity(_) => None,
        }
    }

    /// What a child has to do, between fork and exec, to be in the group.
    ///
    /// # Errors
    /// If the group's files can't be opened.
    pub fn joiner(&self) -> Result<Joiner, IsolationError> {
        let doors = match &self.kind {
            Kind::V2(group) => vec![group.door()],
            Kind::V1(group) => group.doors(),
            Kind::Affinity(_) => Vec::new(),
        };
        Joiner::new(doors, &self.limits.cpus)
    }

    /// Tells which process was started in the group; without a cgroup nothing else does.
    pub fn adopt(&mut self, leader: Pid) {
        if let Kind::Affinity(group) = &mut self.kind {
            group.adopt(leader);
        }
    }

    /// All processes in it.
    ///
    /// # Errors
    /// If the list can't be read.
    pub fn pids(&self) -> Result<Vec<Pid>, IsolationError> {
        each!(self, group => group.pids())
    }

    /// Stops all its processes, and returns when they have stopped.
    ///
    /// Under cgroup v1 a frozen process does not die with the harness by itself: a shell beside it ends it, and
    /// where there is none [`Isolation::sweep`] does when the next one starts.
    ///
    /// # Errors
    /// If the kernel refuses, or some process does not stop in time.
    pub fn freeze(&self) -> Result<(), IsolationError> {
        each!(self, group => group.freeze())
    }

    /// Lets them go on, and returns when they do.
    ///
    /// # Errors
    /// If the kernel refuses, or some process does not go on in time.
    pub fn thaw(&self) -> Result<(), IsolationError> {
        each!(self, group => group.thaw())
    }

    /// CPU time used so far, by the living and the dead.
    ///
    /// # Errors
    /// If the counters can't be read.
    pub fn cpu(&self) -> Result<CpuTime, IsolationError> {
        each!(self, group => group.cpu())
    }

    /// Memory used now.
    ///
    /// # Errors
    /// If the counters can't be read.
    pub fn memory(&self) -> Result<MemoryUse, IsolationError> {
        each!(self, group => group.memory())
    }

    /// The largest resident set of each process counts from now on. Where the kernel can't be told, it goes on as it did.
    ///
    /// # Errors
    /// If the list of processes can't be read.
    pub fn forget_peak(&self) -> Result<(), IsolationError> {
        for pid in self.pids()? {
            // 5 is the largest resident set (proc_pid_clear_refs(5)). A process may have ended since.
            let _ = fs::write(format!("/proc/{}/clear_refs", pid.as_raw_pid()), "5");
        }
        Ok(())
    }

    /// How many of its processes the kernel has killed for memory; 0 where no limit is enforced.
    ///
    /// # Errors
    /// If the counter can't be read.
    pub fn oom_kills(&self) -> Result<u64, IsolationError> {
        match &self.kind {
            Kind::V2(group) => group.oom_kills(),
            Kind::V1(group) => group.oom_kills(),
            Kind::Affinity(_) => Ok(0),
        }
    }

    /// Kills all its processes, frozen or not, and returns when they are dead.
    ///
    /// # Errors
    /// If some process does not die in time.
    pub fn kill(&self) -> Result<(), IsolationError> {
        each!(self, group => group.kill())
    }

    /// Kills what is left in it and removes it.
    ///
    /// # Errors
    /// If some process does not die in time, or the group can't be removed.
    pub fn destroy(mut self) -> Result<(), IsolationError> {
        self.end()
    }

    pub(crate) fn end(&mut self) -> Result<(), IsolationError> {
        self.destroyed = true;
        self.kill()?;
        match &self.kind {
            Kind::V2(group) => group.remove(),
            Kind::V1(group) => group.remove(),
            Kind::Affinity(_) => Ok(()),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.destroyed {
            // Whoever needs to know that it failed calls `destroy`.
            let _ = self.end();
        }
    }
}
