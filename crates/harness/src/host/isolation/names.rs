//! Names of groups, which identify their owners, and removal of groups of dead owners.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use ignore::WalkBuilder;
use procfs::ProcResult;
use procfs::process::Process;

use super::files::{kill_all, pids, remove, until, write};
use super::mounts::Mounts;

const PREFIX: &str = "rpcbench";

/// A harness process. The process id alone is ambiguous: it may be reused, or belong to another container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    namespace: u64,
    pid: i32,
    started: u64,
}

impl Owner {
    /// The PID namespace of the machine, `PROC_PID_INIT_INO` in Linux.
    const MACHINE: u64 = 0xEFFF_FFFC;

    /// True in a PID namespace that can be killed as a whole.
    pub(super) fn is_in_container(self) -> bool {
        self.namespace != Self::MACHINE
    }

    pub(crate) fn this_process() -> ProcResult<Self> {
        Self::of(&Process::myself()?)
    }

    fn of(process: &Process) -> ProcResult<Self> {
        let namespaces = process.namespaces()?;
        let namespace = namespaces.0.values().find(|space| space.ns_type == "pid");
        Ok(Self {
            namespace: namespace.map_or(0, |space| space.identifier),
            pid: process.pid(),
            started: process.stat()?.starttime,
        })
    }

    pub(crate) fn prefix(self) -> String {
        let Self { namespace, pid, started } = self;
        format!("{PREFIX}-{namespace}-{pid}-{started}-")
    }

    /// A name that is unique among the groups of all running harnesses.
    pub(crate) fn name(self, label: &str) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let label =
            label.replace(|c: char| !c.is_ascii_alphanumeric() && !"-_.@#".contains(c), "_");
        format!("{}{number}-{label}", self.prefix())
    }

    /// The owner of a group, if it is a harness.
    pub(crate) fn of_folder(folder: &Path) -> Option<Self> {
        Self::from_name(folder.file_name()?.to_str()?)
    }

    /// The owner of a group or container with that name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(PREFIX)?.strip_prefix('-')?.splitn(5, '-');
        let owner = Self {
            namespace: parts.next()?.parse().ok()?,
            pid: parts.next()?.parse().ok()?,
            started: parts.next()?.parse().ok()?,
        };
        parts.next()?.parse::<u32>().ok()?;
        parts.next().map(|_| owner)
    }

    /// True if the owner has certainly ended. Processes in a different namespace than `this` are unknown.
    pub(crate) fn is_dead(self, this: Self) -> bool {
        if self.namespace != this.namespace {
            return false;
        }
        match Process::new(self.pid).and_then(|process| process.stat()) {
            Ok(stat) => stat.starttime != self.started,
            Err(error) => matches!(error, procfs::ProcError::NotFound(_)),
        }
    }
}

/// Kills the processes in groups of dead harnesses, and removes the groups. Returns the removed folders.
pub(super) fn sweep(mounts: &Mounts) -> Vec<PathBuf> {
    let Ok(this) = Owner::this_process() else { return Vec::new() };
    let mut groups: Vec<PathBuf> =
        mounts.tops().into_iter().flat_map(|top| leftovers(top, this)).collect();
    // Before a process dies, it may have to be killed in one hierarchy and thawed in another.
    for group in &groups {
        kill_once(group);
    }
    groups.retain(|group| {
        let procs = group.join("cgroup.procs");
        let _ = until(|| {
            kill_once(group);
            Ok(pids(&procs)?.is_empty())
        });
        remove(group).is_ok()
    });
    groups
}

fn leftovers(top: &Path, this: Owner) -> Vec<PathBuf> {
    const DEEPEST: usize = 10;
    let walk = WalkBuilder::new(top)
        .standard_filters(false)
        .max_depth(Some(DEEPEST))
        .filter_entry(|entry| entry.file_type().is_some_and(|kind| kind.is_dir()))
        .build();
    walk.flatten()
        .map(ignore::DirEntry::into_path)
        .filter(|path| Owner::of_folder(path).is_some_and(|owner| owner.is_dead(this)))
        .collect()
}

/// Ignores errors: if a process can't be killed, removing the group fails, too.
fn kill_once(group: &Path) {
    kill_all(&pids(&group.join("cgroup.procs")).unwrap_or_default());
    for (file, value) in [("freezer.state", "THAWED"), ("cgroup.freeze", "0")] {
        let file = group.join(file);
        if file.exists() {
            let _ = write(&file, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_identify_their_owner() {
        let owner = Owner { namespace: 4_026_531_836, pid: 77, started: 1234 };
        let name = owner.name("java-grpc@zgc/../x");
        assert!(name.ends_with("-java-grpc@zgc_.._x"), "{name}");
        assert_eq!(Owner::from_name(&name), Some(owner));
        assert_ne!(owner.name("x"), owner.name("x"));
    }

    #[test]
    fn foreign_names_have_no_owner() {
        for name in
            ["rpcbench", "rpcbench-1", "rpcbench-1-2-3-x-y", "docker-1-2-3-4-x", "rpcbench-1-2-3-4"]
        {
            assert_eq!(Owner::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn living_and_unknown_owners_are_not_dead() {
        let this = Owner::this_process().unwrap();
        assert!(!this.is_dead(this));
        assert!(Owner { started: this.started + 1, ..this }.is_dead(this));
        assert!(!Owner { namespace: 1, started: 0, ..this }.is_dead(this));
        assert!(Owner { pid: i32::MAX, ..this }.is_dead(this));
    }
}
