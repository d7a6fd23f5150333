//! Measured time.

use crate::Nanos;

/// A measured stretch of time. It counts the calls that come due from `start` until before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First instant.
    pub start: Nanos,
    /// First instant after it.
    pub end: Nanos,
}

impl Span {
    /// True from `start` until before `end`.
    #[inline]
    pub fn contains(self, at: Nanos) -> bool {
        self.start <= at && at < self.end
    }
}
