//! What tests of loads share.

use rpcbench_engine::clock::Nanos;
use rpcbench_engine::{LoadPlan, ServerAddress};
use rpcbench_record::{Arrivals, ConnectionLife, Protocol};

/// One call at a time on one connection of one thread, with ten seconds for everything.
pub fn plan(protocol: Protocol, address: impl Into<ServerAddress>) -> LoadPlan {
    let address = address.into();
    let limit = Nanos::from_millis(10_000);
    LoadPlan {
        protocol,
        authority: address.authority(),
        address,
        connections: 1,
        connection_life: ConnectionLife::Long,
        in_flight: 1,
        arrivals: Arrivals::Closed,
        seed: 1,
        threads: 1,
        cpus: Vec::new(),
        timeout: limit,
        grace: limit,
        connect_timeout: limit,
        first_request: 0,
        pipelining: false,
    }
}
