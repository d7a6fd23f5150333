//! Groups under cgroup version 2: one folder in a single hierarchy.

use std::io;
use std::path::{Path, PathBuf};

use rpcbench_record::IsolationMode;
use rustix::process::{Pid, getpid};

use super::files::{
    await_state, cpu_list, create, field, is_writable, keyed, kill_all, memory_limit, number, pids,
    read, refused, remove, throttled, write,
};
use super::mounts::{MountPoint, Mounts};
use super::names::Owner;
use super::{Adopted, Backend, Counted, GroupLimits};
use crate::host::cpus::parse_list;
use crate::host::readings::{CpuTime, MemoryUse};

/// Controllers that set the limits.
const REQUIRED: [&str; 2] = ["cpuset", "memory"];
/// Counts throttling.
const OPTIONAL: &str = "cpu";

#[derive(Debug)]
struct GroupFactory {
    owner: Owner,
    parent: PathBuf,
    leaf: Option<Leaf>,
}

/// Finds the nearest group, this process's own or a parent, that allows groups with the required controllers. `Err`: the
/// obstacle, as part of a sentence.
pub(super) fn find(mounts: &Mounts, owner: Owner) -> Result<Box<dyn super::GroupFactory>, String> {
    let mount_point = mounts.v2.as_ref().ok_or("cgroup v2 is not mounted")?;
    let mut reasons = Vec::new();
    for parent in candidates(mount_point, owner) {
        match GroupFactory::at(parent, parent == mount_point.own, owner) {
            Ok(factory) => return Ok(Box::new(factory)),
            Err(reason) => reasons.push(reason),
        }
    }
    Err(reasons.into_iter().next().unwrap_or_default())
}

/// The group that `mounts` found, created by another program. `None` if another hierarchy has the controllers.
pub(super) fn adopt(mounts: &Mounts) -> Option<io::Result<Adopted>> {
    let mount_point = mounts.v2.as_ref()?;
    let controllers = read(&mount_point.own.join("cgroup.controllers")).unwrap_or_default();
    let here = REQUIRED.iter().all(|name| controllers.split_whitespace().any(|it| it == *name));
    if !here && !mounts.v1.is_empty() {
        return None;
    }
    let group = Group { name: "the adopted group".to_owned(), folder: mount_point.own.clone() };
    Some(group.limits().map(|limits| Adopted {
        can_freeze: is_writable(&group.file("cgroup.freeze")),
        mode: IsolationMode::CgroupV2,
        limits,
        backend: Box::new(group),
    }))
}

impl GroupFactory {
    fn at(parent: &Path, own: bool, owner: Owner) -> Result<Self, String> {
        let file = parent.join("cgroup.controllers");
        let controllers = read(&file).map_err(|error| error.to_string())?;
        let controllers: Vec<&str> = controllers.split_whitespace().collect();
        if let Some(missing) = REQUIRED.iter().find(|name| !controllers.contains(name)) {
            return Err(format!("cgroup v2 has no {missing} controller in {}", parent.display()));
        }
        let leaf = match enable(parent) {
            Ok(()) => None,
            Err(error) if own && is_busy(&error) && is_alone(parent) => {
                Some(Leaf::move_into(parent, owner).map_err(|error| error.to_string())?)
            }
            Err(error) => return Err(error.to_string()),
        };
        Ok(Self { owner, parent: parent.to_owned(), leaf })
    }
}

impl super::GroupFactory for GroupFactory {
    fn mode(&self) -> IsolationMode {
        IsolationMode::CgroupV2
    }

    fn note(&self) -> Option<String> {
        let leaf = self.leaf.as_ref()?;
        Some(format!("rpcbench moved itself to {} to make room for groups", leaf.folder.display()))
    }

    fn create(&self, label: &str, limits: &GroupLimits) -> io::Result<Box<dyn Backend>> {
        let name = self.owner.name(label);
        let group = Group { folder: self.parent.join(&name), name };
        create(&group.folder)?;
        let made = group.limit(limits);
        if made.is_err() {
            let _ = group.remove();
        }
        made.map(|()| Box::new(group) as Box<dyn Backend>)
    }
}

/// This process's own group and its parents, except a leaf that it has moved to.
fn candidates(mount_point: &MountPoint, owner: Owner) -> impl Iterator<Item = &Path> {
    let inside = |folder: &&Path| folder.starts_with(&mount_point.top);
    let is_leaf = move |folder: &Path| Owner::of_folder(folder) == Some(owner);
    mount_point.own.ancestors().take_while(inside).filter(move |folder| !is_leaf(folder))
}

fn enable(parent: &Path) -> io::Result<()> {
    let file = parent.join("cgroup.subtree_control");
    let enabled = read(&file)?;
    let missing = |name: &&str| !enabled.split_whitespace().any(|on| on == *name);
    for name in REQUIRED.iter().filter(|name| missing(name)) {
        write(&file, &format!("+{name}"))?;
    }
    if missing(&OPTIONAL) {
        let _ = write(&file, &format!("+{OPTIONAL}"));
    }
    let path = parent.join("cgroup.procs");
    rustix::fs::access(&path, rustix::fs::Access::WRITE_OK).map_err(refused(&path, "0"))
}

/// True if a group has processes, and so can't enable controllers for groups in it.
fn is_busy(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ResourceBusy
}

fn is_alone(folder: &Path) -> bool {
    pids(&folder.join("cgroup.procs")).is_ok_and(|pids| pids == [getpid()])
}

/// A group that this process moved to, to empty its former group.
#[derive(Debug)]
struct Leaf {
    parent: PathBuf,
    folder: PathBuf,
}

impl Leaf {
    fn move_into(parent: &Path, owner: Owner) -> io::Result<Self> {
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
        for name in REQUIRED.iter().chain([&OPTIONAL]) {
            let _ = write(&control, &format!("-{name}"));
        }
        for pid in pids(&self.folder.join("cgroup.procs")).unwrap_or_default() {
            let _ = write(&self.parent.join("cgroup.procs"), &pid.as_raw_pid().to_string());
        }
        let _ = remove(&self.folder);
    }
}

#[derive(Debug)]
struct Group {
    name: String,
    folder: PathBuf,
}

impl Group {
    fn limit(&self, limits: &GroupLimits) -> io::Result<()> {
        write(&self.file("cpuset.cpus"), &cpu_list(&limits.cpus))?;
        let Some(bytes) = limits.memory_bytes else { return Ok(()) };
        write(&self.file("memory.max"), &bytes.to_string())?;
        write(&self.file("memory.oom.group"), "1")?;
        let swap = self.file("memory.swap.max");
        if swap.exists() { write(&swap, "0") } else { Ok(()) }
    }

    /// The limits in force. If a controller's files are missing, it limits nothing.
    fn limits(&self) -> io::Result<GroupLimits> {
        let (cpus, memory) = (self.file("cpuset.cpus"), self.file("memory.max"));
        Ok(GroupLimits {
            cpus: if cpus.exists() { parse_list(&read(&cpus)?) } else { Vec::new() },
            memory_bytes: if memory.exists() { memory_limit(&memory)? } else { None },
        })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn set_frozen(&self, frozen: u64, state: &str) -> io::Result<()> {
        write(&self.file("cgroup.freeze"), &frozen.to_string())?;
        let events = self.file("cgroup.events");
        await_state(&self.name, state, || Ok(keyed(&events, "frozen")? == frozen))
    }
}

impl Counted for Group {
    /// The processes of a container may be in a group below the one with the limits.
    fn pids(&self) -> io::Result<Vec<Pid>> {
        let mut found = pids(&self.file("cgroup.procs"))?;
        if found.is_empty() {
            for below in std::fs::read_dir(&self.folder)?.flatten() {
                found.extend(pids(&below.path().join("cgroup.procs")).unwrap_or_default());
            }
        }
        Ok(found)
    }

    fn cpu(&self) -> io::Result<CpuTime> {
        const NS: u64 = 1000;
        let stat = self.file("cpu.stat");
        let text = read(&stat)?;
        let ns = |key: &str| field(&stat, &text, key).map(|time| time * NS);
        let throttled = throttled(&self.folder, "throttled_usec");
        Ok(CpuTime {
            total_ns: ns("usage_usec")?,
            user_ns: ns("user_usec")?,
            system_ns: ns("system_usec")?,
            throttled_ns: throttled.map(|time| time * NS),
        })
    }

    fn memory(&self) -> io::Result<MemoryUse> {
        let stat = self.file("memory.stat");
        let shared = keyed(&stat, "shmem")?;
        Ok(MemoryUse {
            anon: keyed(&stat, "anon")? + shared,
            cache: Some(keyed(&stat, "file")?.saturating_sub(shared)),
            highest: number(&self.file("memory.peak")).ok(),
        })
    }
}

impl Backend for Group {
    fn procs_files(&self) -> Vec<PathBuf> {
        vec![self.file("cgroup.procs")]
    }

    fn freeze(&self) -> io::Result<()> {
        self.set_frozen(1, "frozen")
    }

    fn set_cpus(&self, cpus: &[u32]) -> io::Result<()> {
        write(&self.file("cpuset.cpus"), &cpu_list(cpus))
    }

    fn thaw(&self) -> io::Result<()> {
        self.set_frozen(0, "thawed")
    }

    fn oom_kills(&self) -> io::Result<u64> {
        keyed(&self.file("memory.events"), "oom_kill")
    }

    /// Kernels before 5.14 lack `cgroup.kill`. On them a signal kills a frozen process, too.
    fn kill(&self) -> io::Result<()> {
        let at_once = self.file("cgroup.kill");
        await_state(&self.name, "dead", || {
            let alive = self.pids()?;
            if !alive.is_empty() && at_once.exists() {
                write(&at_once, "1")?;
            } else {
                kill_all(&alive);
            }
            Ok(alive.is_empty())
        })
    }

    fn remove(&self) -> io::Result<()> {
        remove(&self.folder)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::super::files::until;
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
    fn processes_in_a_group_below_count() {
        let (folder, group) = fixture(&[("cgroup.procs", "")]);
        assert_eq!(group.pids().unwrap(), []);
        fs::create_dir(folder.path().join("container")).unwrap();
        fs::write(folder.path().join("container/cgroup.procs"), "7\n8\n").unwrap();
        let pids: Vec<i32> = group.pids().unwrap().into_iter().map(Pid::as_raw_pid).collect();
        assert_eq!(pids, [7, 8]);
    }

    #[test]
    fn older_kernels_count_less() {
        let (_folder, group) = fixture(&[
            ("cpu.stat", "usage_usec 30\nuser_usec 20\nsystem_usec 10\n"),
            ("memory.stat", "anon 4096\nfile 8192\nshmem 0\n"),
        ]);
        assert_eq!(group.cpu().unwrap().throttled_ns, None);
        assert_eq!(group.memory().unwrap().highest, None);
        assert!(group.oom_kills().is_err());
    }

    #[test]
    fn limits_are_written_and_swap_is_disabled() {
        let (folder, group) = fixture(&[("memory.swap.max", "max\n")]);
        let limits = GroupLimits { cpus: vec![1, 3], memory_bytes: Some(512 << 20) };
        group.limit(&limits).unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("cpuset.cpus"), "1,3");
        assert_eq!(read("memory.max"), "536870912");
        assert_eq!((read("memory.swap.max"), read("memory.oom.group")), ("0".into(), "1".into()));
    }

    #[test]
    fn group_without_controllers_is_refused_with_the_reason() {
        let (folder, _) = fixture(&[("cgroup.controllers", "cpu io\n")]);
        let mount_point =
            MountPoint { top: folder.path().to_owned(), own: folder.path().to_owned() };
        let mounts = Mounts { v2: Some(mount_point), ..Mounts::default() };
        let owner = Owner::this_process().unwrap();
        let reason = find(&mounts, owner).unwrap_err();
        assert!(reason.starts_with("cgroup v2 has no cpuset controller in "), "{reason}");
        assert_eq!(find(&Mounts::default(), owner).unwrap_err(), "cgroup v2 is not mounted");
    }

    #[test]
    fn missing_controllers_are_enabled() {
        let files = [
            ("cgroup.controllers", "cpuset cpu memory\n"),
            ("cgroup.subtree_control", "memory\n"),
            ("cgroup.procs", ""),
        ];
        let (folder, _) = fixture(&files);
        GroupFactory::at(folder.path(), true, Owner::this_process().unwrap()).unwrap();
        let control = fs::read_to_string(folder.path().join("cgroup.subtree_control")).unwrap();
        assert_eq!(control, "+cpu", "the last one enabled");
    }

    /// A real group can be frozen, killed and counted without controllers, so this also works on a machine where version 1 has
    /// them.
    #[test]
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    fn real_group_freezes_counts_and_kills() {
        let own = Mounts::of_this_process()
            .ok()
            .and_then(|mounts| mounts.v2)
            .map(|mount_point| mount_point.own);
        let owner = Owner::this_process().unwrap();
        let made =
            own.map(|own| own.join(owner.name("test"))).filter(|folder| create(folder).is_ok());
        let Some(folder) = made else {
            eprintln!("SKIPPED: no cgroup v2 can be made here");
            return;
        };
        let group = Group { name: "test".to_owned(), folder };
        let mut child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        write(&group.file("cgroup.procs"), &child.id().to_string()).unwrap();
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
