//! What is compared: targets, loads, clients, bars; and in which order.

use std::fmt;

use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use crate::protocol::Protocol;

/// The server that is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The tonic server of `servers/rust/tonic` on one thread.
    Tonic,
    /// The testkit's null server: the least work that is still correct in its protocol.
    Null,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Tonic => "tonic",
            Self::Null => "null server",
        })
    }
}

/// A load generator: rpcbench's own, or one that it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// ghz, of the Go module `github.com/bojand/ghz`.
    Ghz,
    /// h2load, of nghttp2.
    H2load,
    /// wrk, of Will Glozer.
    Wrk,
    /// `rpcbench-floor`: see [`crate::floor`].
    Floor,
    /// `rpcbench load`.
    Rpcbench,
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ghz => "ghz",
            Self::H2load => "h2load",
            Self::Wrk => "wrk",
            Self::Floor => "floor",
            Self::Rpcbench => "rpcbench",
        })
    }
}

/// Connections, and calls in flight on each; written `50x20`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Connections.
    pub connections: u32,
    /// Calls in flight on each connection.
    pub in_flight: u32,
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}x{}", self.connections, self.in_flight))
    }
}

/// A target under a load, and the clients that make it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Who is loaded.
    pub target: Target,
    /// How calls travel.
    pub protocol: Protocol,
    /// With what.
    pub load: Load,
    /// By whom, and what rpcbench is to reach beside each: so many times the client's calls per client
    /// CPU-second, and for rpcbench itself, so many calls a second.
    pub clients: &'static [(Client, Option<f64>)],
}

impl fmt::Display for Row {
    /// By this name a row is asked for: `tonic-50x20`, `json-50x1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.target, self.protocol) {
            (Target::Tonic, _) => f.write_str("tonic"),
            (Target::Null, Protocol::Grpc) => f.write_str("null"),
            (Target::Null, protocol) => write!(f, "{protocol}"),
        }?;
        write!(f, "-{}", self.load)
    }
}

impl Row {
    /// The row of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        ROWS.into_iter().find(|row| row.to_string() == name)
    }

    /// What rpcbench is to reach beside a client: see [`Row::clients`].
    #[must_use]
    pub fn bar(&self, client: Client) -> Option<f64> {
        self.clients.iter().find(|(other, _)| *other == client)?.1
    }
}

/// The share of the floor that rpcbench is to reach.
const NEAR_FLOOR: (Client, Option<f64>) = (Client::Floor, Some(0.7));
/// The same over JSON and Thrift.
const NEARER_FLOOR: (Client, Option<f64>) = (Client::Floor, Some(0.85));

const fn load(connections: u32, in_flight: u32) -> Load {
    Load { connections, in_flight }
}

/// Everything that is compared.
pub const ROWS: [Row; 8] = [
    Row {
        target: Target::Tonic,
        protocol: Protocol::Grpc,
        load: load(50, 20),
        clients: &[
            (Client::Ghz, Some(28.0)),
            (Client::H2load, Some(3.5)),
            (Client::Rpcbench, None),
        ],
    },
    Row {
        target: Target::Null,
        protocol: Protocol::Grpc,
        load: load(50, 20),
        clients: &[(Client::H2load, Some(5.0)), NEAR_FLOOR, (Client::Rpcbench, Some(2e6))],
    },
    Row {
        target: Target::Null,
        protocol: Protocol::Grpc,
        load: load(5, 5),
        clients: &[(Client::H2load, Some(2.5)), NEAR_FLOOR, (Client::Rpcbench, None)],
    },
    Row {
        target: Target::Null,
        protocol: Protocol::Grpc,
        load: load(1, 100),
        clients: &[(Client::H2load, Some(7.0)), NEAR_FLOOR, (Client::Rpcbench, None)],
    },
    Row {
        target: Target::Null,
        protocol: Protocol::Grpc,
        load: load(250, 2),
        clients: &[(Client::H2load, Some(2.4)), NEAR_FLOOR, (Client::Rpcbench, None)],
    },
    Row {
        target: Target::Null,
        protocol: Protocol::Grpc,
        load: load(50, 1),
        clients: &[(Client::H2load, Some(1.9)), NEAR_FLOOR, (Client::Rpcbench, None)],
    },
    Row {
        target: Target::Null,
        protocol: Protocol::Json,
        load: load(50, 1),
        clients: &[(Client::Wrk, Some(1.4)), NEARER_FLOOR, (Client::Rpcbench, None)],
    },
    Row {
        target: Target::Null,
        protocol: Protocol::Thrift,
        load: load(50, 1),
        clients: &[NEARER_FLOOR, (Client::Rpcbench, None)],
    },
];

/// One client under one row, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Counted from 0.
    pub round: u32,
    /// Index of the row.
    pub row: usize,
    /// Who makes the load.
    pub client: Client,
}

/// All steps in the order in which they are taken. A round has every client of every row once; those of a
/// row follow each other, in an order drawn from the seed anew for each round. Clients for which `missing`
/// is true are left out.
#[must_use]
pub fn order(rows: &[Row], rounds: u32, seed: u64, missing: impl Fn(Client) -> bool) -> Vec<Step> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut steps = Vec::new();
    for round in 0..rounds {
        for (row, Row { clients, .. }) in rows.iter().enumerate() {
            let mut clients: Vec<Client> =
                clients.iter().map(|(client, _)| *client).filter(|it| !missing(*it)).collect();
            clients.shuffle(&mut rng);
            steps.extend(clients.into_iter().map(|client| Step { round, row, client }));
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_has_every_client_of_every_row_once() {
        let steps = order(&ROWS, 5, 1, |_| false);
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
            let steps = order(&ROWS[..1], 12, seed, |_| false);
            steps.chunks(3).map(|row| row[0].client).collect()
        };
        assert_eq!(firsts(1), firsts(1));
        assert_ne!(firsts(1), firsts(2));
        for (client, _) in ROWS[0].clients {
            assert!(firsts(1).contains(client), "{client} is never first");
        }
    }

    #[test]
    fn every_row_has_a_name_of_its_own() {
        for row in ROWS {
            assert_eq!(Row::named(&row.to_string()), Some(row));
        }
        assert_eq!(ROWS[0].to_string(), "tonic-50x20");
        assert_eq!(ROWS[6].to_string(), "json-50x1");
        assert_eq!(Row::named("tonic-5x5"), None);
    }

    #[test]
    fn a_client_that_is_not_there_is_left_out() {
        let steps = order(&ROWS, 1, 1, |client| client == Client::Ghz);
        assert_eq!(steps.len(), 2 + 6 * 3 + 2);
    }
}
