//! No space for the record.

use std::process::Command;

use rpcbench_testkit::skip;

use crate::bench::Bench;
use crate::program::Program;

/// The command with a file system of `kib` KiB as `results/`, in its own mount namespace.
fn small(bench: &Bench, kib: u32, words: &str) -> Command {
    let script = format!("mount -t tmpfs -o size={kib}k small results && exec \"$@\"");
    bench.command_by(&["unshare", "--mount", "sh", "-c", &script, "sh"], words)
}

fn can_mount() -> bool {
    let folder = tempfile::tempdir().unwrap();
    let mounted = Command::new("unshare")
        .args(["--mount", "mount", "-t", "tmpfs", "small"])
        .arg(folder.path())
        .output();
    let can = mounted.as_ref().is_ok_and(|output| output.status.success());
    if !can {
        skip(format!("no right to mount a small file system: {mounted:?}"));
    }
    can
}

#[test]
fn full_disk_shows_what_was_measured_and_what_was_lost() {
    if !can_mount() {
        return;
    }
    let bench = Bench::new();
    std::fs::create_dir(bench.work().join("results")).unwrap();
    let words = "run @honest @busy --rounds 50 --duration 100ms --warmup none";
    let ended = Program::start(&mut small(&bench, 24, words)).finish().expect(2);
    bench.nothing_left(ended.pid);
    ended.complains(&["the record is incomplete; what was measured is shown above"]);
    ended.complains(&["events.jsonl", "No space left on device"]);
    ended.shows(&["testkit-liar@honest", "calls/cpu-s", "the run is unfinished"]);
}

#[test]
fn full_disk_is_reported_before_anything_runs() {
    let bench = Bench::new();
    std::fs::write(bench.work().join("results"), "a file").unwrap();
    let ended = bench.run("run @honest").expect(2);
    ended.complains(&["--results results: it is a file; name a folder"]);
    assert!(!ended.err.contains("ready: "), "{}", ended.err);
}
