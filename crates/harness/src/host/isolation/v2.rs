//! Groups under cgroup version 2: one folder in the one hierarchy.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rpcbench_engine::clock::{self, Nanos};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, kill_process};

use super::files::{
    PATIENCE, cpu_list, create, find, keyed, no_number, number, pids, read, remove, stuck,
    throttled, until, write,
};
use super::mounts::{MountPoint, Mounts};
use super::names::Owner;
use super::{CpuTime, GroupLimits, IsolationError, MemoryUse};

/// Without these a group is not worth having.
const NEEDED: [&str; 2] = ["cpuset", "memory"];
/// Counts throttling; every limit does without.
const WELCOME: &str = "cpu";

/// Where groups can be made.
#[derive(Debug)]
pub(super) struct Home {
    parent: PathBuf,
    leaf: Option<Leaf>,
}

impl Home {
    /// The nearest group, this process's own or one above, in which groups with the controllers needed
    /// can be made.
    ///
    /// # Errors
    /// A sentence part that says what is in the way.
    pub(super) fn find(mounts: &Mounts, owner: Owner) -> Result<Self, String> {
        let place = mounts.v2.as_ref().ok_or("cgroup v2 is not mounted")?;
        let mut reasons = Vec::new();
        for parent in candidates(place, owner) {
            match Self::at(parent, parent == place.own, owner) {
                Ok(home) => return Ok(home),
                Err(reason) => reasons.push(reason),
            }
        }
        Err(reasons.into_iter().next().unwrap_or_default())
    }

    fn at(parent: &Path, own: bool, owner: Owner) -> Result<Self, String> {
        let there = read(&parent.join("cgroup.controllers")).map_err(|error| error.to_string())?;
        let there: Vec<&str> = there.split_whitespace().collect();
        if let Some(missing) = NEEDED.iter().find(|name| !there.contains(name)) {
            return Err(format!("cgroup v2 has no {missing} controller in {}", parent.display()));
        }
        let leaf = match enable(parent) {
            Ok(()) => None,
            Err(error) if own && is_busy(&error) && is_alone(parent) => {
                Some(Leaf::move_into(parent, owner).map_err(|error| error.to_string())?)
            }
            Err(error) => return Err(error.to_string()),
        };
        Ok(Self { parent: parent.to_owned(), leaf })
    }

    /// What a reader of the record must know about the place.
    pub(super) fn note(&self) -> Option<String> {
        let leaf = self.leaf.as_ref()?;
        Some(format!("rpcbench moved itself to {} to make room for groups", leaf.folder.display()))
    }

    pub(super) fn create(&self, name: &str, limits: &GroupLimits) -> Result<Group, IsolationError> {
        let group = Group { name: name.to_owned(), folder: self.parent.join(name) };
        create(&group.folder)?;
        let made = group.limit(limits);
        if made.is_err() {
            let _ = group.remove();
        }
        made.map(|()| group)
    }
}

/// From this process's own group upwards, leaving out a leaf that it has moved to already.
fn candidates(place: &MountPoint, owner: Owner) -> impl Iterator<Item = &Path> {
    let inside = |folder: &&Path| folder.starts_with(&place.top);
    let is_leaf = move |folder: &Path| Owner::of_folder(folder) == Some(owner);
    place.own.ancestors().take_while(inside).filter(move |folder| !is_leaf(folder))
}

fn enable(parent: &Path) -> Result<(), IsolationError> {
    let file = parent.join("cgroup.subtree_control");
    let enabled = read(&file)?;
    let missing = |name: &&str| !enabled.split_whitespace().any(|on| on == *name);
    for name in NEEDED.iter().filter(|name| missing(name)) {
        write(&file, &format!("+{name}"))?;
    }
    if missing(&WELCOME) {
        let _ = write(&file, &format!("+{WELCOME}"));
    }
    let door = parent.join("cgroup.procs");
    rustix::fs::access(&door, rustix::fs::Access::WRITE_OK).map_err(|error| IsolationError::Write {
        path: door,
        value: "0".to_owned(),
        source: error.into(),
    })
}

/// A group with processes of its own can't give controllers to groups within it.
fn is_busy(error: &IsolationError) -> bool {
    matches!(error, IsolationError::Write { source, .. } if source.kind() == io::ErrorKind::ResourceBusy)
}

fn is_alone(folder: &Path) -> bool {
    pids(&folder.join("cgroup.procs")).is_ok_and(|pids| pids == [getpid()])
}

/// A group that this process moved to, so that its former group is free of processes.
#[derive(Debug)]
struct Leaf {
    parent: PathBuf,
    folder: PathBuf,
}

impl Leaf {
    fn move_into(parent: &Path, owner: Owner) -> Result<Self, IsolationError> {
        let leaf = Self { parent: parent.to_owned(), folder: parent.join(owner.name("self")) };
        create(&leaf.folder)?;
        write(&leaf.folder.join("cgroup.procs"), "0")?;
        enable(parent)?;
        Ok(leaf)
    }
}

impl Drop for Leaf {
    fn drop(&mut self) {
        let control = self.parent.join("cgroup.subtree_control");
        for name in NEEDED.iter().chain([&WELCOME]) {
            let _ = write(&control, &format!("-{name}"));
        }
        for pid in pids(&self.folder.join("cgroup.procs")).unwrap_or_default() {
            let _ = write(&self.parent.join("cgroup.procs"), &pid.as_raw_pid().to_string());
        }
        let _ = remove(&self.folder);
    }
}

/// One group.
#[derive(Debug)]
pub(super) struct Group {
    name: String,
    folder: PathBuf,
}

impl Group {
    fn limit(&self, limits: &GroupLimits) -> Result<(), IsolationError> {
        write(&self.file("cpuset.cpus"), &cpu_list(&limits.cpus))?;
        let Some(bytes) = limits.memory_bytes else { return Ok(()) };
        write(&self.file("memory.max"), &bytes.to_string())?;
        write(&self.file("memory.oom.group"), "1")?;
        let swap = self.file("memory.swap.max");
        if swap.exists() { write(&swap, "0") } else { Ok(()) }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The file into which a process writes `0` to join.
    pub(super) fn door(&self) -> PathBuf {
        self.file("cgroup.procs")
    }

    pub(super) fn pids(&self) -> Result<Vec<Pid>, IsolationError> {
        pids(&self.file("cgroup.procs"))
    }

    pub(super) fn freeze(&self) -> Result<(), IsolationError> {
        write(&self.file("cgroup.freeze"), "1")?;
        self.wait_for_event("frozen", 1, "frozen")
    }

    pub(super) fn thaw(&self) -> Result<(), IsolationError> {
        write(&self.file("cgroup.freeze"), "0")?;
        self.wait_for_event("frozen", 0, "thawed")
    }

    /// The kernel announces every change of `cgroup.events` to whoever polls it.
    fn wait_for_event(
        &self,
        key: &str,
        value: u64,
        adjective: &'static str,
    ) -> Result<(), IsolationError> {
        let path = self.file("cgroup.events");
        let refused = |source| IsolationError::Read { path: path.clone(), source };
        let file = OpenOptions::new().read(true).open(&path).map_err(refused)?;
        let deadline = clock::now() + Nanos::from(PATIENCE);
        loop {
            if keyed(&path, key)? == value {
                return Ok(());
            }
            let left = deadline.since(clock::now());
            if left == 0 {
                return Err(stuck(&self.name, adjective));
            }
            // A change between the reading and the poll is not seen by the poll: look again soon.
            let step = left.min(20_000_000);
            let timeout = Timespec { tv_sec: 0, tv_nsec: step as _ };
            let mut fds = [PollFd::from_borrowed_fd(file.as_fd(), PollFlags::PRI)];
            match poll(&mut fds, Some(&timeout)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(refused(error.into())),
            }
        }
    }

    pub(super) fn cpu(&self) -> Result<CpuTime, IsolationError> {
        const NS: u64 = 1000;
        let stat = self.file("cpu.stat");
        let text = read(&stat)?;
        let field = |key: &str| find(&text, key).ok_or_else(|| no_number(&stat, key));
        let throttled = throttled(&self.folder, "throttled_usec");
        Ok(CpuTime {
            total_ns: field("usage_usec")? * NS,
            user_ns: field("user_usec")? * NS,
            system_ns: field("system_usec")? * NS,
            throttled_ns: throttled.map(|time| time * NS),
        })
    }

    pub(super) fn memory(&self) -> Result<MemoryUse, IsolationError> {
        let stat = self.file("memory.stat");
        let shared = keyed(&stat, "shmem")?;
        Ok(MemoryUse {
            anon: keyed(&stat, "anon")? + shared,
            cache: Some(keyed(&stat, "file")?.saturating_sub(shared)),
            highest: number(&self.file("memory.peak")).ok(),
        })
    }

    pub(super) fn oom_kills(&self) -> Result<u64, IsolationError> {
        keyed(&self.file("memory.events"), "oom_kill")
    }

    /// Kernels before 5.14 have no `cgroup.kill`; there a frozen process dies of the signal all the same.
    pub(super) fn kill(&self) -> Result<(), IsolationError> {
        let at_once = self.file("cgroup.kill");
        let dead = until(|| {
            let alive = self.pids()?;
            if at_once.exists() && !alive.is_empty() {
                write(&at_once, "1")?;
            } else {
                for pid in &alive {
                    // It may have ended since it was listed.
                    let _ = kill_process(*pid, Signal::KILL);
                }
            }
            Ok(alive.is_empty())
        })?;
        if dead { Ok(()) } else { Err(stuck(&self.name, "dead")) }
    }

    pub(super) fn remove(&self) -> Result<(), IsolationError> {
        if self.folder.exists() { remove(&self.folder) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    fn fixture(files: &[(&str, &str)]) -> (tempfile::TempDir, Group) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let group = Group { name: "test".to_owned(), folder: folder.path().to_owned() };
        (folder, group)
    }

    #[test]
    fn counters_from_files() {
        let (_folder, group) = fixture(&[
            (
                "cpu.stat",
                "usage_usec 30\nuser_usec 20\nsystem_usec 10\nnr_periods 0\nthrottled_usec 4\n",
            ),
            ("memory.stat", "anon 3096\nfile 9192\nkernel 7\nshmem 1000\nanon_thp 0\n"),
            ("memory.peak", "20480\n"),
            ("memory.events", "low 0\noom 2\noom_kill 1\noom_group_kill 1\n"),
        ]);
        let cpu = group.cpu().unwrap();
        assert_eq!((cpu.total_ns, cpu.user_ns, cpu.system_ns), (30_000, 20_000, 10_000));
        assert_eq!(cpu.throttled_ns, Some(4000));
        let memory = MemoryUse { anon: 4096, cache: Some(8192), highest: Some(20_480) };
        assert_eq!(group.memory().unwrap(), memory);
        assert_eq!(group.oom_kills().unwrap(), 1);
    }

    #[test]
    fn an_older_kernel_tells_less() {
        let (_folder, group) = fixture(&[
            ("cpu.stat", "usage_usec 30\nuser_usec 20\nsystem_usec 10\n"),
            ("memory.stat", "anon 4096\nfile 8192\nshmem 0\n"),
        ]);
        assert_eq!(group.cpu().unwrap().throttled_ns, None);
        assert_eq!(group.memory().unwrap().highest, None);
        assert!(group.oom_kills().is_err());
    }

    #[test]
    fn limits_are_written_and_swap_is_closed() {
        let (folder, group) = fixture(&[("memory.swap.max", "max\n")]);
        let limits = GroupLimits { cpus: vec![1, 3], memory_bytes: Some(512 << 20) };
        group.limit(&limits).unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("cpuset.cpus"), "1,3");
        assert_eq!(read("memory.max"), "536870912");
        assert_eq!((read("memory.swap.max"), read("memory.oom.group")), ("0".into(), "1".into()));
    }

    #[test]
    fn a_place_without_controllers_is_refused_with_the_reason() {
        let (folder, _) = fixture(&[("cgroup.controllers", "cpu io\n")]);
        let place = MountPoint { top: folder.path().to_owned(), own: folder.path().to_owned() };
        let mounts = Mounts { v2: Some(place), ..Mounts::default() };
        let owner = Owner::this_process().unwrap();
        let reason = Home::find(&mounts, owner).unwrap_err();
        assert!(reason.starts_with("cgroup v2 has no cpuset controller in "), "{reason}");
        assert_eq!(Home::find(&Mounts::default(), owner).unwrap_err(), "cgroup v2 is not mounted");
    }

    #[test]
    fn controllers_are_enabled_where_they_are_not() {
        let files = [
            ("cgroup.controllers", "cpuset cpu memory\n"),
            ("cgroup.subtree_control", "memory\n"),
            ("cgroup.procs", ""),
        ];
        let (folder, _) = fixture(&files);
        Home::at(folder.path(), true, Owner::this_process().unwrap()).unwrap();
        let control = fs::read_to_string(folder.path().join("cgroup.subtree_control")).unwrap();
        assert_eq!(control, "+cpu", "the last one enabled");
    }

    /// A real group needs no controller to be frozen, killed and counted, so that a machine on which
    /// version 1 has the controllers will do.
    #[test]
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    fn a_real_group_freezes_counts_and_kills() {
        let own =
            Mounts::of_this_process().ok().and_then(|mounts| mounts.v2).map(|place| place.own);
        let owner = Owner::this_process().unwrap();
        let made =
            own.map(|own| own.join(owner.name("test"))).filter(|folder| create(folder).is_ok());
        let Some(folder) = made else {
            eprintln!("SKIPPED: no cgroup v2 can be made here");
            return;
        };
        let group = Group { name: "test".to_owned(), folder };
        let mut child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        write(&group.door(), &child.id().to_string()).unwrap();
        assert_eq!(group.pids().unwrap(), [Pid::from_child(&child)]);
        assert!(until(|| Ok(group.cpu()?.total_ns > 20_000_000)).unwrap());
        group.freeze().unwrap();
        let frozen = group.cpu().unwrap();
        assert!(Command::new("sleep").arg("0.1").status().unwrap().success());
        assert_eq!(group.cpu().unwrap(), frozen);
        group.thaw().unwrap();
        assert!(until(|| Ok(group.cpu()?.total_ns > frozen.total_ns)).unwrap());
        group.freeze().unwrap();
        let reaper = std::thread::spawn(move || child.wait());
        group.kill().unwrap();
        assert!(!reaper.join().unwrap().unwrap().success());
        group.remove().unwrap();
        assert!(!group.folder.exists());
    }
}
