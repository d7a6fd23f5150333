//! Counts calls: all of them, into fixed memory.

use rpcbench_record::{Outcomes, Slice};
use rpcbench_stats::Histogram;

use crate::clock::Nanos;
use crate::log::{BatchWriter, CallLog};
use crate::outcome::Outcome;
use crate::protocol::Call;

/// Length of a slice of the series.
pub(crate) const SLICE: Nanos = Nanos::from_millis(100);
/// Kinds of errors of which an example is kept.
const MAX_EXAMPLES: usize = 8;
/// A call of an open loop that is taken up later than this after it came due is late.
const LATE: Nanos = Nanos::from_millis(1);
/// Longest example, characters.
const MAX_EXAMPLE: usize = 300;

/// The calls that came due in a stretch of time.
#[derive(Clone, Debug)]
pub struct Tally {
    /// By outcome.
    pub outcomes: Outcomes,
    /// Response time, from due, of calls that ended `ok`; nanoseconds.
    pub ok: Histogram,
    /// Service time, from written, of calls that ended `ok`.
    pub service: Histogram,
    /// Send lag, from due to written, of calls that ended `ok`.
    pub send_lag: Histogram,
    /// Response time of the others.
    pub errors: Histogram,
    /// Calls of an open loop that were taken up more than 1 ms late though a connection had room.
    pub late: u64,
    /// Calls of an open loop that found no room on any connection when they came due.
    pub held_back: u64,
    /// One example of each kind of error, at most eight.
    pub examples: Vec<String>,
    /// By time of completion, 100 ms each.
    pub series: Vec<Slice>,
    /// Time within the stretch of calls that came due before it, summed.
    pub carried_in: Nanos,
    /// Time after the stretch of calls that came due in it, summed.
    pub carried_out: Nanos,
}

impl Tally {
    pub(crate) fn new(length: Nanos) -> Self {
        let slices = length.0.div_ceil(SLICE.0).min(u64::from(u32::MAX)) as usize;
        Self {
            outcomes: Outcomes::default(),
            ok: Histogram::new(),
            service: Histogram::new(),
            send_lag: Histogram::new(),
            late: 0,
            held_back: 0,
            errors: Histogram::new(),
            examples: Vec::new(),
            series: vec![Slice::default(); slices],
            carried_in: Nanos(0),
            carried_out: Nanos(0),
        }
    }

    /// Adds what another thread counted over the same stretch.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.outcomes.add(&other.outcomes);
        self.ok.merge(&other.ok);
        self.service.merge(&other.service);
        self.send_lag.merge(&other.send_lag);
        self.errors.merge(&other.errors);
        self.late += other.late;
        self.held_back += other.held_back;
        self.carried_in = self.carried_in + other.carried_in;
        self.carried_out = self.carried_out + other.carried_out;
        for example in &other.examples {
            self.example(example);
        }
        for (slice, theirs) in self.series.iter_mut().zip(&other.series) {
            slice.ok += theirs.ok;
            slice.errors += theirs.errors;
            slice.sum_ns += theirs.sum_ns;
            slice.max_ns = slice.max_ns.max(theirs.max_ns);
        }
    }

    /// A call that ended `ok`, `took` nanoseconds after it came due.
    #[inline]
    fn answered(&mut self, call: Call, took: u64) {
        self.outcomes.ok += 1;
        self.ok.record(took);
        // Answered before the kernel took the last byte: all of it is the server's time.
        let send_lag = call.written.since(call.due).min(took);
        self.send_lag.record(send_lag);
        self.service.record(took - send_lag);
    }

    /// A call that ended otherwise.
    #[cold]
    fn failed(&mut self, took: u64, outcome: &Outcome) {
        outcome.count(&mut self.outcomes);
        self.errors.record(took);
        if let Some(example) = outcome.example() {
            self.example(&example);
        }
    }

    fn example(&mut self, text: &str) {
        let text: String = text.chars().take(MAX_EXAMPLE).collect();
        if self.examples.len() < MAX_EXAMPLES && !self.examples.contains(&text) {
            self.examples.push(text);
        }
    }
}

/// A measured stretch of time: calls that come due from `start` to before `end` are its population.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First instant.
    pub start: Nanos,
    /// First instant after it.
    pub end: Nanos,
}

impl Span {
    pub(crate) fn contains(self, at: Nanos) -> bool {
        self.start <= at && at < self.end
    }
}

/// What one load thread counts.
#[derive(Debug)]
pub(crate) struct Recorder {
    span: Option<Span>,
    measured: Tally,
    /// Calls outside the span: warm-up.
    outside: Outcomes,
    outside_examples: Tally,
    log: Option<BatchWriter>,
}

impl Recorder {
    pub fn new(log: Option<CallLog>) -> Self {
        let empty = || Tally::new(Nanos(0));
        Self {
            span: None,
            measured: empty(),
            outside: Outcomes::default(),
            outside_examples: empty(),
            log: log.map(BatchWriter::new),
        }
    }

    /// Starts to measure anew.
    pub fn measure(&mut self, span: Span) {
        self.measured = Tally::new(span.end - span.start);
        self.span = Some(span);
    }

    /// Ends measuring.
    pub fn take(&mut self) -> Option<Tally> {
        if let Some(log) = &mut self.log {
            log.flush();
        }
        self.span.take().map(|_| std::mem::replace(&mut self.measured, Tally::new(Nanos(0))))
    }

    /// Calls that came due outside of any measured span so far.
    pub fn outside(&self) -> (&Outcomes, &[String]) {
        (&self.outside, &self.outside_examples.examples)
    }

    /// What is measured so far. `None` outside a span.
    pub fn so_far(&self) -> Option<&Tally> {
        self.span.map(|_| &self.measured)
    }

    /// A call of an open loop that came due at `due` is taken up at `now`; `held` if there was no room for
    /// it at once.
    #[inline]
    pub fn taken_up(&mut self, due: Nanos, now: Nanos, held: bool) {
        if self.span.is_some_and(|span| span.contains(due)) {
            self.measured.held_back += u64::from(held);
            self.measured.late += u64::from(!held && now - due > LATE);
        }
    }

    /// A call ended at `done`.
    #[inline]
    pub fn record(&mut self, call: Call, done: Nanos, outcome: &Outcome) {
        let Some(span) = self.span.filter(|span| span.contains(call.due)) else {
            return self.record_outside(done, outcome);
        };
        if let Some(log) = &mut self.log {
            log.push(call, done, outcome, span.start);
        }
        self.measured.carried_out = self.measured.carried_out + (done - span.end);
        let slice = (done.since(span.start) / SLICE.0) as usize;
        let slice = self.measured.series.get_mut(slice).filter(|_| done < span.end);
        let took = done.since(call.due);
        if !matches!(outcome, Outcome::Ok) {
            if let Some(slice) = slice {
                slice.errors += 1;
            }
            return self.measured.failed(took, outcome);
        }
        if let Some(slice) = slice {
            slice.ok += 1;
            slice.sum_ns += took;
            slice.max_ns = slice.max_ns.max(took);
        }
        self.measured.answered(call, took);
    }

    /// A call that did not come due in the span; it may reach into it.
    #[inline(never)]
    fn record_outside(&mut self, done: Nanos, outcome: &Outcome) {
        if let Some(span) = self.span {
            let within = done.min(span.end) - span.start;
            self.measured.carried_in = self.measured.carried_in + within;
        }
        outcome.count(&mut self.outside);
        if let Some(example) = outcome.example() {
            self.outside_examples.example(&example);
        }
    }

    /// Keeps a line about what was wrong with a reply.
    pub fn explain(&mut self, problem: &str) {
        let tally =
            if self.span.is_some() { &mut self.measured } else { &mut self.outside_examples };
        tally.example(problem);
    }
}
