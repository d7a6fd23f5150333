//! How a window was measured in turn with those of other entries.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Slices of a window. Between them, the server was frozen and other entries had its CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Slicing {
    /// Number of slices.
    pub slices: u32,
    /// Length of the measured part of each slice, nanoseconds.
    pub counted_ns: u64,
    /// Length of the discarded start of each slice, in which the server gets back to its usual rate, nanoseconds.
    pub discarded_ns: u64,
    /// Wall-clock time at the end of the last slice.
    pub ended: Timestamp,
}

impl Slicing {
    /// Length of each slice, nanoseconds.
    pub fn length_ns(&self) -> u64 {
        self.discarded_ns + self.counted_ns
    }
}
