//! Counts of a window's calls, in memory that does not grow with their number.

use std::sync::Arc;

use rpcbench_record::{
    Checks, Connections, FailedCall, Outcomes, Pacing, Protocol, Slice, printable,
};
use rpcbench_stats::Histogram;

use crate::call::Call;
use crate::counted::Counted;
use crate::failures::Failures;
use crate::opening::OpeningTimes;
use crate::outcome::Outcome;
use rpcbench_clock::Nanos;

/// Maximum lines of examples kept.
const MAX_EXAMPLES: usize = 8;
/// Longest example, characters.
const MAX_EXAMPLE: usize = 300;

/// Everything counted in a window.
#[derive(Clone, Debug, Default)]
pub struct WindowTally {
    /// The calls that came due in the window; until it is finished, without those of `addresses`.
    pub calls: Tally,
    /// The calls to each address of the server. Empty if it has one.
    pub addresses: Vec<(Arc<str>, Tally)>,
    /// Connect times of the connections opened in the window, if connections have a call limit; nanoseconds.
    pub connect: Histogram,
    /// Steps of opening connections, including TLS handshakes. `None` if none was timed.
    pub opening: Option<Box<OpeningTimes>>,
    /// Connections opened, closed and lost from the window's start until its last call ended.
    pub connections: Connections,
    /// Bytes received and sent in the window on all connections, including the protocol's overhead.
    pub bytes_in: u64,
    /// See [`Self::bytes_in`].
    pub bytes_out: u64,
    /// Longest time in the window for which a load thread did not run although it had work.
    pub longest_absence: Nanos,
}

impl WindowTally {
    /// An empty tally with separate calls for each of these addresses.
    pub(crate) fn of_each(addresses: &[Arc<str>]) -> Self {
        let addresses = addresses.iter().map(|it| (Arc::clone(it), Tally::default())).collect();
        Self { addresses, ..Self::default() }
    }

    /// Where to count calls to an address. `None`: to the only one, or to none.
    #[inline]
    pub(crate) fn at(&mut self, address: Option<usize>) -> &mut Tally {
        match address.and_then(|at| self.addresses.get_mut(at)) {
            Some((_, calls)) => calls,
            None => &mut self.calls,
        }
    }

    /// Ends counting: adds the calls of each address to `calls`, and pads the series with the slices after the last call.
    pub(crate) fn finish(&mut self, time: &Counted) {
        for (_, calls) in &self.addresses {
            self.calls.merge(calls);
        }
        // Unknown if the measurement was given up.
        if time.end() != Nanos::NEVER {
            let slices = time.length().0.div_ceil(Slice::LENGTH_NS) as usize;
            self.calls.series.resize(slices, Slice::default());
        }
    }

    /// Adds another thread's counts of the same window; after a cut, its end may differ slightly.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.calls.merge(&other.calls);
        for ((_, own), (_, theirs)) in self.addresses.iter_mut().zip(&other.addresses) {
            own.merge(theirs);
        }
        self.connect.merge(&other.connect);
        if let Some(theirs) = &other.opening {
            self.opening.get_or_insert_default().merge(theirs);
        }
        self.connections.add(&other.connections);
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.longest_absence = self.longest_absence.max(other.longest_absence);
    }
}

/// Calls that came due in a window: all, or those to an address.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Calls by outcome.
    pub outcomes: Outcomes,
    /// Response times, from due to done, of `ok` calls; nanoseconds.
    pub ok: Histogram,
    /// Service times, from written to done, of `ok` calls.
    pub service: Histogram,
    /// Send lags, from due to written, of `ok` calls.
    pub send_lag: Histogram,
    /// Response times of all other calls.
    pub errors: Histogram,
    /// All other calls by kind, with examples.
    pub failures: Failures,
    /// Examples of errors, one line each, at most eight.
    pub examples: Vec<String>,
    /// Replies judged by more than their status.
    pub checks: Checks,
    /// Calls of an open loop that were late or held back. The number due is not counted here: it follows from the schedule.
    pub pacing: Pacing,
    /// Completed calls over time, 100 ms a slice.
    pub series: Vec<Slice>,
    /// Total time in the window of calls that came due before it, or in its gaps.
    pub carried_in: Nanos,
    /// Total time outside the window of calls that came due in it: after its end, and in its gaps.
    pub carried_out: Nanos,
    /// Sum over `ok` calls that cross an edge. One that begins or ends outside the window adds the share of its service time
    /// inside; one that begins and ends inside, on either side of a gap, subtracts the share outside.
    pub ok_cut: f64,
    /// Replies received in the window to calls that did not end `ok`.
    pub failed_replies: u64,
    /// Requests sent in the window, less the calls that came due in it.
    pub requests_cut: i64,
}

impl Tally {
    /// `ok` calls; one that begins or ends outside the window counts by the share of its service time inside. So servers that
    /// answer many calls at once cause no jumps.
    pub fn ok_pro_rata(&self) -> f64 {
        self.ok_cut + self.series.iter().map(|slice| slice.ok).sum::<u64>() as f64
    }

    /// Replies received in the window, including those to calls that came due before it.
    pub fn replies_in(&self) -> u64 {
        self.failed_replies
            + self.series.iter().map(|slice| slice.ok + slice.carried_in).sum::<u64>()
    }

    /// Requests sent in the window, including those of calls that came due before it.
    pub fn requests_out(&self) -> u64 {
        self.outcomes.total().saturating_add_signed(self.requests_cut)
    }

    /// Adds another tally.
    fn merge(&mut self, other: &Self) {
        self.outcomes.add(&other.outcomes);
        self.ok.merge(&other.ok);
        self.service.merge(&other.service);
        self.send_lag.merge(&other.send_lag);
        self.errors.merge(&other.errors);
        self.failures.merge(&other.failures);
        for example in &other.examples {
            add_example(&mut self.examples, example);
        }
        self.checks.add(other.checks);
        self.pacing.late += other.pacing.late;
        self.pacing.held_back += other.pacing.held_back;
        let slices = self.series.len().max(other.series.len());
        self.series.resize(slices, Slice::default());
        for (slice, theirs) in self.series.iter_mut().zip(&other.series) {
            slice.ok += theirs.ok;
            slice.errors += theirs.errors;
            slice.sum_ns += theirs.sum_ns;
            slice.max_ns = slice.max_ns.max(theirs.max_ns);
            slice.carried_in += theirs.carried_in;
        }
        self.carried_in = self.carried_in + other.carried_in;
        self.carried_out = self.carried_out + other.carried_out;
        self.ok_cut += other.ok_cut;
        self.failed_replies += other.failed_replies;
        self.requests_cut += other.requests_cut;
    }

    /// Counts calls that ended `ok`.
    #[inline(always)]
    pub(crate) fn answered(&mut self, burst: Burst, time: &Counted) {
        let Burst { due, written, done, calls } = burst;
        let took = done.since(due);
        let slice = self.slice(done, time);
        let is_within = slice.is_some();
        if let Some(slice) = slice {
            slice.ok += calls;
            slice.sum_ns += took * calls;
            slice.max_ns = slice.max_ns.max(took);
        }
        if !is_within || due < time.last().start {
            self.cut(burst, time, is_within);
        }
        self.outcomes.ok += calls;
        self.ok.record_times(took, calls);
        // Answered before the kernel took the last byte: no send lag.
        let send_lag = written.since(due).min(took);
        self.send_lag.record_times(send_lag, calls);
        self.service.record_times(took - send_lag, calls);
    }

    /// Counts a call that ended in any other way.
    #[cold]
    pub(crate) fn failed(&mut self, call: Call, time: &Counted, done: Nanos, outcome: &Outcome) {
        self.carry_out(call.due, done, time, 1);
        if let Some(slice) = self.slice(done, time) {
            slice.errors += 1;
            self.failed_replies += u64::from(outcome.is_reply());
        }
        self.requests_cut -= i64::from(!time.contains(call.written));
        outcome.count(&mut self.outcomes);
        self.errors.record(done.since(call.due));
        self.failures.record(outcome, done.since(call.due));
    }

    /// Keeps an example of calls that ended like this, if it differs from earlier ones.
    #[cold]
    pub(crate) fn explain(&mut self, outcome: &Outcome, example: FailedCall, protocol: Protocol) {
        let line = match outcome {
            Outcome::WrongAnswer => Some(example.message.clone()),
            other => other.example(protocol),
        };
        if self.failures.explain(outcome, example)
            && let Some(line) = line
        {
            add_example(&mut self.examples, &line);
        }
    }

    /// Counts `ok` calls that cross an edge: those that ended outside counted time, or began before its last gap.
    #[cold]
    #[inline(never)]
    fn cut(
        &mut self,
        Burst { due, written, done, calls }: Burst,
        time: &Counted,
        ended_within: bool,
    ) {
        self.carry_out(due, done, time, calls);
        let within = time.part(written, done) - f64::from(u8::from(ended_within));
        self.ok_cut += within * calls as f64;
        if !time.contains(written) {
            self.requests_cut -= calls.cast_signed();
        }
    }

    /// Counts a call that came due before the window, or in one of its gaps.
    pub(crate) fn carry_in(&mut self, call: &Call, time: &Counted, done: Nanos, outcome: &Outcome) {
        self.carried_in = self.carried_in + time.within(call.due, done);
        self.requests_cut += i64::from(time.contains(call.written));
        if matches!(outcome, Outcome::Ok) {
            self.ok_cut += time.part(call.written.min(done), done);
            if let Some(slice) = self.slice(done, time) {
                slice.carried_in += 1;
            }
        } else if outcome.is_reply() && time.contains(done) {
            self.failed_replies += 1;
        }
    }

    fn carry_out(&mut self, due: Nanos, done: Nanos, time: &Counted, calls: u64) {
        let outside = match due >= time.last().start {
            true => done - time.end(),
            false => (done - due) - time.within(due, done),
        };
        self.carried_out.0 += outside.0 * calls;
    }

    /// The slice in which a call completed, if in counted time.
    #[inline]
    fn slice(&mut self, done: Nanos, time: &Counted) -> Option<&mut Slice> {
        let slice = (time.so_far(done)?.0 / Slice::LENGTH_NS) as usize;
        if slice >= self.series.len() {
            self.series.resize(slice + 1, Slice::default());
        }
        Some(&mut self.series[slice])
    }
}

/// Calls with the same three times, counted in one step: in a closed loop, those that share a write and a read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Burst {
    pub due: Nanos,
    pub written: Nanos,
    pub done: Nanos,
    pub calls: u64,
}

impl Burst {
    /// True if a call that ended `ok` at `done` belongs to the burst.
    #[inline]
    pub fn takes(&self, call: &Call, done: Nanos) -> bool {
        self.calls > 0 && self.due == call.due && self.written == call.written && self.done == done
    }
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
