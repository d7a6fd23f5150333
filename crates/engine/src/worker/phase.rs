//! The part of a load that a load thread is in.

use rpcbench_clock::Nanos;

/// Whether calls come due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    /// Calls come due; those before `until` are measured.
    Loading {
        until: Nanos,
    },
    /// A closed loop's span is over, and its last calls have until then. The load stays the same: each call that ends is
    /// still followed by another.
    Following {
        until: Nanos,
    },
    /// No new calls; those in flight have until then.
    Draining {
        until: Nanos,
    },
}
