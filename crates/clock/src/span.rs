//! Measured time.

use crate::Nanos;

/// A measured stretch of time. It counts the calls that come due at or after `start` and before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First instant.
    pub start: Nanos,
    /// First instant after the span.
    pub end: Nanos,
}

impl Span {
    /// True at or after `start` and before `end`.
    #[inline]
    pub fn contains(self, at: Nanos) -> bool {
        self.start <= at && at < self.end
    }
}
