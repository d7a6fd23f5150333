//! Groups under cgroup version 1: one folder in each controller's hierarchy.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use rpcbench_record::IsolationMode;
use rustix::process::Pid;

use super::files::{
    await_state, cpu_list, create, is_writable, keyed, kill_all, memory_limit, number, pids, read,
    remove, threads, throttled, write,
};
use super::mounts::Mounts;
use super::names::Owner;
use super::{Adopted, Backend, Counted, GroupLimits, signals};
use crate::host::cpus::parse_list;
use crate::host::guard::Guard;
use crate::host::readings::{CpuTime, MemoryUse};

/// Maximum number of checks of a group's state (tens of milliseconds) before it is thawed and frozen again.
const TRIES: u32 = 12;

/// This process's own group in each hierarchy, the parent of new groups.
#[derive(Debug)]
struct GroupFactory {
    owner: Owner,
    folders: Folders,
    freezes_by: FreezesBy,
}

/// How a group is frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FreezesBy {
    Freezer,
    /// In a container. When it is killed, so is the guard, and no one thaws frozen processes, for whose end the kernel waits.
    Signals,
}

/// A group's folder in each hierarchy.
#[derive(Debug)]
struct Folders {
    cpuset: PathBuf,
    memory: PathBuf,
    freezer: PathBuf,
    cpuacct: PathBuf,
    /// Counts throttling; optional.
    cpu: Option<PathBuf>,
}

impl Folders {
    /// The folders of the group `name` inside these.
    fn join(&self, name: &str) -> Self {
        Self {
            cpuset: self.cpuset.join(name),
            memory: self.memory.join(name),
            freezer: self.freezer.join(name),
            cpuacct: self.cpuacct.join(name),
            cpu: self.cpu.as_ref().map(|folder| folder.join(name)),
        }
    }

    /// The folders of the groups that `mounts` found. `Err`: the missing controller, as part of a sentence.
    fn own(mounts: &Mounts) -> Result<Self, String> {
        let own = |controller: &str| match mounts.v1.get(controller) {
            Some(mount_point) => Ok(mount_point.own.clone()),
            None => Err(format!("cgroup v1 has no {controller} controller here")),
        };
        Ok(Self {
            cpuset: own("cpuset")?,
            memory: own("memory")?,
            freezer: own("freezer")?,
            cpuacct: own("cpuacct")?,
            cpu: own("cpu").ok(),
        })
    }

    /// The folders without duplicates. Controllers may share a hierarchy, and so the folder.
    fn distinct(&self) -> Vec<&Path> {
        let mut folders = vec![&*self.cpuset, &*self.memory, &*self.freezer, &*self.cpuacct];
        folders.extend(self.cpu.as_deref());
        folders.sort();
        folders.dedup();
        folders
    }
}

/// `Err`: the missing controller, as part of a sentence.
pub(super) fn find(mounts: &Mounts, owner: Owner) -> Result<Box<dyn super::GroupFactory>, String> {
    let freezes_by = if owner.is_in_container() { FreezesBy::Signals } else { FreezesBy::Freezer };
    Ok(Box::new(GroupFactory { owner, folders: Folders::own(mounts)?, freezes_by }))
}

/// The group that `mounts` found, created by another program. `Err`: the missing controller, as part of a sentence.
pub(super) fn adopt(mounts: &Mounts) -> Result<io::Result<Adopted>, String> {
    let folders = Folders::own(mounts)?;
    let read = || {
        let limits = GroupLimits {
            cpus: parse_list(&read(&folders.cpuset.join("cpuset.cpus"))?),
            memory_bytes: memory_limit(&folders.memory.join("memory.limit_in_bytes"))?,
        };
        let can_freeze = is_writable(&folders.freezer.join("freezer.state"));
        Ok((limits, can_freeze))
    };
    Ok(read().map(|(limits, can_freeze)| Adopted {
        backend: Box::new(Group {
            name: "the adopted group".to_owned(),
            folders,
            freezes_by: FreezesBy::Freezer,
        }),
        mode: IsolationMode::CgroupV1,
        limits,
        can_freeze,
    }))
}

impl super::GroupFactory for GroupFactory {
    fn mode(&self) -> IsolationMode {
        IsolationMode::CgroupV1
    }

    /// Frozen processes survive a killed harness until they are thawed.
    fn guard(&self) -> Option<Guard> {
        let prefix = self.owner.prefix();
        let mut words: Vec<&OsStr> = vec![prefix.as_ref(), self.folders.freezer.as_ref()];
        words.extend(self.folders.distinct().into_iter().map(Path::as_os_str));
        Guard::start(include_str!("guard.sh"), words).ok()
    }

    fn create(&self, label: &str, limits: &GroupLimits) -> io::Result<Box<dyn Backend>> {
        let name = self.owner.name(label);
        let folders = self.folders.join(&name);
        let group = Group { name, folders, freezes_by: self.freezes_by };
        let made = group.make(&self.folders.cpuset, limits);
        if made.is_err() {
            let _ = group.remove();
        }
        made.map(|()| Box::new(group) as Box<dyn Backend>)
    }
}

#[derive(Debug)]
struct Group {
    name: String,
    folders: Folders,
    freezes_by: FreezesBy,
}

impl Group {
    fn make(&self, parent_cpuset: &Path, limits: &GroupLimits) -> io::Result<()> {
        let Folders { cpuset, memory, .. } = &self.folders;
        self.folders.distinct().into_iter().try_for_each(create)?;
        let mems = read(&parent_cpuset.join("cpuset.mems"))?;
        write(&cpuset.join("cpuset.mems"), mems.trim())?;
        write(&cpuset.join("cpuset.cpus"), &cpu_list(&limits.cpus))?;
        let Some(bytes) = limits.memory_bytes else { return Ok(()) };
        write(&memory.join("memory.limit_in_bytes"), &bytes.to_string())?;
        let with_swap = memory.join("memory.memsw.limit_in_bytes");
        match with_swap.exists() {
            true => write(&with_swap, &bytes.to_string()),
            false => write(&memory.join("memory.swappiness"), "0"),
        }
    }

    /// Writes `value` until the state is reached. The state is FREEZING until all processes have stopped; writing again retries.
    /// It may stay so until the group is thawed (opencontainers/runc#2791).
    fn set_state(&self, value: &str, state: &str) -> io::Result<()> {
        let file = self.folders.freezer.join("freezer.state");
        let mut tries = 0;
        await_state(&self.name, state, || {
            tries += 1;
            if tries % TRIES == 0 {
                write(&file, "THAWED")?;
            }
            write(&file, value)?;
            Ok(read(&file)?.trim() == value)
        })
    }
}

impl Counted for Group {
    fn pids(&self) -> io::Result<Vec<Pid>> {
        pids(&self.folders.freezer.join("cgroup.procs"))
    }

    /// Each hierarchy has its own members, and threads are separate members.
    fn partly_counted(&self) -> io::Result<Vec<Pid>> {
        let folders = self.folders.distinct();
        let members = folders.iter().map(|folder| pids(&folder.join("tasks")));
        let members: Vec<HashSet<Pid>> =
            members.map(|of| Ok(of?.into_iter().collect())).collect::<io::Result<_>>()?;
        let mut all: HashSet<Pid> = members.iter().flatten().copied().collect();
        all.extend(self.pids()?.into_iter().flat_map(threads));
        let is_partly_counted = |id: &Pid| !members.iter().all(|of| of.contains(id));
        Ok(all.into_iter().filter(is_partly_counted).collect())
    }

    fn cpu(&self) -> io::Result<CpuTime> {
        let Folders { cpuacct, cpu, .. } = &self.folders;
        Ok(CpuTime {
            total_ns: number(&cpuacct.join("cpuacct.usage"))?,
            user_ns: number(&cpuacct.join("cpuacct.usage_user"))?,
            system_ns: number(&cpuacct.join("cpuacct.usage_sys"))?,
            throttled_ns: cpu.as_deref().and_then(|cpu| throttled(cpu, "throttled_time")),
        })
    }

    fn memory(&self) -> io::Result<MemoryUse> {
        let stat = self.folders.memory.join("memory.stat");
        let shared = keyed(&stat, "total_shmem")?;
        Ok(MemoryUse {
            anon: keyed(&stat, "total_rss")? + shared,
            cache: Some(keyed(&stat, "total_cache")?.saturating_sub(shared)),
            highest: Some(number(&self.folders.memory.join("memory.max_usage_in_bytes"))?),
        })
    }
}

impl Backend for Group {
    fn procs_files(&self) -> Vec<PathBuf> {
        let folders = self.folders.distinct();
        folders.into_iter().map(|folder| folder.join("cgroup.procs")).collect()
    }

    fn freezes_fast(&self) -> bool {
        self.freezes_by == FreezesBy::Freezer
    }

    fn freeze(&self) -> io::Result<()> {
        match self.freezes_by {
            FreezesBy::Freezer => self.set_state("FROZEN", "frozen"),
            FreezesBy::Signals => signals::freeze(&self.name, self),
        }
    }

    fn set_cpus(&self, cpus: &[u32]) -> io::Result<()> {
        write(&self.folders.cpuset.join("cpuset.cpus"), &cpu_list(cpus))
    }

    fn thaw(&self) -> io::Result<()> {
        match self.freezes_by {
            FreezesBy::Freezer => self.set_state("THAWED", "thawed"),
            FreezesBy::Signals => signals::thaw(&self.name, self),
        }
    }

    fn oom_kills(&self) -> io::Result<u64> {
        keyed(&self.folders.memory.join("memory.oom_control"), "oom_kill")
    }

    /// A frozen process dies only once it is thawed.
    fn kill(&self) -> io::Result<()> {
        let state = self.folders.freezer.join("freezer.state");
        await_state(&self.name, "dead", || {
            let alive = self.pids()?;
            kill_all(&alive);
            write(&state, "THAWED")?;
            Ok(alive.is_empty())
        })
    }

    fn remove(&self) -> io::Result<()> {
        self.folders.distinct().into_iter().try_for_each(remove)
    }
}
