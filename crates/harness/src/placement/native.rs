//! Servers as processes of this machine, which the harness starts, isolates, watches and stops.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use procfs::{Current as _, Meminfo};
use rpcbench_record::{Isolation as IsolationRecord, IsolationMode, Machines, TlsMode};
use rustix::process::Pid;

use super::certificates::Certificates;
use super::local::Started;
use super::local_placement::LocalPlacement;
use super::processes::ProcessBuilder;
use super::{CPUS, Freezer, OpenSite, Placement, PlacementError, Running, Site, SiteOptions};
use crate::build::ServerBuilder;
use crate::build_env::BuildEnv;
use crate::error::{about, probe_folder};
use crate::host::control_socket::ControlSocket;
use crate::host::cpus::{Split, Topology, pin_this_thread};
use crate::host::fingerprint::fingerprint;
use crate::host::isolation::{Backend, GroupLimits, Isolation};
use crate::host::presence::{Presence, Rival};
use crate::host::process::{ProcessError, ServerProcess, Spec};
use crate::host::runtime_log::RuntimeLog;
use crate::interrupt::Interrupt;
use crate::manifest::{Entry, Runtime};

/// This machine as a site.
pub(super) struct ThisMachine;

impl Site for ThisMachine {
    fn builder<'a>(
        &'a self,
        env: &'a BuildEnv,
        interrupt: &'a Interrupt,
    ) -> Result<Box<dyn ServerBuilder + 'a>, PlacementError> {
        Ok(Box::new(ProcessBuilder { env, interrupt }))
    }

    fn open(&self, options: SiteOptions) -> Result<Box<dyn OpenSite>, PlacementError> {
        Ok(Box::new(Rc::new(Native::open(options)?)))
    }
}

/// This machine, open for servers.
#[derive(Debug)]
pub struct Native {
    pub(super) options: SiteOptions,
    topology: Topology,
    pub(super) split: Split,
    isolation: Isolation,
    pub(super) presence: Option<Arc<Presence>>,
    notices: Vec<String>,
    given_ports: Mutex<BTreeSet<u16>>,
    /// `None` if no server uses TLS.
    certificates: Option<Certificates>,
}

/// Address of every server.
const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Parent of the folders with clients' sockets; the path of the repository may be too long for a socket.
const SOCKETS: &str = "/tmp";

impl Native {
    /// Divides this machine between servers and client, and removes leftovers of killed runs. Moves the calling thread off the
    /// servers' CPUs, and if possible off those of the load threads.
    pub fn open(options: SiteOptions) -> Result<Self, PlacementError> {
        let topology = Topology::read().map_err(about(CPUS))?;
        let isolation = Isolation::detect(&topology.cpus());
        let removed = isolation
            .sweep()
            .into_iter()
            .map(|folder| format!("removed {}, left by a run that was killed", folder.display()));
        let mut notices: Vec<String> = removed.collect();
        let split = topology.split(options.limits.cpus, options.client_threads);
        pin_this_thread(split.rest()).map_err(about(CPUS))?;
        make_logs(&options.logs)?;
        let presence = options.measures.then(|| announce(&split)).flatten();
        let rivals = presence.iter().flat_map(|presence| presence.rivals());
        notices.extend(rivals.map(|rival| warning(&rival)));
        let certificates = match options.tls {
            true => Some(Certificates::make(&options.logs, HOST)?),
            false => None,
        };
        let given_ports = Mutex::default();
        let own = Self {
            options,
            topology,
            split,
            isolation,
            presence,
            notices,
            given_ports,
            certificates,
        };
        Ok(own)
    }

    /// The isolation for the record, with the memory limit in force.
    pub(super) fn describe(&self, memory_bytes: Option<u64>) -> IsolationRecord {
        let notes = self.isolation.notes().iter().chain(&self.split.notes).cloned().collect();
        IsolationRecord {
            mode: self.isolation.mode(),
            server_cpus: self.split.server.clone(),
            client_cpus: self.split.client.clone(),
            memory_bytes,
            details: Default::default(),
            notes,
        }
    }
}

impl Native {
    /// A CPU outside the servers', if servers can be moved to it.
    fn other_cpu(&self) -> Option<u32> {
        let can_move = self.isolation.mode() != IsolationMode::Affinity && !self.split.is_shared();
        self.split.rest().first().copied().filter(|_| can_move)
    }

    /// The CPU on which a server can start before it is needed. Only for servers with one CPU: others might bind their threads
    /// to CPUs.
    fn waiting_cpu(&self) -> Option<u32> {
        let SiteOptions { limits, port, .. } = &self.options;
        self.other_cpu().filter(|_| limits.cpus == 1 && port.is_none())
    }

    /// The servers' CPUs plus a spare one, for a runtime with compiler threads. Empty if the server must stay on the servers'
    /// CPUs.
    fn wider_cpus(&self, runtime: &Runtime) -> Vec<u32> {
        match self.other_cpu().filter(|_| !runtime.compiler_threads.is_empty()) {
            Some(other) => self.split.server.iter().copied().chain([other]).collect(),
            None => Vec::new(),
        }
    }

    /// An address for a server. Without a configured port, picks a free one that this run has not given to another server, since
    /// a server that is starting does not listen yet.
    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        if let Some(port) = self.options.port {
            return Ok(SocketAddr::new(HOST, port));
        }
        loop {
            let free = TcpListener::bind((HOST, 0)).and_then(|socket| socket.local_addr());
            let address = free.map_err(about(format!("no free port on {HOST}")))?;
            let mut given = self.given_ports.lock().unwrap_or_else(PoisonError::into_inner);
            if given.insert(address.port()) {
                return Ok(address);
            }
        }
    }

    /// The runtime log of a process, if its server writes one.
    pub(super) fn runtime_log(
        &self,
        entry: &Entry,
        process: u32,
    ) -> io::Result<Option<RuntimeLog>> {
        let is_wanted = self.options.runtime_statistics && entry.server.runtime.statistics;
        let file = || self.options.log_file(entry, process, "runtime");
        is_wanted.then(|| RuntimeLog::create(file())).transpose()
    }

    /// The certificates, if `tls` needs them.
    pub(super) fn certificates(
        &self,
        tls: TlsMode,
    ) -> Result<Option<&Certificates>, PlacementError> {
        match (tls.is_on(), &self.certificates) {
            (false, _) => Ok(None),
            (true, Some(certificates)) => Ok(Some(certificates)),
            (true, None) => Err(PlacementError("no certificates were made for TLS".to_owned())),
        }
    }

    /// True if there is enough memory for another server.
    pub(super) fn has_room(&self) -> bool {
        let Ok(memory) = Meminfo::current() else { return true };
        let limit = self.options.limits.memory_bytes.unwrap_or(MEMORY);
        memory.mem_available.is_none_or(|available| available >= limit)
    }
}

/// Announces this run to other runs. `None` if the system does not support it.
fn announce(split: &Split) -> Option<Arc<Presence>> {
    let cpus: BTreeSet<u32> = split.server.iter().chain(&split.client).copied().collect();
    Presence::announce(&Vec::from_iter(cpus)).ok().map(Arc::new)
}

fn warning(Rival { pid, cpus }: &Rival) -> String {
    let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
    format!(
        "another run (process {pid}) measures on CPU {} too, so both will be wrong; end one, or give them different \
         CPUs with taskset",
        cpus.join(", ")
    )
}

/// Checked before the first server starts, which would otherwise get the blame.
fn make_logs(folder: &Path) -> io::Result<()> {
    let made = fs::create_dir_all(folder).and_then(|()| probe_folder(folder));
    made.map_err(about(format!("{}: the servers' logs can't be written", folder.display())))
}

impl OpenSite for Rc<Native> {
    fn place(&self, entry: &Entry) -> Box<dyn Placement> {
        Box::new(NativePlacement(LocalPlacement::measured(self, entry.clone())))
    }

    fn place_counterpart(&self, entry: &Entry) -> Result<Box<dyn Placement>, PlacementError> {
        Ok(Box::new(NativePlacement(LocalPlacement::counterpart(self, entry.clone()))))
    }

    fn machines(&self) -> Machines {
        fingerprint(&self.topology, self.isolation.mode()).into()
    }

    fn client_cpus(&self) -> &[u32] {
        &self.split.client
    }

    fn notices(&self) -> &[String] {
        &self.notices
    }
}

struct NativePlacement(LocalPlacement);

impl Placement for NativePlacement {
    fn isolation(&self) -> IsolationRecord {
        self.0.describe(None)
    }

    fn has_room(&self) -> bool {
        self.0.machine.has_room()
    }

    fn start(&self, process: u32, tls: TlsMode) -> Result<Box<dyn Running>, PlacementError> {
        self.start_on((process, tls), &self.0.cpus)
    }

    fn start_early(&self, process: u32, tls: TlsMode) -> Option<Box<dyn Running>> {
        let waiting = self.0.machine.waiting_cpu().filter(|_| self.0.is_measured());
        self.start_on((process, tls), &[waiting?]).ok()
    }
}

impl NativePlacement {
    /// Adds the manifest's name to the error if its command can't be started.
    fn explain(&self, error: ProcessError) -> PlacementError {
        let server = &self.0.entry.server;
        let manifest = server.folder.join(server.manifest());
        PlacementError(match error {
            ProcessError::Command(error) => {
                format!("{error}; correct 'run.command' in {}", manifest.display())
            }
            ProcessError::System(error) => error.to_string(),
        })
    }

    fn start_on(
        &self,
        (process, tls): (u32, TlsMode),
        cpus: &[u32],
    ) -> Result<Box<dyn Running>, PlacementError> {
        let Self(place) = self;
        let LocalPlacement { machine, entry, .. } = place;
        let socket = || ControlSocket::create(Path::new(SOCKETS), None);
        let provisions = place.provide(process, tls, socket)?;
        let SiteOptions { base_env, limits, .. } = place.options();
        let limits = GroupLimits { cpus: cpus.to_vec(), memory_bytes: limits.memory_bytes };
        let group = machine.isolation.create(&entry.name(), limits)?;
        let isolation = place.describe(group.memory_enforced);
        let spec = Spec {
            command: entry.command(),
            env: provisions.environment(base_env),
            cwd: entry.server.build_folder.clone(),
            log: place.options().log_file(entry, process, "log"),
            stop_timeout: entry.server.stop_timeout,
        };
        let started = ServerProcess::spawn(&spec, group).map_err(|error| self.explain(error))?;
        let mut server = provisions.running(started, isolation)?;
        server.is_away = cpus != place.cpus;
        if place.is_measured() {
            server.wider_cpus = machine.wider_cpus(&entry.server.runtime);
        }
        Ok(Box::new(server))
    }
}

/// Assumed memory of a server without a limit, bytes.
const MEMORY: u64 = 1 << 30;

impl Started for ServerProcess {
    fn pid(&self) -> Pid {
        self.pid()
    }

    fn group(&self) -> &dyn Backend {
        self.group()
    }

    fn marked(&self) -> Vec<Pid> {
        self.marked()
    }

    fn freezer(&self) -> Freezer {
        if self.group().freezes_fast() { Freezer::Cgroup } else { Freezer::Slow }
    }

    fn ended(&mut self, within: Duration) -> Result<Option<String>, PlacementError> {
        if let Some(exit) = self.wait(within)? {
            return Ok(Some(exit.to_string()));
        }
        let out_of_memory = self.out_of_memory()?.map(|exit| exit.to_string());
        Ok(out_of_memory.or_else(|| self.log_overflow()))
    }

    fn log_tail(&self, lines: usize) -> Vec<String> {
        self.log_tail(lines)
    }

    fn stop(self) -> Result<(), PlacementError> {
        Ok(self.stop().map(drop)?)
    }
}
