//! A server that the user runs.

use std::io;

use procfs::process::Process;
use rpcbench_engine::ServerAddress;
use rpcbench_record::{Isolation, IsolationMode};
use rustix::process::Pid;

use super::host_machine::HostMachine;
use super::{Counters, CpuReading, Endpoint, Machine, Placement, PlacementError, Running};
use crate::host::cpus::allowed;
use crate::host::isolation::ProcessTree;
use crate::host::meter::Meter;

/// A server at an address: neither started nor stopped, frozen or limited. Given its process id on this machine, its CPU
/// time, memory, threads and context switches are read from `/proc`, to the clock tick, with those of its child processes.
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
    /// Clock ticks since boot: a later process with the same id has another.
    started: u64,
    cpus: Vec<u32>,
}

impl Unmanaged {
    /// The server at `endpoint`, loaded by threads on `client_cpus`. `pid`: its process on this machine, to watch it.
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

    /// True if it is known to run on this machine.
    pub fn is_local(&self) -> bool {
        self.process.is_some() || self.endpoint.address.is_local()
    }

    /// CPUs that the watched process may use. `None` if no process is watched.
    pub fn server_cpus(&self) -> Option<&[u32]> {
        self.process.as_ref().map(|process| process.cpus.as_slice())
    }
}

impl Watched {
    fn find(id: u32) -> Result<Self, PlacementError> {
        let refused = |error: io::Error| {
            PlacementError(format!(
                "process {id} can't be watched: {error}; give the id of the server's process on this machine"
            ))
        };
        let missing = || refused(io::Error::from(io::ErrorKind::NotFound));
        let pid = i32::try_from(id).ok().and_then(Pid::from_raw).ok_or_else(missing)?;
        let cpus = allowed(Some(pid)).map_err(refused)?;
        Ok(Self { pid, started: start_of(pid).ok_or_else(missing)?, cpus })
    }

    fn is_alive(&self) -> bool {
        start_of(self.pid) == Some(self.started)
    }
}

/// When a process was started, clock ticks since boot. `None` if it has ended.
fn start_of(pid: Pid) -> Option<u64> {
    let stat = Process::new(pid.as_raw_pid()).and_then(|process| process.stat()).ok()?;
    (!matches!(stat.state, 'Z' | 'X')).then_some(stat.starttime)
}

impl Placement for Unmanaged {
    fn isolation(&self) -> Isolation {
        let server_cpus = self.server_cpus().unwrap_or_default().to_vec();
        let shared = server_cpus.iter().any(|cpu| self.client_cpus.contains(cpu));
        let note =
            "server and client may run on the same CPUs: each other's load is in their figures";
        Isolation {
            mode: IsolationMode::Unmanaged,
            server_cpus,
            client_cpus: self.client_cpus.clone(),
            memory_bytes: None,
            details: Default::default(),
            notes: shared.then(|| note.to_owned()).into_iter().collect(),
        }
    }

    fn start(&self, _: u32) -> Result<Box<dyn Running>, PlacementError> {
        let (process, isolation) = (self.process.clone(), self.isolation());
        Ok(Box::new(UnmanagedServer {
            endpoint: self.endpoint.clone(),
            machine: HostMachine::observed(&isolation),
            isolation,
            process: process.map(|process| (ProcessTree::of(process.pid), process)),
            meter: Meter::new(&[]),
        }))
    }
}

struct UnmanagedServer {
    endpoint: Endpoint,
    machine: HostMachine,
    isolation: Isolation,
    process: Option<(ProcessTree, Watched)>,
    meter: Meter,
}

/// The processes to read. `None` if none is watched, or it has ended.
fn living(process: &Option<(ProcessTree, Watched)>) -> Option<&ProcessTree> {
    process.as_ref().filter(|(_, process)| process.is_alive()).map(|(tree, _)| tree)
}

impl Running for UnmanagedServer {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn isolation(&self) -> Isolation {
        self.isolation.clone()
    }

    fn machine(&mut self) -> &mut dyn Machine {
        &mut self.machine
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

    fn stop(self: Box<Self>) -> Result<(), PlacementError> {
        Ok(())
    }
}
