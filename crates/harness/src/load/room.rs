//! Whether all connections of a load fit: open files of this process, and local ports towards one address.

use std::fs;

use rpcbench_engine::file_limit::{self, FileLimit};
use rpcbench_record::{Plan, Protocol, Workload};

/// The connections don't fit: what there is too little of, and how to get more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoRoom(String);

/// Refuses a plan whose connections don't fit.
pub fn check(plan: &Plan) -> Result<(), NoRoom> {
    let ports = local_ports().map(|(first, last)| last.saturating_sub(first) + 1);
    for workload in &plan.workloads {
        for server in &plan.servers {
            let connections = workload.connections_under(server.protocol);
            reserve(workload, server.protocol).map_err(|limit| NoRoom(limit.to_string()))?;
            // Each needs its own local port towards an address.
            if let Some(ports) = ports.filter(|ports| *ports < connections) {
                return Err(NoRoom(format!(
                    "{connections} connections to one address need as many local ports, and there are {ports}; use fewer, or allow more (as root: sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\")"
                )));
            }
        }
    }
    Ok(())
}

/// Raises the limit on open files if a load's connections need it, next to the files that are open now.
pub(super) fn reserve(workload: &Workload, protocol: Protocol) -> Result<(), FileLimit> {
    file_limit::reserve(workload.connections_under(protocol), workload.client_threads)
}

/// First and last local port. `None` if the kernel does not say.
pub(crate) fn local_ports() -> Option<(u32, u32)> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut numbers = text.split_whitespace().map_while(|word| word.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}
