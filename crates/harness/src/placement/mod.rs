//! Placements: where a server runs, and who starts it.
//!
//! The rest of the harness uses only these traits. A [`Site`] knows the capacity for a server and builds it. Once opened, as an
//! [`OpenSite`], it has a [`Placement`] for each entry of a run, which starts what was built. [`Running`] is a server until it is
//! stopped, and [`Machine`] is what it runs on. Another kind of placement, such as on another machine, is another folder here:
//!
//! - `container`: containers on this machine, started by an engine's command; their cgroups are used to count and freeze.
//! - `native`: processes of this machine, started and isolated by the harness; `processes` builds them.
//! - [`Unmanaged`]: a server that the user runs, known by its address.
//!
//! Callers pass instants on this process's monotonic clock; a placement on a machine with a different clock converts them.
//! Readings carry the time of their machine's clock, so only differences between them are meaningful.

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

/// Subject of errors about reading the CPUs, or moving this process to some of them.
const CPUS: &str = "the CPUs of this process";

/// Options for opening a site.
#[derive(Clone, Debug, Default)]
pub struct SiteOptions {
    /// Limits of each server.
    pub limits: Limits,
    /// Number of load threads to leave CPUs for.
    pub client_threads: u32,
    /// Environment of every server: `PATH` and the like.
    pub base_env: BTreeMap<String, String>,
    /// Folder for the servers' logs.
    pub logs: PathBuf,
    /// True if servers with TLS are started, which need certificates.
    pub tls: bool,
    /// True if servers report runtime statistics.
    pub runtime_statistics: bool,
    /// Port of each server. `None`: any free one.
    pub port: Option<u16>,
    /// Stops waiting for a container engine.
    pub interrupt: Interrupt,
    /// True if servers are measured. Runs on the same CPUs can then see each other.
    pub measures: bool,
}

impl SiteOptions {
    /// Path of a log of one process of an entry.
    fn log_file(&self, entry: &Entry, process: u32, kind: &str) -> PathBuf {
        match process {
            1 => self.logs.join(format!("{}.{kind}", entry.name())),
            _ => self.logs.join(format!("{}.{process}.{kind}", entry.name())),
        }
    }
}

/// Where servers can run.
pub trait Site {
    /// Capacity for one server.
    fn capacity(&self) -> Result<Capacity, PlacementError> {
        Ok(Capacity::of(&Topology::read().map_err(about(CPUS))?.cpus(), memory_bytes()))
    }

    /// A builder for servers in the form that this site starts. Fails with a remedy if servers can't run here at all: the engine
    /// is missing, does not answer, or can't start a container.
    fn builder<'a>(
        &'a self,
        env: &'a BuildEnv,
        interrupt: &'a Interrupt,
    ) -> Result<Box<dyn ServerBuilder + 'a>, PlacementError>;

    /// Opens the site for servers. May move the calling thread, and threads that it starts later, to CPUs that are neither the
    /// servers' nor the load threads'.
    fn open(&self, options: SiteOptions) -> Result<Box<dyn OpenSite>, PlacementError>;
}

/// An open site, shared by all servers of a run.
pub trait OpenSite {
    /// The placement of the server of `entry`.
    fn place(&self, entry: &Entry) -> Box<dyn Placement>;

    /// The placement of a server that a client calls: on the CPUs of load threads, with the client's memory limit. Fails if the
    /// site does not support it.
    fn place_counterpart(&self, entry: &Entry) -> Result<Box<dyn Placement>, PlacementError> {
        let name = entry.name();
        Err(PlacementError(format!("{name} can't be called by clients here; use --in native")))
    }

    /// The machines of the client and the servers.
    fn machines(&self) -> Machines;

    /// This machine's CPUs for load threads. Empty: any.
    fn client_cpus(&self) -> &[u32];

    /// Notices for the user before the run, a line each.
    fn notices(&self) -> &[String] {
        &[]
    }
}

/// CPUs and memory for a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// CPUs, including those for the client if it runs there, too.
    pub cpus: u32,
    /// Bytes. `None` if unknown.
    pub memory_bytes: Option<u64>,
}

impl Capacity {
    fn of(cpus: &[u32], memory_bytes: Option<u64>) -> Self {
        Self { cpus: u32::try_from(cpus.len()).unwrap_or(u32::MAX), memory_bytes }
    }

    /// Refuses limits above the capacity, which would have no effect.
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

/// The site of a placement, for servers that rpcbench starts.
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

/// Starts one server of a site.
pub trait Placement {
    /// True if rpcbench starts the server, which must then prove that it fulfils the contract.
    fn is_managed(&self) -> bool {
        true
    }

    /// The isolation known before the server runs.
    fn isolation(&self) -> Isolation;

    /// True if there is enough memory for the server in addition to those that are running.
    fn has_room(&self) -> bool {
        true
    }

    /// Starts a process of the server under its limits, with or without TLS. Processes with different numbers can run at the same
    /// time. The server may not answer yet.
    fn start(&self, process: u32, tls: TlsMode) -> Result<Box<dyn Running>, PlacementError>;

    /// Starts the server before it is needed, on other CPUs than the server that is being loaded. `None` if the placement has no
    /// such CPUs, or the start failed.
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

    /// The socket that a client connects to. `None` for a server.
    fn control(&self) -> Option<&ControlSocket> {
        None
    }

    /// The process id. `None` if it is unknown, or not on this machine.
    fn pid(&self) -> Option<u32> {
        None
    }

    /// Restricts a server that was started early, or spread, to the servers' CPUs.
    fn pin_to_server_cpus(&mut self) -> Result<(), PlacementError> {
        Ok(())
    }

    /// Gives a server with compiler threads a spare CPU, if any, until [`Self::pin_to_server_cpus`].
    fn add_spare_cpu(&mut self) -> Result<(), PlacementError> {
        Ok(())
    }

    /// CPU time so far. `None` if the placement can't read it.
    fn sample_cpu(&mut self) -> Result<Option<CpuReading>, PlacementError>;

    /// All counters. `None` if the placement can't read them.
    fn sample(&mut self) -> Result<Option<Counters>, PlacementError>;

    /// Runtime statistics of a finished window of one or several spans. `None` if the runtime reports nothing.
    fn runtime(&mut self, _window: &[Span]) -> Result<Option<RuntimeStatistics>, PlacementError> {
        Ok(None)
    }

    /// Resets its peak memory, if the system supports that.
    fn reset_peak(&mut self) -> Result<(), PlacementError> {
        Ok(())
    }

    /// File of the authority that issued its certificate. `None` without TLS, and for a server that the user runs.
    fn authority_file(&self) -> Option<PathBuf> {
        None
    }

    /// How it can be frozen. `None` if it can't.
    fn freezer(&self) -> Option<Freezer> {
        None
    }

    /// Stops it from using CPU time until [`Self::wake`], and returns once it has stopped. No-op without a freezer.
    fn freeze(&mut self) -> Result<(), PlacementError>;

    /// Resumes it.
    fn wake(&mut self) -> Result<(), PlacementError>;

    /// How the server ended, if it has ended or does so within the time given. `None` if it is running, or the placement can't
    /// tell.
    fn ended(&mut self, _within: Duration) -> Result<Option<String>, PlacementError> {
        Ok(None)
    }

    /// Other processes that serve its port, so that its counters miss their work, and the remedy. `None` if there are no others,
    /// or the placement can't tell.
    fn served_by_others(&mut self) -> Result<Option<String>, PlacementError> {
        Ok(None)
    }

    /// The addresses at which its processes listen. Empty if unknown.
    fn listening(&self) -> Vec<SocketAddr> {
        Vec::new()
    }

    /// The last lines of its log, at most `lines`. Empty if unknown.
    fn log_tail(&self, _lines: usize) -> Vec<String> {
        Vec::new()
    }

    /// Stops the server as the process contract defines, if the placement started it. Fails if its port is still served
    /// afterwards.
    fn stop(self: Box<Self>) -> Result<(), PlacementError>;
}

/// How to freeze a server, fastest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Freezer {
    /// By the kernel, in less than a millisecond.
    Cgroup,
    /// By signals to each process, or by a container engine: takes up to tens of milliseconds.
    Slow,
}

/// A server's machine, observed during the windows of the server.
pub trait Machine {
    /// Starts the machine reference: a fixed piece of work that is repeated on the server's CPUs until [`Self::usage`]. No-op if
    /// the placement has no CPUs for it.
    fn start_reference(&mut self) -> Result<(), PlacementError>;

    /// Reads the machine's counters.
    fn sample(&mut self) -> Result<MachineReading, PlacementError>;

    /// The usage between two readings. Stops the machine reference.
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
    /// More addresses of the server, which a load spreads its connections over, too.
    pub others: Vec<ServerAddress>,
    /// Host name in requests: the address as the user typed it.
    pub authority: String,
    /// The TLS client. `None` without TLS.
    pub tls: Option<TlsClient>,
}

impl Endpoint {
    /// Connection options. Requests name `authority` if it is given, otherwise the endpoint's.
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
