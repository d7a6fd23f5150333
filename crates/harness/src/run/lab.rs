//! What every server under test is given alike.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;

use rpcbench_engine::LoadPlan;
use rpcbench_engine::clock::Nanos;
use rpcbench_record::{
    Arrivals, Failure, Isolation as IsolationRecord, Limits, Protocol, Workload,
};

use super::interrupt::Interrupt;
use crate::cpus::Split;
use crate::isolation::{Group, Isolation};
use crate::manifest::Address;

/// How long opening all connections may take.
const CONNECT_TIMEOUT: Nanos = Nanos::from_millis(10_000);

/// The place where servers run.
#[derive(Debug)]
pub struct Lab {
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
    /// Seed of the payloads.
    pub seed: u64,
    /// Told by Ctrl-C.
    pub interrupt: Interrupt,
}

impl Lab {
    /// An address of the loopback interface with a port that is free now.
    pub(super) fn free_address(&self) -> Result<Address, Failure> {
        let host = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let port = TcpListener::bind((host, 0)).and_then(|socket| socket.local_addr());
        match port {
            Ok(address) => Ok(Address { host, port: address.port() }),
            Err(error) => Err(failure(format!("no free port on {host}: {error}"))),
        }
    }

    /// What the record says about the isolation of a server that has no group yet.
    pub(super) fn describe_planned(&self) -> IsolationRecord {
        self.isolated(None)
    }

    /// What the record says about the isolation of `group`.
    pub(super) fn describe(&self, group: &Group) -> IsolationRecord {
        self.isolated(group.memory_enforced())
    }

    fn isolated(&self, memory_bytes: Option<u64>) -> IsolationRecord {
        let notes = self.isolation.notes().iter().chain(&self.split.notes).cloned().collect();
        IsolationRecord {
            mode: self.isolation.mode(),
            server_cpus: self.split.server.clone(),
            client_cpus: self.split.client.clone(),
            memory_bytes,
            notes,
        }
    }

    /// The load of `workload` on a server. It begins as a closed loop, whatever the arrivals: a server is warmed at
    /// full load.
    pub(super) fn load(
        &self,
        workload: &Workload,
        (protocol, address): (Protocol, SocketAddr),
    ) -> LoadPlan {
        LoadPlan {
            protocol,
            address,
            authority: address.to_string(),
            connections: workload.connections,
            in_flight: workload.in_flight,
            arrivals: Arrivals::Closed,
            seed: self.seed,
            threads: workload.client_threads,
            cpus: self.split.client.clone(),
            timeout: Nanos::from_millis(workload.timeout_ms),
            grace: Nanos::from_millis(workload.grace_ms),
            connect_timeout: CONNECT_TIMEOUT,
            first_request: 0,
        }
    }
}

/// A failure that no log explains.
pub(super) fn failure(reason: impl Into<String>) -> Failure {
    Failure { reason: reason.into(), log_tail: Vec::new() }
}
