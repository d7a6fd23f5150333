//! One run of the binary, watched.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Once};
use std::thread::JoinHandle;

use rpcbench_harness::host::process::is_ignored;
use rpcbench_testkit::{GIVE_UP, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// A program that runs. Dropping it kills it.
pub struct Program {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
    out: Option<JoinHandle<String>>,
}

/// A program that has ended.
#[derive(Debug)]
pub struct Ended {
    /// The process id it had.
    pub pid: u32,
    /// `None`: killed by a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Program {
    pub fn start(command: &mut Command) -> Self {
        heed_signals();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // The test may have ended without having read all of it.
            BufReader::new(stderr).lines().map_while(Result::ok).try_for_each(|l| sender.send(l))
        });
        let out = Some(std::thread::spawn(move || read(stdout)));
        Self { child, lines, seen: Vec::new(), out }
    }

    /// Waits for a line on standard error with `part` in it, and returns it.
    pub fn await_line(&mut self, part: &str) -> String {
        self.await_either(&[part])
    }

    /// As `await_line`, with one of `parts` in it.
    pub fn await_either(&mut self, parts: &[&str]) -> String {
        loop {
            let line = self.lines.recv_timeout(GIVE_UP);
            let line = line.unwrap_or_else(|_| panic!("no line {parts:?} in {:#?}", self.seen));
            self.seen.push(line.clone());
            if parts.iter().any(|part| line.contains(part)) {
                return line;
            }
        }
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end.
    pub fn finish(mut self) -> Ended {
        let mut status = None;
        wait_until("the program's end", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let out = self.out.take().unwrap().join().unwrap();
        self.seen.extend(self.lines.iter());
        Ended { pid: self.child.id(), code: status.unwrap().code(), out, err: self.seen.join("\n") }
    }
}

/// Programs inherit ignored signals, and these tests may run in the background of a script. A signal with a handler is set to
/// its default in the program.
fn heed_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in [SIGINT, SIGHUP, SIGTERM] {
            if is_ignored(signal) {
                signal_hook::flag::register(signal, Arc::default()).unwrap();
            }
        }
    });
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(mut stdout: ChildStdout) -> String {
    let mut bytes = Vec::new();
    stdout.read_to_end(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

impl Ended {
    /// It must have ended with this code.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.err, self.out);
        self
    }

    /// It must have ended with 0, or with 1 since the client was late: it is where the machine lets it wait for a CPU.
    #[track_caller]
    pub fn expect_ok_or_late(self) -> Self {
        let said = |verdict| self.err.contains(verdict);
        let is_late = self.code == Some(1) && (said("generator late: ") || said("disturbed: "));
        if is_late { self } else { self.expect(0) }
    }

    /// Each of `parts` must stand on standard error.
    #[track_caller]
    pub fn complains(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.err.contains(part), "no '{part}' in:\n{}", self.err);
        }
    }

    /// Each of `parts` must stand on standard output.
    #[track_caller]
    pub fn shows(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.out.contains(part), "no '{part}' in:\n{}\n{}", self.out, self.err);
        }
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}:\n{}", self.out))
    }
}
