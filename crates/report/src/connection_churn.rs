//! Connections that carry a limited number of calls.

use rpcbench_record::{Latency, Measured};

use crate::figures::{Response, share};

/// Connects, and calls without connects, over all trials of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionChurn {
    /// Connections opened per second.
    pub connections_per_s: f64,
    /// Connect times.
    pub connect: Response,
    /// Service times of correct answers, excluding connects. `None` if no call was answered.
    pub call: Option<Response>,
}

impl ConnectionChurn {
    /// The figures of a cell's trials. `None` for long connections, as no connection opens in a window.
    pub fn of(trials: &[&Measured]) -> Option<Self> {
        let merged = |of: fn(&Measured) -> Option<&Latency>| {
            let parts: Vec<&Latency> = trials.iter().copied().filter_map(of).collect();
            Some((Response::merged(&parts)?, parts.iter().map(|part| part.count).sum::<u64>()))
        };
        let (connect, opened) = merged(|t| t.connect.as_ref())?;
        let measured_s = trials.iter().map(|t| t.window_ns as f64 / 1e9).sum::<f64>();
        Some(Self {
            connections_per_s: share(opened as f64, measured_s),
            connect,
            call: merged(|t| t.service.as_ref()).map(|(call, _)| call),
        })
    }
}
