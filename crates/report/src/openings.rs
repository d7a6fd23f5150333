//! The steps in which connections opened.

use rpcbench_record::{Latency, Measured};

use crate::figures::Response;

/// Times of each step, over all trials of a cell. `None` for steps that no connection took.
#[derive(Clone, Debug, PartialEq)]
pub struct Openings {
    /// TCP's handshake.
    pub tcp: Option<Response>,
    /// Full handshakes of TLS.
    pub full_handshake: Option<Response>,
    /// Those that resumed a session.
    pub resumed_handshake: Option<Response>,
    /// From there until the first byte.
    pub first_byte: Option<Response>,
}

impl Openings {
    /// Those of a cell's trials.
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
