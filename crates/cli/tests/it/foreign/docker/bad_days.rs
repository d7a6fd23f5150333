//! Images and containers that break: one line says how, nothing is left, and the others are still measured.

use rpcbench_testkit::wait_until;

use crate::bench::Bench;
use crate::foreign::docker::Docker;
use crate::program::{Ended, Program};

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
fn failing_dockerfile_shows_its_deciding_lines() {
    let steps = "RUN [\"/server/server\", \"--behaviour\", \"nonsense\"]";
    let docker = Docker::of(Bench::new(), steps, None);
    let ended = docker.run("check @honest").expect(2);
    ended.complains(&["failed: testkit-liar: 'docker build", "unknown behaviour `nonsense`"]);
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn odd_names_are_accepted() {
    let bench = Bench::new().variant("\"a.b_c--d\"", "").variant("\"1+1\"", "");
    let docker = Docker::of(bench, "", None);
    let ended = docker.run("check @a.b_c--d @1+1").expect(0);
    ended.shows(&["testkit-liar@a.b_c--d", "testkit-liar@1+1"]);
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn concurrent_runs_do_not_interfere() {
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

/// Its cgroups are read-only inside, so the child that would serve the calls at no cost stays in the group and its CPU time counts.
#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn nothing_leaves_the_group_of_a_container() {
    let docker = Docker::new();
    docker.run("check @leave-group @proxy").expect(0);
    let words = "run @honest @leave-group @proxy --rounds 1 --warmup none --duration 500ms";
    docker.run(words).expect(0);
    for server in ["honest", "leave-group", "proxy"] {
        docker.bench.cells().measured(server);
    }
}

/// As a rootless engine does on cgroup v1: here the real one never sees an option.
#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn engine_that_ignores_limits_is_refused_with_a_remedy() {
    let docker = Docker::new();
    docker.run("build @honest").expect(0);
    for option in ["--cpuset-cpus", "--memory"] {
        let script = format!(
            r#"
            PATH=${{PATH#*:}}
            real=$(command -v docker)
            [ "$1" = run ] || exec "$real" "$@"
            skip=
            for word; do
              shift
              case $skip$word in yes*) skip= ;; {option} | {option}-swap) skip=yes ;; *) set -- "$@" "$word" ;; esac
            done
            exec "$real" "$@"
            "#
        );
        let ended = docker.check_with(&script);
        ended.shows(&["the engine ignored the limits: CPUs [", "use one that runs as root"]);
    }
}

/// As rootless podman does on cgroup v1: here only the container's id is another.
#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn engine_without_cgroups_is_refused_with_a_remedy() {
    let docker = Docker::new();
    docker.run("build @honest").expect(0);
    let script = r#"
        PATH=${PATH#*:}
        case $* in *"{{.State.Pid}}"*) set -- inspect --format "none {{.State.Pid}}" "$4" ;; esac
        exec docker "$@"
        "#;
    let ended = docker.check_with(script);
    ended.shows(&["process", "is not in it", "use one that runs as root"]);
}

impl Docker {
    /// A check that fails with that script as the engine's command, and leaves no container.
    fn check_with(&self, script: &str) -> Ended {
        let folder = command_of(script);
        let launcher = format!("PATH={}:$PATH exec \"$@\"", folder.path().display());
        let launcher = ["sh", "-c", &launcher, "sh"];
        let mut command = self.bench.command_by(&launcher, "check @honest --in docker");
        let ended = Program::start(&mut command).finish().expect(1);
        self.await_containers(ended.pid, 0);
        ended
    }
}

/// A folder with that script as the engine's command.
fn command_of(script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docker");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).unwrap();
    folder
}

/// Its commands have a minute, and the user has none.
#[test]
fn signal_ends_what_waits_for_a_daemon_that_hangs() {
    let bench = Bench::new();
    let folder = command_of("touch \"$0.began\"; exec sleep 1000");
    let began = folder.path().join("docker.began");
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    for words in ["build @honest", "run @honest", "check @honest", "serve @honest"] {
        let mut command = bench.command(&format!("{words} --in docker"));
        let program = Program::start(command.env("PATH", &path));
        wait_until("a command of the engine", || began.exists());
        program.signal(rustix::process::Signal::TERM);
        let ended = program.finish().expect(2);
        ended.complains(&["stopping now"]);
        assert!(!ended.err.contains("hangs"), "{words}: {}", ended.err);
        std::fs::remove_file(&began).unwrap();
    }
}

#[test]
fn missing_daemon_is_reported_with_a_remedy() {
    let bench = Bench::new();
    let folder = command_of("echo 'Cannot connect to the Docker daemon at unix:///x.' >&2; exit 1");
    for words in ["run @honest --in docker", "check @honest --in docker"] {
        let mut command = bench.command(words);
        let ended = Program::start(command.env("PATH", folder.path())).finish().expect(2);
        ended.complains(&["Cannot connect to the Docker daemon", "start the daemon"]);
    }
}
