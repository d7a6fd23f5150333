//! Reads and writes the small text files of a cgroup.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use rpcbench_clock::{self as clock, Nanos};
use rustix::process::{Pid, Signal, kill_process};

use crate::error::about;

/// Time limit for the kernel to freeze, thaw or kill the processes of a group.
const TIMEOUT: Duration = Duration::from_secs(5);

pub(super) fn read(path: &Path) -> io::Result<String> {
    fs::read_to_string(path).map_err(about(format!("{}: can't be read", path.display())))
}

pub(super) fn write(path: &Path, value: &str) -> io::Result<()> {
    fs::write(path, value).map_err(refused(path, value))
}

/// For `map_err`: the error for a setting that the kernel refused.
pub(super) fn refused<E: Into<io::Error>>(path: &Path, value: &str) -> impl FnOnce(E) -> io::Error {
    about(format!("{}: the kernel refused '{value}'", path.display()))
}

pub(super) fn number(path: &Path) -> io::Result<u64> {
    let text = read(path)?;
    let (path, text) = (path.display(), text.trim());
    text.parse().map_err(|_| io::Error::other(format!("{path}: unexpected content '{text}'")))
}

/// The number after `key` in a file with lines of `key number`.
pub(super) fn keyed(path: &Path, key: &str) -> io::Result<u64> {
    field(path, &read(path)?, key)
}

/// Like [`keyed`], for the text of the file.
pub(super) fn field(path: &Path, text: &str, key: &str) -> io::Result<u64> {
    let missing = || io::Error::other(format!("{}: no number after '{key}'", path.display()));
    find(text, key).ok_or_else(missing)
}

fn find(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

/// How long the CPU controller throttled a group, from the line `key`. `cpu.stat.local` includes limits of parent groups. Kernels
/// before 6.6 lack it, so the times of all groups up to the root are added. `None` if nothing counts it.
pub(super) fn throttled(folder: &Path, key: &str) -> Option<u64> {
    let of = |folder: &Path, file| fs::read_to_string(folder.join(file)).ok();
    if let Some(time) = of(folder, "cpu.stat.local").and_then(|text| find(&text, key)) {
        return Some(time);
    }
    let groups = folder.ancestors().map_while(|group| of(group, "cpu.stat"));
    groups.filter_map(|text| find(&text, key)).reduce(|sum, time| sum + time)
}

/// The processes listed in a `cgroup.procs`.
pub(super) fn pids(path: &Path) -> io::Result<Vec<Pid>> {
    let text = read(path)?;
    Ok(text.lines().filter_map(|line| line.trim().parse().ok().and_then(Pid::from_raw)).collect())
}

/// The threads of a process; empty if it has ended.
pub(super) fn threads(process: Pid) -> Vec<Pid> {
    let all = fs::read_dir(format!("/proc/{}/task", process.as_raw_pid())).into_iter().flatten();
    let id = |name: OsString| Pid::from_raw(name.to_str()?.parse().ok()?);
    all.filter_map(|item| id(item.ok()?.file_name())).collect()
}

/// A memory limit, bytes. `None` for `max`, or for a huge number, which means no limit in version 1.
pub(super) fn memory_limit(path: &Path) -> io::Result<Option<u64>> {
    const NONE: u64 = 1 << 62;
    match read(path)?.trim() {
        "max" => Ok(None),
        _ => Ok(Some(number(path)?).filter(|bytes| *bytes < NONE)),
    }
}

/// True if this process may write a file.
pub(super) fn is_writable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

/// A list of CPUs in the kernel's format: `0,1,8`.
pub(super) fn cpu_list(cpus: &[u32]) -> String {
    let names: Vec<String> = cpus.iter().map(u32::to_string).collect();
    names.join(",")
}

pub(super) fn create(folder: &Path) -> io::Result<()> {
    fs::create_dir(folder).map_err(about(format!("{}: can't be made", folder.display())))
}

/// Removes an empty group, if it exists. A group stays busy for a moment after its last process has ended.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    let mut last = None;
    let gone = until(|| match fs::remove_dir(folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => {
            last = Some(error);
            Ok(false)
        }
    })?;
    match last {
        Some(error) if !gone => {
            Err(about(format!("{}: can't be removed", folder.display()))(error))
        }
        _ => Ok(()),
    }
}

/// Polls `done` at increasing intervals until it returns true or [`TIMEOUT`] expires. Returns whether it did.
pub(super) fn until(mut done: impl FnMut() -> io::Result<bool>) -> io::Result<bool> {
    const MAX_LEN: Nanos = Nanos::from_millis(10);
    let deadline = clock::now() + Nanos::from(TIMEOUT);
    let mut pause = Nanos(50_000);
    loop {
        if done()? {
            return Ok(true);
        }
        let now = clock::now();
        if now >= deadline {
            return Ok(false);
        }
        clock::sleep_until(now + pause);
        pause = (pause + pause).min(MAX_LEN);
    }
}

/// Polls `done` like [`until`]. Fails if the group does not reach `state` in time.
pub(super) fn await_state(
    group: &str,
    state: &str,
    done: impl FnMut() -> io::Result<bool>,
) -> io::Result<()> {
    let seconds = TIMEOUT.as_secs();
    let problem = format!("the processes of {group} are not {state} after {seconds} s");
    if until(done)? { Ok(()) } else { Err(io::Error::other(problem)) }
}

/// Kills processes. Some of them may have ended already.
pub(super) fn kill_all(pids: &[Pid]) {
    for pid in pids {
        let _ = kill_process(*pid, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_key_matches() {
        let text = "rss_huge 5\nrss 7\ntotal_rss 9\n";
        assert_eq!(find(text, "rss"), Some(7));
        assert_eq!(find(text, "total_rss"), Some(9));
        assert_eq!(find(text, "total"), None);
    }

    #[test]
    fn limits_of_parent_groups_count() {
        let root = tempfile::tempdir().unwrap();
        let group = root.path().join("quota/group");
        fs::create_dir_all(&group).unwrap();
        assert_eq!(throttled(&group, "throttled_usec"), None);
        fs::write(root.path().join("cpu.stat"), "usage_usec 9\n").unwrap();
        fs::write(root.path().join("quota/cpu.stat"), "throttled_usec 7\n").unwrap();
        fs::write(group.join("cpu.stat"), "usage_usec 1\nthrottled_usec 0\n").unwrap();
        assert_eq!(throttled(&group, "throttled_usec"), Some(7));
        fs::write(group.join("cpu.stat.local"), "throttled_usec 5\n").unwrap();
        assert_eq!(throttled(&group, "throttled_usec"), Some(5));
    }

    #[test]
    fn missing_file_is_named() {
        let error = number(Path::new("/nowhere/cpu.stat")).unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/cpu.stat: can't be read: "), "{error}");
    }

    #[test]
    fn memory_limit_can_be_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("limit");
        for (text, limit) in
            [("max\n", None), ("9223372036854771712\n", None), ("536870912\n", Some(512 << 20))]
        {
            fs::write(&file, text).unwrap();
            assert_eq!(memory_limit(&file).unwrap(), limit, "{text}");
        }
    }
}
