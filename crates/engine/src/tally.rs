//! What is counted of a span's calls, in fixed memory.

use rpcbench_record::{Connections, Outcomes, Slice, printable};
use rpcbench_stats::Histogram;

use crate::clock::Nanos;
use crate::outcome::Outcome;
use crate::protocol::Call;
use crate::span::Span;

/// Length of a slice of the series.
pub(crate) const SLICE: Nanos = Nanos(Slice::LENGTH_NS);
/// Kinds of errors of which an example is kept.
const MAX_EXAMPLES: usize = 8;
/// Longest example, characters.
const MAX_EXAMPLE: usize = 300;

/// The calls that came due in a stretch of time.
#[derive(Clone, Debug, Default)]
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
    /// Calls of an open loop after whose due time the client did not look for more than 1 ms, room or not.
    pub late: u64,
    /// Those of the others that found no room on any connection when they came due.
    pub held_back: u64,
    /// Connect time of the connections that came to be open in it, where they live for a number of calls; nanoseconds.
    pub connect: Histogram,
    /// What became of connections from its begin until its last call has ended.
    pub connections: Connections,
    /// One example of each kind of error, at most eight.
    pub examples: Vec<String>,
    /// By time of completion, 100 ms each.
    pub series: Vec<Slice>,
    /// Time within the stretch of calls that came due before it, summed.
    pub carried_in: Nanos,
    /// Time after the stretch of calls that came due in it, summed.
    pub carried_out: Nanos,
    /// Of the `ok` calls that an end of the stretch cuts: the parts of their service times that lie within it, summed.
    pub ok_cut: f64,
}

impl Tally {
    pub(crate) fn new(length: Nanos) -> Self {
        Self { series: vec![Slice::default(); slices(length)], ..Self::default() }
    }

    /// Calls that ended `ok`, those that an end of the stretch cuts by the part of their service time within it. Servers
    /// that answer many calls at once have no jumps in it.
    pub fn ok_pro_rata(&self) -> f64 {
        self.ok_cut + self.series.iter().map(|slice| slice.ok).sum::<u64>() as f64
    }

    /// Adds what another thread counted over the same stretch, or one that a cut ended a little sooner or later.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.outcomes.add(&other.outcomes);
        self.ok.merge(&other.ok);
        self.service.merge(&other.service);
        self.send_lag.merge(&other.send_lag);
        self.errors.merge(&other.errors);
        self.late += other.late;
        self.held_back += other.held_back;
        self.connect.merge(&other.connect);
        self.connections.add(&other.connections);
        self.carried_in = self.carried_in + other.carried_in;
        self.carried_out = self.carried_out + other.carried_out;
        self.ok_cut += other.ok_cut;
        for example in &other.examples {
            add_example(&mut self.examples, example);
        }
        let slices = self.series.len().max(other.series.len());
        self.series.resize(slices, Slice::default());
        for (slice, theirs) in self.series.iter_mut().zip(&other.series) {
            slice.ok += theirs.ok;
            slice.errors += theirs.errors;
            slice.sum_ns += theirs.sum_ns;
            slice.max_ns = slice.max_ns.max(theirs.max_ns);
            slice.carried_in += theirs.carried_in;
        }
    }

    /// Calls that ended `ok`.
    #[inline]
    pub(crate) fn answered(&mut self, Burst { due, written, done, calls }: Burst, span: Span) {
        let took = done.since(due);
        self.carry_out(done, span, calls);
        if let Some(slice) = self.slice(done, span) {
            slice.ok += calls;
            slice.sum_ns += took * calls;
            slice.max_ns = slice.max_ns.max(took);
        } else {
            self.ok_cut += span.part(written, done) * calls as f64;
        }
        self.outcomes.ok += calls;
        self.ok.record_times(took, calls);
        // Answered before the kernel took the last byte: all of it is the server's time.
        let send_lag = written.since(due).min(took);
        self.send_lag.record_times(send_lag, calls);
        self.service.record_times(took - send_lag, calls);
    }

    /// A call that ended otherwise.
    #[cold]
    pub(crate) fn failed(&mut self, call: Call, span: Span, done: Nanos, outcome: &Outcome) {
        self.carry_out(done, span, 1);
        if let Some(slice) = self.slice(done, span) {
            slice.errors += 1;
        }
        outcome.count(&mut self.outcomes);
        self.errors.record(done.since(call.due));
    }

    #[inline]
    fn carry_out(&mut self, done: Nanos, span: Span, calls: u64) {
        self.carried_out.0 += (done - span.end).0 * calls;
    }

    /// The slice in which a call of the span completed, if it did so within the span.
    #[inline]
    pub(crate) fn slice(&mut self, done: Nanos, span: Span) -> Option<&mut Slice> {
        let slice = (done.since(span.start) / SLICE.0) as usize;
        if span.end == Nanos::NEVER && slice >= self.series.len() {
            self.series.resize(slice + 1, Slice::default());
        }
        self.series.get_mut(slice).filter(|_| done < span.end)
    }
}

/// Calls with the same three times: those that were written by one write and answered within one read of a
/// closed loop. They are counted in one step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Burst {
    pub due: Nanos,
    pub written: Nanos,
    pub done: Nanos,
    pub calls: u64,
}

impl Burst {
    /// Whether a call that ended `ok` at `done` is one more of them.
    #[inline]
    pub fn takes(&self, call: &Call, done: Nanos) -> bool {
        self.calls > 0 && self.due == call.due && self.written == call.written && self.done == done
    }
}

/// Slices of a series over `length`.
pub(crate) fn slices(length: Nanos) -> usize {
    length.0.div_ceil(SLICE.0).min(u64::from(u32::MAX)) as usize
}

/// Keeps a line for each kind of error, at most eight.
pub(crate) fn add_example(examples: &mut Vec<String>, text: &str) {
    if examples.len() == MAX_EXAMPLES {
        return;
    }
    let text: String = printable(text).chars().take(MAX_EXAMPLE).collect();
    if !examples.contains(&text) {
        examples.push(text);
    }
}
