//! Mount points of the cgroup hierarchies, and this process's group in them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use procfs::process::{MountInfo, Process};
use procfs::{ProcResult, ProcessCGroup};
use rustix::process::Pid;

/// The folder of a process's own group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MountPoint {
    /// Mount point of the hierarchy.
    pub top: PathBuf,
    /// The process's group in it.
    pub own: PathBuf,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mounts {
    /// Version 1, by controller.
    pub v1: BTreeMap<String, MountPoint>,
    /// Version 2.
    pub v2: Option<MountPoint>,
}

impl Mounts {
    pub(super) fn of_this_process() -> ProcResult<Self> {
        let process = Process::myself()?;
        let mounts: Vec<MountInfo> = process.mountinfo()?.into_iter().collect();
        let groups: Vec<ProcessCGroup> = process.cgroups()?.into_iter().collect();
        Ok(Self::find(&mounts, &groups))
    }

    /// The groups of another process, in the hierarchies that this process sees. Fails unless their paths contain `id`.
    pub(super) fn of_process(pid: Pid, id: &str) -> Result<Self, String> {
        let mounts = Process::myself().and_then(|own| own.mountinfo());
        let mounts: Vec<MountInfo> =
            mounts.map_err(|error| error.to_string())?.into_iter().collect();
        let groups = Process::new(pid.as_raw_pid()).and_then(|process| process.cgroups());
        let mut groups: Vec<ProcessCGroup> =
            groups.map_or_else(|_| Vec::new(), |groups| groups.into_iter().collect());
        groups.retain_mut(|group| cut_to(&mut group.pathname, id));
        match groups.is_empty() {
            false => Ok(Self::find(&mounts, &groups)),
            true => Err(format!("process {} of this machine is not in it", pid.as_raw_pid())),
        }
    }

    fn find(mounts: &[MountInfo], groups: &[ProcessCGroup]) -> Self {
        let mut found = Self::default();
        for mount in mounts {
            if mount.fs_type == "cgroup2" && found.v2.is_none() {
                let group = groups.iter().find(|group| group.hierarchy == 0);
                found.v2 = group.map(|group| mount_point(mount, group));
            }
            if mount.fs_type != "cgroup" {
                continue;
            }
            for group in groups.iter().filter(|group| group.hierarchy != 0) {
                for controller in &group.controllers {
                    if mount.super_options.contains_key(controller) {
                        let mount_point = || mount_point(mount, group);
                        found.v1.entry(controller.clone()).or_insert_with(mount_point);
                    }
                }
            }
        }
        found
    }

    pub(super) fn tops(&self) -> Vec<&Path> {
        let mut tops: Vec<&Path> =
            self.v1.values().chain(&self.v2).map(|mount_point| mount_point.top.as_path()).collect();
        tops.sort();
        tops.dedup();
        tops
    }
}

/// Truncates a path to the folder whose name contains `id`. An engine's runtime may keep the processes in a group below that one,
/// without limits. Returns false if no folder contains `id`.
fn cut_to(path: &mut String, id: &str) -> bool {
    let Some(at) = path.find(id) else { return false };
    let end = path[at..].find('/').map_or(path.len(), |length| at + length);
    path.truncate(end);
    true
}

/// In a container, the mount may show only a part of the hierarchy. The path of the group then starts at the root of the
/// hierarchy, or inside a cgroup namespace at the root of the container.
fn mount_point(mount: &MountInfo, group: &ProcessCGroup) -> MountPoint {
    let top = mount.mount_point.clone();
    let path = Path::new(&group.pathname);
    let inside = path.strip_prefix(&mount.root).ok();
    let own = match inside {
        Some(rest) if !group.pathname.contains("..") => top.join(rest),
        _ => top.clone(),
    };
    let own = if own.ends_with("") { own.components().collect() } else { own };
    MountPoint { top, own }
}

#[cfg(test)]
mod tests {
    use procfs::process::MountInfos;
    use procfs::{FromBufRead, ProcessCGroups};

    use super::*;

    fn find(mountinfo: &str, cgroup: &str) -> Mounts {
        let mounts = MountInfos::from_buf_read(mountinfo.as_bytes()).unwrap();
        let groups = ProcessCGroups::from_buf_read(cgroup.as_bytes()).unwrap();
        let mounts: Vec<MountInfo> = mounts.into_iter().collect();
        let groups: Vec<ProcessCGroup> = groups.into_iter().collect();
        Mounts::find(&mounts, &groups)
    }

    fn mount_point(top: &str, own: &str) -> MountPoint {
        MountPoint { top: top.into(), own: own.into() }
    }

    #[test]
    fn unified() {
        let found = find(
            "29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
            "0::/user.slice/user-1000.slice/session-2.scope\n",
        );
        let own = "/sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope";
        assert_eq!(found.v2, Some(mount_point("/sys/fs/cgroup", own)));
        assert!(found.v1.is_empty());
    }

    #[test]
    fn hybrid_with_two_controllers_on_one_mount() {
        let found = find(
            "30 25 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup rw\n\
             31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
             32 25 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
            "4:memory:/jobs/7\n3:cpu,cpuacct:/\n1:name=systemd:/\n0::/\n",
        );
        let cpu = mount_point("/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu,cpuacct");
        assert_eq!(found.v1["cpu"], cpu);
        assert_eq!(found.v1["cpuacct"], cpu);
        assert_eq!(
            found.v1["memory"],
            mount_point("/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory/jobs/7")
        );
        assert_eq!(found.v2, Some(mount_point("/sys/fs/cgroup/unified", "/sys/fs/cgroup/unified")));
        assert_eq!(found.tops().len(), 3);
    }

    #[test]
    fn containers_group_is_the_one_with_the_limits() {
        let cut = |path: &str| {
            let mut path = path.to_owned();
            cut_to(&mut path, "12ab").then_some(path)
        };
        assert_eq!(cut("/docker/12ab").as_deref(), Some("/docker/12ab"));
        let scope = "/machine.slice/libpod-12ab.scope";
        assert_eq!(cut(&format!("{scope}/container")).as_deref(), Some(scope));
        assert_eq!(cut("/machine.slice/libpod-34cd.scope"), None);
    }

    #[test]
    fn group_is_found_in_partial_mount() {
        let cgroup = "4:memory:/docker/abc/inner\n";
        let mount = "32 25 0:28 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
        let own = &find(mount, cgroup).v1["memory"].own;
        assert_eq!(own, Path::new("/sys/fs/cgroup/memory/inner"));
    }

    #[test]
    fn group_outside_the_mount_falls_back_to_its_top() {
        let mount = "32 25 0:28 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
        for path in ["/other", "/../.."] {
            let own = &find(mount, &format!("4:memory:{path}\n")).v1["memory"].own;
            assert_eq!(own, Path::new("/sys/fs/cgroup/memory"), "{path}");
        }
    }
}
