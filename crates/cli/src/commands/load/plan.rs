//! What will run, from the arguments.

use std::net::ToSocketAddrs;

use anyhow::Context as _;
use rpcbench_harness::placement::Endpoint;
use rpcbench_record::{Limits, PlacementKind, Plan, PlannedServer, PlannedTrial};

use crate::args::{Address, LoadArgs};

/// A run of one server that somebody else runs, one trial for each load. `cpus`: those that the server may use.
pub fn plan(args: &LoadArgs, cpus: u32) -> anyhow::Result<Plan> {
    let entry = args.address.to_string();
    let workloads = args.workloads()?;
    let trial = |workload: &rpcbench_record::Workload| PlannedTrial {
        entry: entry.clone(),
        workload: workload.name.clone(),
        process: 1,
        number: 1,
    };
    Ok(Plan {
        suite: "load".to_owned(),
        seed: args.seed,
        placement: PlacementKind::Unmanaged,
        fail_if: args.results.fail_if.clone(),
        log_calls: false,
        scaled_from: None,
        published: Vec::new(),
        stopping: None,
        limits: Limits { cpus, memory_bytes: None },
        order: workloads.iter().map(trial).collect(),
        workloads,
        servers: vec![PlannedServer {
            entry: entry.clone(),
            server: entry.clone(),
            protocol: args.protocol,
            variant: None,
            language: String::new(),
            library: String::new(),
        }],
    })
}

/// The first address of the host.
pub fn resolve(address: &Address) -> anyhow::Result<Endpoint> {
    let mut found = (address.host.as_str(), address.port)
        .to_socket_addrs()
        .with_context(|| format!("{}: no such host", address.host))?;
    let first = found.next().with_context(|| format!("{}: no address", address.host))?;
    Ok(Endpoint { address: first, authority: address.to_string() })
}
