//! The steps of opening connections.

use rpcbench_record::{Latency, Measured};

use crate::figures::Response;

/// Times of each step, over all trials of a cell. `None` for steps that no connection went through.
#[derive(Clone, Debug, PartialEq)]
pub struct Openings {
    /// TCP handshakes.
    pub tcp: Option<Response>,
    /// Full TLS handshakes.
    pub full_handshake: Option<Response>,
    /// TLS handshakes that resumed a session.
    pub resumed_handshake: Option<Response>,
    /// From then until the first byte.
    pub first_byte: Option<Response>,
}

impl Openings {
    /// The times of a cell's trials.
    pub fn of(trials: &[&Measured]) -> Self {
        let merged = |of: fn(&Measured) -> Option<&Latency>| {
            let parts: Vec<&Latency> = trials.iter().copied().filter_map(of).collect();
            Response::merged(&parts)
        };
        Self {
            tcp: merged(|t| t.opening.tcp.as_ref()),
            full_handshake: merged(|t| t.opening.full_handshake.as_ref()),
            resumed_handshake: merged(|t| t.opening.resumed_handshake.as_ref()),
            first_byte: merged(|t| t.opening.first_byte.as_ref()),
        }
    }
}
