//! The binary as a server under test: its signals, its exit codes, its CPU and its memory.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::client::Client;

/// A process that does not outlive its test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    fn start(behaviours: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rpcbench-testkit"));
        command.env("RPCBENCH_HOST", "127.0.0.1").env("RPCBENCH_PORT", "0").arg("--print-address");
        for behaviour in behaviours {
            command.args(["--behaviour", behaviour]);
        }
        Self(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    fn address(&mut self) -> SocketAddr {
        let mut line = String::new();
        // One byte at a time, so that nothing after the line is lost in a buffer.
        while !line.ends_with('\n') {
            let mut byte = [0];
            self.0.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
            line.push(char::from(byte[0]));
        }
        line.trim().parse().unwrap()
    }

    fn connect(&mut self) -> Client {
        Client::connect(self.address())
    }

    fn error_line(&mut self) -> String {
        let mut line = String::new();
        BufReader::new(self.0.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn signal(&self, signal: Signal) {
        kill_process(pid(self.0.id()), signal).unwrap();
    }

    /// Waits for the end and returns what was written meanwhile.
    fn finish(mut self) -> (ExitStatus, String, String) {
        let (mut out, mut err) = (String::new(), String::new());
        self.0.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        self.0.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (self.0.wait().unwrap(), out, err)
    }

    /// Its resident memory in bytes.
    fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    }

    /// Stops a counting server; its calls, and its CPU time in user and system mode.
    fn count(self) -> (u64, Duration, Duration) {
        self.signal(Signal::TERM);
        let (status, out, _) = self.finish();
        assert!(status.success());
        let number = |key: &str| -> u64 {
            let rest = out.split_once(&format!("\"{key}\":")).unwrap().1;
            rest[..rest.find([',', '}']).unwrap()].parse().unwrap()
        };
        let time = |key| Duration::from_nanos(number(key));
        (number("calls"), time("cpu_user_ns"), time("cpu_system_ns"))
    }
}

fn pid(of: u32) -> Pid {
    Pid::from_raw(of.cast_signed()).unwrap()
}

#[test]
fn honest_server_exits_cleanly_on_sigterm() {
    let mut server = Process::start(&["honest"]);
    assert_eq!(server.connect().text("abc").unwrap().message(), b"\x12\x03abc");
    server.signal(Signal::TERM);
    let (status, out, err) = server.finish();
    assert_eq!((status.code(), out.as_str(), err.as_str()), (Some(0), "", ""));
}

#[test]
fn exit_at_start_writes_two_lines_and_its_code() {
    let (status, _, err) = Process::start(&["exit-at-start:7"]).finish();
    assert_eq!((status.code(), err.lines().count()), (Some(7), 2));
}

#[test]
fn exit_after_writes_a_line_and_exits_with_3() {
    let mut server = Process::start(&["exit-after:2"]);
    let client = server.connect();
    client.text("1").unwrap();
    client.text("2").unwrap();
    assert!(client.text("3").is_err());
    let (status, _, err) = server.finish();
    assert_eq!(
        (status.code(), err.as_str()),
        (Some(3), "rpcbench-testkit: exits on purpose after 2 calls\n")
    );
}

#[test]
fn no_listen_runs_and_refuses() {
    let mut server = Process::start(&["no-listen"]);
    let address = server.address();
    assert!(TcpStream::connect(address).is_err());
    assert!(server.0.try_wait().unwrap().is_none());
    server.signal(Signal::TERM);
    assert!(server.finish().0.success());
}

#[test]
fn ignore_sigterm_keeps_running() {
    let mut server = Process::start(&["ignore-sigterm"]);
    let client = server.connect();
    server.signal(Signal::TERM);
    assert_eq!(server.error_line(), "rpcbench-testkit: ignores SIGTERM");
    assert_eq!(client.text("still").unwrap().grpc_status, Some(0));
}

#[test]
fn spawn_child_leaves_a_process_behind() {
    let mut server = Process::start(&["spawn-child"]);
    let child = pid(server.error_line().rsplit(' ').next().unwrap().parse().unwrap());
    server.address();
    server.signal(Signal::TERM);
    // The child holds the pipes open, so only the server itself is waited for.
    assert!(server.0.wait().unwrap().success());
    test_kill_process(child).expect("the child should be alive");
    kill_process(child, Signal::KILL).unwrap();
}

#[test]
fn counting_counts_exactly_and_accounts_for_its_cpu() {
    for answer in ["honest", "null"] {
        let mut server = Process::start(&[answer, "counting"]);
        let client = server.connect();
        for _ in 0..37 {
            client.text("abc").unwrap();
        }
        let (calls, user, system) = server.count();
        assert_eq!(calls, 37, "{answer}");
        assert!(user + system > Duration::ZERO);
    }
}

#[test]
fn busy_uses_its_share_of_cpu() {
    let mut server = Process::start(&["busy:2000", "counting"]);
    let client = server.connect();
    for _ in 0..50 {
        client.text("abc").unwrap();
    }
    let (calls, user, system) = server.count();
    assert_eq!(calls, 50);
    assert!(user + system >= Duration::from_millis(95), "{user:?} + {system:?}");
}

#[test]
fn costlier_uses_its_extra_cpu_share() {
    let cost = |behaviour| {
        let mut server = Process::start(&[behaviour, "counting"]);
        let client = server.connect();
        for _ in 0..640 {
            client.text("abc").unwrap();
        }
        let (_, user, system) = server.count();
        user + system
    };
    let (plain, costlier) = (cost("honest"), cost("costlier:900"));
    assert!(costlier > plain * 4, "plain {plain:?}, costlier {costlier:?}");
}

#[test]
fn warm_step_gets_cheaper_and_its_compiler_is_a_thread() {
    let cost = |behaviour| {
        let mut server = Process::start(&[behaviour, "counting"]);
        let client = server.connect();
        for _ in 0..100 {
            client.text("abc").unwrap();
        }
        let tasks = std::fs::read_dir(format!("/proc/{}/task", server.0.id())).unwrap();
        let mut names =
            tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap());
        assert!(names.any(|name| name == "jit-compiler\n"));
        let (_, user, system) = server.count();
        user + system
    };
    let cold = cost("warm-step:1000:40");
    let warm = cost("warm-step:0.000001:40");
    assert!(cold >= Duration::from_millis(195), "{cold:?}");
    assert!(warm < cold / 2, "warm {warm:?}, cold {cold:?}");
}

#[test]
fn eat_memory_keeps_what_it_takes() {
    let mut server = Process::start(&["eat-memory:1000000"]);
    let client = server.connect();
    client.text("first").unwrap();
    let before = server.resident();
    for _ in 0..20 {
        client.text("abc").unwrap();
    }
    assert!(server.resident() >= before + 19_000_000);
}

#[test]
fn eat_memory_at_start_allocates_before_listening() {
    let mut server = Process::start(&["eat-memory-at-start:50000000"]);
    server.address();
    assert!(server.resident() >= 50_000_000);
}

#[test]
fn slow_replies_come_late_and_cost_nothing() {
    let mut server = Process::start(&["slow:200ms", "counting"]);
    let client = server.connect();
    assert!(client.text_within("abc", Duration::from_millis(150)).is_none());
    let texts: Vec<String> = (0..20).map(|index| index.to_string()).collect();
    assert!(client.texts(&texts).iter().all(Result::is_ok));
    let (calls, user, system) = server.count();
    assert_eq!(calls, 21);
    assert!(user + system < Duration::from_millis(200), "{user:?} + {system:?}");
}

#[test]
fn contradictory_arguments_are_refused_with_a_reason() {
    let (status, _, err) = Process::start(&["canned", "byte-echo"]).finish();
    assert_eq!(status.code(), Some(2));
    assert_eq!(err, "rpcbench-testkit: `canned` and `byte-echo` exclude each other; choose one\n");
    let (status, _, err) = Process::start(&["lazy"]).finish();
    assert_eq!(status.code(), Some(2));
    assert!(err.contains("unknown behaviour `lazy`"), "{err}");
}
