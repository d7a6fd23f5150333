//! Checks that there is room for all connections of a load: open files of this process, local ports for the server's addresses,
//! and the kernel's packet queue.

use std::fs;

use rpcbench_engine::file_limit::{self, FileLimit};
use rpcbench_engine::{ServerAddress, source_addresses};
use rpcbench_record::{Plan, Protocol, Role, Workload};

/// There is no room for the connections: what is scarce, and how to get more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoRoom(String);

/// Fails if there is no room for a plan's connections to these addresses of a server.
pub fn check(plan: &Plan, addresses: &[ServerAddress]) -> Result<(), NoRoom> {
    let ports = local_ports().map(|(first, last)| last.saturating_sub(first) + 1);
    for workload in &plan.workloads {
        for server in &plan.servers {
            let connections = workload.connections_under(server.protocol);
            reserve(workload, server.protocol).map_err(|limit| NoRoom(limit.to_string()))?;
            // Client libraries let the kernel choose source addresses.
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

/// A warning if servers that are frozen between their windows have more long connections than the kernel's packet queue can hold.
/// The keep-alive probes of all connections then come due at once, 15 s after a freeze in Go, and those that overflow the queue
/// are lost. With TCP_USER_TIMEOUT, as grpc-go sets it, the server ends such a connection.
pub fn keep_alives(plan: &Plan) -> Option<String> {
    let connections = |workload: &Workload| {
        plan.servers.iter().map(|server| workload.connections_under(server.protocol)).max()
    };
    let long = plan.workloads.iter().filter(|workload| workload.connection_life.is_long());
    let connections = long.filter_map(connections).max()?;
    lost_probes(connections, packet_queue()?)
}

fn lost_probes(connections: u32, queue: u32) -> Option<String> {
    (connections > queue).then(|| {
        let enough = 2 * u64::from(connections);
        format!(
            "{connections} connections at rest probe their peers at once, and the kernel's queue takes {queue} packets: servers that limit the wait for an answer, such as go-grpc, may break connections; allow more (as root: sysctl -w net.core.netdev_max_backlog={enough})"
        )
    })
}

/// Maximum number of packets that wait for a CPU. `None` if unknown.
fn packet_queue() -> Option<u32> {
    fs::read_to_string("/proc/sys/net/core/netdev_max_backlog").ok()?.trim().parse().ok()
}

/// Maximum number of connections to a server; `sources` has the number of source addresses for each of its addresses. Every pair
/// of addresses has its own local ports. `None`: unlimited.
fn room(ports: u32, sources: impl Iterator<Item = Option<u32>>) -> Option<u64> {
    Some(u64::from(sources.sum::<Option<u32>>()?) * u64::from(ports))
}

/// Raises the limit on open files if a load's connections need it, in addition to the files that are open now.
pub(super) fn reserve(workload: &Workload, protocol: Protocol) -> Result<(), FileLimit> {
    file_limit::reserve(workload.connections_under(protocol), workload.client_threads)
}

/// First and last local port. `None` if unknown.
pub(crate) fn local_ports() -> Option<(u32, u32)> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut numbers = text.split_whitespace().map_while(|word| word.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_of_more_connections_than_the_queue_takes_are_warned_of() {
        assert_eq!(lost_probes(1000, 1000), None);
        let warning = lost_probes(10_000, 1000).unwrap();
        assert!(warning.ends_with("sysctl -w net.core.netdev_max_backlog=20000)"), "{warning}");
        assert!(packet_queue().is_some_and(|packets| packets > 0));
    }

    #[test]
    fn each_pair_of_addresses_has_its_own_ports() {
        let room = |sources: &[Option<u32>]| room(1000, sources.iter().copied());
        assert_eq!(room(&[Some(1)]), Some(1000));
        assert_eq!(room(&[Some(1), Some(1)]), Some(2000));
        assert_eq!(room(&[Some(8)]), Some(8000));
        assert_eq!(room(&[None]), None, "a socket in the file system");
    }
}
