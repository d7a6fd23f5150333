//! Whether all connections of a load fit: open files of this process, and local ports towards one address.

use std::fs;

use rpcbench_engine::file_limit::{self, FileLimit};
use rpcbench_record::{Plan, Protocol, Workload};

/// The connections don't fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// Each is an open file.
    #[error(transparent)]
    Files(#[from] FileLimit),
    /// Each needs its own local port towards an address.
    #[error(
        "{connections} connections to one address need as many local ports, and there are {ports}; use fewer, or allow more (as root: sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\")"
    )]
    Ports {
        /// As planned.
        connections: u32,
        /// Size of `ip_local_port_range`.
        ports: u32,
    },
}

/// Refuses a plan whose connections don't fit.
///
/// # Errors
/// What there is too little of, and how to get more.
pub fn check(plan: &Plan) -> Result<(), NoRoom> {
    let ports = local_ports().map(|(first, last)| last.saturating_sub(first) + 1);
    for workload in &plan.workloads {
        for server in &plan.servers {
            let connections = workload.connections_under(server.protocol);
            reserve(workload, server.protocol)?;
            if let Some(ports) = ports.filter(|ports| *ports < connections) {
                return Err(NoRoom::Ports { connections, ports });
            }
        }
    }
    Ok(())
}

/// Raises the limit on open files if a load's connections need it, next to the files that are open now.
///
/// # Errors
/// If it can't be raised far enough.
pub(super) fn reserve(workload: &Workload, protocol: Protocol) -> Result<(), FileLimit> {
    file_limit::reserve(workload.connections_under(protocol), workload.client_threads)
}

/// First and last local port. `None` if the kernel does not say.
pub(crate) fn local_ports() -> Option<(u32, u32)> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut numbers = text.split_whitespace().map_while(|word| word.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}
