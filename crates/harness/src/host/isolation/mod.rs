//! Isolates a server from everything else: its own CPUs, its own memory limit, its own counters.
//!
//! If permitted, a server runs in its own cgroup, version 2 or 1. Otherwise it gets only CPU affinity, and notes say what is
//! missing.

mod adopted;
mod affinity;
mod files;
mod join;
mod mounts;
mod names;
mod signals;
mod tree;
mod v1;
mod v2;

use std::fmt::Debug;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use rpcbench_record::IsolationMode;
use rustix::process::Pid;

pub use adopted::Adopted;
pub use join::Joiner;
use mounts::Mounts;
pub(crate) use names::Owner;
pub use tree::ProcessTree;
pub(super) use tree::uncounted_processes;

use crate::host::guard::Guard;
use crate::host::readings::{CpuTime, MemoryUse};

/// Limits of a group's processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupLimits {
    /// CPU numbers; at least one.
    pub cpus: Vec<u32>,
    /// Bytes. `None`: no limit.
    pub memory_bytes: Option<u64>,
}

/// Processes whose CPU time and memory can be read.
pub trait Counted {
    /// The ids of all processes.
    fn pids(&self) -> io::Result<Vec<Pid>>;

    /// Processes and threads that only a part of the group counts.
    fn partly_counted(&self) -> io::Result<Vec<Pid>> {
        Ok(Vec::new())
    }

    /// CPU time so far, including processes that have ended.
    fn cpu(&self) -> io::Result<CpuTime>;

    /// Current memory use.
    fn memory(&self) -> io::Result<MemoryUse>;
}

/// The processes of a group. Errors name the file and the value that the kernel refused, or the group that did not reach a state
/// in time.
pub trait Backend: Counted + Debug + Send + Sync {
    /// Files to which a process writes `0` to join the group.
    fn procs_files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Sets the process that was started in the group. Only needed without a cgroup.
    fn adopt(&mut self, _leader: Pid) {}

    /// True if [`Self::freeze`] takes less than a millisecond; otherwise it sends signals.
    fn freezes_fast(&self) -> bool {
        true
    }

    /// Stops all processes, and returns once they have stopped.
    ///
    /// Under cgroup v1, frozen processes survive a killed harness: a guard kills them, or the next [`Isolation::sweep`].
    fn freeze(&self) -> io::Result<()>;

    /// Moves the processes to other CPUs.
    ///
    /// # Errors
    /// Without a cgroup.
    fn set_cpus(&self, _cpus: &[u32]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Resumes the processes, and returns once they are running.
    fn thaw(&self) -> io::Result<()>;

    /// Number of processes that the kernel killed for using too much memory; 0 without a limit.
    fn oom_kills(&self) -> io::Result<u64> {
        Ok(0)
    }

    /// Resets the peak resident set of each process, if the kernel supports it.
    fn reset_peak(&self) -> io::Result<()> {
        for pid in self.pids()? {
            // 5 resets the peak resident set (proc_pid_clear_refs(5)). The process may have ended already.
            let _ = fs::write(format!("/proc/{}/clear_refs", pid.as_raw_pid()), "5");
        }
        Ok(())
    }

    /// Kills all processes.
    fn kill(&self) -> io::Result<()>;

    /// Removes the group, which must be empty.
    fn remove(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Creates groups.
trait GroupFactory: Debug + Send + Sync {
    fn mode(&self) -> IsolationMode;

    /// A note for the record.
    fn note(&self) -> Option<String> {
        None
    }

    /// A guard that kills frozen servers when the harness is killed, if the kernel does not.
    fn guard(&self) -> Option<Guard> {
        None
    }

    fn create(&self, label: &str, limits: &GroupLimits) -> io::Result<Box<dyn Backend>>;
}

/// The isolation of servers on this machine. Dropping it reverts its changes to the machine.
#[derive(Debug)]
pub struct Isolation {
    factory: Box<dyn GroupFactory>,
    mounts: Mounts,
    notes: Vec<String>,
    /// Started with the first group. Contains `None` if no guard is needed, or it can't be started; then the next harness cleans
    /// up.
    guard: OnceLock<Option<Guard>>,
}

impl Isolation {
    /// Detects the best kind of isolation that this machine and this process's rights allow. If that is only affinity, a note
    /// says why.
    ///
    /// As a test, creates and removes a group with `cpus`, the CPUs that this process may use.
    pub fn detect(cpus: &[u32]) -> Self {
        type Find = fn(&Mounts, Owner) -> Result<Box<dyn GroupFactory>, String>;
        let (mounts, owner) = match (Mounts::of_this_process(), Owner::this_process()) {
            (Ok(mounts), Ok(owner)) => (mounts, owner),
            (Err(error), _) | (_, Err(error)) => return Self::affinity(&error.to_string()),
        };
        let mut reasons = Vec::new();
        for find in [v2::find as Find, v1::find] {
            match find(&mounts, owner).and_then(|factory| usable(factory, cpus)) {
                Ok(factory) => {
                    let notes = factory.note().into_iter().collect();
                    return Self { factory, mounts, notes, guard: OnceLock::new() };
                }
                Err(reason) => reasons.push(reason),
            }
        }
        Self { mounts, ..Self::affinity(&reasons.join("; ")) }
    }

    /// CPU affinity only, which works on any machine. `reason` is for the note.
    pub fn affinity(reason: &str) -> Self {
        let note = format!(
            "no cgroup ({reason}): CPUs by affinity only, no memory limit enforced, \
             CPU time to the clock tick; run as root, or in a delegated cgroup, for more"
        );
        let (factory, mounts) = (Box::new(affinity::GroupFactory), Mounts::default());
        Self { factory, mounts, notes: vec![note], guard: OnceLock::new() }
    }

    /// The kind of isolation.
    pub fn mode(&self) -> IsolationMode {
        self.factory.mode()
    }

    /// Notes for the record.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Removes the groups of killed harnesses, and kills the processes in them. Returns the removed folders.
    pub fn sweep(&self) -> Vec<PathBuf> {
        names::sweep(&self.mounts)
    }

    /// Creates an empty group. `label` becomes a part of its name.
    pub fn create(&self, label: &str, limits: GroupLimits) -> io::Result<Group> {
        self.guard.get_or_init(|| self.factory.guard());
        let memory_enforced =
            limits.memory_bytes.filter(|_| self.mode() != IsolationMode::Affinity);
        let backend = self.factory.create(label, &limits)?;
        Ok(Group { backend, cpus: limits.cpus, memory_enforced, destroyed: false })
    }
}

fn usable(factory: Box<dyn GroupFactory>, cpus: &[u32]) -> Result<Box<dyn GroupFactory>, String> {
    let limits = GroupLimits { cpus: cpus.to_vec(), memory_bytes: Some(1 << 30) };
    let probe = factory.create("probe", &limits).map_err(|error| error.to_string())?;
    probe.remove().map_err(|error| error.to_string())?;
    Ok(factory)
}

/// The processes of one server. Dropping the group kills its remaining processes and removes it.
#[derive(Debug)]
pub struct Group {
    pub(crate) backend: Box<dyn Backend>,
    cpus: Vec<u32>,
    /// The memory limit in force, bytes. `None` without a cgroup.
    pub(crate) memory_enforced: Option<u64>,
    destroyed: bool,
}

impl Group {
    /// A [`Joiner`], which puts a child process into the group between fork and exec.
    pub fn joiner(&self) -> io::Result<Joiner> {
        Joiner::new(self.backend.procs_files(), &self.cpus)
    }

    /// Kills the remaining processes and removes the group.
    pub(crate) fn destroy(&mut self) -> io::Result<()> {
        self.destroyed = true;
        self.backend.kill()?;
        self.backend.remove()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.destroyed {
            // Callers that need the error call `destroy`.
            let _ = self.destroy();
        }
    }
}
