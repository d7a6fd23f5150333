//! Time that counts.

use rpcbench_clock::{Nanos, Span};

/// One part of a window that is measured in several, with gaps between them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub span: Span,
    /// True for the window's last part.
    pub is_last: bool,
}

/// The time of a window: one span, or several with gaps between them.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    /// The last span. It alone may have an unknown end, [`Nanos::NEVER`].
    last: Span,
    /// The spans before it, in order.
    earlier: Vec<Span>,
    /// Total length of the earlier spans.
    before: Nanos,
}

impl Counted {
    pub fn new(span: Span) -> Self {
        Self { last: span, earlier: Vec::new(), before: Nanos(0) }
    }

    /// Adds a later span.
    pub fn add(&mut self, span: Span) {
        self.before = self.length();
        self.earlier.push(self.last);
        self.last = span;
    }

    pub fn end_at(&mut self, end: Nanos) {
        self.last.end = end;
    }

    pub fn start(&self) -> Nanos {
        self.earlier.first().unwrap_or(&self.last).start
    }

    #[inline]
    pub fn last(&self) -> Span {
        self.last
    }

    #[inline]
    pub fn end(&self) -> Nanos {
        self.last.end
    }

    /// Total length of all spans, without the gaps.
    pub fn length(&self) -> Nanos {
        self.before + (self.last.end - self.last.start)
    }

    #[inline]
    pub fn contains(&self, at: Nanos) -> bool {
        self.last.contains(at) || self.earlier.iter().any(|span| span.contains(at))
    }

    /// Time between `from` and `to` that counts.
    #[inline]
    pub fn within(&self, from: Nanos, to: Nanos) -> Nanos {
        let within = |span: &Span| to.min(span.end) - from.max(span.start);
        let last = within(&self.last);
        if from >= self.last.start {
            return last;
        }
        self.earlier.iter().map(within).fold(last, |sum, more| sum + more)
    }

    /// Share of the time between `from` and `to` that counts, 0 to 1.
    #[inline]
    pub fn part(&self, from: Nanos, to: Nanos) -> f64 {
        match to.since(from) {
            0 => f64::from(u8::from(self.contains(to))),
            whole => self.within(from, to).0 as f64 / whole as f64,
        }
    }

    /// Time counted up to `at`. `None` if `at` itself does not count.
    #[inline]
    pub fn so_far(&self, at: Nanos) -> Option<Nanos> {
        match self.last.contains(at) {
            true => Some(self.before + (at - self.last.start)),
            false => self.so_far_earlier(at),
        }
    }

    /// Same for instants before the last span: another program may report late.
    #[cold]
    fn so_far_earlier(&self, at: Nanos) -> Option<Nanos> {
        let span = self.earlier.iter().find(|span| span.contains(at))?;
        Some(self.within(self.start(), span.start) + (at - span.start))
    }
}
