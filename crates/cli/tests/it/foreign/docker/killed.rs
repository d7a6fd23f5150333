//! SIGKILL at each step of a server's life: nothing is left.

use std::fs;

use rpcbench_testkit::wait_until;
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::Bench;
use crate::foreign::docker::Docker;
use crate::program::Program;

/// Nothing of the killed program is left, neither containers nor the command that started them.
#[track_caller]
fn kill(docker: &Docker, program: Program) {
    program.signal(Signal::KILL);
    let ended = program.finish();
    assert_eq!(ended.code, None, "{}", ended.err);
    docker.await_containers(ended.pid, 0);
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn killed_rpcbench_leaves_no_container() {
    let bench = Bench::new().variant("slower", "--behaviour slow:50ms");
    let docker = Docker::of(bench, "", None);
    // While its image is built.
    let mut program = docker.start("build @honest");
    program.await_line("building; log: ");
    kill(&docker, program);
    docker.run("build @honest").expect(0);
    // While its container is being started.
    let program = docker.start("run @honest");
    wait_until("docker run", || child(program.pid(), "run").is_some());
    kill(&docker, program);
    // During the check.
    let program = docker.start("check @slower");
    docker.await_containers(program.pid(), 1);
    kill(&docker, program);
    // Frozen, next to another that is measured.
    let mut program = docker.start("run @honest @busy --duration 1h -v");
    program.await_line("measuring, trial 1");
    for container in docker.await_containers(program.pid(), 2) {
        docker.docker(&["pause", &container]);
    }
    kill(&docker, program);
    // While it ends, which this one doesn't.
    let mut program = docker.start("run @ignore-sigterm --rounds 1 --warmup none --duration 1s -v");
    program.await_line(" calls/s, p99 ");
    wait_until("docker stop", || child(program.pid(), "stop").is_some());
    kill(&docker, program);
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn killed_docker_command_fails_only_its_server() {
    let docker = Docker::new();
    docker.run("build @honest").expect(0);
    let program = docker.start("check @honest");
    let mut found = None;
    wait_until("docker run", || {
        found = child(program.pid(), "run");
        found.is_some()
    });
    // It may have ended by itself.
    let _ = kill_process(found.unwrap(), Signal::KILL);
    let ended = program.finish();
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.err);
    docker.await_containers(ended.pid, 0);
}

/// A child of a process that runs that command of `docker`.
fn child(parent: u32, command: &str) -> Option<Pid> {
    let children = fs::read_dir(format!("/proc/{parent}/task")).ok()?.flatten().flat_map(|task| {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        children.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    });
    let is_command = |pid: &String| {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut words = line.split('\0');
        words.next().is_some_and(|program| program.ends_with("docker"))
            && words.next() == Some(command)
    };
    let found = children.into_iter().find(is_command)?;
    Pid::from_raw(found.parse().ok()?)
}
