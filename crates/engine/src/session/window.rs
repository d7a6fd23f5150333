//! Chooses which part of a load is measured.

use std::sync::atomic::Ordering;

use rpcbench_record::{ClientUsage, Pacing, Slice, Unmeasured};

use super::measurement::{Measurement, add_usage};
use super::{Session, SessionError};
use crate::counted::Part;
use crate::pacing::Schedule;
use crate::tally::{Tally, WindowTally};
use crate::thread::Command;
use rpcbench_clock::{self as clock, Nanos, Span};

/// How far ahead a span is cut, so that every load thread gets the command in time.
const NOTICE: Nanos = Nanos::from_millis(20);

impl Session {
    /// Like [`Self::start`] and [`Self::measure`] in one: load threads know the schedule for `span` before the first call.
    pub fn start_measuring(&mut self, span: Span) {
        self.begin(Some(span), None);
    }

    /// Like [`Self::start_measuring`], for a span of `calls` calls from `start` on. In a closed loop it ends with the last of
    /// them; in an open loop, when the call after them would come due.
    pub fn start_measuring_calls(&mut self, start: Nanos, calls: u64) {
        if !self.arrivals.is_open() {
            return self.begin(Some(Span { start, end: Nanos::NEVER }), Some(calls));
        }
        let nth = usize::try_from(calls).unwrap_or(usize::MAX);
        let length = Schedule::new(self.arrivals, self.window_seed()).nth(nth);
        let end = length.map_or(Nanos::NEVER, |length| start + length);
        self.begin(Some(Span { start, end }), None);
    }

    /// True if the measured span is over and all its calls have ended.
    pub fn is_drained(&self) -> bool {
        self.threads.iter().all(|thread| thread.counters.drained.load(Ordering::Relaxed))
    }

    /// Measures the calls that come due in `span`, which must be in the future. The load ends with the span. No-op without a
    /// load, or if a span is already measured.
    pub fn measure(&mut self, span: Span) {
        if self.loading && self.span.is_none() {
            let span = self.own(span);
            (self.span, self.continues) = (Some(span), false);
            self.send_all(&Command::Measure(span));
        }
    }

    /// Measures the calls that come due in `span`, a part of a window, which must be in the future. The window ends with its
    /// last part. The load of a closed loop continues after it. No-op without a load.
    pub fn measure_part(&mut self, span: Span, is_last: bool) {
        if self.loading {
            let span = self.own(span);
            (self.span, self.continues) = (Some(span), true);
            self.send_all(&Command::MeasurePart(Part { span, is_last }));
        }
    }

    /// Ends the measured span in a moment, as if it had been planned so. False if it has not begun.
    pub fn cut(&mut self) -> bool {
        let end = clock::now() + NOTICE;
        let span = self.span.map(|span| self.real(span));
        span.is_some_and(|span| span.start < end && (span.end <= end || self.end_at(end)))
    }

    /// Moves the end of the measured span to `end`. Both the old and the new end must be in the future. False if nothing is
    /// measured.
    pub fn end_at(&mut self, end: Nanos) -> bool {
        let end = self.clock.own(end);
        let Some(span) = &mut self.span else { return false };
        span.end = end;
        self.send_all(&Command::EndAt(end));
        true
    }

    /// Waits for the span's end and its last calls.
    ///
    /// # Errors
    /// If no span is measured, `given_up` returns true, or a load thread is gone.
    pub fn finish(&mut self) -> Result<Measurement, SessionError> {
        let mut span = self.span.ok_or(SessionError::NotLoading)?;
        let mut gaps = Nanos(0);
        let mut tally: Option<WindowTally> = None;
        let mut client = ClientUsage { run_delay_ns: Some(0), ..ClientUsage::default() };
        let mut unmeasured = Unmeasured::default();
        let continues = std::mem::take(&mut self.continues);
        for (at, drained) in self.drained()?.into_iter().enumerate() {
            unmeasured.add(&drained.outside);
            let theirs = drained.measured.ok_or(SessionError::Lost)?;
            let end = if at == 0 { theirs.span.end } else { span.end.max(theirs.span.end) };
            (span, gaps) = (Span { end, ..theirs.span }, theirs.gaps);
            add_usage(&mut client, theirs.usage);
            match &mut tally {
                Some(tally) => tally.merge(&theirs.tally),
                None => tally = Some(theirs.tally),
            }
        }
        let tally = tally.ok_or(SessionError::Lost)?;
        client.longest_absence_ns = tally.longest_absence.0;
        let length = (span.end - span.start) - gaps;
        let pacing = self.arrivals.is_open().then(|| self.pacing(length, &tally.calls));
        self.windows += 1;
        self.loading = continues;
        let span = self.real(span);
        Ok(Measurement { span, length, tally, client, pacing, unmeasured })
    }

    fn pacing(&self, length: Nanos, calls: &Tally) -> Pacing {
        let due_before = |end| Schedule::new(self.arrivals, self.window_seed()).due_before(end);
        let middle = Nanos(Slice::middle_ns(calls.series.len())).min(length);
        let due = due_before(length);
        Pacing { due, due_second_half: due - due_before(middle), ..calls.pacing }
    }
}
