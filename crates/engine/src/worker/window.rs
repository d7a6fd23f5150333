//! Chooses which part of a load is measured.

use super::{Phase, Worker};
use crate::counted::Part;
use crate::driver::Driver;
use crate::protocol::Connection;
use rpcbench_clock::{Nanos, Span};

impl<C: Connection, D: Driver> Worker<C, D> {
    /// Measures the calls that come due in `span`, and drains when they have ended.
    pub fn measure(&mut self, span: Span) {
        self.calls.measure(span);
        self.continues = false;
        self.span = Some(span);
        if let Some(open) = &mut self.open {
            open.due_times.measure(span.start, span.end);
        }
        self.phase = Phase::Loading { until: span.end };
    }

    /// Measures the calls that come due in a part of a closed loop's window. The load continues after the last part;
    /// [`Self::take_window_over`] reports when the calls of the window have ended.
    pub fn measure_part(&mut self, part: Part) {
        self.calls.measure_part(part);
        self.continues = true;
        self.span = Some(part.span);
        self.phase =
            Phase::Loading { until: if part.is_last { part.span.end } else { Nanos::NEVER } };
    }

    /// True once after each window in parts.
    pub fn take_window_over(&mut self) -> bool {
        std::mem::take(&mut self.is_window_over)
    }

    /// Moves the end of the measured span to `end`, or to right after now if `end` is past. Returns the new span; `None` if
    /// nothing is measured or the span is over.
    pub fn end_at(&mut self, end: Nanos) -> Option<Span> {
        let now = self.driver.now();
        let loading = matches!(self.phase, Phase::Loading { .. });
        let span = self.span.as_mut().filter(|_| loading)?;
        span.end = end.max(now + Nanos(1));
        self.calls.recorder.end_at(span.end);
        self.budget = None;
        self.phase = Phase::Loading { until: span.end };
        if let Some(open) = &mut self.open {
            open.due_times.stop(span.end);
        }
        Some(*span)
    }

    /// The span of a fixed number of calls, once the load is drained.
    pub fn take_counted(&mut self) -> Option<Span> {
        let mut span = self.budget.take()?.span?;
        span.end = span.start.max(self.calls.ended_at) + Nanos(1);
        self.calls.recorder.end_at(span.end);
        Some(span)
    }

    /// True while the measured span lasts, and until its last calls have ended.
    pub(super) fn awaits_measured(&self) -> bool {
        match self.phase {
            Phase::Loading { .. } | Phase::Following { .. } => true,
            // Only if the span ends with a number of calls.
            Phase::Draining { .. } => self.budget.is_some(),
            Phase::Idle => false,
        }
    }

    /// Ends a window in parts; if `gives_up`, also its calls, whose grace period is over. The load continues.
    #[cold]
    pub(super) fn end_window(&mut self, now: Nanos, gives_up: bool) {
        if gives_up {
            self.expire_measured(now);
        }
        self.phase = Phase::Loading { until: Nanos::NEVER };
        self.is_window_over = true;
    }

    /// Ends the window's calls, whose grace period is over. Later calls keep their timeout.
    pub(super) fn expire_measured(&mut self, now: Nanos) {
        if let Some(last) = self.calls.recorder.last_due() {
            self.expire(last, now);
        }
    }
}
