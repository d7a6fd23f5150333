//! When a server was frozen.

use rpcbench_clock::{Nanos, Span};

/// The stretches of time in which a server was known to be frozen.
#[derive(Debug, Default)]
pub struct Freezes(Vec<Span>);

impl Freezes {
    /// Begins a freeze at `start`.
    pub fn begin(&mut self, start: Nanos) {
        self.0.push(Span { start, end: Nanos::NEVER });
    }

    /// Ends a freeze at `end`.
    pub fn end(&mut self, end: Nanos) {
        if let Some(last) = self.0.last_mut() {
            last.end = last.end.min(end);
        }
    }

    /// An instant in the server's own time, which lacks the time for which it was frozen.
    pub fn own(&self, at: Nanos) -> Nanos {
        let before = |span: &Span| at.min(span.end).since(span.start);
        at - Nanos(self.0.iter().map(before).sum())
    }

    /// The same of a span.
    pub fn own_span(&self, Span { start, end }: Span) -> Span {
        Span { start: self.own(start), end: self.own(end) }
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
        freezes.end(Nanos(450));
        let own = [50, 100, 200, 310, 500].map(|at| freezes.own(Nanos(at)).0);
        assert_eq!(own, [50, 100, 100, 110, 250]);
    }
}
