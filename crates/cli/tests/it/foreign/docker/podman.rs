//! Servers in containers of podman, run as root. Skipped, with a line, where it is not installed.

use std::process::Command;

use rpcbench_testkit::skip;

use crate::bench::Bench;
use crate::foreign::docker::{Docker, clients};

/// `None`, and a line, if podman can't be used here.
fn podman(bench: Bench) -> Option<Docker> {
    let mut docker = Docker::of(bench, "", None);
    docker.engine = "podman";
    let mut asked = Command::new(docker.engine);
    asked.args(["info", "--format", "{{.Host.Security.Rootless}}"]);
    if asked.output().is_ok_and(|said| said.stdout.trim_ascii() == b"false") {
        return Some(docker);
    }
    skip("no podman that runs as root");
    docker.engine = "docker";
    None
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn podman_builds_limits_measures_and_removes() {
    let Some(docker) = podman(Bench::new()) else { return };
    docker.run("check @honest").expect(0);
    let ended = docker.run("run @honest --rounds 2 --warmup none --duration 500ms --memory 256M");
    ended.expect(0);
    docker.bench.cells().measured("honest");
    let run = docker.bench.record();
    assert_eq!(run.header.machines.engine.unwrap().name, "podman");
    let isolation = &run.preparations[0].isolation;
    assert_eq!(isolation.memory_bytes, Some(256 << 20), "{isolation:?}");
    assert_eq!(isolation.details["image"].len(), 64, "{isolation:?}");
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn server_that_breaks_in_podman_fails_alone() {
    let Some(docker) = podman(Bench::new()) else { return };
    let words = "run @exit-at-start @eat-memory-at-start @honest --rounds 1";
    let ended = docker.run(&format!("{words} --memory 256M --warmup none --duration 500ms"));
    ended.expect(1);
    let cells = docker.bench.cells();
    cells.failed("exit-at-start", "exited with code 7");
    cells.failed("eat-memory-at-start", "out of memory (limit 256 MiB)");
    cells.measured("honest");
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn killed_rpcbench_leaves_nothing_in_podman() {
    let Some(docker) = podman(Bench::new()) else { return };
    let mut program = docker.start("run @honest @busy --duration 1h -v");
    program.await_line("measuring, trial 1");
    program.signal(rustix::process::Signal::KILL);
    docker.await_containers(program.finish().pid, 0);
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn client_is_checked_and_measured_next_to_one_that_exits_in_podman() {
    podman(Bench::new()).iter().for_each(clients::check_and_measure);
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn killed_rpcbench_leaves_neither_client_nor_server_in_podman() {
    podman(Bench::new()).iter().for_each(clients::kill);
}
