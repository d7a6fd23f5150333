//! A daemon of the test, which has no room. Needs `dockerd` and root.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use rpcbench_testkit::{skip, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::bench::Bench;
use crate::foreign::docker::Docker;

struct Daemon {
    folder: TempDir,
    running: Option<Child>,
}

impl Daemon {
    /// With a file system of that size for images. `None`, and a line, if it can't be started here.
    fn start(room: &str) -> Option<Self> {
        let folder = tempfile::Builder::new().prefix("dockerd").tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir(&root).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={room}"), "tmpfs"]).arg(&root);
        let mounted = mount.status().is_ok_and(|status| status.success());
        let mut daemon = Self { folder, running: None };
        if !mounted || !daemon.run() {
            skip("no daemon can be started here: it needs dockerd on PATH, and root");
            return None;
        }
        Some(daemon)
    }

    fn host(&self) -> String {
        format!("unix://{}", self.folder.path().join("sock").display())
    }

    fn run(&mut self) -> bool {
        let at = |name: &str| self.folder.path().join(name);
        let log = std::fs::File::create(at("log")).unwrap();
        let mut command = Command::new("dockerd");
        command.arg("--data-root").arg(at("root")).arg("--exec-root").arg(at("exec"));
        command.arg("--pidfile").arg(at("pid")).args(["-H", &self.host()]);
        command.args(["--iptables=false", "--ip6tables=false", "--ip-forward=false"]);
        command.args(["--ip-masq=false", "--bridge=none"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let Ok(child) = command.spawn() else { return false };
        let child = self.running.insert(child);
        let mut answers = false;
        wait_until("the daemon", || {
            answers = answers_at(&self.folder.path().join("sock"));
            answers || child.try_wait().unwrap().is_some()
        });
        answers
    }
}

impl Daemon {
    fn stop(&mut self) {
        if let Some(mut child) = self.running.take() {
            // It has ended if it could not start.
            let _ = kill_process(Pid::from_child(&child), Signal::TERM);
            let _ = child.wait();
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stop();
        // A daemon leaves the second.
        let mounts = ["root", "exec/netns/default"].map(|name| self.folder.path().join(name));
        let _ = Command::new("umount").arg("-l").args(mounts).stderr(Stdio::null()).status();
    }
}

fn answers_at(socket: &Path) -> bool {
    let host = format!("unix://{}", socket.display());
    let mut version = Command::new("docker");
    version.args(["-H", &host, "version"]).stdout(Stdio::null()).stderr(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn full_disk_is_reported_with_a_remedy() {
    let Some(daemon) = Daemon::start("24m") else { return };
    let docker = Docker::of(Bench::new(), "", Some(daemon.host()));
    let ended = docker.run("check @honest").expect(2);
    ended.complains(&["no space left on device", "docker system prune"]);
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn restarted_daemon_is_blamed_and_windows_are_kept() {
    let Some(mut daemon) = Daemon::start("200m") else { return };
    let docker = Docker::of(Bench::new(), "", Some(daemon.host()));
    let words = "run @honest --rounds 100 --warmup none --duration 1s -v";
    let mut program = docker.start(words);
    program.await_line(" calls/s, p99 ");
    daemon.stop();
    let ended = program.finish().expect(1);
    assert!(docker.bench.record().trials.iter().any(|trial| trial.measured().is_some()));
    docker.bench.cells().failed("honest", "ended, probably with its engine");
    docker.bench.cells().failed("honest", "start the daemon");
    assert!(daemon.run());
    docker.await_containers(ended.pid, 0);
}
