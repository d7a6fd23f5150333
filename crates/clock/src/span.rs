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

    /// The share of the time from `from` to `to` that lies within, 0 to 1.
    #[inline]
    pub fn part(self, from: Nanos, to: Nanos) -> f64 {
        let within = to.min(self.end) - from.max(self.start);
        match to.since(from) {
            0 => f64::from(u8::from(self.contains(to))),
            whole => within.0 as f64 / whole as f64,
        }
    }
}
