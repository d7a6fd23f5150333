//! Source addresses of connections.
//!
//! A connection that the client closes keeps its port for a minute (TIME_WAIT; a second where the kernel reuses such ports, as
//! it does on the loopback interface by default). One address has about 28,000 ports for each server, which short connections
//! use up within seconds. The loopback interface has 16 million addresses, each with its own ports.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsFd;

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::IpBindAddressNoPort;
use rustix::net;

use crate::address::ServerAddress;

/// Source addresses of a load thread, used in turn: more addresses have more free ports.
const ADDRESSES: u32 = 4;

/// Number of source addresses for the connections of `threads` load threads to `server`, each with its own ports. `None` for
/// Unix sockets, which need no ports.
pub fn source_addresses(server: &ServerAddress, threads: u32) -> Option<u32> {
    match server {
        ServerAddress::Tcp(SocketAddr::V4(address)) if address.ip().is_loopback() => {
            Some(ADDRESSES * threads.max(1))
        }
        ServerAddress::Tcp(_) => Some(1),
        ServerAddress::Unix(_) => None,
    }
}

/// The source address of the next connection.
#[derive(Debug)]
pub(crate) struct Sources {
    first: Option<u32>,
    turn: u32,
}

impl Sources {
    /// The kernel chooses.
    pub fn any() -> Self {
        Self { first: None, turn: 0 }
    }

    /// Separate addresses for thread `thread`, from 127.0.0.2 on, if the server is on the loopback interface.
    pub fn spread(server: &ServerAddress, thread: u32) -> Self {
        let on_loopback = matches!(server, ServerAddress::Tcp(SocketAddr::V4(address)) if address.ip().is_loopback());
        let first = u32::from(Ipv4Addr::LOCALHOST) + 1 + thread * ADDRESSES;
        Self { first: on_loopback.then_some(first), turn: 0 }
    }

    /// The next address in turn. `None`: the kernel chooses.
    pub fn next(&mut self) -> Option<Ipv4Addr> {
        let first = self.first?;
        let turn = self.turn;
        self.turn = (turn + 1) % ADDRESSES;
        Some((first + turn).into())
    }
}

/// Binds a socket to `address`; the kernel chooses the port when it connects.
pub(super) fn bind(socket: &impl AsFd, address: Ipv4Addr) -> io::Result<()> {
    setsockopt(socket, IpBindAddressNoPort, &true)?;
    Ok(net::bind(socket, &SocketAddr::from((address, 0)))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_have_as_many_source_addresses_as_threads_choose() {
        for (server, threads) in [("127.0.0.1:1", 3), ("[::1]:1", 3), ("10.0.0.1:1", 2)] {
            let server = ServerAddress::Tcp(server.parse().unwrap());
            let chosen = (0..threads).flat_map(|thread| {
                let mut sources = Sources::spread(&server, thread);
                (0..ADDRESSES).map(move |_| sources.next())
            });
            let chosen: std::collections::HashSet<_> = chosen.collect();
            assert_eq!(source_addresses(&server, threads), Some(chosen.len() as u32), "{server}");
        }
        assert_eq!(source_addresses(&ServerAddress::Unix("/run/s".into()), 1), None);
    }

    #[test]
    fn threads_have_separate_source_addresses_on_loopback_only() {
        let taken = |server: &str, thread| {
            let server = ServerAddress::Tcp(server.parse().unwrap());
            let mut sources = Sources::spread(&server, thread);
            (0..=ADDRESSES).map(|_| sources.next()).collect::<Vec<_>>()
        };
        let (first, second) = (taken("127.0.0.1:1", 0), taken("127.0.0.1:1", 1));
        assert_eq!(first[0], Some(Ipv4Addr::new(127, 0, 0, 2)));
        assert_eq!(first[0], first[ADDRESSES as usize], "in turn");
        assert!(first.iter().all(|address| !second.contains(address)));
        for server in ["[::1]:1", "10.0.0.1:1"] {
            assert!(taken(server, 0).iter().all(Option::is_none), "{server}");
        }
        assert_eq!(Sources::any().next(), None);
    }
}
