//! What a server's runtime tells of itself over a window.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Garbage collection and allocation of a server, all its processes together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuntimeStatistics {
    /// Pauses that ended within the window, by what the runtime calls them: a generation, or a phase of a collection that
    /// otherwise runs beside the program. Empty where none ended.
    pub pauses: BTreeMap<String, Pauses>,
    /// Of those pauses the time within each slice of the window ([`Slice`](crate::Slice)), nanoseconds, all processes
    /// together. Empty without a pause, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paused_ns: Vec<u64>,
    /// Bytes allocated within the window. `None` where the runtime does not count them.
    pub allocated_bytes: Option<u64>,
    /// Largest size of the heap that was seen within the window, garbage included, bytes; of several processes the sum
    /// of the largest of each. `None` where the runtime does not tell it.
    pub heap_peak_bytes: Option<u64>,
}

impl RuntimeStatistics {
    /// Pauses of every kind.
    #[must_use]
    pub fn all(&self) -> Pauses {
        let mut all = Pauses::default();
        self.pauses.values().for_each(|pauses| all.add(*pauses));
        all
    }
}

/// Pauses for garbage collection: times for which the program stood still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pauses {
    /// How many there were.
    pub count: u64,
    /// Their sum, nanoseconds.
    pub total_ns: u64,
    /// The longest, nanoseconds.
    pub max_ns: u64,
}

impl Pauses {
    /// Adds others to these.
    pub fn add(&mut self, others: Self) {
        self.count += others.count;
        self.total_ns += others.total_ns;
        self.max_ns = self.max_ns.max(others.max_ns);
    }
}
