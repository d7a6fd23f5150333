//! What the engine is to do, from the arguments.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use anyhow::Context as _;
use rpcbench_contract::{Corpus, Encoding};
use rpcbench_engine::clock::Nanos;
use rpcbench_engine::{LoadPlan, Payload};
use rpcbench_record::{Arrivals, Protocol, Workload};

use crate::args::{Address, LoadArgs};

/// How long opening all connections may take.
const CONNECT_TIMEOUT: Nanos = Nanos::from_millis(10_000);

/// A load that can be put on a server.
pub struct Planned {
    /// As asked for.
    pub workload: Workload,
    /// The same for the engine. Where the rate is a share of a capacity, a closed loop stands in for the arrival process.
    pub plan: LoadPlan,
    /// What the calls carry.
    pub payload: Arc<dyn Payload>,
}

impl Planned {
    pub fn from(args: &LoadArgs) -> anyhow::Result<Self> {
        let workload = args.workload()?;
        let arrivals =
            if workload.arrivals.needs_capacity() { Arrivals::Closed } else { workload.arrivals };
        let plan = LoadPlan {
            protocol: Protocol::Grpc,
            address: resolve(&args.address)?,
            authority: args.address.to_string(),
            connections: workload.connections,
            in_flight: workload.in_flight,
            arrivals,
            seed: args.seed,
            threads: workload.client_threads,
            cpus: Vec::new(),
            timeout: Nanos::from_millis(workload.timeout_ms),
            grace: Nanos::from_millis(workload.grace_ms),
            connect_timeout: CONNECT_TIMEOUT,
            first_request: 0,
        };
        let payload: Arc<dyn Payload> =
            Arc::new(Corpus::generate(&args.shape, args.seed, Encoding::Protobuf));
        Ok(Self { workload, plan, payload })
    }
}

fn resolve(address: &Address) -> anyhow::Result<SocketAddr> {
    let mut found = (address.host.as_str(), address.port)
        .to_socket_addrs()
        .with_context(|| format!("{}: no such host", address.host))?;
    found.next().with_context(|| format!("{}: no address", address.host))
}
