//! What the kernel knows about processes and groups.

use std::fs;
use std::path::{Path, PathBuf};

use rpcbench_harness::host::cpus::Topology;
use rpcbench_harness::host::isolation::Isolation;
use rpcbench_record::IsolationMode;
use rpcbench_testkit::skip;

/// Processes, zombies apart, that work in `folder` or below it: servers and their children do.
pub fn processes_in(folder: &Path) -> Vec<i32> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|item| item.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            let cwd = fs::read_link(format!("/proc/{pid}/cwd"));
            cwd.is_ok_and(|cwd| cwd.starts_with(folder))
        })
        .collect()
}

/// Folders of the groups that the rpcbench of that process id has made.
pub fn groups_of(pid: u32) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(Path::new("/sys/fs/cgroup"), &format!("-{pid}-"), &mut found);
    found
}

fn collect(folder: &Path, owner: &str, found: &mut Vec<PathBuf>) {
    for item in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !item.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let name = item.file_name().to_string_lossy().into_owned();
        if name.starts_with("rpcbench-") && name.contains(owner) {
            found.push(item.path());
        }
        collect(&item.path(), owner, found);
    }
}

/// How servers are isolated here.
pub fn isolation_mode() -> IsolationMode {
    Isolation::detect(&Topology::read().unwrap().cpus()).mode()
}

/// Whether servers get a cgroup of their own here; says so if not.
pub fn has_cgroups() -> bool {
    let isolation = Isolation::detect(&Topology::read().unwrap().cpus());
    let has = isolation.mode() != IsolationMode::Affinity;
    if !has {
        skip(isolation.notes().join("; "));
    }
    has
}
