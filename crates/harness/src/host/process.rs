//! A server's process: started in its group, watched, stopped, never left behind.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rpcbench_engine::file_limit;
use rpcbench_record::regular;
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Resource, Signal, getpid, getppid, kill_process_group, pidfd_open,
    set_parent_process_death_signal, setrlimit,
};
use thiserror::Error;

use super::isolation::{Backend, Group, Joiner, Owner};
use super::marked::{kill_marked, marked};
use crate::error::about;
use crate::task::wait_readable;
use crate::{log, units};

/// Marks a server's processes, to find those that left its group when it ends.
const MARK: &str = "RPCBENCH_PROCESS";

/// Size to which an oversized log is cut, bytes.
const KEPT_LOG: u64 = 64 << 10;

/// The process to start.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The whole environment; nothing is inherited.
    pub env: BTreeMap<String, String>,
    /// Working directory.
    pub cwd: PathBuf,
    /// File for standard output and standard error; overwritten.
    pub log: PathBuf,
    /// Time from SIGTERM to SIGKILL.
    pub stop_timeout: Duration,
}

/// Why a process can't be started.
#[derive(Debug, Error)]
pub enum ProcessError {
    /// The command is missing, or the system refuses it.
    #[error("{0}")]
    Command(String),
    /// The group or the log can't be used.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
    /// The kernel killed the process, or another one in its group, for using too much memory.
    OutOfMemory {
        /// The limit in force, bytes.
        limit: u64,
    },
}

impl Exit {
    fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, signal) => Self::Signal(signal.unwrap_or_default()),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exited with code {code}"),
            Self::Signal(signal) => match signal_hook::low_level::signal_name(*signal) {
                Some(name) => write!(f, "killed by {name}"),
                None => write!(f, "killed by signal {signal}"),
            },
            Self::OutOfMemory { limit } => {
                write!(f, "out of memory (limit {})", units::bytes(*limit))
            }
        }
    }
}

/// The result of stopping a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// How the process ended.
    pub exit: Exit,
    /// True if it was killed because it did not end in time after SIGTERM.
    pub forced: bool,
    /// Number of processes in its group that outlived it and were killed.
    pub leftovers: usize,
}

/// A running server. Dropping it kills the server and everything in its group.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    pid: Pid,
    pidfd: OwnedFd,
    group: Group,
    log: PathBuf,
    /// The log, even if its path has been reused for another file.
    log_file: File,
    mark: String,
    stop_timeout: Duration,
    exit: Option<Exit>,
}

impl ServerProcess {
    /// Starts a process. It joins `group`, and moves to its CPUs, before the program begins.
    ///
    /// The kernel kills the process when the calling *thread* ends, so that nothing outlives a killed harness. Call this from a
    /// thread that lives as long as the process should.
    pub fn spawn(spec: &Spec, mut group: Group) -> Result<Self, ProcessError> {
        let (mut command, log_file) = prepare(spec)?;
        let mark = Owner::this_process().map_err(io::Error::other)?.name("process");
        command.env(MARK, &mark);
        enter_before_exec(&mut command, group.joiner()?);
        let child = command.spawn().map_err(|error| {
            let (command, cwd) = (spec.command.join(" "), spec.cwd.display());
            ProcessError::Command(format!("'{command}' can't be started in {cwd}: {error}"))
        })?;
        let pid = Pid::from_child(&child);
        group.backend.adopt(pid);
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).map_err(unwaitable(pid))?;
        Ok(Self {
            child,
            pid,
            pidfd,
            group,
            log: spec.log.clone(),
            log_file,
            mark,
            stop_timeout: spec.stop_timeout,
            exit: None,
        })
    }

    /// The process id, which is also the id of its process group.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// The group that it runs in.
    pub fn group(&self) -> &dyn Backend {
        &*self.group.backend
    }

    /// The processes that it started, in any group, unless their environment was replaced.
    pub fn marked(&self) -> Vec<Pid> {
        marked(MARK, &self.mark)
    }

    /// The last lines of its log, at most `lines`.
    pub fn log_tail(&self, lines: usize) -> Vec<String> {
        log::tail(&self.log, lines)
    }

    /// The problem if its log exceeds the maximum size.
    pub fn log_overflow(&self) -> Option<String> {
        let limit = units::bytes(log::MAX_LOG);
        let problem = || format!("wrote more than {limit} to its log, and was stopped,");
        log::is_flooded(&self.log_file).then(problem)
    }

    /// Cuts an oversized log to its end.
    fn cut_log(&self) {
        if self.log_overflow().is_some() {
            let end = log::end(&self.log, KEPT_LOG);
            let _ = end.and_then(|end| regular::replace(&self.log, end));
        }
    }

    /// How the process ended. `None` while it is running.
    pub fn try_wait(&mut self) -> io::Result<Option<Exit>> {
        if self.exit.is_none() {
            let status = self.child.try_wait().map_err(unwaitable(self.pid))?;
            // A worker killed for using too much memory takes the server down with it, with any exit code.
            let out_of_memory = || self.out_of_memory().ok().flatten();
            self.exit = status.map(|status| out_of_memory().unwrap_or(Exit::of(status)));
        }
        Ok(self.exit)
    }

    /// Waits at most `limit` for its end. `None` if it is still running.
    pub fn wait(&mut self, limit: Duration) -> io::Result<Option<Exit>> {
        if self.exit.is_none() {
            wait_readable(&self.pidfd, Some(limit)).map_err(unwaitable(self.pid))?;
        }
        self.try_wait()
    }

    /// How the server ended if the kernel killed one of its processes for using too much memory.
    pub(crate) fn out_of_memory(&self) -> io::Result<Option<Exit>> {
        let killed = self.group().oom_kills()? > 0;
        let limit = self.group.memory_enforced.filter(|_| killed);
        Ok(limit.map(|limit| Exit::OutOfMemory { limit }))
    }

    /// Stops the process: SIGTERM to its process group, and SIGKILL after the stop timeout. Then kills what is left in its group
    /// and removes the group. A frozen server is thawed first.
    pub fn stop(mut self) -> io::Result<Stopped> {
        let mut forced = false;
        if self.try_wait()?.is_none() {
            self.group().thaw()?;
            signal(self.pid, Signal::TERM);
            forced = self.wait(self.stop_timeout)?.is_none();
        }
        let others = self.group().pids()?.into_iter().filter(|pid| *pid != self.pid).count();
        let leftovers = if forced { 0 } else { others };
        let exit = self.end()?;
        Ok(Stopped { exit, forced, leftovers })
    }

    /// Kills the process and its group.
    pub fn kill(mut self) -> io::Result<Exit> {
        self.end()
    }

    fn end(&mut self) -> io::Result<Exit> {
        let reaped = self.try_wait()?.is_some();
        if !reaped {
            signal(self.pid, Signal::KILL);
        }
        let removed = self.group.destroy();
        kill_marked(MARK, &self.mark);
        self.cut_log();
        let exit = match self.exit {
            Some(exit) => exit,
            None => Exit::of(self.child.wait().map_err(unwaitable(self.pid))?),
        };
        self.exit = Some(exit);
        removed?;
        Ok(exit)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        if self.exit.is_none() {
            // Callers that need the error call `kill`.
            let _ = self.end();
        }
    }
}

/// Prepares the command and the log.
fn prepare(spec: &Spec) -> Result<(Command, File), ProcessError> {
    let (program, arguments) = spec
        .command
        .split_first()
        .ok_or_else(|| ProcessError::Command("there is no command to start".to_owned()))?;
    let refused = |error| about(format!("{}: can't be made", spec.log.display()))(error);
    let out = regular::recreate(&spec.log).map_err(refused)?;
    let log = out.try_clone().map_err(refused)?;
    let err = out.try_clone().map_err(refused)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(&spec.env)
        .current_dir(&spec.cwd)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .process_group(0);
    Ok((command, log))
}

fn enter_before_exec(command: &mut Command, joiner: Joiner) {
    let parent = getpid();
    // The same limit for all servers, no matter if they start before or after the client's connections.
    let files = file_limit::given();
    let enter = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() != Some(parent) {
            // The parent ended before the signal was set.
            return Err(io::Error::from_raw_os_error(Errno::SRCH.raw_os_error()));
        }
        setrlimit(Resource::Nofile, files)?;
        joiner.enter()
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed. The closure makes raw system
    // calls (prctl, getppid, prlimit, write, sched_setaffinity) on values prepared before the fork; it neither
    // allocates nor takes a lock, and an error it returns holds a number only.
    unsafe {
        command.pre_exec(enter);
    }
}

/// Ignores errors: the process group may have ended already.
fn signal(leader: Pid, signal: Signal) {
    let _ = kill_process_group(leader, signal);
}

/// True if this process ignores a signal, as under `nohup` or in a script's background. False if unknown.
pub fn is_ignored(signal: i32) -> bool {
    let mask = 1_u64 << (signal - 1);
    let status = procfs::process::Process::myself().and_then(|own| own.status());
    status.is_ok_and(|status| status.sigign & mask != 0)
}

fn unwaitable<E: Into<io::Error>>(pid: Pid) -> impl FnOnce(E) -> io::Error {
    about(format!("process {} can't be waited for", pid.as_raw_pid()))
}
