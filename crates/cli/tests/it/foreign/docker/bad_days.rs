//! Images and containers that break: one line says how, nothing is left, and the others are still measured.

use crate::bench::Bench;
use crate::foreign::docker::Docker;
use crate::program::Program;

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn servers_that_break_fail_alone() {
    let bench = Bench::new()
        .edit("servers/_defaults.toml", "\"5s\"", "\"2s\"")
        .variant("elsewhere", "--port 0");
    let docker = Docker::of(bench, "", None);
    let words = "run @exit-at-start @eat-memory-at-start @elsewhere @honest --rounds 1";
    let ended = docker.run(&format!("{words} --memory 256M --warmup none --duration 500ms"));
    ended.expect(1);
    let cells = docker.bench.cells();
    cells.failed("exit-at-start", "exited with code 7");
    cells.failed("eat-memory-at-start", "out of memory (limit 256 MiB)");
    cells.failed("elsewhere", "; it listens on 127.0.0.1:");
    cells.measured("honest");
    let run = docker.bench.record();
    assert!(run.header.machines.engine.is_some());
    let ready = run.preparations.iter().find(|it| it.entry.ends_with("@honest")).unwrap();
    assert!(ready.isolation.details["image"].starts_with("sha256:"), "{:?}", ready.isolation);
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn a_dockerfile_that_fails_shows_its_deciding_lines() {
    let steps = "RUN [\"/server/server\", \"--behaviour\", \"nonsense\"]";
    let docker = Docker::of(Bench::new(), steps, None);
    let ended = docker.run("check @honest").expect(2);
    ended.complains(&["failed: testkit-liar: 'docker build", "unknown behaviour `nonsense`"]);
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn odd_names_are_fine() {
    let bench = Bench::new().variant("\"a.b_c--d\"", "").variant("\"1+1\"", "");
    let docker = Docker::of(bench, "", None);
    let ended = docker.run("check @a.b_c--d @1+1").expect(0);
    ended.shows(&["testkit-liar@a.b_c--d", "testkit-liar@1+1"]);
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn two_runs_at_once_do_not_touch_each_other() {
    let docker = Docker::new();
    docker.run("build @honest").expect(0);
    let words = "run @honest --rounds 2 --warmup none --duration 500ms";
    let both = [docker.start(words), docker.start(words)];
    for program in both {
        let ended = program.finish().expect(0);
        assert!(docker.containers(ended.pid).is_empty());
    }
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn ctrl_c_ends_a_build_and_a_run() {
    let docker = Docker::new();
    let mut program = docker.start("run @honest --rounds 3 -v");
    program.await_line("measuring, trial 1");
    program.signal(rustix::process::Signal::INT);
    let ended = program.finish().expect(2);
    ended.complains(&["to resume: rpcbench run --resume"]);
    assert!(docker.containers(ended.pid).is_empty());
    let resume = format!("run --resume {}", docker.bench.results().display());
    Program::start(&mut docker.bench.command(&resume)).finish().expect(0);
    assert!(docker.bench.record().finished.is_some());
}

#[test]
fn a_missing_daemon_is_named_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    let script =
        "#!/bin/sh\necho 'Cannot connect to the Docker daemon at unix:///x.' >&2; exit 1\n";
    let path = folder.path().join("docker");
    std::fs::write(&path, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).unwrap();
    for words in ["run @honest --in docker", "check @honest --in docker"] {
        let mut command = bench.command(words);
        let ended = Program::start(command.env("PATH", folder.path())).finish().expect(2);
        ended.complains(&["Cannot connect to the Docker daemon", "start the daemon"]);
    }
}
