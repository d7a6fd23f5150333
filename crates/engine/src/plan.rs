//! The plan of a load.

use std::sync::Arc;

use rpcbench_record::{Arrivals, Concurrency, ConnectionLife, KeepAlive, Protocol};

use crate::address::ServerAddress;
use crate::tls::TlsClient;
use rpcbench_clock::Nanos;

/// How to reach a server, for a load and for single calls alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionOptions {
    /// How calls travel.
    pub protocol: Protocol,
    /// Where the server listens.
    pub address: ServerAddress,
    /// More addresses of the server. A load's connections are spread over all of them; single calls go to the first.
    pub others: Vec<ServerAddress>,
    /// Host name in requests; usually the address as typed.
    pub authority: String,
    /// `None`: without TLS.
    pub tls: Option<TlsClient>,
    /// Pings on a load's connections, under protocols that have them. `None`: none are sent.
    pub keepalive: Option<KeepAlive>,
}

impl ConnectionOptions {
    /// Options for requests that name the address as their host.
    pub fn new(protocol: Protocol, address: impl Into<ServerAddress>) -> Self {
        let address = address.into();
        let authority = address.authority();
        Self { protocol, address, others: Vec::new(), authority, tls: None, keepalive: None }
    }

    /// All addresses, as shown, if there are several.
    pub(crate) fn addresses(&self) -> Vec<Arc<str>> {
        let several = (!self.others.is_empty()).then_some(&self.others);
        let all = several.map(|others| std::iter::once(&self.address).chain(others));
        all.into_iter().flatten().map(|address| address.to_string().into()).collect()
    }

    /// The address of a load's connection, by its number.
    pub(crate) fn address_of(&self, connection: usize) -> &ServerAddress {
        match self.address_number(connection) {
            0 => &self.address,
            other => &self.others[other - 1],
        }
    }

    /// Number of the address of a load's connection, from 0.
    pub(crate) fn address_number(&self, connection: usize) -> usize {
        connection % (1 + self.others.len())
    }
}

/// A load on one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadPlan {
    /// The server, and how to reach it.
    pub server: ConnectionOptions,
    /// Connections over all threads; at least 1.
    pub connections: u32,
    /// Calls that a connection carries before it is replaced.
    pub connection_life: ConnectionLife,
    /// Calls in flight over all connections, at least one each; an upper limit in open loop.
    pub in_flight: u32,
    /// When calls come due. Its rate must be known.
    pub arrivals: Arrivals,
    /// Seed of random arrivals.
    pub seed: u64,
    /// Load threads; at most one for each connection.
    pub threads: u32,
    /// CPUs to pin load threads to, in turn. Empty: not pinned.
    pub cpus: Vec<u32>,
    /// Time limit of a call.
    pub timeout: Nanos,
    /// How long to wait for calls in flight at the end.
    pub grace: Nanos,
    /// Time limit for connecting, handshake included: for all connections at first, then for each that is replaced.
    pub connect_timeout: Nanos,
    /// Allows several calls in flight per connection even if the protocol normally has one at a time.
    pub pipelining: bool,
}

/// Why a plan is impossible: what contradicts what, and what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(pub(crate) String);

impl LoadPlan {
    /// Checks the plan for contradictions.
    ///
    /// # Errors
    /// The first contradiction.
    pub fn validate(&self) -> Result<(), PlanError> {
        let &Self { connections, in_flight, threads, .. } = self;
        let protocol = self.server.protocol;
        let refused = |why: String| Err(PlanError(why));
        for (what, value) in
            [("connections", connections), ("in_flight", in_flight), ("threads", threads)]
        {
            if value == 0 {
                return refused(format!("{what} is 0; give at least 1"));
            }
        }
        let &Self { connection_life, pipelining, .. } = self;
        let concurrency = Concurrency {
            connections,
            in_flight,
            client_threads: threads,
            connection_life,
            pipelining,
        };
        if let Some(contradiction) = concurrency.contradiction(Some(protocol)) {
            return refused(contradiction.to_string());
        }
        check_rate(self.arrivals)?;
        Ok(())
    }

    /// The part of `calls` that thread `thread` makes: in proportion to its calls in flight.
    pub(crate) fn share_of(&self, calls: u64, thread: u32) -> u64 {
        self.calls_before(calls, thread + 1) - self.calls_before(calls, thread)
    }

    /// The part of `calls` that the threads before `thread` make.
    pub(crate) fn calls_before(&self, calls: u64, thread: u32) -> u64 {
        let in_flight = |thread| self.shares(thread).into_iter().map(u64::from).sum::<u64>();
        let before: u64 = (0..thread).map(in_flight).sum();
        (u128::from(calls) * u128::from(before) / u128::from(self.in_flight.max(1))) as u64
    }

    /// Calls in flight on each connection of thread `thread`: an equal share, and one more on the first ones.
    pub(crate) fn shares(&self, thread: u32) -> Vec<u32> {
        let (each, more) = (self.in_flight / self.connections, self.in_flight % self.connections);
        (0..self.connections)
            .filter(|connection| connection % self.threads == thread)
            .map(|connection| each + u32::from(connection < more))
            .collect()
    }
}

/// Refuses arrivals whose rate is unknown.
pub(crate) fn check_rate(arrivals: Arrivals) -> Result<(), PlanError> {
    match arrivals.needs_capacity() {
        false => Ok(()),
        true => Err(PlanError(format!(
            "'{arrivals}' is a share of a capacity that nothing has measured; give calls a second"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    fn plan(protocol: Protocol, connections: u32, in_flight: u32) -> LoadPlan {
        LoadPlan {
            server: ConnectionOptions::new(protocol, SocketAddr::from(([127, 0, 0, 1], 1))),
            connections,
            connection_life: ConnectionLife::Long,
            in_flight,
            arrivals: Arrivals::Closed,
            seed: 1,
            threads: 1,
            cpus: Vec::new(),
            timeout: Nanos(1),
            grace: Nanos(1),
            connect_timeout: Nanos(1),
            pipelining: false,
        }
    }

    #[test]
    fn one_call_at_a_time_needs_as_many_connections_or_pipelining() {
        let refused = plan(Protocol::Json, 2, 10);
        assert_eq!(
            refused.validate().unwrap_err().to_string(),
            "in_flight_per_connection = 5 contradicts protocol = json: a connection takes one call at a time; give \
             more --connections, or --pipelining"
        );
        assert_eq!(LoadPlan { pipelining: true, ..refused }.validate(), Ok(()));
        assert_eq!(plan(Protocol::Json, 10, 10).validate(), Ok(()));
        assert_eq!(plan(Protocol::Grpc, 2, 10).validate(), Ok(()));
    }

    #[test]
    fn no_connection_has_more_calls_in_flight_than_it_lives_for() {
        let of = |calls: &str, in_flight| LoadPlan {
            connection_life: calls.parse().unwrap(),
            ..plan(Protocol::Grpc, 4, in_flight)
        };
        assert_eq!(
            of("short", 5).validate().unwrap_err().to_string(),
            "in_flight_per_connection = 2 contradicts connection_life = short: a connection can't have more calls in \
             flight than it lives for; give fewer calls in flight or a longer life"
        );
        assert!(of("calls:2", 9).validate().is_err());
        for (life, in_flight) in [("short", 4), ("calls:2", 8), ("long", 1000)] {
            assert_eq!(of(life, in_flight).validate(), Ok(()), "{life}");
        }
    }
}
