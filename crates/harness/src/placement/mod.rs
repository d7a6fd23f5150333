//! Placements: where a server runs, and who starts it.
//!
//! The rest of the harness knows a server by these traits only: a [`Site`] knows the capacity for a server, and builds it; once
//! it is an [`OpenSite`], it has a [`Placement`] for each entry of a run, which starts what was built; [`Running`] is that server
//! until it is stopped, and [`Machine`] what it runs on. Another kind of place, such as another machine, is another folder here:
//!
//! - `container`: containers of this machine, started by the command of an engine, counted and frozen by their cgroups.
//! - `native`: processes of this machine, started and isolated by the harness; `processes` builds them.
//! - [`Unmanaged`]: a server that the user runs, known by its address.
//!
//! Instants that a caller passes are of this process's monotonic clock; a placement whose machine has another converts
//! them. Readings carry the time of the clock of their machine, and only differences between them count.

mod certificates;
mod container;
mod error;
mod host_machine;
mod local;
mod local_placement;
mod native;
mod processes;
mod unmanaged;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use rpcbench_clock::Span;
use rpcbench_engine::{ConnectionOptions, ServerAddress, TlsClient};
use rpcbench_record::{
    Authority, Isolation, Limits, MachineUsage, Machines, PlacementKind, Protocol,
    RuntimeStatistics, TlsMode, units,
};

use crate::build::ServerBuilder;
use crate::build_env::BuildEnv;
use crate::error::about;
use crate::finding::Finding;
use crate::host::control_socket::ControlSocket;
use crate::host::cpus::Topology;
use crate::host::fingerprint::memory_bytes;
use crate::interrupt::Interrupt;
use crate::manifest::Entry;
use container::{DOCKER, PODMAN};

pub use crate::host::readings::{Counters, CpuReading, CpuTime, MachineReading, MemoryUse};
pub use error::PlacementError;
pub use unmanaged::Unmanaged;

/// Subject of errors if they are unknown, or this process can't be moved to some of them.
const CPUS: &str = "the CPUs of this process";

/// Options for opening a site.
#[derive(Clone, Debug, Default)]
pub struct SiteOptions {
    /// Limits of each server.
    pub limits: Limits,
    /// Load threads for which to leave CPUs.
    pub client_threads: u32,
    /// Environment of every server: `PATH` and the like.
    pub base_env: BTreeMap<String, String>,
    /// Folder for the servers' logs.
    pub logs: PathBuf,
    /// True if servers with TLS are started, which need a certificate.
    pub tls: bool,
    /// True if servers report statistics of their runtimes.
    pub runtime_statistics: bool,
    /// Port of every server. `None`: any free one.
    pub port: Option<u16>,
    /// Stops what waits for a container engine.
    pub interrupt: Interrupt,
    /// True if servers are measured: then this run and others on the same CPUs see each other.
    pub measures: bool,
}

impl SiteOptions {
    /// A file of one process of an entry.
    fn log_file(&self, entry: &Entry, process: u32, kind: &str) -> PathBuf {
        match process {
            1 => self.logs.join(format!("{}.{kind}", entry.name())),
            _ => self.logs.join(format!("{}.{process}.{kind}", entry.name())),
        }
    }
}

/// A place for servers.
pub trait Site {
    /// Capacity for one server.
    fn capacity(&self) -> Result<Capacity, PlacementError> {
        Ok(Capacity::of(&Topology::read().map_err(about(CPUS))?.cpus(), memory_bytes()))
    }

    /// Builds servers in the form that is started there. Fails with the remedy if they can't run there at all: its engine
    /// is missing, doesn't answer, or can't start a container.
    fn builder<'a>(
        &'a self,
        env: &'a BuildEnv,
        interrupt: &'a Interrupt,
    ) -> Result<Box<dyn ServerBuilder + 'a>, PlacementError>;

    /// Opens it for servers. The calling thread, and those it starts later, may be moved to CPUs that are neither the
    /// servers' nor the load threads'.
    fn open(&self, options: SiteOptions) -> Result<Box<dyn OpenSite>, PlacementError>;
}

/// An open site, for all servers of a run.
pub trait OpenSite {
    /// A place for the server of `entry`.
    fn place(&self, entry: &Entry) -> Box<dyn Placement>;

    /// A place for the server that a client of this site calls: on the CPUs of load threads, with as much memory as the client.
    /// Fails if the site has no such place.
    fn place_counterpart(&self, entry: &Entry) -> Result<Box<dyn Placement>, PlacementError> {
        let name = entry.name();
        Err(PlacementError(format!("{name} can't be called by clients here; use --in native")))
    }

    /// The machines of client and servers.
    fn machines(&self) -> Machines;

    /// CPUs of this machine for load threads. Empty: any.
    fn client_cpus(&self) -> &[u32];

    /// Notices for the user before the run, a line each.
    fn notices(&self) -> &[String] {
        &[]
    }
}

/// CPUs and memory for a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// CPUs, including those that the client takes if it runs there.
    pub cpus: u32,
    /// Bytes. `None` if unknown.
    pub memory_bytes: Option<u64>,
}

impl Capacity {
    fn of(cpus: &[u32], memory_bytes: Option<u64>) -> Self {
        Self { cpus: u32::try_from(cpus.len()).unwrap_or(u32::MAX), memory_bytes }
    }

    /// Refuses limits above it, which would limit nothing.
    pub fn check(&self, limits: &Limits) -> Result<(), PlacementError> {
        let Limits { cpus, memory_bytes } = limits;
        if *cpus > self.cpus {
            let there = self.cpus;
            return Err(PlacementError(format!(
                "--cpus {cpus}: only {there} are available, including the client's; use fewer"
            )));
        }
        match (memory_bytes, self.memory_bytes) {
            (Some(limit), Some(there)) if *limit > there => Err(PlacementError(format!(
                "a memory limit of {}: this machine has {}; use less with --memory",
                units::bytes(*limit),
                units::bytes(there)
            ))),
            _ => Ok(()),
        }
    }
}

/// The site of that kind, for servers that rpcbench starts.
pub fn site(kind: PlacementKind) -> Result<Box<dyn Site>, PlacementError> {
    match kind {
        PlacementKind::Native => Ok(Box::new(native::ThisMachine)),
        PlacementKind::Docker => Ok(Box::new(container::Engines(DOCKER))),
        PlacementKind::Podman => Ok(Box::new(container::Engines(PODMAN))),
        PlacementKind::Unmanaged => Err(PlacementError(
            "an unmanaged server can't be started; `rpcbench load` measures it".to_owned(),
        )),
    }
}

/// Findings of `doctor` about placements other than native.
pub(crate) fn examine() -> Vec<Finding> {
    container::examine()
}

/// A place for one server.
pub trait Placement {
    /// True if rpcbench starts the server there, which must then prove that it keeps the contract.
    fn is_managed(&self) -> bool {
        true
    }

    /// The isolation known before the server runs.
    fn isolation(&self) -> Isolation;

    /// True if its memory fits next to the servers that run now.
    fn has_room(&self) -> bool {
        true
    }

    /// Starts a process of the server, with TLS or without, under its limits; those with different numbers can run at the same
    /// time. It may not answer yet.
    fn start(&self, process: u32, tls: TlsMode) -> Result<Box<dyn Running>, PlacementError>;

    /// Starts it before its turn, where it leaves the servers' CPUs to the one that is loaded now. `None` if there is no such
    /// place, or it can't be started.
    fn start_early(&self, _process: u32, _tls: TlsMode) -> Option<Box<dyn Running>> {
        None
    }
}

/// A running server. Dropping it kills what the placement started.
pub trait Running {
    /// The endpoint of a server; the control socket of a client.
    fn endpoint(&self) -> &Endpoint;

    /// Its isolation.
    fn isolation(&self) -> Isolation;

    /// The machine it runs on.
    fn machine(&mut self) -> &mut dyn Machine;

    /// The socket that it connects to, if it is a client.
    fn control(&self) -> Option<&ControlSocket> {
        None
    }

    /// The process id. `None` if it is unknown, or not of this machine.
    fn pid(&self) -> Option<u32> {
        None
    }

    /// Moves a server that was started early, or spread, to the servers' CPUs alone.
    fn pin_to_server_cpus(&mut self) -> Result<(), PlacementError> {
        Ok(())
    }

    /// Gives a server whose runtime compiles a spare CPU, if any, until [`Self::pin_to_server_cpus`].
    fn add_spare_cpu(&mut self) -> Result<(), PlacementError> {
        Ok(())
    }

    /// CPU time. `None` if the placement can't see it.
    fn sample_cpu(&mut self) -> Result<Option<CpuReading>, PlacementError>;

    /// All counters. `None` if the placement can't see them.
    fn sample(&mut self) -> Result<Option<Counters>, PlacementError>;

    /// Runtime statistics of a window of one or several spans that has ended. `None` if the runtime reports nothing.
    fn runtime(&mut self, _window: &[Span]) -> Result<Option<RuntimeStatistics>, PlacementError> {
        Ok(None)
    }

    /// Resets its peak memory, where the system can.
    fn reset_peak(&mut self) -> Result<(), PlacementError> {
        Ok(())
    }

    /// File of the authority that issued its certificate. `None` without TLS, and of a server that the user runs.
    fn authority_file(&self) -> Option<PathBuf> {
        None
    }

    /// The means to freeze it. `None` if it can't be frozen.
    fn freezer(&self) -> Option<Freezer> {
        None
    }

    /// Stops it from using CPU time until [`Self::wake`], and returns when it has stopped. Does nothing without a freezer.
    fn freeze(&mut self) -> Result<(), PlacementError>;

    /// Lets it run again.
    fn wake(&mut self) -> Result<(), PlacementError>;

    /// The end of the server, if it has ended or does so `within` that time. `None`: it runs, or the placement can't tell.
    fn ended(&mut self, _within: Duration) -> Result<Option<String>, PlacementError> {
        Ok(None)
    }

    /// Others who serve its port, so that its counters are not those of the work, and the remedy. `None`: no one does, or the
    /// placement can't tell.
    fn served_by_others(&mut self) -> Result<Option<String>, PlacementError> {
        Ok(None)
    }

    /// The addresses on which its processes listen. Empty if the placement can't see them.
    fn listening(&self) -> Vec<SocketAddr> {
        Vec::new()
    }

    /// The last lines of its log, at most `lines`. Empty if the placement can't see it.
    fn log_tail(&self, _lines: usize) -> Vec<String> {
        Vec::new()
    }

    /// Ends it as the process contract says, if the placement started it. Fails if its port is still served then.
    fn stop(self: Box<Self>) -> Result<(), PlacementError>;
}

/// The means to freeze a server, the faster first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Freezer {
    /// The kernel, in less than a millisecond.
    Cgroup,
    /// Signals to each process, or a container engine: in up to some tens of milliseconds.
    Slow,
}

/// A server's machine, watched over the windows in which the server is measured.
pub trait Machine {
    /// Starts the machine reference: a fixed piece of work, repeated on the server's CPUs until [`Self::usage`]. Does
    /// nothing if the placement has no CPUs for it.
    fn start_reference(&mut self) -> Result<(), PlacementError>;

    /// Reads its counters.
    fn sample(&mut self) -> Result<MachineReading, PlacementError>;

    /// The usage between two readings. Ends the machine reference.
    fn usage(
        &mut self,
        first: &MachineReading,
        last: &MachineReading,
    ) -> Result<MachineUsage, PlacementError>;
}

/// The endpoint of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The server's address.
    pub address: ServerAddress,
    /// More addresses of it, over which a load spreads its connections, too.
    pub others: Vec<ServerAddress>,
    /// Host name in requests: the address as the user wrote it.
    pub authority: String,
    /// `None`: without TLS.
    pub tls: Option<TlsClient>,
}

impl Endpoint {
    /// Connection options. Requests name the user's `authority`, if any, and the endpoint's otherwise.
    pub fn connection(
        &self,
        protocol: Protocol,
        authority: Option<&Authority>,
    ) -> ConnectionOptions {
        ConnectionOptions {
            protocol,
            address: self.address.clone(),
            others: self.others.clone(),
            authority: authority.map_or(&*self.authority, Authority::as_str).to_owned(),
            tls: self.tls.clone(),
            keepalive: None,
        }
    }
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Self {
        let address = ServerAddress::from(address);
        Self { authority: address.authority(), address, others: Vec::new(), tls: None }
    }
}
