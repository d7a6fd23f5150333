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

/// When a call of an open loop is sent, relative to its due time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendTiming {
    OnTime,
    /// The client did not look in time, with room or without.
    Late,
    /// The client looked in time, and no connection had room.
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
    /// The last outcome that was formatted, and whether in the window. Millions of calls may end alike, and formatting takes
    /// longer than counting.
    explained: Option<(bool, Outcome)>,
    /// `ok` calls not counted yet.
    burst: Burst,
    log: Option<BatchWriter>,
    /// Addresses of the server with figures of their own, and the one that calls end at now.
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
    /// Ended calls that came due after it.
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

    /// The same, with figures of each of these addresses.
    pub fn of_each(self, addresses: Vec<Arc<str>>) -> Self {
        Self { addresses, ..self }
    }

    /// The calls that end next are on a connection to this address, by its number. `None`: on no connection.
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

    /// Counts the calls that come due in the next part of a window as well, or in its first.
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

    /// Ends the span at `end` instead; no call has come due at that instant or later.
    pub fn end_at(&mut self, end: Nanos) {
        self.count_burst();
        if let Some(Window { time, .. }) = &mut self.window {
            time.end_at(end);
        }
    }

    /// True if what is measured is over at `now`.
    #[inline]
    pub fn is_over(&self, now: Nanos) -> bool {
        self.window.as_ref().is_some_and(|window| window.time.end() <= now && window.is_whole)
    }

    /// The last instant at which a measured call can come due.
    pub fn last_due(&self) -> Option<Nanos> {
        self.window.as_ref().map(|window| window.time.end() - Nanos(1))
    }

    /// Ended calls that came due after the span.
    pub fn due_after_window(&self) -> u64 {
        self.window.as_ref().map_or(0, |window| window.due_after_window)
    }

    /// Ends measuring.
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

    /// Response times of `ok` calls measured so far, and all outcomes; empty outside a span.
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

    /// Counts a call of an open loop that came due at `due`.
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

    /// The client did not run from `from` to `until`, or was busy in one turn for as long, while the span lasted or its last
    /// calls were awaited.
    #[cold]
    pub fn absent(&mut self, from: Nanos, until: Nanos) {
        if let Some(Window { time, tally, .. }) = &mut self.window {
            let within = until - from.max(time.last().start);
            tally.longest_absence = tally.longest_absence.max(within);
        }
    }

    /// A call ended at `done`.
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

    /// Counts a call that came due outside of counted time; it may still reach into it.
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

    /// Keeps an example of an outcome; of a wrong answer, [`Self::explain`] does.
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

    /// Counts bytes that were received at `at`, if in the last span.
    #[inline]
    pub fn received(&mut self, bytes: usize, at: Nanos) {
        if let Some(Window { time, tally, .. }) = &mut self.window
            && time.last().contains(at)
        {
            tally.bytes_in += bytes as u64;
        }
    }

    /// Counts bytes that were sent at `at`, if in the last span.
    #[inline]
    pub fn sent(&mut self, bytes: usize, at: Nanos) {
        if let Some(Window { time, tally, .. }) = &mut self.window
            && time.last().contains(at)
        {
            tally.bytes_out += bytes as u64;
        }
    }

    /// Counts an event of a connection at `at`, unless it is before the span.
    #[cold]
    pub fn on_connection(&mut self, at: Nanos, count: impl FnOnce(&mut Connections)) {
        if let Some(Window { time, tally, .. }) = &mut self.window
            && time.start() <= at
        {
            count(&mut tally.connections);
        }
    }

    /// Counts a connection that opened at `at`, after a connect that began at `since`.
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

    /// Counts a step in which a connection opened, and which ended at `at`.
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

    /// What a window from `start` to `end` counts of calls that were due, written and done at these times.
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
