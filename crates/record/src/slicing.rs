//! How a window was measured in turn with those of other entries.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The slices of a window. Between them the server was frozen, and others had its CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Slicing {
    /// Their number.
    pub slices: u32,
    /// The part of each that counts, nanoseconds.
    pub counted_ns: u64,
    /// What does not count at the beginning of each, while the server gets back to its level, nanoseconds.
    pub discarded_ns: u64,
    /// Wall-clock time at the end of the last one.
    pub ended: Timestamp,
}
