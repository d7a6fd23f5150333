//! Phases of a load.

use rpcbench_clock::Nanos;

/// The phase of a load, as a load thread sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    /// Calls come due; those before `until` are measured.
    Loading {
        until: Nanos,
    },
    /// The span of a closed loop is over, and its last calls have until `until`. The load stays the same: each call that ends
    /// is still followed by another.
    Following {
        until: Nanos,
    },
    /// No new calls; those in flight have until `until`.
    Draining {
        until: Nanos,
    },
}
