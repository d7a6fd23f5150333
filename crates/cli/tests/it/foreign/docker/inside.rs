//! rpcbench in a container whose servers are processes next to it, as docs/containers.md describes for CI. The container has the programs
//! of this machine.

use std::path::Path;
use std::process::Command;

use rpcbench_record::{Isolation, IsolationMode};
use rpcbench_testkit::wait_until;

use crate::bench::repository;
use crate::foreign::docker::Docker;
use crate::kernel::processes_in;
use crate::program::Program;
use crate::testkit;

const CGROUPS: &str = "/sys/fs/cgroup:/sys/fs/cgroup:rw";

impl Docker {
    /// rpcbench in a container of that name.
    fn inside(&self, name: &str, volumes: &[&str], words: &str) -> Program {
        let empty = self.bench.root().join("empty");
        std::fs::create_dir_all(&empty).unwrap();
        std::fs::write(empty.join("Dockerfile"), format!("FROM scratch\nLABEL {}\n", self.label))
            .unwrap();
        let empty = self.docker(&["build", "--quiet", empty.to_str().unwrap()]);
        let inner = self.bench.command(words);
        let program = Path::new(inner.get_program());
        let home = std::env::home_dir().unwrap();
        let mut command = Command::new("docker");
        command.args(["run", "--rm", "--network", "host", "--name", name]);
        for folder in [
            Path::new("/bin"),
            Path::new("/lib"),
            Path::new("/lib64"),
            Path::new("/usr"),
            Path::new(&home),
            &repository().canonicalize().unwrap(),
            program.parent().unwrap(),
        ] {
            command.arg("-v").arg(format!("{0}:{0}:ro", folder.display()));
        }
        let own = self.bench.root().parent().unwrap().display().to_string();
        command.arg("-v").arg(format!("{own}:{own}"));
        command.args(volumes.iter().flat_map(|volume| ["-v", volume]));
        command.arg("-e").arg(format!("RPCBENCH_TESTKIT={}", testkit::program().display()));
        command.args(["-e", "PATH", "-e", "HOME", "-w"]).arg(self.bench.work());
        command.arg(empty.trim()).arg(program).args(inner.get_args());
        Program::start(&mut command)
    }

    fn isolation(&self) -> Isolation {
        self.bench.record().preparations[0].isolation.clone()
    }
}

const WORDS: &str = "run @honest --rounds 1 --warmup none --duration 500ms";

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn servers_in_rpcbenchs_container_have_limits_with_the_machines_cgroups() {
    let docker = Docker::new();
    let ended = docker.inside("rpcbench-test-with", &[CGROUPS], WORDS).finish().expect(0);
    ended.shows(&["testkit-liar@honest"]);
    let isolation = docker.isolation();
    assert_ne!(isolation.mode, IsolationMode::Affinity, "{isolation:?}");
    assert!(isolation.memory_bytes.is_some(), "{isolation:?}");
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn servers_in_rpcbenchs_container_have_no_limits_without_cgroups() {
    let docker = Docker::new();
    docker.inside("rpcbench-test-without", &[], WORDS).finish().expect(0);
    let isolation = docker.isolation();
    assert_eq!((isolation.mode, isolation.memory_bytes), (IsolationMode::Affinity, None));
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn killed_rpcbench_container_ends_its_servers() {
    let docker = Docker::new();
    let words = "run @honest @busy --duration 1h -v";
    let mut program = docker.inside("rpcbench-test-killed", &[CGROUPS], words);
    program.await_line("measuring, trial 1");
    docker.docker(&["kill", "rpcbench-test-killed"]);
    program.finish().expect(137);
    wait_until("its servers' end", || processes_in(&docker.bench.root()).is_empty());
}
