//! Counts ended calls: in the span in which they came due, or as warm-up.

use std::sync::Arc;

use rpcbench_record::{Checks, Connections, FailedCall, Outcomes, Protocol, Unmeasured};

use crate::call::Call;
use crate::counted::{Counted, Part};
use crate::failures::start_of;
use crate::log::{BatchWriter, CallLog};
use crate::opening::OpeningTimes;
use crate::outcome::Outcome;
use crate::tally::{Burst, WindowTally, add_example};
use rpcbench_clock::{Nanos, Span};
use rpcbench_stats::Histogram;

/// How a call of an open loop was sent relative to its due time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendTiming {
    OnTime,
    /// The client looked too late, whether or not there was room.
    Late,
    /// The client looked in time, but no connection had room.
    HeldBack,
}

/// What one load thread counts.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// Names status codes.
    protocol: Protocol,
    window: Option<Window>,
    /// Calls outside the window: warm-up.
    outside: Unmeasured,
    /// The last outcome that was formatted, and whether it was in the window. Millions of calls may end alike, and formatting
    /// costs more than counting.
    explained: Option<(bool, Outcome)>,
    /// `ok` calls not counted yet.
    burst: Burst,
    log: Option<BatchWriter>,
    /// Server addresses with separate figures, and the index of the one that calls end at now.
    addresses: Vec<Arc<str>>,
    address: Option<usize>,
}

/// What is being measured.
#[derive(Debug)]
struct Window {
    time: Counted,
    /// False until the last part is known.
    is_whole: bool,
    tally: WindowTally,
    /// Ended calls that came due after the window.
    due_after_window: u64,
}

impl Recorder {
    pub fn new(protocol: Protocol, log: Option<CallLog>) -> Self {
        Self {
            protocol,
            window: None,
            outside: Unmeasured::default(),
            explained: None,
            burst: Burst::default(),
            log: log.map(BatchWriter::new),
            addresses: Vec::new(),
            address: None,
        }
    }

    /// Keeps separate figures for each of these addresses.
    pub fn of_each(self, addresses: Vec<Arc<str>>) -> Self {
        Self { addresses, ..self }
    }

    /// Sets the address, by number, of the connection on which the next calls end. `None`: no connection.
    #[cold]
    pub fn at_address(&mut self, address: Option<usize>) {
        if self.address != address {
            self.count_burst();
            self.address = address;
        }
    }

    /// Starts a new measurement.
    pub fn measure(&mut self, span: Span) {
        self.burst.calls = 0;
        self.explained = None;
        let (time, tally) = (Counted::new(span), WindowTally::of_each(&self.addresses));
        self.window = Some(Window { time, is_whole: true, tally, due_after_window: 0 });
    }

    /// Also counts the calls that come due in a window's next part, or in its first.
    pub fn measure_part(&mut self, Part { span, is_last }: Part) {
        self.count_burst();
        if self.window.is_none() {
            self.measure(span);
        } else if let Some(Window { time, .. }) = &mut self.window {
            time.add(span);
        }
        if let Some(window) = &mut self.window {
            window.is_whole = is_last;
        }
    }

    /// Moves the end of the span to `end`; no call has come due at or after that instant.
    pub fn end_at(&mut self, end: Nanos) {
        self.count_burst();
        if let Some(Window { time, .. }) = &mut self.window {
            time.end_at(end);
        }
    }

    /// True if the window is over at `now`.
    #[inline]
    pub fn is_over(&self, now: Nanos) -> bool {
        self.window.as_ref().is_some_and(|window| window.time.end() <= now && window.is_whole)
    }

    /// The last instant at which a measured call can come due.
    pub fn last_due(&self) -> Option<Nanos> {
        self.window.as_ref().map(|window| window.time.end() - Nanos(1))
    }

    /// Ended calls that came due after the window.
    pub fn due_after_window(&self) -> u64 {
        self.window.as_ref().map_or(0, |window| window.due_after_window)
    }

    /// Ends the measurement.
    pub fn take(&mut self) -> Option<WindowTally> {
        self.count_burst();
        if let Some(log) = &mut self.log {
            log.flush();
        }
        self.explained = None;
        let Window { time, mut tally, .. } = self.window.take()?;
        tally.finish(&time);
        Some(tally)
    }

    /// Calls that came due outside measured spans so far.
    pub fn outside(&self) -> &Unmeasured {
        &self.outside
    }

    /// Response times of `ok` calls, and all outcomes, measured so far; empty outside a span.
    pub fn so_far(&mut self) -> (Histogram, Outcomes) {
        self.count_burst();
        let Some(Window { tally, .. }) = &self.window else { return Default::default() };
        let (mut ok, mut outcomes) = (tally.calls.ok.clone(), tally.calls.outcomes.clone());
        for (_, calls) in &tally.addresses {
            ok.merge(&calls.ok);
            outcomes.add(&calls.outcomes);
        }
        (ok, outcomes)
    }

    /// Counts the call due at `due` as late or held back, if it was.
    #[inline]
    pub fn record_send_timing(&mut self, due: Nanos, how: SendTiming) {
        if let Some(Window { time, tally, .. }) = &mut self.window
            && time.contains(due)
        {
            match how {
                SendTiming::OnTime => {}
                SendTiming::Late => tally.calls.pacing.late += 1,
                SendTiming::HeldBack => tally.calls.pacing.held_back += 1,
            }
        }
    }

    /// Notes that the client did not run from `from` to `until`, or was busy in one turn, while the span lasted or its last
    /// calls were awaited.
    #[cold]
    pub fn absent(&mut self, from: Nanos, until: Nanos) {
        if let Some(Window { time, tally, .. }) = &mut self.window {
            let within = until - from.max(time.last().start);
            tally.longest_absence = tally.longest_absence.max(within);
        }
    }

    /// Counts a call that ended at `done`.
    #[inline]
    pub fn record(&mut self, call: &Call, done: Nanos, outcome: &Outcome) {
        if matches!(outcome, Outcome::Ok) && self.burst.takes(call, done) {
            self.burst.calls += 1;
        } else {
            self.record_another(*call, done, outcome);
        }
    }

    #[inline(never)]
    fn record_another(&mut self, call: Call, done: Nanos, outcome: &Outcome) {
        self.count_burst();
        let window = self.window.as_mut().filter(|window| window.time.contains(call.due));
        let Some(Window { time, tally, .. }) = window else {
            return self.record_outside(call, done, outcome);
        };
        if let Some(log) = &mut self.log {
            log.push(call, done, outcome, time.start());
        }
        if !matches!(outcome, Outcome::Ok) {
            tally.at(self.address).failed(call, time, done, outcome);
            return self.explain_outcome(outcome, true);
        }
        self.burst = Burst { due: call.due, written: call.written, done, calls: 1 };
        if self.log.is_some() {
            self.count_burst(); // The log has a line per call.
        }
    }

    #[inline]
    fn count_burst(&mut self) {
        if let Some(Window { time, tally, .. }) = &mut self.window
            && self.burst.calls > 0
        {
            tally.at(self.address).answered(self.burst, time);
            self.burst.calls = 0;
        }
    }

    /// Counts a call that came due outside counted time; part of it may still lie inside.
    fn record_outside(&mut self, call: Call, done: Nanos, outcome: &Outcome) {
        match &mut self.window {
            Some(Window { time, is_whole: true, due_after_window, .. })
                if call.due >= time.end() =>
            {
                *due_after_window += 1
            }
            Some(Window { time, tally, .. }) => {
                tally.at(self.address).carry_in(&call, time, done, outcome);
            }
            None => {}
        }
        outcome.count(&mut self.outside.outcomes);
        self.explain_outcome(outcome, false);
    }

    /// Keeps an example of an outcome, except for wrong answers: [`Self::explain`] keeps those.
    fn explain_outcome(&mut self, outcome: &Outcome, measured: bool) {
        if matches!(outcome, Outcome::WrongAnswer) {
            return;
        }
        if self.explained.as_ref().is_some_and(|(of, last)| *of == measured && last == outcome) {
            return;
        }
        match &mut self.window {
            Some(window) if measured => {
                let calls = window.tally.at(self.address);
                if !calls.failures.wants_example(outcome) {
                    return;
                }
                calls.explain(outcome, outcome.failed_call(), self.protocol);
            }
            _ => {
                let Some(example) = outcome.example(self.protocol) else { return };
                add_example(&mut self.outside.error_examples, &example);
            }
        }
        self.explained = Some((measured, outcome.clone()));
    }

    /// Counts a judged reply to a call that came due at `due`.
    pub fn checked(&mut self, due: Nanos, count: impl FnOnce(&mut Checks)) {
        if let Some(Window { time, tally, .. }) = &mut self.window
            && time.contains(due)
        {
            count(&mut tally.at(self.address).checks);
        }
    }

    /// Counts bytes received at `at`, if in the last span.
    #[inline]
    pub fn received(&mut self, bytes: usize, at: Nanos) {
        if let Some(Window { time, tally, .. }) = &mut self.window
            && time.last().contains(at)
        {
            tally.bytes_in += bytes as u64;
        }
    }

    /// Counts bytes sent at `at`, if in the last span.
    #[inline]
    pub fn sent(&mut self, bytes: usize, at: Nanos) {
        if let Some(Window { time, tally, .. }) = &mut self.window
            && time.last().contains(at)
        {
            tally.bytes_out += bytes as u64;
        }
    }

    /// Counts a connection event at `at`, unless it is before the span.
    #[cold]
    pub fn on_connection(&mut self, at: Nanos, count: impl FnOnce(&mut Connections)) {
        if let Some(Window { time, tally, .. }) = &mut self.window
            && time.start() <= at
        {
            count(&mut tally.connections);
        }
    }

    /// Counts a connection that began to connect at `since` and was open at `at`.
    #[cold]
    pub fn connected(&mut self, since: Nanos, at: Nanos) {
        if let Some(Window { time, tally, .. }) = &mut self.window
            && time.start() <= at
        {
            tally.connections.opened += 1;
            if time.contains(at) {
                tally.connect.record(at.since(since));
            }
        }
    }

    /// Records a step in opening a connection that ended at `at`.
    #[cold]
    pub fn on_opening(&mut self, at: Nanos, count: impl FnOnce(&mut OpeningTimes)) {
        if let Some(Window { time, tally, .. }) = &mut self.window
            && time.contains(at)
        {
            count(tally.opening.get_or_insert_default());
        }
    }

    /// Keeps an example of a wrong reply, with the start of the reply's text.
    pub fn explain(&mut self, problem: &str, reply: impl FnOnce() -> Option<String>) {
        match &mut self.window {
            Some(window) => {
                let calls = window.tally.at(self.address);
                if !calls.failures.wants_example(&Outcome::WrongAnswer) {
                    return;
                }
                let (message, details, reply) = (start_of(problem), Vec::new(), reply());
                let example = FailedCall { message, details, reply };
                calls.explain(&Outcome::WrongAnswer, example, self.protocol);
            }
            None => add_example(&mut self.outside.error_examples, problem),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::nonce::Nonce;

    /// Calls, pro rata, that a window from `start` to `end` counts of those with these due, written and done times.
    fn counted(calls: &[[u64; 3]], start: u64, end: u64) -> f64 {
        let mut recorder = Recorder::new(Protocol::Grpc, None);
        recorder.measure(Span { start: Nanos(start), end: Nanos(end) });
        for [due, written, done] in calls.iter().map(|times| times.map(Nanos)) {
            recorder.record(
                &Call { request: 0, nonce: Nonce::new(0), due, written },
                done,
                &Outcome::Ok,
            );
        }
        recorder.take().unwrap().calls.ok_pro_rata()
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
