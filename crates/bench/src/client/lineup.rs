//! What is compared, and in which order: servers, loads, clients and bars.

use std::fmt;

use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use rpcbench_record::Protocol;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// The tonic server of `servers/rust/tonic` on one thread.
    Tonic,
    /// The testkit's null server: the least work that is correct in its protocol.
    Null,
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Tonic => "tonic",
            Self::Null => "null server",
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// ghz, of the Go module `github.com/bojand/ghz`.
    Ghz,
    /// h2load, of nghttp2.
    H2load,
    /// wrk, of Will Glozer.
    Wrk,
    /// `rpcbench-bench floor`: see [`crate::floor`].
    Floor,
    Rpcbench,
    /// `rpcbench load` of another build.
    Baseline,
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ghz => "ghz",
            Self::H2load => "h2load",
            Self::Wrk => "wrk",
            Self::Floor => "floor",
            Self::Rpcbench => "rpcbench",
            Self::Baseline => "baseline",
        })
    }
}

/// Connections and calls in flight on each, written `50x20`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    pub connections: u32,
    pub in_flight: u32,
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}x{}", self.connections, self.in_flight))
    }
}

/// A server under a load, and the clients that make it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    pub server: Server,
    pub protocol: Protocol,
    pub load: Load,
    /// The clients with their bars: a multiple of the client's calls per client CPU-second that rpcbench must reach, and for
    /// rpcbench itself its calls per second.
    pub clients: &'static [(Client, Option<f64>)],
}

impl fmt::Display for Row {
    /// The row's name: `tonic-50x20`, `json-50x1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.server, self.protocol) {
            (Server::Tonic, _) => f.write_str("tonic"),
            (Server::Null, Protocol::Grpc) => f.write_str("null"),
            (Server::Null, protocol) => write!(f, "{protocol}"),
        }?;
        write!(f, "-{}", self.load)
    }
}

impl Row {
    pub fn named(name: &str) -> Option<Self> {
        ROWS.into_iter().find(|row| row.to_string() == name)
    }

    /// The bar of a client: see [`Row::clients`].
    pub fn bar(&self, client: Client) -> Option<f64> {
        if client == Client::Baseline {
            return Some(NO_WORSE);
        }
        self.clients.iter().find(|(other, _)| *other == client)?.1
    }
}

/// The share of another build's calls per client CPU-second that rpcbench must reach.
const NO_WORSE: f64 = 0.99;
/// The share of the floor's that it must reach over gRPC.
const NEAR_FLOOR: (Client, Option<f64>) = (Client::Floor, Some(0.7));
/// The same over JSON and Thrift.
const NEARER_FLOOR: (Client, Option<f64>) = (Client::Floor, Some(0.85));

const fn row(
    server: Server,
    protocol: Protocol,
    (connections, in_flight): (u32, u32),
    clients: &'static [(Client, Option<f64>)],
) -> Row {
    Row { server, protocol, load: Load { connections, in_flight }, clients }
}

#[rustfmt::skip]
pub const ROWS: [Row; 8] = [
    row(Server::Tonic, Protocol::Grpc, (50, 20), &[(Client::Ghz, Some(28.0)), (Client::H2load, Some(3.5)), (Client::Rpcbench, None)]),
    row(Server::Null, Protocol::Grpc, (50, 20), &[(Client::H2load, Some(5.0)), NEAR_FLOOR, (Client::Rpcbench, Some(2e6))]),
    row(Server::Null, Protocol::Grpc, (5, 5), &[(Client::H2load, Some(2.5)), NEAR_FLOOR, (Client::Rpcbench, None)]),
    row(Server::Null, Protocol::Grpc, (1, 100), &[(Client::H2load, Some(7.0)), NEAR_FLOOR, (Client::Rpcbench, None)]),
    row(Server::Null, Protocol::Grpc, (250, 2), &[(Client::H2load, Some(2.4)), NEAR_FLOOR, (Client::Rpcbench, None)]),
    row(Server::Null, Protocol::Grpc, (50, 1), &[(Client::H2load, Some(1.9)), NEAR_FLOOR, (Client::Rpcbench, None)]),
    row(Server::Null, Protocol::Json, (50, 1), &[(Client::Wrk, Some(1.4)), NEARER_FLOOR, (Client::Rpcbench, None)]),
    row(Server::Null, Protocol::Thrift, (50, 1), &[NEARER_FLOOR, (Client::Rpcbench, None)]),
];

/// One run of one client under one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Counted from 0.
    pub round: u32,
    pub row: usize,
    pub client: Client,
}

/// All steps in order. Each round has every client of every row once. The clients of a row run one after another, in an order
/// drawn for each round.
pub fn order(
    rows: &[Row],
    rounds: u32,
    seed: u64,
    clients: impl Fn(&Row) -> Vec<Client>,
) -> Vec<Step> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut steps = Vec::new();
    for round in 0..rounds {
        for (index, row) in rows.iter().enumerate() {
            let mut clients = clients(row);
            clients.shuffle(&mut rng);
            steps.extend(clients.into_iter().map(|client| Step { round, row: index, client }));
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(row: &Row) -> Vec<Client> {
        row.clients.iter().map(|(client, _)| *client).collect()
    }

    #[test]
    fn every_round_has_every_client_of_every_row_once() {
        let steps = order(&ROWS, 5, 1, all);
        for round in 0..5 {
            for (row, Row { clients, .. }) in ROWS.iter().enumerate() {
                let here = |step: &&Step| step.round == round && step.row == row;
                for (client, _) in *clients {
                    let times = steps.iter().filter(here).filter(|it| it.client == *client).count();
                    assert_eq!(times, 1, "{client} in row {row} of round {round}");
                }
                assert_eq!(steps.iter().filter(here).count(), clients.len());
            }
        }
        assert!(steps.is_sorted_by_key(|step| (step.round, step.row)));
    }

    #[test]
    fn the_order_of_clients_changes_from_round_to_round_and_with_the_seed_only() {
        let firsts = |seed| -> Vec<Client> {
            let steps = order(&ROWS[..1], 12, seed, all);
            steps.chunks(3).map(|row| row[0].client).collect()
        };
        assert_eq!(firsts(1), firsts(1));
        assert_ne!(firsts(1), firsts(2));
        for (client, _) in ROWS[0].clients {
            assert!(firsts(1).contains(client), "{client} is never first");
        }
    }

    #[test]
    fn row_names_are_unique() {
        for row in ROWS {
            assert_eq!(Row::named(&row.to_string()), Some(row));
        }
        assert_eq!(ROWS[0].to_string(), "tonic-50x20");
        assert_eq!(ROWS[6].to_string(), "json-50x1");
        assert_eq!(Row::named("tonic-5x5"), None);
    }
}
