//! `./bench-in-docker`: nothing of this machine but its engine.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use rpcbench_testkit::wait_until;
use rustix::process::{Signal, geteuid};

use crate::bench::{Bench, copy, repository};
use crate::foreign::docker::Docker;
use crate::program::Program;

/// Inputs of the testkit's servers that are outside of its root, which the script's container does not see.
const OUTSIDE: &str = r#", "../../../../src", "../../../../Cargo.toml", "../../../../generated""#;
/// A user without rights, but for the engine's socket.
const USER: u32 = 65_534;

/// A root that is a clone of the repository, with the testkit's servers, which run as another user than rpcbench.
fn clone() -> Docker {
    let bench = Bench::new().edit("servers/testkit/_language.toml", OUTSIDE, "");
    let (from, root) = (repository(), bench.root());
    for folder in ["contract", "crates", "scripts/image"] {
        copy(&from.join(folder), &root.join(folder));
    }
    for file in ["Cargo.lock", "Cargo.toml", "bench-in-docker", "servers/_images.toml"] {
        fs::copy(from.join(file), root.join(file)).unwrap();
    }
    fs::create_dir(root.join("results")).unwrap();
    symlink(root.join("results"), bench.work().join("results")).unwrap();
    let docker = Docker::of(bench, "USER 65533", None);
    // Builds rpcbench's image, which may take long.
    let built = Command::new(root.join("bench-in-docker")).arg("--version").output().unwrap();
    assert!(built.status.success(), "{built:?}");
    let folder = root.ancestors().nth(1).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    if geteuid().is_root() {
        for_each(&root, &|path| chown(path, Some(USER), Some(USER)).unwrap());
    }
    docker
}

fn for_each(path: &Path, act: &dyn Fn(&Path)) {
    act(path);
    if path.is_dir() && !path.is_symlink() {
        fs::read_dir(path).unwrap().flatten().for_each(|item| for_each(&item.path(), act));
    }
}

impl Docker {
    /// The script, by a user who may use the engine.
    fn script(&self, words: &str) -> Program {
        let root = self.bench.root();
        let mut command = Command::new(root.join("bench-in-docker"));
        command.args(words.replace('@', "testkit-liar@").split_whitespace()).env("HOME", &root);
        if geteuid().is_root() {
            let socket = self.docker(&["context", "inspect", "-f", "{{.Endpoints.docker.Host}}"]);
            let socket = socket.trim().trim_start_matches("unix://");
            command.uid(USER).gid(fs::metadata(socket).unwrap().gid());
        }
        Program::start(&mut command)
    }

    /// Containers of servers, and those of the script with that process id.
    fn all_containers(&self, script: u32) -> Vec<String> {
        let name = format!("name=^rpcbench-in-docker-{script}");
        let filters = [&*format!("label={}", self.label), &*name];
        let found = filters.map(|filter| self.docker(&["ps", "-a", "--filter", filter, "-q"]));
        found.iter().flat_map(|names| names.lines()).map(str::to_owned).collect()
    }

    fn await_none(&self, script: u32) {
        wait_until("the end of all containers", || self.all_containers(script).is_empty());
    }

    /// Waits for the container of a server.
    fn await_server(&self) {
        let label = format!("label={}", self.label);
        let list = ["ps", "-q", "--filter", &label];
        wait_until("a server's container", || !self.docker(&list).is_empty());
    }
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn bench_in_docker_measures_and_the_user_owns_the_results() {
    let docker = clone();
    let ended = docker.script("@honest --rounds 1 --warmup none --duration 500ms").finish();
    let ended = ended.expect(0);
    ended.shows(&["testkit-liar@honest"]);
    ended.complains(&["root on this machine"]);
    assert_eq!(docker.all_containers(ended.pid), [""; 0]);
    docker.bench.cells().measured("honest");
    let run = docker.bench.record();
    assert!(run.header.machines.engine.is_some());
    let isolation = &run.preparations[0].isolation;
    assert!(isolation.memory_bytes.is_some(), "{isolation:?}");
    let owner = fs::metadata(docker.bench.root()).unwrap().uid();
    for_each(&docker.bench.root(), &|path| {
        assert_eq!(fs::symlink_metadata(path).unwrap().uid(), owner, "{}", path.display());
    });
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn ctrl_c_in_bench_in_docker_shows_what_was_measured() {
    let docker = clone();
    let mut program = docker.script("@honest --rounds 3 -v");
    program.await_line("measuring, trial 1");
    program.signal(Signal::INT);
    let ended = program.finish().expect(2);
    ended.complains(&["to resume: rpcbench run --resume"]);
    assert_eq!(docker.all_containers(ended.pid), [""; 0]);
    assert_eq!(docker.bench.record().trials.len(), 1);
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn killed_bench_in_docker_leaves_nothing() {
    let docker = clone();
    let words = "run @honest @busy --duration 1h";
    // The script.
    let program = docker.script(words);
    docker.await_server();
    program.signal(Signal::KILL);
    docker.await_none(program.finish().pid);
    // rpcbench, in its container.
    let program = docker.script(words);
    docker.await_server();
    docker.docker(&["kill", &format!("rpcbench-in-docker-{}", program.pid())]);
    let ended = program.finish().expect(137);
    assert_eq!(docker.all_containers(ended.pid), [""; 0]);
}

#[test]
fn bench_in_docker_names_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let script = repository().join("bench-in-docker");
    let says = |docker: Option<&str>, expected: &str| {
        let path = folder.path().join("docker");
        if let Some(text) = docker {
            fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        let mut command = Command::new("/bin/sh");
        let ended = Program::start(command.arg(&script).env("PATH", path)).finish().expect(2);
        ended.complains(&[expected]);
    };
    says(
        Some("echo 'Cannot connect to the Docker daemon' >&2; exit 1"),
        "start it (sudo systemctl",
    );
    says(Some("echo 'permission denied' >&2; exit 1"), "add yourself to the group docker");
    says(Some("echo 'Debian [name=seccomp name=rootless]'"), "runs as root");
    says(
        Some("[ $1 = info ] && echo 'Debian []' || echo tcp://10.0.0.1:2375"),
        "tcp://10.0.0.1:2375 is on another machine",
    );
}
