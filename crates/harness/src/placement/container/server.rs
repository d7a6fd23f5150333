//! A server in a container.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rpcbench_record::regular;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::engine::Engine;
use crate::error::about;
use crate::host::isolation::{Adopted, Backend};
use crate::host::process::Exit;
use crate::log;
use crate::placement::local::Started;
use crate::placement::{Freezer, PlacementError};
use crate::task::wait_readable;

/// A container, known by its name. Dropping it removes the container, even if it is frozen.
#[derive(Debug)]
pub(super) struct Container {
    pub(super) engine: Engine,
    pub(super) name: String,
    pub(super) removed: bool,
    /// Set if the container can't be removed.
    pub(super) is_any_left: Arc<AtomicBool>,
}

impl Container {
    /// How the container ended.
    pub(super) fn exit(&self, limit: Option<u64>) -> Result<Exit, PlacementError> {
        let format = "{{.State.OOMKilled}} {{.State.ExitCode}}";
        let state = self.engine.run(&["inspect", "--format", format, &self.name])?;
        let (oom, code) = state.split_once(' ').unwrap_or_default();
        // Like shells, engines report the signal that ended the first process as 128 + signal.
        const SIGNALLED: i32 = 128;
        let code = code.parse().unwrap_or_default();
        Ok(match (oom == "true", limit) {
            (true, Some(limit)) => Exit::OutOfMemory { limit },
            _ if code > SIGNALLED => Exit::Signal(code - SIGNALLED),
            _ => Exit::Code(code),
        })
    }

    /// The error for a container that ended right after its start. Its output goes to `log`.
    pub(super) fn early_end(
        &self,
        limit: Option<u64>,
        log: &Path,
    ) -> Result<PlacementError, PlacementError> {
        // Wait until the engine has noticed the end.
        self.engine.run(&["wait", &self.name])?;
        let exit = self.exit(limit)?;
        let said = self.engine.logs(&self.name, "20").unwrap_or_default();
        let _ = regular::replace(log, &said);
        let last = said.lines().rev().find(|line| !line.trim().is_empty());
        let last = last.map(|line| format!(": {line}")).unwrap_or_default();
        Ok(PlacementError(format!("its container {exit} at once{last}")))
    }

    /// Stops and removes the container.
    fn stop(&mut self, timeout: Duration) -> Result<(), PlacementError> {
        if !self.engine.is_stopped() {
            let seconds = timeout.as_secs().max(1).to_string();
            self.engine.run(&["stop", "-t", &seconds, &self.name])?;
        }
        self.remove()
    }

    fn remove(&mut self) -> Result<(), PlacementError> {
        // Also removes the volumes that the image declares.
        self.engine.run(&["rm", "-f", "-v", &self.name])?;
        self.removed = true;
        Ok(())
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if !self.removed && self.remove().is_err() {
            self.is_any_left.store(true, Ordering::Relaxed);
        }
    }
}

/// A container that runs a server.
pub(super) struct StartedContainer {
    pub(super) container: Container,
    pub(super) group: Adopted,
    pub(super) process: Process,
    /// The memory limit in force, bytes.
    pub(super) limit: Option<u64>,
    /// File for its output, written when it ends.
    pub(super) log: PathBuf,
    pub(super) stop_timeout: Duration,
}

/// The first process of a container.
pub(super) struct Process {
    pub(super) pid: Pid,
    ended: OwnedFd,
}

impl Process {
    /// `None` if the process has ended.
    pub(super) fn open(pid: Pid) -> io::Result<Option<Self>> {
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(ended) => Ok(Some(Self { pid, ended })),
            Err(Errno::SRCH) => Ok(None),
            Err(error) => Err(about("a container's process can't be waited for")(error)),
        }
    }

    /// True if the process has ended, or does so within `within`.
    pub(super) fn has_ended(&self, within: Duration) -> io::Result<bool> {
        wait_readable(&self.ended, Some(within))
    }
}

impl StartedContainer {
    /// Saves the server's output to the log file.
    fn keep_log(&self) -> Result<(), PlacementError> {
        const LINES: &str = "100000";
        let text = self.container.engine.logs(&self.container.name, LINES)?;
        Ok(regular::replace(&self.log, text).map_err(about(self.log.display()))?)
    }

    /// Runs an engine command, for a group whose files belong to another user.
    fn ask_engine(&self, command: &str) -> Result<(), PlacementError> {
        self.container.engine.run(&[command, &self.container.name]).map(drop)
    }
}

impl Started for StartedContainer {
    fn pid(&self) -> Pid {
        self.process.pid
    }

    fn group(&self) -> &dyn Backend {
        &*self.group.backend
    }

    fn freezer(&self) -> Freezer {
        if self.group.can_freeze { Freezer::Cgroup } else { Freezer::Slow }
    }

    fn freeze(&mut self) -> Result<(), PlacementError> {
        if self.group.can_freeze { Ok(self.group().freeze()?) } else { self.ask_engine("pause") }
    }

    fn thaw(&mut self) -> Result<(), PlacementError> {
        if self.group.can_freeze { Ok(self.group().thaw()?) } else { self.ask_engine("unpause") }
    }

    fn ended(&mut self, within: Duration) -> Result<Option<String>, PlacementError> {
        if self.process.has_ended(within)? {
            return Ok(Some(self.container.exit(self.limit).map_or_else(
                |error| format!("ended, probably with its engine, which can't say how: {error};"),
                |exit| exit.to_string(),
            )));
        }
        // A container that is just ending has no group any more.
        let killed = self.group().oom_kills().unwrap_or(0) > 0;
        let limit = self.limit.filter(|_| killed);
        Ok(limit.map(|limit| Exit::OutOfMemory { limit }.to_string()))
    }

    /// Once a container has ended, its group is gone. The error is the end of the container then.
    fn explain(&mut self, error: io::Error) -> PlacementError {
        const EXIT_WAIT: Duration = Duration::from_secs(1);
        match self.ended(EXIT_WAIT) {
            Ok(Some(how)) => PlacementError(how),
            Ok(None) | Err(_) => error.into(),
        }
    }

    fn log_tail(&self, lines: usize) -> Vec<String> {
        self.keep_log().map(|()| log::tail(&self.log, lines)).unwrap_or_default()
    }

    fn stop(mut self) -> Result<(), PlacementError> {
        let kept = self.keep_log();
        self.container.stop(self.stop_timeout)?;
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::container::engine::fake;

    #[test]
    fn opening_an_ended_process_returns_none() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = Pid::from_child(&child);
        assert!(Process::open(pid).unwrap().unwrap().has_ended(Duration::from_secs(60)).unwrap());
        child.wait().unwrap();
        assert!(Process::open(pid).unwrap().is_none());
    }

    /// The container is inspected once the engine has noticed its end.
    #[test]
    fn early_end_reports_exit_code_and_last_line() {
        let (folder, engine) = fake(
            "case $1 in wait) touch \"$0.ended\" ;; logs) echo 'no socket' ;;\n\
             inspect) [ -e \"$0.ended\" ] && echo false 7 || echo false 0 ;; esac",
        );
        let name = "client".to_owned();
        let container = Container { engine, name, removed: true, is_any_left: Arc::default() };
        let log = folder.path().join("log");
        let error = container.early_end(None, &log).unwrap().to_string();
        assert_eq!(error, "its container exited with code 7 at once: no socket");
        assert!(std::fs::read_to_string(log).unwrap().contains("no socket"));
    }
}
