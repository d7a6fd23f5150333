//! Groups under cgroup version 1: one folder in each controller's hierarchy.

use std::io;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};

use super::files::{
    cpu_list, create, keyed, number, pids, read, remove, stuck, throttled, until, write,
};
use super::guard::Guard;
use super::mounts::{MountPoint, Mounts};
use super::names::Owner;
use super::{CpuTime, GroupLimits, IsolationError, MemoryUse};

/// Where groups can be made.
#[derive(Clone, Debug)]
pub(super) struct Home {
    cpuset: PathBuf,
    memory: PathBuf,
    freezer: PathBuf,
    cpuacct: PathBuf,
    /// Counts throttling; every other limit does without.
    cpu: Option<PathBuf>,
}

impl Home {
    /// This process's own groups.
    ///
    /// # Errors
    /// A sentence part that says which controller is not there.
    pub(super) fn find(mounts: &Mounts) -> Result<Self, String> {
        let own = |controller: &str| {
            let place: Option<&MountPoint> = mounts.v1.get(controller);
            place
                .map(|place| place.own.clone())
                .ok_or_else(|| format!("cgroup v1 has no {controller} controller here"))
        };
        Ok(Self {
            cpuset: own("cpuset")?,
            memory: own("memory")?,
            freezer: own("freezer")?,
            cpuacct: own("cpuacct")?,
            cpu: own("cpu").ok(),
        })
    }

    /// Ends what is left in the groups of `owner` when this process does.
    pub(super) fn guard(&self, owner: Owner) -> io::Result<Guard> {
        let homes = [&*self.cpuset, &*self.memory, &*self.freezer, &*self.cpuacct];
        let hierarchies: Vec<&Path> = homes.into_iter().chain(self.cpu.as_deref()).collect();
        Guard::start(&owner.prefix(), &self.freezer, &hierarchies)
    }

    pub(super) fn create(&self, name: &str, limits: &GroupLimits) -> Result<Group, IsolationError> {
        let group = Group {
            name: name.to_owned(),
            cpuset: self.cpuset.join(name),
            memory: self.memory.join(name),
            freezer: self.freezer.join(name),
            cpuacct: self.cpuacct.join(name),
            cpu: self.cpu.as_ref().map(|folder| folder.join(name)),
        };
        let made = group.make(self, limits);
        if made.is_err() {
            let _ = group.remove();
        }
        made.map(|()| group)
    }
}

/// One group.
#[derive(Debug)]
pub(super) struct Group {
    name: String,
    cpuset: PathBuf,
    memory: PathBuf,
    freezer: PathBuf,
    cpuacct: PathBuf,
    cpu: Option<PathBuf>,
}

impl Group {
    fn make(&self, home: &Home, limits: &GroupLimits) -> Result<(), IsolationError> {
        for folder in self.folders() {
            create(folder)?;
        }
        let mems = read(&home.cpuset.join("cpuset.mems"))?;
        write(&self.cpuset.join("cpuset.mems"), mems.trim())?;
        write(&self.cpuset.join("cpuset.cpus"), &cpu_list(&limits.cpus))?;
        let Some(bytes) = limits.memory_bytes else { return Ok(()) };
        write(&self.memory.join("memory.limit_in_bytes"), &bytes.to_string())?;
        let with_swap = self.memory.join("memory.memsw.limit_in_bytes");
        match with_swap.exists() {
            true => write(&with_swap, &bytes.to_string()),
            false => write(&self.memory.join("memory.swappiness"), "0"),
        }
    }

    /// Controllers may share a hierarchy, and then the folder.
    fn folders(&self) -> Vec<&Path> {
        let mut folders = vec![&*self.cpuset, &*self.memory, &*self.freezer, &*self.cpuacct];
        folders.extend(self.cpu.as_deref());
        folders.sort();
        folders.dedup();
        folders
    }

    /// Files into which a process writes `0` to join.
    pub(super) fn doors(&self) -> Vec<PathBuf> {
        self.folders().into_iter().map(|folder| folder.join("cgroup.procs")).collect()
    }

    pub(super) fn pids(&self) -> Result<Vec<Pid>, IsolationError> {
        pids(&self.freezer.join("cgroup.procs"))
    }

    pub(super) fn freeze(&self) -> Result<(), IsolationError> {
        self.turn("FROZEN", "frozen")
    }

    pub(super) fn thaw(&self) -> Result<(), IsolationError> {
        self.turn("THAWED", "thawed")
    }

    /// The state reads FREEZING while some process has yet to stop; writing it again tries again.
    fn turn(&self, state: &str, adjective: &'static str) -> Result<(), IsolationError> {
        let file = self.freezer.join("freezer.state");
        let done = until(|| {
            write(&file, state)?;
            Ok(read(&file)?.trim() == state)
        })?;
        if done { Ok(()) } else { Err(stuck(&self.name, adjective)) }
    }

    pub(super) fn cpu(&self) -> Result<CpuTime, IsolationError> {
        Ok(CpuTime {
            total_ns: number(&self.cpuacct.join("cpuacct.usage"))?,
            user_ns: number(&self.cpuacct.join("cpuacct.usage_user"))?,
            system_ns: number(&self.cpuacct.join("cpuacct.usage_sys"))?,
            throttled_ns: self.cpu.as_deref().and_then(|cpu| throttled(cpu, "throttled_time")),
        })
    }

    pub(super) fn memory(&self) -> Result<MemoryUse, IsolationError> {
        let stat = self.memory.join("memory.stat");
        let shared = keyed(&stat, "total_shmem")?;
        Ok(MemoryUse {
            anon: keyed(&stat, "total_rss")? + shared,
            cache: Some(keyed(&stat, "total_cache")?.saturating_sub(shared)),
            highest: Some(number(&self.memory.join("memory.max_usage_in_bytes"))?),
        })
    }

    pub(super) fn oom_kills(&self) -> Result<u64, IsolationError> {
        keyed(&self.memory.join("memory.oom_control"), "oom_kill")
    }

    /// A frozen process dies only when it is thawed.
    pub(super) fn kill(&self) -> Result<(), IsolationError> {
        let state = self.freezer.join("freezer.state");
        let dead = until(|| {
            let alive = self.pids()?;
            for pid in &alive {
                // It may have ended since it was listed.
                let _ = kill_process(*pid, Signal::KILL);
            }
            write(&state, "THAWED")?;
            Ok(alive.is_empty())
        })?;
        if dead { Ok(()) } else { Err(stuck(&self.name, "dead")) }
    }

    pub(super) fn remove(&self) -> Result<(), IsolationError> {
        self.folders().into_iter().filter(|folder| folder.exists()).try_for_each(remove)
    }
}
