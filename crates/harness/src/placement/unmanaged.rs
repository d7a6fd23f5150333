//! A server that the user runs.

use std::io;

use procfs::process::Process;
use rpcbench_engine::ServerAddress;
use rpcbench_record::{Isolation, IsolationMode, Machines, ServerMachine, TlsMode, Toolchain};
use rustix::process::Pid;

use super::host_machine::HostMachine;
use super::{
    CPUS, Capacity, Counters, CpuReading, Endpoint, Machine, OpenSite, Placement, PlacementError,
    Running, Site, SiteOptions,
};
use crate::build::{BuildState, BuildWatch, Built, ServerBuilder};
use crate::build_env::BuildEnv;
use crate::error::about;
use crate::host::cpus::{Topology, allowed};
use crate::host::fingerprint::fingerprint;
use crate::host::isolation::ProcessTree;
use crate::host::meter::Meter;
use crate::interrupt::Interrupt;
use crate::manifest::{Entry, Server};

/// A server at an address. It is not started, stopped, frozen or limited. If its process id on this machine is known, its CPU
/// time, memory, threads and context switches (including those of child processes) are read from `/proc`, to the clock tick.
#[derive(Clone, Debug)]
pub struct Unmanaged {
    endpoint: Endpoint,
    process: Option<Watched>,
    topology: Topology,
}

/// A process of this machine.
#[derive(Clone, Debug)]
struct Watched {
    pid: Pid,
    /// Clock ticks since boot, to detect a later process with the same id.
    started: u64,
    cpus: Vec<u32>,
}

impl Unmanaged {
    /// The server at `endpoint`, loaded by threads on any CPU. `pid`: its process on this machine, whose usage to read.
    pub fn new(endpoint: Endpoint, pid: Option<u32>) -> Result<Self, PlacementError> {
        let topology = Topology::read().map_err(about(CPUS))?;
        let process = pid.map(Watched::find).transpose()?;
        Ok(Self { endpoint, process, topology })
    }

    /// The same server at other addresses of its host.
    #[must_use]
    pub fn at(mut self, address: ServerAddress, others: Vec<ServerAddress>) -> Self {
        (self.endpoint.address, self.endpoint.others) = (address, others);
        self
    }

    /// True if it is known to run on this machine.
    pub fn is_local(&self) -> bool {
        self.process.is_some() || self.endpoint.address.is_local()
    }

    /// CPUs that the watched process may use. Empty without one.
    fn server_cpus(&self) -> &[u32] {
        self.process.as_ref().map_or(&[], |process| &process.cpus)
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

impl Site for Unmanaged {
    fn capacity(&self) -> Result<Capacity, PlacementError> {
        let watched = self.process.as_ref().map(|process| process.cpus.clone());
        Ok(Capacity::of(&watched.unwrap_or_else(|| self.topology.cpus()), None))
    }

    fn builder<'a>(
        &'a self,
        _: &'a BuildEnv,
        _: &'a Interrupt,
    ) -> Result<Box<dyn ServerBuilder + 'a>, PlacementError> {
        Ok(Box::new(Existing))
    }

    fn open(&self, _: SiteOptions) -> Result<Box<dyn OpenSite>, PlacementError> {
        Ok(Box::new(self.clone()))
    }
}

/// Builds nothing: the server is already running.
struct Existing;

impl ServerBuilder for Existing {
    fn build(&self, _: &Server, _: bool, _: &mut BuildWatch<'_>) -> (Vec<Toolchain>, BuildState) {
        (Vec::new(), BuildState::Built(Built::default()))
    }
}

impl OpenSite for Unmanaged {
    fn place(&self, _: &Entry) -> Box<dyn Placement> {
        Box::new(self.clone())
    }

    fn machines(&self) -> Machines {
        let client = fingerprint(&self.topology, IsolationMode::Unmanaged);
        let server =
            if self.is_local() { ServerMachine::SameAsClient } else { ServerMachine::Unknown };
        Machines { client, server, engine: None }
    }

    fn client_cpus(&self) -> &[u32] {
        &[]
    }
}

impl Placement for Unmanaged {
    fn is_managed(&self) -> bool {
        false
    }

    fn isolation(&self) -> Isolation {
        let (server_cpus, client_cpus) = (self.server_cpus().to_vec(), self.topology.cpus());
        let shared = server_cpus.iter().any(|cpu| client_cpus.contains(cpu));
        let note = "server and client may run on the same CPUs, so each slows the other; keep them apart with taskset";
        Isolation {
            mode: IsolationMode::Unmanaged,
            server_cpus,
            client_cpus,
            memory_bytes: None,
            details: Default::default(),
            notes: shared.then(|| note.to_owned()).into_iter().collect(),
        }
    }

    fn start(&self, _: u32, _: TlsMode) -> Result<Box<dyn Running>, PlacementError> {
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

/// The processes to read. `None` if no process is watched, or if it has ended.
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
