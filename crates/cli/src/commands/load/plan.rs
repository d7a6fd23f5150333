//! The plan of a load, and the server's address.

use std::net::ToSocketAddrs;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use rpcbench_engine::ServerAddress;
use rpcbench_harness::interrupt::Interrupt;
use rpcbench_harness::load::InProcess;
use rpcbench_harness::placement::Endpoint;
use rpcbench_harness::reach;
use rpcbench_record::{Limits, PlacementKind, Plan, PlannedServer, PlannedTrial};

use crate::args::{Address, LoadArgs};

/// How often an interrupt is looked for.
const ASK: Duration = Duration::from_millis(50);

/// A run of one running server with a window for each load. `cpus`: those that the server may use.
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
        load_generator: InProcess::KIND,
        fail_if: args.results.fail_if.clone(),
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
            build: None,
        }],
        ..Plan::default()
    })
}

/// The addresses of the host; at least one.
pub fn resolve(address: &Address) -> anyhow::Result<Vec<ServerAddress>> {
    let (host, port) = match address {
        Address::Host { host, port } => (host, port),
        Address::Unix(path) => return Ok(vec![ServerAddress::Unix(path.clone())]),
    };
    let found = (host.as_str(), *port).to_socket_addrs();
    let found = found.with_context(|| match host.split_once('%') {
        Some((_, interface)) => {
            format!("{host}: no interface '{interface}'? 'ip -6 address' lists them with their addresses")
        }
        None => format!("{host}: no such host"),
    })?;
    let found: Vec<_> = found.map(ServerAddress::from).collect();
    if found.is_empty() {
        bail!("{host}: no address");
    }
    Ok(found)
}

/// Which of several addresses of a host all connections go to. `None` if it has only one.
pub fn chosen(host: &Address, addresses: usize, used: &ServerAddress) -> Option<String> {
    (addresses > 1)
        .then(|| format!("{host} has {addresses} addresses; all connections go to {used}"))
}

/// The server at the first of these addresses, until [`reach()`] knows which one answers.
pub fn endpoint(args: &LoadArgs, addresses: &[ServerAddress]) -> Endpoint {
    Endpoint { address: addresses[0].clone(), authority: args.address.authority() }
}

/// The first of the addresses where a server speaks the protocol, unless Ctrl-C comes first.
pub fn reach(
    plan: &Plan,
    addresses: Vec<ServerAddress>,
    interrupt: &Interrupt,
) -> anyhow::Result<ServerAddress> {
    let (sender, reached) = channel();
    let (protocol, workload) = (plan.servers[0].protocol, &plan.workloads[0]);
    let within = Duration::from_millis(workload.connect_timeout_ms);
    thread::spawn(move || sender.send(reach::reach(&addresses, protocol, within)));
    loop {
        match reached.recv_timeout(ASK) {
            Ok(reached) => return Ok(reached?),
            Err(_) if interrupt.check().is_err() => {
                bail!("stopped before anything was measured")
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => bail!("the search for the server ended early"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_addresses_the_one_in_use_is_named() {
        let host: Address = "api.example:50051".parse().unwrap();
        let used = ServerAddress::from("[::1]:50051".parse::<std::net::SocketAddr>().unwrap());
        assert_eq!(chosen(&host, 1, &used), None);
        insta::assert_snapshot!(chosen(&host, 2, &used).unwrap(), @"api.example:50051 has 2 addresses; all connections go to [::1]:50051");
    }
}
