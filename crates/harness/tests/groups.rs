//! Groups are removed, also those of a harness that was killed. One test, alone in its process, so that no
//! other one's groups are in the way.

#[path = "it/support.rs"]
mod support;

use std::fs;
use std::path::PathBuf;

use rpcbench_testkit::wait_until;

use support::{Shell, cgroup, groups_left, is_running};

#[test]
fn no_cgroup_is_left_behind() {
    let Some(way) = cgroup() else { return };
    way.sweep();
    let shell = Shell::new();
    let server = shell.start(&way, "sleep 1000 & wait");
    assert!(!groups_left().is_empty());
    server.stop().unwrap();
    assert_eq!(groups_left(), Vec::<PathBuf>::new());

    drop(shell.start(&way, "sleep 1000 & wait"));
    assert_eq!(groups_left(), Vec::<PathBuf>::new());

    let mut ended = shell.start(&way, "sleep 1000 & echo $! > worker");
    let worker: i32 = shell.wait_for_file("worker").trim().parse().unwrap();
    wait_until("the leader has ended", || ended.try_wait().unwrap().is_some());
    assert!(is_running(worker));
    drop(ended);
    assert!(!is_running(worker));
    assert_eq!(groups_left(), Vec::<PathBuf>::new());

    assert_eq!(way.sweep(), Vec::<PathBuf>::new());
    let orphan = abandon(&groups_of_a_living_one(&way));
    assert!(!way.sweep().is_empty());
    assert!(!is_running(orphan));
}

/// The folders of a group in use.
fn groups_of_a_living_one(way: &rpcbench_harness::host::isolation::Isolation) -> Vec<PathBuf> {
    let shell = Shell::new();
    let server = shell.start(way, "sleep 1000");
    let folders = groups_left();
    drop(server);
    folders
}

/// Makes groups with the same names but for the start time, as a harness leaves them that was killed, with
/// a frozen process in them where there is a freezer. Its id.
fn abandon(folders: &[PathBuf]) -> i32 {
    let pid = std::process::id().to_string();
    let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    for folder in folders {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let dead = folder.with_file_name(name.replace(&format!("-{pid}-"), &format!("-{pid}-1")));
        fs::create_dir(&dead).unwrap();
        for file in ["cpuset.mems", "cpuset.cpus"] {
            let above = folder.parent().unwrap().join(file);
            if dead.join(file).exists() {
                fs::write(dead.join(file), fs::read_to_string(above).unwrap()).unwrap();
            }
        }
        fs::write(dead.join("cgroup.procs"), child.id().to_string()).unwrap();
        let _ = fs::write(dead.join("freezer.state"), "FROZEN");
    }
    let id = child.id().cast_signed();
    std::thread::spawn(move || child.wait());
    id
}
