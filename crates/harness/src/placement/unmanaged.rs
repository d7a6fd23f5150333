//! A server that somebody else runs.

use std::io;
use std::time::Duration;

use procfs::process::Process;
use rpcbench_engine::ServerAddress;
use rpcbench_record::{Isolation, IsolationMode};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity};

use super::{Endpoint, Placement, PlacementError, Running};
use crate::host::counters::{Counters, CpuReading, Meter};
use crate::host::isolation::ProcessTree;

/// A server at an address: neither started nor stopped, frozen or limited. With its process id, which must be of
/// this machine, its CPU time, memory, threads and context switches are read from `/proc`, to the clock tick, those
/// of its child processes included.
#[derive(Clone, Debug)]
pub struct Unmanaged {
    endpoint: Endpoint,
    process: Option<Watched>,
    client_cpus: Vec<u32>,
}

/// A process of this machine.
#[derive(Clone, Debug)]
struct Watched {
    pid: Pid,
    /// Clock ticks since boot: with the id it tells the process from a later one.
    started: u64,
    cpus: Vec<u32>,
}

impl Unmanaged {
    /// The server at `endpoint`, loaded by threads that may run on `client_cpus`. `pid`: its process, if it runs on
    /// this machine and is to be watched.
    ///
    /// # Errors
    /// If there is no such process.
    pub fn new(
        endpoint: Endpoint,
        pid: Option<u32>,
        client_cpus: Vec<u32>,
    ) -> Result<Self, PlacementError> {
        let process = pid.map(Watched::find).transpose()?;
        Ok(Self { endpoint, process, client_cpus })
    }

    /// The same server, at another address of its host.
    #[must_use]
    pub fn at(mut self, address: ServerAddress) -> Self {
        self.endpoint.address = address;
        self
    }

    /// Whether it is known to run on this machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.process.is_some() || self.endpoint.address.is_local()
    }

    /// CPUs that the watched process may use. `None` where none is watched.
    #[must_use]
    pub fn server_cpus(&self) -> Option<&[u32]> {
        self.process.as_ref().map(|process| process.cpus.as_slice())
    }
}

impl Watched {
    fn find(id: u32) -> Result<Self, PlacementError> {
        let refused = |source| PlacementError::Watch { pid: id, source };
        let missing = || refused(io::Error::from(io::ErrorKind::NotFound));
        let pid = i32::try_from(id).ok().and_then(Pid::from_raw).ok_or_else(missing)?;
        let allowed = sched_getaffinity(Some(pid)).map_err(|error| refused(error.into()))?;
        let cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
        let cpus = cpus.filter_map(|cpu| u32::try_from(cpu).ok()).collect();
        Ok(Self { pid, started: start_of(pid).ok_or_else(missing)?, cpus })
    }

    fn lives(&self) -> bool {
        start_of(self.pid) == Some(self.started)
    }
}

/// When a process was started, clock ticks since boot. `None`: it has ended.
fn start_of(pid: Pid) -> Option<u64> {
    let stat = Process::new(pid.as_raw_pid()).and_then(|process| process.stat()).ok()?;
    (!matches!(stat.state, 'Z' | 'X')).then_some(stat.starttime)
}

impl Placement for Unmanaged {
    fn isolation(&self) -> Isolation {
        let server_cpus = self.server_cpus().unwrap_or_default().to_vec();
        let shared = server_cpus.iter().any(|cpu| self.client_cpus.contains(cpu));
        let note =
            "server and client may run on the same CPUs: their figures hold each other's load";
        Isolation {
            mode: IsolationMode::Unmanaged,
            server_cpus,
            client_cpus: self.client_cpus.clone(),
            memory_bytes: None,
            notes: shared.then(|| note.to_owned()).into_iter().collect(),
        }
    }

    fn start(&self) -> Result<Box<dyn Running>, PlacementError> {
        let process = self.process.clone();
        Ok(Box::new(Found {
            endpoint: self.endpoint.clone(),
            isolation: self.isolation(),
            process: process.map(|process| (ProcessTree::of(process.pid), process)),
            meter: Meter::new(&[]),
        }))
    }
}

/// A server that was there.
struct Found {
    endpoint: Endpoint,
    isolation: Isolation,
    process: Option<(ProcessTree, Watched)>,
    meter: Meter,
}

/// The processes to be read. `None` where none was named, and once that one has ended.
fn living(process: &Option<(ProcessTree, Watched)>) -> Option<&ProcessTree> {
    process.as_ref().filter(|(_, process)| process.lives()).map(|(tree, _)| tree)
}

impl Running for Found {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn isolation(&self) -> Isolation {
        self.isolation.clone()
    }

    fn sample_cpu(&mut self) -> Result<Option<CpuReading>, PlacementError> {
        let cpu = living(&self.process).map(|tree| self.meter.cpu(tree));
        Ok(cpu.transpose()?)
    }

    fn sample(&mut self) -> Result<Option<Counters>, PlacementError> {
        let counters = living(&self.process).map(|tree| self.meter.read(tree));
        Ok(counters.transpose()?)
    }

    fn freeze(&mut self) -> Result<(), PlacementError> {
        Ok(())
    }

    fn wake(&mut self) -> Result<(), PlacementError> {
        Ok(())
    }

    fn ended(&mut self, _within: Duration) -> Result<Option<String>, PlacementError> {
        Ok(None)
    }

    fn log_tail(&self, _lines: usize) -> Vec<String> {
        Vec::new()
    }

    fn stop(self: Box<Self>) -> Result<(), PlacementError> {
        Ok(())
    }
}
