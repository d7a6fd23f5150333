//! Resource usage of a load thread.

use std::fs;

use rpcbench_clock::{self as clock, Nanos, Span};

/// What a load thread used over the measured span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadUsage {
    pub cpu: Nanos,
    /// The part of `cpu` spent polling.
    pub awake: Nanos,
    /// Time spent ready to run but without a CPU. `None` if the kernel does not report it.
    pub run_delay: Option<Nanos>,
    /// TLS records received.
    pub records: u64,
}

impl ThreadUsage {
    fn plus(self, other: Self) -> Self {
        let run_delay = self.run_delay.zip(other.run_delay).map(|(one, more)| one + more);
        Self {
            cpu: self.cpu + other.cpu,
            awake: self.awake + other.awake,
            run_delay,
            records: self.records + other.records,
        }
    }
}

/// A load thread's counters at one point in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    at: Nanos,
    cpu: Nanos,
    awake: Nanos,
    run_delay: Option<Nanos>,
    records: u64,
}

impl Reading {
    /// `awake` and `records` are those of the [driver](crate::driver::Driver).
    pub fn now(awake: Nanos, records: u64) -> Self {
        // "cpu-ns run-delay-ns timeslices"
        let schedstat = fs::read_to_string("/proc/thread-self/schedstat").ok();
        let run_delay = schedstat.and_then(|text| text.split(' ').nth(1)?.parse().ok().map(Nanos));
        Self { at: clock::now(), cpu: clock::thread_cpu(), awake, run_delay, records }
    }

    /// Usage since an earlier reading, scaled to a span of `length`: a thread without a CPU reads late at both ends.
    fn since(self, earlier: Self, length: Nanos) -> ThreadUsage {
        let share = length.0 as f64 / (self.at - earlier.at).0.max(1) as f64;
        let scale = |now: Nanos, then| Nanos(((now - then).0 as f64 * share) as u64);
        ThreadUsage {
            cpu: scale(self.cpu, earlier.cpu),
            awake: scale(self.awake, earlier.awake),
            run_delay: self.run_delay.zip(earlier.run_delay).map(|(now, then)| scale(now, then)),
            records: scale(Nanos(self.records), Nanos(earlier.records)).0,
        }
    }
}

/// The spans of a window, and the thread's usage over them.
pub(super) struct WindowUsage {
    spans: Vec<Span>,
    /// Readings at the edges of the last span.
    edges: [Option<Reading>; 2],
    /// Usage over the earlier spans.
    before: ThreadUsage,
}

impl WindowUsage {
    pub fn new(span: Option<Span>) -> Self {
        let before = ThreadUsage { run_delay: Some(Nanos(0)), ..ThreadUsage::default() };
        Self { spans: span.into_iter().collect(), edges: [None; 2], before }
    }

    pub fn add(&mut self, span: Span) {
        self.before = self.usage();
        self.spans.push(span);
        self.edges = [None; 2];
    }

    pub fn end_at(&mut self, span: Option<Span>) {
        if let (Some(last), Some(span)) = (self.spans.last_mut(), span) {
            *last = span;
        }
    }

    /// Takes the readings that are due at `now`.
    pub fn take_due(&mut self, now: Nanos, read: impl Fn() -> Reading) {
        let Some(span) = self.spans.last() else { return };
        for (edge, used) in [span.start, span.end].into_iter().zip(&mut self.edges) {
            if used.is_none() && now >= edge {
                *used = Some(read());
            }
        }
    }

    pub fn end_now(&mut self, reading: Reading) {
        self.edges[1] = Some(reading);
    }

    /// The window from its first instant to its last, and the total length of its gaps.
    pub fn whole(&self) -> Option<(Span, Nanos)> {
        let (first, last) = (self.spans.first()?, self.spans.last()?);
        let gaps = self.spans.windows(2).map(|pair| pair[1].start.since(pair[0].end));
        Some((Span { start: first.start, end: last.end }, Nanos(gaps.sum())))
    }

    pub fn usage(&self) -> ThreadUsage {
        match (self.edges, self.spans.last()) {
            ([Some(start), Some(end)], Some(span)) => {
                self.before.plus(end.since(start, span.end - span.start))
            }
            _ => ThreadUsage { run_delay: None, ..self.before },
        }
    }
}
