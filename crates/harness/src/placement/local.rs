//! A server on this machine, as a process or in a container.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use rpcbench_clock::{self as clock, Span};
use rpcbench_engine::ServerAddress;
use rpcbench_record::{Isolation, Protocol, RuntimeStatistics, TlsMode};
use rustix::process::Pid;

use super::certificates::Certificates;
use super::host_machine::HostMachine;
use super::local_placement::LocalPlacement;
use super::{Counters, CpuReading, Endpoint, Freezer, Machine, PlacementError, Running};
use crate::host::control_socket::ControlSocket;
use crate::host::freezes::Freezes;
use crate::host::isolation::Backend;
use crate::host::meter::Meter;
use crate::host::port::{listening, served_by_others, still_served};
use crate::host::runtime_log::RuntimeLog;

/// A process or container that was started for a server and ends with it.
pub(super) trait Started {
    /// The first process.
    fn pid(&self) -> Pid;

    /// The group of its processes.
    fn group(&self) -> &dyn Backend;

    /// Processes that it started, in any group. Empty in a container, which no process can leave.
    fn marked(&self) -> Vec<Pid> {
        Vec::new()
    }

    /// See [`Running::freezer`].
    fn freezer(&self) -> Freezer;

    /// Stops it from using CPU time until [`Self::thaw`].
    fn freeze(&mut self) -> Result<(), PlacementError> {
        Ok(self.group().freeze()?)
    }

    /// Resumes it.
    fn thaw(&mut self) -> Result<(), PlacementError> {
        Ok(self.group().thaw()?)
    }

    /// See [`Running::ended`]. A server also counts as ended if the kernel killed one of its workers for using too much memory.
    fn ended(&mut self, within: Duration) -> Result<Option<String>, PlacementError>;

    /// Converts the error of reading its counters.
    fn explain(&mut self, error: io::Error) -> PlacementError {
        error.into()
    }

    /// See [`Running::log_tail`].
    fn log_tail(&self, lines: usize) -> Vec<String>;

    /// Stops it.
    fn stop(self) -> Result<(), PlacementError>;
}

/// How rpcbench contacts a process.
pub(super) enum Contact {
    /// The process listens at this address, as servers do.
    Address(SocketAddr),
    /// The process connects to this socket, as clients do.
    Socket(ControlSocket),
}

impl Contact {
    fn endpoint(&self) -> Endpoint {
        match self {
            Self::Address(address) => (*address).into(),
            Self::Socket(socket) => {
                let address = ServerAddress::Unix(socket.path());
                Endpoint { authority: address.authority(), address, others: Vec::new(), tls: None }
            }
        }
    }

    /// The address at which it listens. `None` for a client.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Address(address) => Some(*address),
            Self::Socket(_) => None,
        }
    }
}

/// A server or client running on this machine.
pub(super) struct LocalServer<S> {
    started: S,
    contact: Contact,
    endpoint: Endpoint,
    authority_file: Option<PathBuf>,
    isolation: Isolation,
    machine: HostMachine,
    meter: Meter,
    runtime: Option<RuntimeLog>,
    is_frozen: bool,
    freezes: Freezes,
    /// True if it may run on CPUs other than the servers'.
    pub(super) is_away: bool,
    /// See [`super::native::Native::wider_cpus`]. Empty if it can't be moved.
    pub(super) wider_cpus: Vec<u32>,
}

impl<S: Started> LocalServer<S> {
    /// A process of `entry` on its own CPUs.
    pub(super) fn new(
        started: S,
        (contact, runtime): (Contact, Option<RuntimeLog>),
        isolation: Isolation,
        LocalPlacement { machine, entry, .. }: &LocalPlacement,
    ) -> Self {
        Self {
            started,
            endpoint: contact.endpoint(),
            contact,
            authority_file: None,
            machine: HostMachine::owned(&isolation, machine.presence.clone()),
            isolation,
            meter: Meter::new(&entry.server.runtime.compiler_threads),
            runtime,
            is_frozen: false,
            freezes: Freezes::default(),
            is_away: false,
            wider_cpus: Vec::new(),
        }
    }
}

impl<S> LocalServer<S> {
    /// Sets up TLS to the server, if there are certificates.
    pub(super) fn secure(
        &mut self,
        certificates: Option<&Certificates>,
        (protocol, tls): (Protocol, TlsMode),
    ) -> Result<(), PlacementError> {
        let client = certificates.map(|it| it.client(protocol, tls)).transpose()?;
        self.endpoint.tls = client;
        self.authority_file = certificates.map(Certificates::authority_file);
        Ok(())
    }
}

impl<S: Started> Running for LocalServer<S> {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn isolation(&self) -> Isolation {
        self.isolation.clone()
    }

    fn machine(&mut self) -> &mut dyn Machine {
        &mut self.machine
    }

    fn control(&self) -> Option<&ControlSocket> {
        match &self.contact {
            Contact::Address(_) => None,
            Contact::Socket(socket) => Some(socket),
        }
    }

    fn pid(&self) -> Option<u32> {
        self.started.pid().as_raw_pid().try_into().ok()
    }

    fn pin_to_server_cpus(&mut self) -> Result<(), PlacementError> {
        if self.is_away {
            self.started.group().set_cpus(&self.isolation.server_cpus)?;
            self.is_away = false;
        }
        Ok(())
    }

    fn add_spare_cpu(&mut self) -> Result<(), PlacementError> {
        if !self.wider_cpus.is_empty() {
            self.started.group().set_cpus(&self.wider_cpus)?;
            self.is_away = true;
        }
        Ok(())
    }

    fn sample_cpu(&mut self) -> Result<Option<CpuReading>, PlacementError> {
        let read = self.meter.cpu(self.started.group());
        read.map(Some).map_err(|error| self.started.explain(error))
    }

    fn sample(&mut self) -> Result<Option<Counters>, PlacementError> {
        let read = self.meter.read(self.started.group());
        read.map(Some).map_err(|error| self.started.explain(error))
    }

    fn runtime(&mut self, window: &[Span]) -> Result<Option<RuntimeStatistics>, PlacementError> {
        let Some(log) = &mut self.runtime else { return Ok(None) };
        Ok(log.over(window, &self.freezes)?)
    }

    fn reset_peak(&mut self) -> Result<(), PlacementError> {
        Ok(self.started.group().reset_peak()?)
    }

    fn authority_file(&self) -> Option<PathBuf> {
        self.authority_file.clone()
    }

    fn freezer(&self) -> Option<Freezer> {
        Some(self.started.freezer())
    }

    fn freeze(&mut self) -> Result<(), PlacementError> {
        // Some of its processes may be frozen even if this fails.
        self.is_frozen = true;
        self.started.freeze()?;
        self.freezes.begin(clock::now());
        Ok(())
    }

    fn wake(&mut self) -> Result<(), PlacementError> {
        if self.is_frozen {
            self.freezes.end(clock::now());
            self.started.thaw()?;
            self.is_frozen = false;
        }
        Ok(())
    }

    fn ended(&mut self, within: Duration) -> Result<Option<String>, PlacementError> {
        self.started.ended(within)
    }

    fn served_by_others(&mut self) -> Result<Option<String>, PlacementError> {
        let Some(address) = self.contact.address() else { return Ok(None) };
        let marked = || self.started.marked();
        let served = served_by_others(address, self.started.group(), &marked);
        Ok(served.unwrap_or_else(|error| {
            let note = format!("who serves its port can't be checked: {error}");
            if !self.isolation.notes.contains(&note) {
                self.isolation.notes.push(note);
            }
            None
        }))
    }

    fn listening(&self) -> Vec<SocketAddr> {
        listening(self.started.group()).unwrap_or_default()
    }

    fn log_tail(&self, lines: usize) -> Vec<String> {
        self.started.log_tail(lines)
    }

    fn stop(mut self: Box<Self>) -> Result<(), PlacementError> {
        self.wake()?;
        self.started.stop()?;
        let problem = self.contact.address().and_then(still_served);
        problem.map_or(Ok(()), |problem| Err(PlacementError(problem)))
    }
}
