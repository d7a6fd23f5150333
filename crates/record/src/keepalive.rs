//! Pings that keep connections alive.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units;

/// HTTP/2 pings on connections on which nothing is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeepAlive {
    /// Time without received data after which a ping is sent, milliseconds.
    pub every_ms: u64,
    /// Time without received data after a ping until the connection counts as lost, milliseconds.
    pub timeout_ms: u64,
}

impl fmt::Display for KeepAlive {
    /// `pings after 30s, answered within 20s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [every, timeout] = [self.every_ms, self.timeout_ms].map(units::length_ms);
        f.pad(&format!("pings after {every}, answered within {timeout}"))
    }
}
