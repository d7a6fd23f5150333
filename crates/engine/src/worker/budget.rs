//! The calls of a load that ends with a number of them.

use crate::clock::Nanos;
use crate::span::Span;

/// Calls that may still come due in a span.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pub left: u64,
    pub span: Span,
}

impl Budget {
    /// How many of `calls` may come due now; before the span, all.
    pub fn grant(&mut self, calls: u32, now: Nanos) -> u32 {
        if now < self.span.start {
            return calls;
        }
        let granted = self.left.min(u64::from(calls));
        self.left -= granted;
        granted as u32
    }

    pub fn is_spent(&self, now: Nanos) -> bool {
        self.left == 0 && now >= self.span.start
    }
}
