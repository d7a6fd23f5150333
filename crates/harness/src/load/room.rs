//! Whether all connections of a load fit: open files of this process, and local ports towards its addresses.

use std::fs;

use rpcbench_engine::file_limit::{self, FileLimit};
use rpcbench_engine::{ServerAddress, source_addresses};
use rpcbench_record::{Plan, Protocol, Role, Workload};

/// The connections don't fit: what there is too little of, and how to get more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoRoom(String);

/// Refuses a plan whose connections to these addresses of a server don't fit.
pub fn check(plan: &Plan, addresses: &[ServerAddress]) -> Result<(), NoRoom> {
    let ports = local_ports().map(|(first, last)| last.saturating_sub(first) + 1);
    for workload in &plan.workloads {
        for server in &plan.servers {
            let connections = workload.connections_under(server.protocol);
            reserve(workload, server.protocol).map_err(|limit| NoRoom(limit.to_string()))?;
            // Client libraries leave the choice of source addresses to the kernel.
            let sources = |address: &ServerAddress| match plan.role() {
                Role::Server => source_addresses(address, workload.client_threads),
                Role::Client => Some(1),
            };
            let room = ports.and_then(|ports| room(ports, addresses.iter().map(sources)));
            if let Some(room) = room.filter(|room| *room < connections.into()) {
                return Err(NoRoom(format!(
                    "{connections} connections need as many local ports, and there are {room} towards the server; use fewer, or allow more (as root: sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\")"
                )));
            }
        }
    }
    Ok(())
}

/// How many connections there may be to a server with this many source addresses towards each of its addresses: each pair has its own
/// local ports. `None`: any number.
fn room(ports: u32, sources: impl Iterator<Item = Option<u32>>) -> Option<u64> {
    Some(u64::from(sources.sum::<Option<u32>>()?) * u64::from(ports))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_of_addresses_has_its_own_ports() {
        let room = |sources: &[Option<u32>]| room(1000, sources.iter().copied());
        assert_eq!(room(&[Some(1)]), Some(1000));
        assert_eq!(room(&[Some(1), Some(1)]), Some(2000));
        assert_eq!(room(&[Some(8)]), Some(8000));
        assert_eq!(room(&[None]), None, "a socket in the file system");
    }
}
