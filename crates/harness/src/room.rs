//! Whether there is room for all connections of a load: open files of this process, and local ports towards one address.

use std::fs;

use rpcbench_engine::file_limit::{self, FileLimit};
use rpcbench_record::{Plan, Protocol, Workload};

/// There is no room for so many connections.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// Each is an open file.
    #[error(transparent)]
    Files(#[from] FileLimit),
    /// Each to the same address has a local port of its own.
    #[error(
        "{connections} connections to one address need as many local ports, and there are {ports}: give fewer, or allow more (as root: sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\")"
    )]
    Ports {
        /// As planned.
        connections: u32,
        /// What `ip_local_port_range` leaves.
        ports: u32,
    },
}

/// Refuses a plan whose connections have no room, before anything of it is started.
///
/// # Errors
/// What there is too little of, and how to have more.
pub fn check(plan: &Plan) -> Result<(), NoRoom> {
    let ports = local_ports().map(|(first, last)| last.saturating_sub(first) + 1);
    for workload in &plan.workloads {
        for server in &plan.servers {
            let connections = workload.connections_under(server.protocol);
            beside_what_is_open(workload, server.protocol)?;
            if let Some(ports) = ports.filter(|ports| *ports < connections) {
                return Err(NoRoom::Ports { connections, ports });
            }
        }
    }
    Ok(())
}

/// Whether a load's connections have room beside the files that are open now; raises the limit where that helps.
///
/// # Errors
/// How many files it takes, and how many there may be.
pub(crate) fn beside_what_is_open(
    workload: &Workload,
    protocol: Protocol,
) -> Result<(), FileLimit> {
    file_limit::reserve(workload.connections_under(protocol), workload.client_threads)
}

/// First and last local port. `None`: the kernel does not tell.
pub(crate) fn local_ports() -> Option<(u32, u32)> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut numbers = text.split_whitespace().map_while(|word| word.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}
