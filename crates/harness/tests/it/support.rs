//! What the tests with real processes share.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rpcbench_harness::host::isolation::{GroupLimits, Isolation};
use rpcbench_harness::host::process::{ServerProcess, Spec};
use rpcbench_record::IsolationMode;
use rpcbench_testkit::skip;
use rpcbench_testkit::wait_until;
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// CPUs that the tests may use.
pub fn cpus() -> Vec<u32> {
    let set = rustix::thread::sched_getaffinity(None).unwrap();
    (0..1024).filter(|cpu| set.is_set(*cpu)).map(|cpu| cpu as u32).collect()
}

/// Every way of isolation that can be tried here; says which can't.
pub fn ways() -> Vec<Isolation> {
    let best = Isolation::detect(&cpus());
    let affinity = Isolation::affinity("asked for by a test");
    match best.mode() {
        IsolationMode::Affinity => {
            skip(format!("no cgroups: {}", best.notes().join("; ")));
            vec![affinity]
        }
        _ => vec![best, affinity],
    }
}

/// The best way, if that is a cgroup; says so if not.
pub fn cgroup() -> Option<Isolation> {
    ways().into_iter().find(|way| way.mode() != IsolationMode::Affinity)
}

/// A shell script as a server.
pub struct Shell {
    pub folder: tempfile::TempDir,
    pub limits: GroupLimits,
    pub stop_timeout: Duration,
}

impl Shell {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            limits: GroupLimits { cpus: cpus(), memory_bytes: None },
            stop_timeout: Duration::from_secs(20),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts `script` in the test's folder.
    pub fn start(&self, way: &Isolation, script: &str) -> ServerProcess {
        let group = way.create("test", self.limits.clone()).unwrap();
        let path = "/usr/local/bin:/usr/bin:/bin".to_owned();
        let spec = Spec {
            command: ["sh", "-c", script].map(str::to_owned).to_vec(),
            env: BTreeMap::from([("PATH".to_owned(), path)]),
            cwd: self.folder.path().to_owned(),
            log: self.path("log"),
            stop_timeout: self.stop_timeout,
        };
        ServerProcess::spawn(&spec, group).unwrap()
    }

    /// Waits until the script has written `name`.
    pub fn wait_for_file(&self, name: &str) -> String {
        let path = self.path(name);
        wait_until(name, || fs::read_to_string(&path).is_ok_and(|text| text.ends_with('\n')));
        fs::read_to_string(&path).unwrap()
    }
}

/// Makes a named pipe in this process: where builds run, other children than theirs are ended.
pub fn make_fifo(path: &Path) {
    let mode = Mode::RUSR | Mode::WUSR;
    mknodat(CWD, path, FileType::Fifo, mode, 0).unwrap();
}

/// Whether the process is there, and not as a zombie.
pub fn is_running(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    state.is_some_and(|state| !"ZX".contains(state))
}

/// Folders of groups that this process has made and that are still there.
pub fn groups_left() -> Vec<PathBuf> {
    let mine = format!("-{}-", std::process::id());
    let mut found = Vec::new();
    collect(Path::new("/sys/fs/cgroup"), &mine, &mut found);
    found
}

fn collect(folder: &Path, mine: &str, found: &mut Vec<PathBuf>) {
    for item in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !item.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let name = item.file_name().to_string_lossy().into_owned();
        if name.starts_with("rpcbench-") && name.contains(mine) {
            found.push(item.path());
        }
        collect(&item.path(), mine, found);
    }
}
