//! The calls left in a load that ends after a number of calls.

use rpcbench_clock::{Nanos, Span};

/// Calls that may still come due: in `span`, if they are measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pub left: u64,
    pub span: Option<Span>,
}

impl Budget {
    /// How many of `calls` may come due now; before the span, all of them.
    pub fn grant(&mut self, calls: u32, now: Nanos) -> u32 {
        if !self.has_begun(now) {
            return calls;
        }
        let granted = self.left.min(u64::from(calls));
        self.left -= granted;
        granted as u32
    }

    pub fn is_spent(&self, now: Nanos) -> bool {
        self.left == 0 && self.has_begun(now)
    }

    pub fn has_begun(&self, now: Nanos) -> bool {
        self.span.is_none_or(|span| now >= span.start)
    }
}
