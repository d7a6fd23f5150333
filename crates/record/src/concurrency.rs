//! How connections, calls in flight and threads fit together. Suites, the command line and the engine apply these rules.

use std::fmt;

use crate::connection_life::ConnectionLife;
use crate::protocol::Protocol;

/// The part of a load that decides which calls share a connection.
#[derive(Clone, Copy, Debug)]
pub struct Concurrency {
    /// Connections over all threads.
    pub connections: u32,
    /// Calls in flight over all connections.
    pub in_flight: u32,
    /// Threads of the client.
    pub client_threads: u32,
    /// Calls that a connection carries before it is replaced.
    pub connection_life: ConnectionLife,
    /// Allows several calls at a time on a connection under a protocol that takes one at a time.
    pub pipelining: bool,
}

/// Two keys of a load whose values exclude each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// One of them.
    pub first: (&'static str, String),
    /// The other.
    pub second: (&'static str, String),
    /// The reason, and what to change.
    pub remedy: &'static str,
}

impl Concurrency {
    /// The first contradiction. Without a protocol, one that holds for all protocols.
    pub fn contradiction(&self, protocol: Option<Protocol>) -> Option<Contradiction> {
        let each = self.in_flight.div_ceil(self.connections.max(1));
        let connections = ("connections", self.connections.to_string());
        let in_flight = ("in_flight_per_connection", each.to_string());
        let one_at_a_time = protocol.filter(|protocol| protocol.takes_one_call_at_a_time());
        let (first, second, remedy) = if self.client_threads > self.connections {
            let threads = ("client_threads", self.client_threads.to_string());
            let remedy = "every thread needs a connection; raise the first or lower the second";
            (connections, threads, remedy)
        } else if self.in_flight < self.connections {
            let all = ("in_flight", self.in_flight.to_string());
            (connections, all, "every connection carries at least one call; lower the first")
        } else if let Some(protocol) = one_at_a_time.filter(|_| each > 1 && !self.pipelining) {
            let remedy =
                "a connection takes one call at a time; give more --connections, or --pipelining";
            (in_flight, ("protocol", protocol.to_string()), remedy)
        } else if self.connection_life.calls().is_some_and(|calls| each > calls) {
            let remedy = "a connection can't have more calls in flight than it lives for; give fewer calls in \
                          flight or a longer life";
            (in_flight, ("connection_life", self.connection_life.to_string()), remedy)
        } else {
            return None;
        };
        Some(Contradiction { first, second, remedy })
    }
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first: (one, value), second: (other, against), remedy } = self;
        write!(f, "{one} = {value} contradicts {other} = {against}: {remedy}")
    }
}
