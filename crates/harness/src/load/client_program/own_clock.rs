//! Time of a load that stands still while its program is frozen.

use rpcbench_clock::{Nanos, Span};

/// The times for which a program was frozen. Its own time stands still in them.
#[derive(Debug, Default)]
pub(super) struct OwnClock {
    /// In order, each with the length of those before it.
    gaps: Vec<(Span, Nanos)>,
    /// When it was frozen, if it is.
    left_at: Option<Nanos>,
}

impl OwnClock {
    /// It is frozen since before `now`.
    pub fn leave(&mut self, now: Nanos) {
        self.left_at.get_or_insert(now);
    }

    /// It is thawed after `now`.
    pub fn enter(&mut self, now: Nanos) {
        if let Some(start) = self.left_at.take() {
            let before = self.gaps.last().map_or(Nanos(0), |(gap, before)| *before + length(gap));
            self.gaps.push((Span { start, end: now }, before));
        }
    }

    /// An instant in own time.
    pub fn own(&self, at: Nanos) -> Nanos {
        let gap = self.gaps.iter().rev().find(|(gap, _)| gap.start <= at);
        gap.map_or(at, |(gap, before)| {
            let within = gap.end.min(at) - gap.start;
            at - *before - within
        })
    }

    pub fn own_span(&self, Span { start, end }: Span) -> Span {
        let end = if end == Nanos::NEVER { end } else { self.own(end) };
        Span { start: self.own(start), end }
    }
}

fn length(gap: &Span) -> Nanos {
    gap.end - gap.start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_time_stands_still_while_program_is_frozen() {
        let mut clock = OwnClock::default();
        assert_eq!(clock.own(Nanos(50)), Nanos(50));
        for (left, entered) in [(100, 300), (350, 400)] {
            clock.leave(Nanos(left));
            clock.leave(Nanos(left + 1));
            clock.enter(Nanos(entered));
        }
        let own: Vec<u64> =
            [0, 99, 100, 200, 300, 320, 350, 390, 400, 450].map(|at| clock.own(Nanos(at)).0).into();
        assert_eq!(own, [0, 99, 100, 100, 100, 120, 150, 150, 150, 200]);
        let span = clock.own_span(Span { start: Nanos(320), end: Nanos::NEVER });
        assert_eq!((span.start, span.end), (Nanos(120), Nanos::NEVER));
    }
}
