//! A server in a container.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rpcbench_clock::Span;
use rpcbench_record::{Isolation, RuntimeStatistics};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::engine::Engine;
use crate::error::about;
use crate::host::isolation::Adopted;
use crate::host::meter::Meter;
use crate::host::port::{listening, served_by_others};
use crate::host::process::Exit;
use crate::host::runtime_log::RuntimeLog;
use crate::log;
use crate::placement::host_machine::HostMachine;
use crate::placement::native::note_unchecked;
use crate::placement::{Counters, CpuReading, Endpoint, Machine, PlacementError, Running};
use crate::task::wait_readable;

/// A container by its name. Dropping it removes it, frozen or not.
#[derive(Debug)]
pub(super) struct Container {
    pub(super) engine: Engine,
    pub(super) name: String,
    pub(super) removed: bool,
    /// Set if it can't be removed.
    pub(super) is_any_left: Arc<AtomicBool>,
}

impl Container {
    /// How it ended.
    pub(super) fn exit(&self, limit: Option<u64>) -> Result<Exit, PlacementError> {
        let format = "{{.State.OOMKilled}} {{.State.ExitCode}}";
        let state = self.engine.run(&["inspect", "--format", format, &self.name])?;
        let (oom, code) = state.split_once(' ').unwrap_or_default();
        // An engine reports the signal that ended the first process as the shells do.
        const SIGNALLED: i32 = 128;
        let code = code.parse().unwrap_or_default();
        Ok(match (oom == "true", limit) {
            (true, Some(limit)) => Exit::OutOfMemory { limit },
            _ if code > SIGNALLED => Exit::Signal(code - SIGNALLED),
            _ => Exit::Code(code),
        })
    }

    /// Ends it, and removes it.
    fn stop(&mut self, timeout: Duration) -> Result<(), PlacementError> {
        let seconds = timeout.as_secs().max(1).to_string();
        self.engine.run(&["stop", "-t", &seconds, &self.name])?;
        self.remove()
    }

    fn remove(&mut self) -> Result<(), PlacementError> {
        self.engine.run(&["rm", "-f", &self.name])?;
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

pub(super) struct ContainerServer {
    pub(super) container: Container,
    pub(super) group: Adopted,
    pub(super) process: Process,
    pub(super) address: SocketAddr,
    pub(super) endpoint: Endpoint,
    pub(super) isolation: Isolation,
    pub(super) machine: HostMachine,
    pub(super) meter: Meter,
    pub(super) runtime: Option<RuntimeLog>,
    /// Where its output goes once it has ended.
    pub(super) log: PathBuf,
    pub(super) stop_timeout: Duration,
    pub(super) frozen: bool,
}

/// The first process of a container.
pub(super) struct Process {
    pub(super) pid: Pid,
    ended: OwnedFd,
}

impl Process {
    pub(super) fn open(pid: Pid) -> io::Result<Self> {
        let ended = pidfd_open(pid, PidfdFlags::empty());
        let ended = ended.map_err(about("a container's process can't be waited for"))?;
        Ok(Self { pid, ended })
    }
}

impl ContainerServer {
    /// By the engine where the group's files are another user's.
    fn set_frozen(&mut self, frozen: bool) -> Result<(), PlacementError> {
        match (self.group.can_freeze, frozen) {
            (true, true) => self.group.backend.freeze()?,
            (true, false) => self.group.backend.thaw()?,
            (false, _) => {
                let command = if frozen { "pause" } else { "unpause" };
                self.container.engine.run(&[command, &self.container.name])?;
            }
        }
        self.frozen = frozen;
        Ok(())
    }

    /// The group of a container that has ended is gone: its end is the reason.
    fn explained(&mut self, error: io::Error) -> PlacementError {
        const DEATH: Duration = Duration::from_secs(1);
        match self.ended(DEATH) {
            Ok(Some(how)) => PlacementError(how),
            Ok(None) | Err(_) => error.into(),
        }
    }

    /// Keeps what the server printed, for readers of the logs.
    fn keep_log(&self) -> Result<(), PlacementError> {
        const LINES: &str = "100000";
        let text = self.container.engine.logs(&self.container.name, LINES)?;
        Ok(fs::write(&self.log, text).map_err(about(self.log.display()))?)
    }
}

impl Running for ContainerServer {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn isolation(&self) -> Isolation {
        self.isolation.clone()
    }

    fn machine(&mut self) -> &mut dyn Machine {
        &mut self.machine
    }

    fn pid(&self) -> Option<u32> {
        self.process.pid.as_raw_pid().try_into().ok()
    }

    fn sample_cpu(&mut self) -> Result<Option<CpuReading>, PlacementError> {
        let read = self.meter.cpu(&*self.group.backend);
        read.map(Some).map_err(|error| self.explained(error))
    }

    fn sample(&mut self) -> Result<Option<Counters>, PlacementError> {
        let read = self.meter.read(&*self.group.backend);
        read.map(Some).map_err(|error| self.explained(error))
    }

    fn runtime(&mut self, window: Span) -> Result<Option<RuntimeStatistics>, PlacementError> {
        Ok(self.runtime.as_mut().map(|log| log.over(window)).transpose()?.flatten())
    }

    fn reset_peak(&mut self) -> Result<(), PlacementError> {
        Ok(self.group.backend.reset_peak()?)
    }

    fn freeze(&mut self) -> Result<(), PlacementError> {
        self.set_frozen(true)
    }

    fn wake(&mut self) -> Result<(), PlacementError> {
        if self.frozen { self.set_frozen(false) } else { Ok(()) }
    }

    /// A server has ended as well if the kernel killed one of its workers for memory.
    fn ended(&mut self, within: Duration) -> Result<Option<String>, PlacementError> {
        if wait_readable(&self.process.ended, Some(within))? {
            let exit = self.container.exit(self.isolation.memory_bytes);
            return Ok(Some(exit.map_or_else(
                |error| format!("ended, probably with its engine, which can't say how: {error};"),
                |exit| exit.to_string(),
            )));
        }
        // The group of a container that ends in this moment is gone.
        let killed = self.group.backend.oom_kills().unwrap_or(0) > 0;
        let limit = self.isolation.memory_bytes.filter(|_| killed);
        Ok(limit.map(|limit| Exit::OutOfMemory { limit }.to_string()))
    }

    fn served_by_others(&mut self) -> Result<Option<String>, PlacementError> {
        let served = served_by_others(self.address, &*self.group.backend);
        Ok(served.unwrap_or_else(|error| {
            note_unchecked(&mut self.isolation, &error);
            None
        }))
    }

    fn listening(&self) -> Vec<SocketAddr> {
        listening(&*self.group.backend).unwrap_or_default()
    }

    fn log_tail(&self, lines: usize) -> Vec<String> {
        let kept = self.keep_log().map(|()| log::tail(&self.log, lines));
        kept.unwrap_or_default()
    }

    fn stop(mut self: Box<Self>) -> Result<(), PlacementError> {
        self.wake()?;
        let kept = self.keep_log();
        self.container.stop(self.stop_timeout)?;
        kept
    }
}
