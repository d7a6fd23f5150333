//! Servers as processes of this machine: started, kept apart, watched and ended by the harness.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::Duration;

use rpcbench_engine::Span;
use rpcbench_record::{Isolation as IsolationRecord, Limits, RuntimeStatistics};

use super::{Endpoint, Placement, PlacementError, Running};
use crate::host::counters::{Counters, CpuReading, Meter};
use crate::host::cpus::Split;
use crate::host::isolation::{GroupLimits, Isolation};
use crate::host::process::{Exit, ProcessError, ServerProcess, Spec};
use crate::host::runtime_log::RuntimeLog;
use crate::manifest::{Address, Entry};

/// What this machine has for servers.
#[derive(Debug)]
pub struct Native {
    /// How they are kept apart.
    pub isolation: Isolation,
    /// Which CPUs are the server's, which the client's.
    pub split: Split,
    /// What each server may use.
    pub limits: Limits,
    /// Environment that every process gets: `PATH` and the like.
    pub base_env: BTreeMap<String, String>,
    /// Folder for the servers' logs.
    pub logs: PathBuf,
    /// Whether servers are asked for statistics of their runtimes.
    pub runtime_statistics: bool,
    /// Where servers listen. `None`: wherever a port is free.
    pub port: Option<u16>,
}

impl Native {
    /// A place for the server of `entry`.
    #[must_use]
    pub fn place<'a>(&'a self, entry: &'a Entry) -> Box<dyn Placement + 'a> {
        Box::new(Place { machine: self, entry })
    }

    /// What the record says, with the memory limit that is in force.
    fn describe(&self, memory_bytes: Option<u64>) -> IsolationRecord {
        let notes = self.isolation.notes().iter().chain(&self.split.notes).cloned().collect();
        IsolationRecord {
            mode: self.isolation.mode(),
            server_cpus: self.split.server.clone(),
            client_cpus: self.split.client.clone(),
            memory_bytes,
            notes,
        }
    }
}

struct Place<'a> {
    machine: &'a Native,
    entry: &'a Entry,
}

impl Place<'_> {
    /// What can't be started was named by the manifest.
    fn blame(&self, error: ProcessError) -> PlacementError {
        let manifest = self.entry.server.folder.join("server.toml");
        match error {
            ProcessError::Start { .. } | ProcessError::NoCommand => {
                PlacementError::Command { error, manifest }
            }
            error => error.into(),
        }
    }
}

impl Placement for Place<'_> {
    fn isolation(&self) -> IsolationRecord {
        self.machine.describe(None)
    }

    fn start(&self) -> Result<Box<dyn Running>, PlacementError> {
        let Self { machine, entry } = self;
        let address = match machine.port {
            Some(port) => Address { host: HOST, port },
            None => free_address()?,
        };
        let cpus = machine.split.server.clone();
        let limits = GroupLimits { cpus, memory_bytes: machine.limits.memory_bytes };
        let group = machine.isolation.create(&entry.name(), limits)?;
        let isolation = machine.describe(group.memory_enforced());
        let mut env = entry.environment(&machine.base_env, address, &machine.limits);
        let asked = machine.runtime_statistics && entry.server.runtime.statistics;
        let runtime = asked
            .then(|| RuntimeLog::create(machine.logs.join(format!("{}.runtime", entry.name()))));
        let runtime = runtime.transpose()?;
        if let Some(log) = &runtime {
            env.insert(RuntimeLog::VARIABLE.into(), log.path().to_string_lossy().into_owned());
        }
        let spec = Spec {
            command: entry.command(),
            env,
            cwd: entry.server.build_folder.clone(),
            log: machine.logs.join(format!("{}.log", entry.name())),
            stop_timeout: entry.server.stop_timeout,
        };
        Ok(Box::new(NativeServer {
            process: ServerProcess::spawn(&spec, group).map_err(|error| self.blame(error))?,
            endpoint: SocketAddr::new(address.host, address.port).into(),
            isolation,
            meter: Meter::new(&entry.server.runtime.compiler_threads),
            runtime,
            frozen: false,
        }))
    }
}

/// The interface on which servers listen.
const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// An address of the loopback interface with a port that is free now.
fn free_address() -> Result<Address, PlacementError> {
    let port = TcpListener::bind((HOST, 0)).and_then(|socket| socket.local_addr());
    let address = port.map_err(|source| PlacementError::Port { host: HOST, source })?;
    Ok(Address { host: HOST, port: address.port() })
}

struct NativeServer {
    process: ServerProcess,
    endpoint: Endpoint,
    isolation: IsolationRecord,
    meter: Meter,
    runtime: Option<RuntimeLog>,
    frozen: bool,
}

impl Running for NativeServer {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn isolation(&self) -> IsolationRecord {
        self.isolation.clone()
    }

    fn pid(&self) -> Option<u32> {
        self.process.pid().as_raw_pid().try_into().ok()
    }

    fn sample_cpu(&mut self) -> Result<Option<CpuReading>, PlacementError> {
        Ok(Some(self.meter.cpu(self.process.group())?))
    }

    fn sample(&mut self) -> Result<Option<Counters>, PlacementError> {
        Ok(Some(self.meter.read(self.process.group())?))
    }

    fn runtime(&mut self, window: Span) -> Result<Option<RuntimeStatistics>, PlacementError> {
        let told = self.runtime.as_mut().map(|log| log.over(window)).transpose()?;
        Ok(told.flatten())
    }

    fn forget_peak(&mut self) -> Result<(), PlacementError> {
        Ok(self.process.group().forget_peak()?)
    }

    fn freeze(&mut self) -> Result<(), PlacementError> {
        self.process.group().freeze()?;
        self.frozen = true;
        Ok(())
    }

    fn wake(&mut self) -> Result<(), PlacementError> {
        if self.frozen {
            self.process.group().thaw()?;
            self.frozen = false;
        }
        Ok(())
    }

    /// The kernel may have killed one of its workers only: that is its end too.
    fn ended(&mut self, within: Duration) -> Result<Option<String>, PlacementError> {
        if let Some(exit) = self.process.wait(within)? {
            return Ok(Some(exit.to_string()));
        }
        let group = self.process.group();
        Ok(match (group.oom_kills()?, group.memory_enforced()) {
            (kills, Some(limit)) if kills > 0 => Some(Exit::OutOfMemory { limit }.to_string()),
            _ => None,
        })
    }

    fn log_tail(&self, lines: usize) -> Vec<String> {
        self.process.log_tail(lines)
    }

    fn stop(mut self: Box<Self>) -> Result<(), PlacementError> {
        self.wake()?;
        self.process.stop()?;
        Ok(())
    }
}
