//! Leaves the cgroup in which this process was started, so that its usage is not counted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rpcbench_record::Protocol;
use rpcbench_testkit::{Channel, End};

/// Starts an honest server of a protocol outside this process's cgroup. Returns the end of a channel to it.
pub fn start(protocol: Protocol, channel: Channel) -> io::Result<End> {
    let [front, back] = channel.open()?;
    let mut child = Command::new(std::env::current_exe()?);
    child.args(["--behaviour", "leave-group:0s", "--port", "0", "--over", channel.name()]);
    if protocol != Protocol::Grpc {
        child.args(["--behaviour", protocol.name()]);
    }
    // Cleared because the environment identifies the run that a process belongs to.
    child.env_clear().stdin(back.input).stdout(back.output).spawn()?;
    Ok(front)
}

/// Moves this process to the nearest ancestor group that accepts it, in each hierarchy. No-op without a group. The process ends
/// with its parent.
pub fn leave_group() -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    let pid = std::process::id().to_string();
    for group in groups()? {
        let procs = |folder: &Path| folder.join("cgroup.procs");
        let is_in =
            fs::read_to_string(procs(&group)).is_ok_and(|pids| pids.lines().any(|it| it == pid));
        // Under cgroup v2, a group with controllers for its children accepts no process, unless it is the root.
        if is_in && !group.ancestors().skip(1).any(|above| fs::write(procs(above), &pid).is_ok()) {
            return Err(io::Error::other(format!("no group above {} takes it", group.display())));
        }
    }
    Ok(())
}

/// Starts a thread that moves this process out of the group that counts its CPU time while many calls arrive, and back soon after
/// the last.
pub fn leave_under_load(calls: impl Fn() -> u64 + Send + 'static) -> io::Result<()> {
    const CHECK_INTERVAL: Duration = Duration::from_millis(1);
    const REST: u32 = 3;
    let pid = std::process::id().to_string();
    let counts = |group: &PathBuf| {
        ["cpuacct.usage", "cgroup.controllers"].iter().any(|it| group.join(it).exists())
    };
    let inside = groups()?.into_iter().filter(counts).map(|group| group.join("cgroup.procs"));
    let is_in = |procs: &PathBuf| {
        fs::read_to_string(procs).is_ok_and(|pids| pids.lines().any(|it| it == pid))
    };
    let inside: Vec<PathBuf> = inside.filter(is_in).collect();
    thread::spawn(move || {
        let above = |procs: &PathBuf| {
            let groups = procs.ancestors().skip(2);
            groups.map(|group| group.join("cgroup.procs")).any(|it| fs::write(it, &pid).is_ok())
        };
        let (mut before, mut rests) = (0, REST);
        loop {
            thread::park_timeout(CHECK_INTERVAL);
            let now = calls();
            // A few calls are those of a check.
            let has_load = now - before > 5;
            before = now;
            match (has_load, rests) {
                (true, REST..) => drop(inside.iter().map(above).collect::<Vec<_>>()),
                (false, 2) => inside.iter().for_each(|procs| drop(fs::write(procs, &pid))),
                _ => {}
            }
            rests = if has_load { 0 } else { rests.saturating_add(1) };
        }
    });
    Ok(())
}

/// Starts a thread that leaves the group in one hierarchy of cgroup v1 only.
pub fn leave_partly() -> io::Result<()> {
    let groups = groups()?;
    let (left, has_left) = mpsc::channel();
    thread::spawn(move || {
        let tid = rustix::thread::gettid().as_raw_nonzero().to_string();
        let tasks = |folder: &Path| folder.join("tasks");
        let is_in = |group: &&PathBuf| {
            fs::read_to_string(tasks(group)).is_ok_and(|tids| tids.lines().any(|it| it == tid))
        };
        let above = groups.iter().find(is_in).and_then(|group| group.parent());
        let _ = left.send(above.is_some_and(|above| fs::write(tasks(above), &tid).is_ok()));
        loop {
            thread::park();
        }
    });
    match has_left.recv() {
        Ok(true) => Ok(()),
        Ok(false) | Err(_) => Err(io::Error::other("no hierarchy lets a thread leave its group")),
    }
}

/// Folders that may be this process's groups: each mount combined with the path in each hierarchy.
fn groups() -> io::Result<Vec<PathBuf>> {
    let paths = fs::read_to_string("/proc/self/cgroup")?;
    let paths: Vec<&str> = paths.lines().filter_map(|line| line.splitn(3, ':').nth(2)).collect();
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    let cgroups = mounts.lines().filter(|line| line.contains(" - cgroup"));
    let mounts = cgroups.filter_map(|line| {
        let mut fields = line.split(' ').skip(3);
        Some((fields.next()?, PathBuf::from(fields.next()?)))
    });
    let mut folders = Vec::new();
    for (root, mount) in mounts {
        for path in paths.iter().filter_map(|path| path.strip_prefix(root)) {
            let path = path.trim_start_matches('/');
            if !path.is_empty() {
                folders.push(mount.join(path));
            }
        }
    }
    Ok(folders)
}
