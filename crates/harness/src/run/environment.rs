//! What all servers of a run have in common: the client that loads them.

use rpcbench_engine::clock::Nanos;
use rpcbench_engine::{CallLog, LoadPlan};
use rpcbench_record::{Arrivals, Protocol, Workload};

use super::interrupt::Interrupt;
use crate::host::presence::Presence;
use crate::placement::Endpoint;

/// The client of a run.
#[derive(Debug)]
pub struct Environment {
    /// CPUs that the load threads may use.
    pub client_cpus: Vec<u32>,
    /// Whether each load thread is pinned to one of them.
    pub pinned: bool,
    /// Seed of the payloads, and of random arrivals.
    pub seed: u64,
    /// How long opening all connections may take.
    pub connect_timeout: Nanos,
    /// Told by Ctrl-C.
    pub interrupt: Interrupt,
    /// What other runs of this machine know of this one, and it of them. `None`: nothing.
    pub presence: Option<Presence>,
    /// Takes every measured call.
    pub call_log: Option<CallLog>,
}

impl Environment {
    /// How long opening all connections may take where nobody says.
    pub const CONNECT_TIMEOUT: Nanos = Nanos::from_millis(10_000);

    /// The load of `workload` on a server. It begins as a closed loop, whatever the arrivals: a server is warmed at
    /// full load.
    pub(super) fn load(
        &self,
        workload: &Workload,
        protocol: Protocol,
        endpoint: &Endpoint,
    ) -> LoadPlan {
        LoadPlan {
            protocol,
            address: endpoint.address.clone(),
            authority: endpoint.authority.clone(),
            connections: workload.connections_under(protocol),
            connection_life: workload.connection_life,
            in_flight: workload.in_flight,
            arrivals: Arrivals::Closed,
            seed: self.seed,
            threads: workload.client_threads,
            cpus: if self.pinned { self.client_cpus.clone() } else { Vec::new() },
            timeout: Nanos::from_millis(workload.timeout_ms),
            grace: Nanos::from_millis(workload.grace_ms),
            connect_timeout: self.connect_timeout,
            first_request: 0,
            pipelining: workload.pipelining,
        }
    }
}
