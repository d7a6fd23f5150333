//! Counts calls: all of them, into fixed memory.

use rpcbench_record::{Connections, Outcomes, Protocol, Slice, printable};
use rpcbench_stats::Histogram;

use crate::clock::Nanos;
use crate::log::{BatchWriter, CallLog};
use crate::outcome::Outcome;
use crate::protocol::Call;

/// Length of a slice of the series.
pub(crate) const SLICE: Nanos = Nanos(Slice::LENGTH_NS);
/// Kinds of errors of which an example is kept.
const MAX_EXAMPLES: usize = 8;
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
        Self {
            outcomes: Outcomes::default(),
            ok: Histogram::new(),
            service: Histogram::new(),
            send_lag: Histogram::new(),
            late: 0,
            held_back: 0,
            errors: Histogram::new(),
            connect: Histogram::new(),
            connections: Connections::default(),
            examples: Vec::new(),
            series: vec![Slice::default(); slices(length)],
            carried_in: Nanos(0),
            carried_out: Nanos(0),
            ok_cut: 0.0,
        }
    }

    /// Calls that ended `ok`, those that an end of the stretch cuts by the part of their service time within it. Servers
    /// that answer many calls at once have no jumps in it.
    #[must_use]
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
    fn answered(&mut self, Burst { due, written, done, calls }: Burst, span: Span) {
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
    fn failed(&mut self, call: Call, span: Span, done: Nanos, outcome: &Outcome) {
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
    fn slice(&mut self, done: Nanos, span: Span) -> Option<&mut Slice> {
        let slice = (done.since(span.start) / SLICE.0) as usize;
        if span.end == Nanos::NEVER && slice >= self.series.len() {
            self.series.resize(slice + 1, Slice::default());
        }
        self.series.get_mut(slice).filter(|_| done < span.end)
    }
}

/// Slices of a series over `length`.
fn slices(length: Nanos) -> usize {
    length.0.div_ceil(SLICE.0).min(u64::from(u32::MAX)) as usize
}

/// Keeps a line for each kind of error, at most eight.
fn add_example(examples: &mut Vec<String>, text: &str) {
    if examples.len() == MAX_EXAMPLES {
        return;
    }
    let text: String = printable(text).chars().take(MAX_EXAMPLE).collect();
    if !examples.contains(&text) {
        examples.push(text);
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

    /// How much of the time from `from` to `to` lies within, 0 to 1.
    fn part(self, from: Nanos, to: Nanos) -> f64 {
        let within = to.min(self.end) - from.max(self.start);
        match to.since(from) {
            0 => f64::from(u8::from(self.contains(to))),
            whole => within.0 as f64 / whole as f64,
        }
    }
}

/// How a call of an open loop is taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    OnTime,
    /// The client was not there in time, whether there was room or not.
    Late,
    /// The client was there, and there was no room.
    HeldBack,
}

/// What one load thread counts.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// Whose status codes they are.
    protocol: Protocol,
    window: Option<Window>,
    /// Calls outside the window: warm-up.
    outside: Outcomes,
    outside_examples: Vec<String>,
    /// The outcome that was explained last, and whether in the window: millions of calls may end alike, and words take
    /// longer than counting.
    explained: Option<(bool, Outcome)>,
    /// Calls that ended `ok` and are still to be counted.
    burst: Burst,
    log: Option<BatchWriter>,
}

/// What is being measured.
#[derive(Debug)]
struct Window {
    span: Span,
    tally: Tally,
    /// Calls that came due after it, and have ended.
    followers: u64,
}

/// Calls with the same three times: those that were written by one write and answered within one read of a
/// closed loop. They are counted in one step.
#[derive(Clone, Copy, Debug, Default)]
struct Burst {
    due: Nanos,
    written: Nanos,
    done: Nanos,
    calls: u64,
}

impl Burst {
    /// Whether a call that ended `ok` at `done` is one more of them.
    #[inline]
    fn takes(&self, call: &Call, done: Nanos) -> bool {
        self.calls > 0 && self.due == call.due && self.written == call.written && self.done == done
    }
}

impl Recorder {
    pub fn new(protocol: Protocol, log: Option<CallLog>) -> Self {
        Self {
            protocol,
            window: None,
            outside: Outcomes::default(),
            outside_examples: Vec::new(),
            explained: None,
            burst: Burst::default(),
            log: log.map(BatchWriter::new),
        }
    }

    /// Starts to measure anew.
    pub fn measure(&mut self, span: Span) {
        self.burst.calls = 0;
        self.explained = None;
        // The series of a span whose end is not known grows.
        let length = if span.end == Nanos::NEVER { Nanos(0) } else { span.end - span.start };
        self.window = Some(Window { span, tally: Tally::new(length), followers: 0 });
    }

    /// The span ends at `end` instead; no call has come due at that instant or later.
    pub fn cut(&mut self, end: Nanos) {
        self.count_burst();
        if let Some(Window { span, tally, .. }) = &mut self.window {
            span.end = end;
            tally.series.resize(slices(end - span.start), Slice::default());
        }
    }

    /// Whether a span was measured that is over at `now`.
    #[inline]
    pub fn is_over(&self, now: Nanos) -> bool {
        self.window.as_ref().is_some_and(|window| window.span.end <= now)
    }

    /// Calls that came due after the span, and have ended.
    pub fn followers(&self) -> u64 {
        self.window.as_ref().map_or(0, |window| window.followers)
    }

    /// Ends measuring.
    pub fn take(&mut self) -> Option<Tally> {
        self.count_burst();
        if let Some(log) = &mut self.log {
            log.flush();
        }
        self.explained = None;
        self.window.take().map(|window| window.tally)
    }

    /// Calls that came due outside of any measured span so far.
    pub fn outside(&self) -> (&Outcomes, &[String]) {
        (&self.outside, &self.outside_examples)
    }

    /// What is measured so far. `None` outside a span.
    pub fn so_far(&mut self) -> Option<&Tally> {
        self.count_burst();
        self.window.as_ref().map(|window| &window.tally)
    }

    /// A call of an open loop that came due at `due` is taken up.
    #[inline]
    pub fn taken_up(&mut self, due: Nanos, how: Taken) {
        if let Some(Window { span, tally, .. }) = &mut self.window
            && span.contains(due)
        {
            match how {
                Taken::OnTime => {}
                Taken::Late => tally.late += 1,
                Taken::HeldBack => tally.held_back += 1,
            }
        }
    }

    /// A call ended at `done`.
    #[inline]
    pub fn record(&mut self, call: Call, done: Nanos, outcome: &Outcome) {
        if matches!(outcome, Outcome::Ok) && self.burst.takes(&call, done) {
            self.burst.calls += 1;
        } else {
            self.record_another(call, done, outcome);
        }
    }

    #[inline(never)]
    fn record_another(&mut self, call: Call, done: Nanos, outcome: &Outcome) {
        self.count_burst();
        let window = self.window.as_mut().filter(|window| window.span.contains(call.due));
        let Some(Window { span, tally, .. }) = window else {
            return self.record_outside(call, done, outcome);
        };
        if let Some(log) = &mut self.log {
            log.push(call, done, outcome, span.start);
        }
        if !matches!(outcome, Outcome::Ok) {
            tally.failed(call, *span, done, outcome);
            return self.explain_outcome(outcome, true);
        }
        self.burst = Burst { due: call.due, written: call.written, done, calls: 1 };
        if self.log.is_some() {
            self.count_burst(); // The next one has a line of its own.
        }
    }

    #[inline]
    fn count_burst(&mut self) {
        if let Some(Window { span, tally, .. }) = &mut self.window
            && self.burst.calls > 0
        {
            tally.answered(self.burst, *span);
            self.burst.calls = 0;
        }
    }

    /// A call that did not come due in the span; one that came due before may reach into it.
    fn record_outside(&mut self, call: Call, done: Nanos, outcome: &Outcome) {
        match &mut self.window {
            Some(Window { span, followers, .. }) if call.due >= span.end => *followers += 1,
            Some(Window { span, tally, .. }) => {
                let within = done.min(span.end) - span.start;
                tally.carried_in = tally.carried_in + within;
                if matches!(outcome, Outcome::Ok) && done >= span.start {
                    tally.ok_cut += span.part(call.written.min(done), done);
                    if let Some(slice) = tally.slice(done, *span) {
                        slice.carried_in += 1;
                    }
                }
            }
            None => {}
        }
        outcome.count(&mut self.outside);
        self.explain_outcome(outcome, false);
    }

    fn explain_outcome(&mut self, outcome: &Outcome, measured: bool) {
        if self.explained.as_ref().is_some_and(|(of, last)| *of == measured && last == outcome) {
            return;
        }
        let Some(example) = outcome.example(self.protocol) else { return };
        let examples = match &mut self.window {
            Some(window) if measured => &mut window.tally.examples,
            _ => &mut self.outside_examples,
        };
        add_example(examples, &example);
        self.explained = Some((measured, outcome.clone()));
    }

    /// Something became of a connection at `at`; counted where it is not before the span.
    #[cold]
    pub fn on_connection(&mut self, at: Nanos, count: impl FnOnce(&mut Connections)) {
        if let Some(Window { span, tally, .. }) = &mut self.window
            && span.start <= at
        {
            count(&mut tally.connections);
        }
    }

    /// A connection is open since `at`, after a connect that began at `since`.
    #[cold]
    pub fn connected(&mut self, since: Nanos, at: Nanos) {
        if let Some(Window { span, tally, .. }) = &mut self.window
            && span.start <= at
        {
            tally.connections.opened += 1;
            if at < span.end {
                tally.connect.record(at.since(since));
            }
        }
    }

    /// Keeps a line about what was wrong with a reply.
    pub fn explain(&mut self, problem: &str) {
        let examples = match &mut self.window {
            Some(window) => &mut window.tally.examples,
            None => &mut self.outside_examples,
        };
        add_example(examples, problem);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rpcbench_contract::Nonce;

    use super::*;

    /// What a window from `start` to `end` counts of calls that were due, written and done at these times.
    fn counted(calls: &[[u64; 3]], start: u64, end: u64) -> f64 {
        let mut recorder = Recorder::new(Protocol::Grpc, None);
        recorder.measure(Span { start: Nanos(start), end: Nanos(end) });
        for [due, written, done] in calls.iter().map(|times| times.map(Nanos)) {
            recorder.record(
                Call { request: 0, nonce: Nonce::new(0), due, written },
                done,
                &Outcome::Ok,
            );
        }
        recorder.take().unwrap().ok_pro_rata()
    }

    proptest! {
        #[test]
        fn windows_that_follow_one_another_count_each_call_once(
            calls in prop::collection::vec((0_u64..900, 0_u64..50, 0_u64..400), 1..40),
            edges in prop::collection::btree_set(1_u64..1350, 0..6),
        ) {
            let times = |(due, wait, took)| [due, due + wait, due + wait + took];
            let mut calls: Vec<_> = calls.into_iter().map(times).collect();
            calls.sort_by_key(|[.., done]| *done);
            let edges: Vec<u64> = [0].into_iter().chain(edges).chain([1350]).collect();
            let all: f64 = edges.windows(2).map(|edge| counted(&calls, edge[0], edge[1])).sum();
            prop_assert!((all - calls.len() as f64).abs() < 1e-9, "{all} of {}", calls.len());
        }
    }
}
