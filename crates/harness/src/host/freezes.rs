//! Records when a process was frozen.

use rpcbench_clock::{Nanos, Span};

/// The periods in which a process was known to be frozen, in order, each with the total length of the earlier ones.
#[derive(Debug, Default)]
pub struct Freezes(Vec<(Span, Nanos)>);

impl Freezes {
    /// Begins a freeze at `start`, unless the process is already frozen.
    pub fn begin(&mut self, start: Nanos) {
        let before = match self.0.last() {
            Some((last, _)) if last.end == Nanos::NEVER => return,
            Some((last, before)) => *before + (last.end - last.start),
            None => Nanos(0),
        };
        self.0.push((Span { start, end: Nanos::NEVER }, before));
    }

    /// Ends a freeze at `end`.
    pub fn end(&mut self, end: Nanos) {
        if let Some((last, _)) = self.0.last_mut() {
            last.end = last.end.min(end);
        }
    }

    /// Converts an instant to the process's own time, which excludes the time it was frozen.
    pub fn own(&self, at: Nanos) -> Nanos {
        let last = self.0.iter().rev().find(|(span, _)| span.start <= at);
        last.map_or(at, |(span, before)| at - *before - (span.end.min(at) - span.start))
    }

    /// Like [`Self::own`], for a span, which may have no end.
    pub fn own_span(&self, Span { start, end }: Span) -> Span {
        let end = if end == Nanos::NEVER { end } else { self.own(end) };
        Span { start: self.own(start), end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_time_stands_still_while_frozen() {
        let mut freezes = Freezes::default();
        assert_eq!(freezes.own(Nanos(7)), Nanos(7));
        freezes.begin(Nanos(100));
        assert_eq!(freezes.own(Nanos(150)), Nanos(100));
        freezes.end(Nanos(300));
        freezes.end(Nanos(999));
        freezes.begin(Nanos(400));
        freezes.begin(Nanos(401));
        freezes.end(Nanos(450));
        let own = [50, 100, 200, 310, 500].map(|at| freezes.own(Nanos(at)).0);
        assert_eq!(own, [50, 100, 100, 110, 250]);
        let span = freezes.own_span(Span { start: Nanos(310), end: Nanos::NEVER });
        assert_eq!((span.start, span.end), (Nanos(110), Nanos::NEVER));
    }
}
