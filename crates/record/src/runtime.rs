//! Statistics of a server's runtime over a window.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Garbage collection and allocation of a server, over all its processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuntimeStatistics {
    /// Why the reported statistics are rejected as impossible. The other fields are then empty. Absent if they are plausible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Pauses that ended within the window, by the runtime's name for their kind: a generation, or a phase of a concurrent
    /// collection.
    pub pauses: BTreeMap<String, Pauses>,
    /// Time paused in each 100 ms slice of the window, summed over all processes, nanoseconds. Absent without pauses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paused_ns: Vec<u64>,
    /// Bytes allocated within the window. `null` if the runtime does not count them.
    pub allocated_bytes: Option<u64>,
    /// Largest heap seen within the window, including garbage, bytes; the sum of the largest heaps of all processes. `null` if
    /// the runtime does not report it.
    pub heap_peak_bytes: Option<u64>,
}

impl RuntimeStatistics {
    /// Pauses of all kinds.
    pub fn all(&self) -> Pauses {
        let mut all = Pauses::default();
        self.pauses.values().for_each(|pauses| all.add(*pauses));
        all
    }
}

/// Pauses in which garbage collection stopped the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pauses {
    /// Number of pauses.
    pub count: u64,
    /// Total length of the pauses, nanoseconds.
    pub total_ns: u64,
    /// Length of the longest pause, nanoseconds.
    pub max_ns: u64,
}

impl Pauses {
    /// Adds `others`.
    pub fn add(&mut self, others: Self) {
        self.count += others.count;
        self.total_ns += others.total_ns;
        self.max_ns = self.max_ns.max(others.max_ns);
    }
}
