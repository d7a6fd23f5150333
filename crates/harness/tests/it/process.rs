//! Servers started, stopped and lost, with real processes, in every way of isolation there is here.

use std::fs;
use std::time::Duration;

use rpcbench_harness::host::process::{Exit, ProcessError, ServerProcess, Spec};
use rpcbench_testkit::{GIVE_UP, skip, wait_until};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::support::{Shell, cgroup, cpus, is_running, ways};

#[test]
fn server_is_pinned_before_its_program_starts() {
    for way in ways() {
        let mut shell = Shell::new();
        shell.limits.cpus = vec![*cpus().last().unwrap()];
        let mut server = shell.start(&way, "grep Cpus_allowed_list /proc/self/status; nproc");
        assert_eq!(server.wait(GIVE_UP).unwrap(), Some(Exit::Code(0)));
        let expected = format!("Cpus_allowed_list: {}", cpus().last().unwrap());
        assert_eq!(server.log_tail(9), [expected, "1".to_owned()], "{:?}", way.mode());
    }
}

#[test]
fn server_moves_to_other_cpus_with_all_threads() {
    let cpus = cpus();
    let Some(way) = cgroup() else { return };
    let [first, .., last] = &*cpus else { return skip("one CPU only") };
    let mut shell = Shell::new();
    shell.limits.cpus = vec![*first];
    let moves = [vec![*last], vec![*first, *last], vec![*first]];
    // Its own CPUs, and those of a new process.
    let script = "for place in 0 1 2; do
            until [ -e $place ]; do sleep 0.01; done
            grep Cpus_allowed_list /proc/$$/status /proc/self/status | tr '\\t' ' ' | cut -d ' ' -f 2
            echo > moved-$place
        done";
    let mut server = shell.start(&way, script);
    for (place, cpus) in moves.iter().enumerate() {
        server.group().set_cpus(cpus).unwrap();
        fs::write(shell.path(&place.to_string()), "").unwrap();
        shell.wait_for_file(&format!("moved-{place}"));
    }
    assert_eq!(server.wait(GIVE_UP).unwrap(), Some(Exit::Code(0)));
    let both =
        if last - first == 1 { format!("{first}-{last}") } else { format!("{first},{last}") };
    let expected = [last.to_string(), both, first.to_string()];
    assert_eq!(server.log_tail(9), expected.map(|at| [at.clone(), at]).concat());
}

#[test]
fn later_server_may_open_as_many_files_as_the_first() {
    let shell = Shell::new();
    let way = ways().remove(0);
    let limit = || {
        let mut server = shell.start(&way, "ulimit -n");
        assert_eq!(server.wait(GIVE_UP).unwrap(), Some(Exit::Code(0)));
        server.log_tail(1).remove(0)
    };
    let first = limit();
    // As the client does for its connections.
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let lower = current.unwrap_or(4096) - 1;
    setrlimit(Resource::Nofile, Rlimit { current: Some(lower), maximum }).unwrap();
    assert_eq!(limit(), first);
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
}

/// It has its own session and group.
#[test]
fn process_that_left_its_group_ends_with_its_server() {
    for way in ways() {
        let shell = Shell::new();
        let leave = "for group in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do
                echo $$ >$group
            done 2>/dev/null
            echo $$ >away; exec sleep 600";
        fs::write(shell.path("leave.sh"), leave).unwrap();
        let server = shell.start(&way, "setsid sh leave.sh & wait");
        let away: i32 = shell.wait_for_file("away").trim().parse().unwrap();
        server.kill().unwrap();
        wait_until("its end", || !is_running(away));
    }
}

#[test]
fn log_without_end_is_a_servers_failure_and_is_cut() {
    let shell = Shell::new();
    let server =
        shell.start(&ways()[0], "truncate -s 300M log; echo the end; echo >done; exec sleep 600");
    shell.wait_for_file("done");
    let problem = server.log_overflow().unwrap();
    assert_eq!(problem, "wrote more than 256 MiB to its log, and was stopped,");
    server.kill().unwrap();
    assert!(fs::metadata(shell.path("log")).unwrap().len() <= 64 << 10);
}

#[test]
fn exits_are_described() {
    for way in ways() {
        let shell = Shell::new();
        let mut server = shell.start(&way, "echo one; echo two >&2; exit 3");
        let exit = server.wait(GIVE_UP).unwrap().unwrap();
        assert_eq!(exit.to_string(), "exited with code 3");
        assert_eq!(server.log_tail(9), ["one", "two"]);
        let mut server = shell.start(&way, "kill -SEGV $$");
        assert_eq!(server.wait(GIVE_UP).unwrap().unwrap().to_string(), "killed by SIGSEGV");
    }
}

#[test]
fn server_that_heeds_sigterm_is_not_killed() {
    for way in ways() {
        let shell = Shell::new();
        let server = shell.start(&way, "trap 'exit 7' TERM; echo > up; while :; do sleep 1; done");
        shell.wait_for_file("up");
        let stopped = server.stop().unwrap();
        assert_eq!((stopped.exit, stopped.forced), (Exit::Code(7), false), "{:?}", way.mode());
    }
}

#[test]
fn server_that_ignores_sigterm_is_killed() {
    for way in ways() {
        let mut shell = Shell::new();
        shell.stop_timeout = Duration::from_millis(50);
        let server = shell.start(&way, "trap '' TERM; echo > up; while :; do sleep 1; done");
        shell.wait_for_file("up");
        let stopped = server.stop().unwrap();
        assert_eq!(stopped.exit.to_string(), "killed by SIGKILL");
        assert!(stopped.forced);
    }
}

#[test]
fn workers_do_not_outlive_their_server() {
    for way in ways() {
        let shell = Shell::new();
        let worker = "trap '' TERM; echo $$ > worker; while :; do sleep 1; done";
        let script = format!(
            "setsid sh -c \"{}\" & trap 'exit 0' TERM; echo > up; wait",
            worker.replace('$', "\\$")
        );
        let server = shell.start(&way, &script);
        let pid: i32 = shell.wait_for_file("worker").trim().parse().unwrap();
        shell.wait_for_file("up");
        assert!(server.group().pids().unwrap().iter().any(|p| p.as_raw_pid() == pid));
        let stopped = server.stop().unwrap();
        assert!(!is_running(pid), "{:?}", way.mode());
        assert!(stopped.leftovers > 0);
    }
}

#[test]
fn dropped_server_is_killed() {
    for way in ways() {
        let shell = Shell::new();
        let server = shell.start(&way, "sleep 1000 & echo $! > worker; wait");
        let worker: i32 = shell.wait_for_file("worker").trim().parse().unwrap();
        let leader = server.pid().as_raw_pid();
        drop(server);
        assert!(!is_running(leader) && !is_running(worker), "{:?}", way.mode());
    }
}

#[test]
fn server_dies_with_the_thread_that_started_it() {
    for way in ways() {
        let shell = Shell::new();
        let script = "echo > up; while :; do sleep 1; done";
        let mut server =
            std::thread::scope(|scope| scope.spawn(|| shell.start(&way, script)).join().unwrap());
        assert_eq!(server.wait(GIVE_UP).unwrap(), Some(Exit::Signal(9)));
    }
}

#[test]
fn frozen_server_stands_still_until_thawed() {
    for way in ways() {
        let shell = Shell::new();
        let server = shell.start(&way, "while :; do echo x; done >> progress");
        let length = || fs::metadata(shell.path("progress")).map_or(0, |file| file.len());
        wait_until("the server writes", || length() > 0);
        server.group().freeze().unwrap();
        // The kernel calls a task frozen before it leaves the CPU, and counts its time when it does.
        busy_wait();
        let (before, cpu) = (length(), server.group().cpu().unwrap());
        assert!(server.group().pids().unwrap().contains(&server.pid()));
        busy_wait();
        assert_eq!(length(), before, "{:?}", way.mode());
        assert_eq!(server.group().cpu().unwrap(), cpu);
        server.group().thaw().unwrap();
        wait_until("the server writes again", || length() > before);
    }
}

/// Gives a server that is not frozen every chance to show it.
fn busy_wait() {
    let done = std::process::Command::new("sh").args(["-c", "sleep 0.2"]).status().unwrap();
    assert!(done.success());
}

#[test]
fn frozen_server_can_be_stopped() {
    for way in ways() {
        let shell = Shell::new();
        let server =
            shell.start(&way, "trap 'exit 7' TERM; echo > up; while :; do sleep 0.05; done");
        shell.wait_for_file("up");
        server.group().freeze().unwrap();
        let stopped = server.stop().unwrap();
        assert_eq!((stopped.exit, stopped.forced), (Exit::Code(7), false), "{:?}", way.mode());
        let server = shell.start(&way, "sleep 1000");
        server.group().freeze().unwrap();
        assert_eq!(server.kill().unwrap(), Exit::Signal(9));
    }
}

#[test]
fn server_over_its_memory_limit_is_out_of_memory() {
    let Some(way) = cgroup() else { return };
    let mut shell = Shell::new();
    shell.limits.memory_bytes = Some(32 << 20);
    let mut server = shell.start(&way, "x=xxxxxxxx; while :; do x=$x$x; done");
    let exit = server.wait(GIVE_UP).unwrap().unwrap();
    assert_eq!(exit.to_string(), "out of memory (limit 32 MiB)");
}

#[test]
fn worker_over_the_memory_limit_counts() {
    let Some(way) = cgroup() else { return };
    let mut shell = Shell::new();
    shell.limits.memory_bytes = Some(32 << 20);
    let mut server = shell.start(&way, "sh -c 'x=xxxxxxxx; while :; do x=$x$x; done'; exit 5");
    let exit = server.wait(GIVE_UP).unwrap().unwrap();
    assert_eq!(exit, Exit::OutOfMemory { limit: 32 << 20 });
}

#[test]
fn unstartable_program_is_named() {
    for way in ways() {
        let shell = Shell::new();
        let spec = Spec {
            command: vec!["/nowhere/server".to_owned(), "--fast".to_owned()],
            env: Default::default(),
            cwd: shell.folder.path().to_owned(),
            log: shell.path("log"),
            stop_timeout: GIVE_UP,
        };
        let group = way.create("test", shell.limits.clone()).unwrap();
        let error = ServerProcess::spawn(&spec, group).unwrap_err();
        assert!(
            error.to_string().starts_with("'/nowhere/server --fast' can't be started in "),
            "{error}"
        );
        let group = way.create("test", shell.limits.clone()).unwrap();
        let empty = Spec { command: Vec::new(), ..spec };
        assert!(matches!(ServerProcess::spawn(&empty, group), Err(ProcessError::Command(_))));
    }
}

#[test]
fn environment_is_the_one_given_and_a_mark() {
    for way in ways() {
        let shell = Shell::new();
        let mut server = shell.start(&way, "env | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD=");
        server.wait(GIVE_UP).unwrap();
        let mut found = server.log_tail(9);
        // By which its processes are found wherever they go.
        found.retain(|line| !line.starts_with("RPCBENCH_PROCESS=rpcbench-"));
        assert_eq!(found, ["PATH=/usr/local/bin:/usr/bin:/bin"]);
    }
}
