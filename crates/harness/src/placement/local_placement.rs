//! Placement on this machine: what processes and containers have in common.

use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use rpcbench_record::{Isolation, Limits, Role, TlsMode};

use super::certificates::Certificates;
use super::local::{Contact, LocalServer, Started};
use super::native::Native;
use super::{PlacementError, SiteOptions};
use crate::host::control_socket::ControlSocket;
use crate::host::runtime_log::RuntimeLog;
use crate::manifest::Entry;

/// Where the processes of an entry run on this machine.
pub(super) struct LocalPlacement {
    pub(super) machine: Rc<Native>,
    pub(super) entry: Entry,
    /// CPUs of the processes.
    pub(super) cpus: Vec<u32>,
}

/// Everything that a process needs to start.
pub(super) struct Provisions<'a> {
    place: &'a LocalPlacement,
    pub(super) contact: Contact,
    pub(super) runtime: Option<RuntimeLog>,
    pub(super) certificates: Option<&'a Certificates>,
    tls: TlsMode,
}

impl LocalPlacement {
    /// A placement for entries that are measured.
    pub(super) fn measured(machine: &Rc<Native>, entry: Entry) -> Self {
        let cpus = machine.split.server.clone();
        Self { machine: Rc::clone(machine), entry, cpus }
    }

    /// A placement for servers that clients call.
    pub(super) fn counterpart(machine: &Rc<Native>, entry: Entry) -> Self {
        let cpus = machine.split.client.clone();
        Self { machine: Rc::clone(machine), entry, cpus }
    }

    /// True if the processes have the CPUs of measured entries.
    pub(super) fn is_measured(&self) -> bool {
        self.cpus == self.machine.split.server
    }

    pub(super) fn options(&self) -> &SiteOptions {
        &self.machine.options
    }

    /// Limits of one process.
    pub(super) fn limits(&self) -> Limits {
        Limits { cpus: self.cpus.len() as u32, ..self.options().limits }
    }

    /// The isolation for the record, with the memory limit in force.
    pub(super) fn describe(&self, memory_bytes: Option<u64>) -> Isolation {
        Isolation { server_cpus: self.cpus.clone(), ..self.machine.describe(memory_bytes) }
    }

    /// Prepares what a process needs. `socket` creates the socket of a client.
    pub(super) fn provide(
        &self,
        process: u32,
        tls: TlsMode,
        socket: impl FnOnce() -> io::Result<ControlSocket>,
    ) -> Result<Provisions<'_>, PlacementError> {
        let contact = match self.entry.server.role {
            Role::Server => Contact::Address(self.machine.address()?),
            Role::Client => Contact::Socket(socket()?),
        };
        let runtime = self.machine.runtime_log(&self.entry, process)?;
        let certificates = self.machine.certificates(tls)?;
        Ok(Provisions { place: self, contact, runtime, certificates, tls })
    }
}

impl Provisions<'_> {
    /// The environment of the process: `base`, overridden by the manifest's.
    pub(super) fn environment(&self, base: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let LocalPlacement { entry, .. } = self.place;
        let mut env = entry.environment(base, self.contact.address(), &self.place.limits());
        env.extend(self.certificates.into_iter().flat_map(Certificates::environment));
        if let Contact::Socket(socket) = &self.contact {
            let path = socket.path().to_string_lossy().into_owned();
            env.insert(ControlSocket::VARIABLE.into(), path);
        }
        if let Some(log) = &self.runtime {
            env.insert(RuntimeLog::VARIABLE.into(), log.path().to_string_lossy().into_owned());
        }
        env
    }

    /// The started process, accessed over TLS if there are certificates.
    pub(super) fn running<S: Started>(
        self,
        started: S,
        isolation: Isolation,
    ) -> Result<LocalServer<S>, PlacementError> {
        let Self { place, contact, runtime, certificates, tls } = self;
        let mut server = LocalServer::new(started, (contact, runtime), isolation, place);
        server.secure(certificates, (place.entry.protocol, tls))?;
        Ok(server)
    }
}
