//! Pings that keep connections alive.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units;

/// Pings of HTTP/2 on connections that nothing comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeepAlive {
    /// A ping is sent when nothing came for this long. Milliseconds.
    pub every_ms: u64,
    /// A connection on which nothing comes for this long after it is lost. Milliseconds.
    pub timeout_ms: u64,
}

impl fmt::Display for KeepAlive {
    /// `pings after 30s, answered within 20s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [every, timeout] = [self.every_ms, self.timeout_ms].map(units::length_ms);
        f.pad(&format!("pings after {every}, answered within {timeout}"))
    }
}
