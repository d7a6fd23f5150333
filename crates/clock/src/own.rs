//! Clocks that stand still at times.

use crate::{Nanos, now};

/// A clock that stands still while its owner is out of its turn: real time less all the time out of turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnClock {
    stood_still: Nanos,
}

impl OwnClock {
    /// A clock that shows `own` at the instant `real`, and runs from then on.
    pub fn showing(own: Nanos, real: Nanos) -> Self {
        Self { stood_still: real - own }
    }

    /// Now, by this clock.
    #[inline]
    pub fn now(self) -> Nanos {
        now() - self.stood_still
    }

    /// Converts an instant since the clock last began to run to this clock.
    pub fn own(self, real: Nanos) -> Nanos {
        if real == Nanos::NEVER { real } else { real - self.stood_still }
    }

    /// The instant at which this clock will show `own` if it runs until then.
    #[inline]
    pub fn real(self, own: Nanos) -> Nanos {
        own + self.stood_still
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_time_excludes_time_out_of_turn() {
        let clock = OwnClock::showing(Nanos(100), Nanos(350));
        assert_eq!(clock.own(Nanos(360)), Nanos(110));
        assert_eq!(clock.real(Nanos(110)), Nanos(360));
        assert_eq!([clock.real(Nanos::NEVER), clock.own(Nanos::NEVER)], [Nanos::NEVER; 2]);
    }
}
