//! Child processes: pinned to a CPU, and charged for what they used.

use std::io::{self, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, getppid, pidfd_open, set_parent_process_death_signal,
};
use rustix::thread::{CpuSet, sched_setaffinity};

/// How long a server may take until it accepts connections: so many times [`PAUSE`].
const ATTEMPTS: u32 = 1_000;
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// Why a process could not be started, or did not do what it is for.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// It did not start.
    #[error("{program} could not be started")]
    Start {
        /// The program.
        program: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// It could not be waited for, or its output not be read.
    #[error("{program} could not be waited for, or its output not be read")]
    Lost {
        /// The program.
        program: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// It ended with an error.
    #[error("{program} ended with {how}: {said}")]
    Failed {
        /// The program.
        program: String,
        /// "exit code 1", "signal 9".
        how: String,
        /// The last line on standard error.
        said: String,
    },
    /// A server that does not accept connections.
    #[error("{program} does not accept connections on {address}")]
    Deaf {
        /// The program.
        program: String,
        /// Where it should listen.
        address: SocketAddr,
    },
}

/// What a process said and used.
#[derive(Debug)]
pub struct Finished {
    /// Its standard output.
    pub output: String,
    /// User and system time of all its threads, from start to exit.
    pub cpu: Duration,
}

/// Runs `command` on CPU `cpu` until it ends.
///
/// # Errors
/// If it can't be started or waited for, or ends with another exit code than 0.
pub fn run(mut command: Command, cpu: usize) -> Result<Finished, ProcessError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let lost = |source| ProcessError::Lost { program: program.clone(), source };
    // A file, so that a client that says much on it does not wait for a reader.
    let mut errors = tempfile::tempfile().map_err(lost)?;
    let copy = errors.try_clone().map_err(lost)?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(copy);
    let mut child = spawn(command, cpu)?;
    let mut output = String::new();
    let read = child.stdout.take().map_or(Ok(0), |mut out| out.read_to_string(&mut output));
    let (status, cpu) = wait(&child).map_err(lost)?;
    read.map_err(lost)?;
    if let Some(how) = failure(status) {
        let mut said = String::new();
        io::Seek::rewind(&mut errors).map_err(lost)?;
        errors.read_to_string(&mut said).map_err(lost)?;
        let last = [said.as_str(), &output].into_iter().find_map(|text| text.trim().lines().last());
        let said = last.unwrap_or("it said nothing").to_owned();
        return Err(ProcessError::Failed { program, how, said });
    }
    Ok(Finished { output, cpu })
}

fn failure(status: libc::c_int) -> Option<String> {
    if libc::WIFSIGNALED(status) {
        return Some(format!("signal {}", libc::WTERMSIG(status)));
    }
    match libc::WEXITSTATUS(status) {
        0 => None,
        code => Some(format!("exit code {code}")),
    }
}

/// Starts a process that runs on one CPU, and ends when this one does.
fn spawn(mut command: Command, cpu: usize) -> Result<Child, ProcessError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut cpus = CpuSet::new();
    cpus.set(cpu);
    let parent = getpid();
    let prepare = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() != Some(parent) {
            return Err(rustix::io::Errno::SRCH.into());
        }
        Ok(sched_setaffinity(None, &cpus)?)
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed. The closure makes three raw
    // system calls (prctl, getppid, sched_setaffinity) on values prepared before the fork; it neither
    // allocates nor takes a lock, and an error that it returns holds a number only.
    unsafe {
        command.pre_exec(prepare);
    }
    command.spawn().map_err(|source| ProcessError::Start { program, source })
}

/// Waits for a child and takes what it used: its status and its CPU time.
fn wait(child: &Child) -> io::Result<(libc::c_int, Duration)> {
    let mut status = 0;
    // SAFETY: a rusage is numbers only, and zero is a value of each.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let pid = child.id().cast_signed();
    loop {
        // SAFETY: both pointers are to live locals of the types that the call writes, and `child` has not
        // been waited for, so that the identifier is still its own.
        if unsafe { libc::wait4(pid, &mut status, 0, &mut usage) } == pid {
            return Ok((status, time(usage.ru_utime) + time(usage.ru_stime)));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn time(time: libc::timeval) -> Duration {
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_usec as u32 * 1_000)
}

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct TargetProcess {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl TargetProcess {
    /// Starts a server that takes its address from the environment, on CPU `cpu` and a free port of the
    /// loopback interface, and waits until it accepts connections.
    ///
    /// # Errors
    /// If it does not start, ends, or accepts no connections for ten seconds.
    pub fn start(program: &Path, arguments: &[&str], cpu: usize) -> Result<Self, ProcessError> {
        let name = program.to_string_lossy().into_owned();
        let refused = |source| ProcessError::Start { program: name.clone(), source };
        let address = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .map_err(refused)?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("RPCBENCH_HOST", address.ip().to_string())
            .env("RPCBENCH_PORT", address.port().to_string())
            .env("RPCBENCH_CPUS", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let target = Self { child: spawn(command, cpu)?, address };
        if target.accepts().map_err(refused)? {
            return Ok(target);
        }
        Err(ProcessError::Deaf { program: name, address })
    }

    fn accepts(&self) -> io::Result<bool> {
        let pid = Pid::from_child(&self.child);
        let ended = pidfd_open(pid, PidfdFlags::empty())?;
        for _ in 0..ATTEMPTS {
            if TcpStream::connect(self.address).is_ok() {
                return Ok(true);
            }
            if poll(&mut [PollFd::new(&ended, PollFlags::IN)], Some(&PAUSE))? > 0 {
                return Ok(false);
            }
        }
        Ok(false)
    }
}

impl Drop for TargetProcess {
    fn drop(&mut self) {
        // Both fail where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn cpu() -> usize {
        let allowed = rustix::thread::sched_getaffinity(None).unwrap();
        (0..CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu)).unwrap()
    }

    #[test]
    fn a_process_is_charged_for_the_work_it_does() {
        let idle = run(shell("echo out; echo err >&2"), cpu()).unwrap();
        assert_eq!(idle.output, "out\n");
        let busy = run(shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"), cpu()).unwrap();
        assert!(busy.cpu > 5 * idle.cpu, "{:?} and {:?}", busy.cpu, idle.cpu);
    }

    #[test]
    fn a_process_runs_on_the_cpu_it_was_given() {
        let cpu = cpu();
        let allowed = run(shell("grep Cpus_allowed_list /proc/self/status"), cpu).unwrap();
        assert_eq!(allowed.output.trim(), format!("Cpus_allowed_list:\t{cpu}"));
    }

    #[test]
    fn a_process_that_fails_is_quoted() {
        let error = run(shell("echo one >&2; echo two >&2; exit 3"), cpu()).unwrap_err();
        assert_eq!(error.to_string(), "sh ended with exit code 3: two");
        let error = run(shell("kill -9 $$"), cpu()).unwrap_err();
        assert_eq!(error.to_string(), "sh ended with signal 9: it said nothing");
        let error = run(Command::new("/nowhere"), cpu()).unwrap_err();
        assert_eq!(error.to_string(), "/nowhere could not be started");
    }

    #[test]
    fn a_server_that_ends_is_not_waited_for() {
        let error = TargetProcess::start(Path::new("true"), &[], cpu()).unwrap_err();
        assert!(error.to_string().starts_with("true does not accept connections on 127.0.0.1:"));
    }
}
