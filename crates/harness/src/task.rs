//! A helper process that ends on its own: a build, a version query.

use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rpcbench_clock::{self as clock, Nanos};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, set_parent_process_death_signal,
};

/// Interval between calls of `keep_waiting` in [`Task::output`].
const TICK: Duration = Duration::from_millis(100);

/// A running helper in its own process group. Dropping it kills the group.
#[derive(Debug)]
pub(crate) struct Task {
    child: Child,
    pidfd: OwnedFd,
    ended: bool,
}

impl Task {
    /// Starts the helper. The kernel kills it when the calling thread ends.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        command.process_group(0);
        // SAFETY: between fork and exec only async-signal-safe calls are allowed; the closure makes one
        // system call and allocates nothing.
        unsafe {
            command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
        }
        let child = command.spawn()?;
        let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        Ok(Self { child, pidfd, ended: false })
    }

    /// Starts the helper without input, for [`Self::output`].
    pub(crate) fn ask(command: &mut Command) -> io::Result<Self> {
        Self::start(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    /// Waits until the helper ends and returns its output. `None` after `limit`, or once `keep_waiting` returns false; it is
    /// called several times a second.
    pub(crate) fn output(
        mut self,
        limit: Duration,
        keep_waiting: impl FnMut() -> bool,
    ) -> io::Result<Option<Output>> {
        let out = self.child.stdout.take().map(collect);
        let err = self.child.stderr.take().map(collect);
        let Some(status) = self.wait_while(limit, TICK, keep_waiting)? else { return Ok(None) };
        let text = |reader: Option<JoinHandle<String>>| {
            reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
        };
        Ok(Some(Output { out: text(out), err: text(err), success: status.success() }))
    }

    /// Waits until the helper ends, then kills the rest of its process group. `None` after `limit`, or once `keep_waiting`,
    /// called at intervals of `every`, returns false.
    pub(crate) fn wait_while(
        mut self,
        limit: Duration,
        every: Duration,
        mut keep_waiting: impl FnMut() -> bool,
    ) -> io::Result<Option<ExitStatus>> {
        let deadline = clock::now() + Nanos::from(limit);
        loop {
            let left = Duration::from(deadline - clock::now());
            if wait_readable(&self.pidfd, Some(left.min(every)))? {
                self.kill_group();
                self.ended = true;
                return self.child.wait().map(Some);
            }
            if clock::now() >= deadline || !keep_waiting() {
                return Ok(None);
            }
        }
    }

    fn kill_group(&self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if !self.ended {
            self.kill_group();
            let _ = self.child.wait();
        }
    }
}

/// The output of a helper, and whether it succeeded.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) success: bool,
}

fn collect(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error may still be useful.
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits until the process of a pidfd has ended. Returns false if `limit` expires first.
pub(crate) fn wait_readable(pidfd: &OwnedFd, limit: Option<Duration>) -> io::Result<bool> {
    let deadline = limit.map(|limit| clock::now() + Nanos::from(limit));
    loop {
        let left = deadline.map(|deadline| deadline.since(clock::now()));
        let timeout = left.map(|left| Timespec {
            tv_sec: (left / 1_000_000_000).cast_signed(),
            tv_nsec: (left % 1_000_000_000) as _,
        });
        let mut fds = [PollFd::new(pidfd, PollFlags::IN)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(0) if left == Some(0) => return Ok(false),
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}
