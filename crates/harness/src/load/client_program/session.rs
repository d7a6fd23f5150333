//! A load that a client program generates.

use std::sync::Arc;

use rpcbench_clock::{self as clock, Nanos, Span};
use rpcbench_engine::Schedule;
use rpcbench_record::{Arrivals, ClientUsage, Unmeasured, Window};

use super::agreement::{Allowed, agree};
use super::called::Called;
use super::message::Command;
use super::program::Program;
use super::records::{Counted, Loop};
use super::schedule::DueTimes;
use super::usage::UsageReading;
use crate::interrupt::Interrupt;
use crate::load::{LoadError, LoadSession, Measurement, Progress, Sample};

/// How far ahead an instant is announced, so that a busy program learns of it in time.
const LEAD: Nanos = Nanos::from_millis(250);
/// How far ahead a window is cut: records of calls that came due after the cut can't have arrived yet.
const NOTICE: Nanos = Nanos::from_millis(20);

/// Settings of a session, from the workload.
#[derive(Debug)]
pub(super) struct Setting {
    pub interrupt: Interrupt,
    /// Number of calls that a closed loop keeps in flight.
    pub slots: u32,
    pub allowed: Allowed,
    pub seed: u64,
    /// Time limit for reporting a call, from its start.
    pub report_timeout: Nanos,
}

/// A running load.
#[derive(Debug)]
struct Load {
    began: Nanos,
    /// Calls that the counterpart had answered by then, if it counts them.
    answered: Option<u64>,
    /// True if it ends without `stop`, after a number of calls or a schedule.
    ends: bool,
}

/// The window being measured.
#[derive(Debug)]
struct Measured {
    /// From the start of its first part to the end of its last.
    span: Span,
    /// The part being measured: its length, and the usage before it. `None` between two parts.
    part: Option<(Nanos, UsageReading)>,
    /// Total length and usage of the parts before it.
    before: (Nanos, ClientUsage),
    /// True if the load continues after the window.
    continues: bool,
    /// Due times of an open loop.
    due: Option<DueTimes>,
}

impl Measured {
    /// Ends the current part with this reading.
    fn end_part(&mut self, reading: &UsageReading) {
        if let Some((length, first)) = self.part.take() {
            reading.add_since(&first, length, &mut self.before.1);
            self.before.0 = self.before.0 + length;
        }
    }
}

#[derive(Debug)]
pub(super) struct ProgramSession {
    program: Arc<Program>,
    called: Called,
    setting: Setting,
    arrivals: Arrivals,
    /// Windows measured so far.
    windows: u64,
    load: Option<Load>,
    measured: Option<Measured>,
    cycle: Option<Nanos>,
}

impl ProgramSession {
    pub fn new(program: Arc<Program>, called: Called, setting: Setting) -> Self {
        let (arrivals, load, measured, cycle) = (Arrivals::Closed, None, None, None);
        Self { program, called, setting, arrivals, windows: 0, load, measured, cycle }
    }

    fn usage(&self) -> Result<UsageReading, LoadError> {
        UsageReading::take(&self.called, &self.program)
    }

    /// Starts a load at `at`. If that has passed, a closed loop starts now, while due times of an open loop don't move. The
    /// program is idle, so it needs no lead.
    fn begin(
        &mut self,
        at: Nanos,
        calls: Option<u64>,
        due: Option<&DueTimes>,
    ) -> Result<(), LoadError> {
        let slots = self.setting.slots;
        let (kind, schedule) = match due.map(DueTimes::schedule) {
            Some((file, due)) => (Loop::open(due), Some(self.program.write("schedule", &file)?)),
            None => (Loop::closed(slots), None),
        };
        self.program.with(|state| state.stopped = None)?;
        self.program.counted(|counted| counted.begin(at, kind, calls))?;
        let answered = self.called.seen().map(|seen| seen.calls);
        let is_fixed = due.is_some() || at > clock::now();
        self.program.send(&Command::Start {
            at_ns: if is_fixed { at.0 } else { 0 },
            calls: calls.unwrap_or(0),
            schedule: schedule.as_deref(),
            in_flight_max: due.map(|_| slots),
        })?;
        let ends = calls.is_some() || due.is_some();
        self.load = Some(Load { began: at, answered, ends });
        Ok(())
    }

    fn measure_from(&mut self, span: Span, due: Option<DueTimes>) -> Result<(), LoadError> {
        let reading = self.usage()?;
        self.program.counted(|counted| counted.measure(span))?;
        let part = Some((span.end - span.start, reading));
        self.measured =
            Some(Measured { span, part, before: Default::default(), continues: false, due });
        Ok(())
    }

    /// Measures a window of an open loop: the load starts now, and the window's schedule at `from`.
    fn measure_open(&mut self, from: Nanos, window: Window) -> Result<Nanos, LoadError> {
        let (arrivals, seed) = (self.arrivals, self.setting.seed.wrapping_add(self.windows));
        let length = match window {
            Window::Duration { length_ms } => Nanos::from_millis(length_ms),
            Window::Calls { calls } => {
                let nth = usize::try_from(calls).unwrap_or(usize::MAX);
                Schedule::new(arrivals, seed).nth(nth).unwrap_or(Nanos::NEVER)
            }
        };
        let window = Span { start: from, end: from + length };
        let begin = from.min(clock::now() + LEAD);
        let due = DueTimes { arrivals, seed, begin, window };
        self.measure_from(window, Some(due))?;
        self.begin(begin, None, Some(&due))?;
        Ok(window.end)
    }

    /// Ends the load (`ends`: it ends without `stop`), and checks that no records are missing.
    fn stop(&mut self, ends: bool) -> Result<(), LoadError> {
        let load = self.load.take().ok_or_else(not_loading)?;
        if !ends {
            self.program.send(&Command::Stop { at_ns: 0 })?;
        }
        let deadline = clock::now() + self.setting.report_timeout;
        let late = "it did not stop: a call may take as long as its timeout, and then `stopped` must follow";
        let interrupt = &self.setting.interrupt;
        let calls = self.program.wait(deadline, interrupt, late, |state| state.stopped.take())?;
        let counts = self.program.counted(|counted| {
            counted.end();
            counted.load
        })?;
        let seen = self.called.seen();
        let answered = seen.zip(load.answered).map(|(now, then)| now.calls - then);
        agree(calls, counts, answered)?;
        let Progress { ended, failed } = self.progress()?;
        seen.map_or(Ok(()), |seen| self.setting.allowed.check(seen, ended, failed))?;
        let took = self.program.counted(|counted| counted.took(load.began))?;
        let took = took.0.saturating_mul(self.setting.slots.into());
        self.cycle = took.checked_div(counts.ended).map(Nanos);
        Ok(())
    }

    fn unmeasured(&self) -> Result<Unmeasured, LoadError> {
        self.program.counted(|counted| counted.counter.outside().clone())
    }

    /// Waits until all calls that came due in a closed loop's window have ended.
    fn await_complete(&self, end: Nanos) -> Result<(), LoadError> {
        let deadline = end + self.setting.report_timeout;
        let late =
            "calls of the window were not reported, though none takes as long as its timeout";
        let complete = |counted: &mut Counted| counted.is_complete(end).then_some(());
        self.program.wait(deadline, &self.setting.interrupt, late, |state| {
            state.counted.as_mut().and_then(complete)
        })
    }
}

fn not_loading() -> LoadError {
    LoadError::Failed("no load is running".to_owned())
}

impl LoadSession for ProgramSession {
    fn set_arrivals(&mut self, arrivals: Arrivals) -> Result<(), LoadError> {
        self.arrivals = arrivals;
        Ok(())
    }

    fn start(&mut self) -> Result<(), LoadError> {
        if self.load.is_some() {
            return Ok(());
        }
        self.begin(clock::now(), None, None)
    }

    fn measure(&mut self, from: Nanos, window: Window) -> Result<Nanos, LoadError> {
        if self.arrivals.is_open() {
            return self.measure_open(from, window);
        }
        let (end, calls) = match window {
            Window::Duration { length_ms } => (from + Nanos::from_millis(length_ms), None),
            Window::Calls { calls } => (Nanos::NEVER, Some(calls)),
        };
        self.measure_from(Span { start: from, end }, None)?;
        if self.load.is_none() {
            // A number of calls starts with the first call. A window of time lets earlier calls settle.
            let at = if calls.is_some() { from } else { from.min(clock::now()) };
            self.begin(at, calls, None)?;
        }
        Ok(end)
    }

    fn cut(&mut self) -> Result<(), LoadError> {
        let Some(Measured { span, .. }) = &self.measured else { return Ok(()) };
        let (now, span) = (clock::now(), *span);
        if span.end == Nanos::NEVER {
            return self.program.send(&Command::Stop { at_ns: 0 });
        }
        let end = now + NOTICE;
        if self.arrivals.is_open() && span.end > now + LEAD {
            self.program.send(&Command::Stop { at_ns: (now + LEAD).0 })?;
        }
        if span.start < end && end < span.end { self.end_at(end) } else { Ok(()) }
    }

    fn end_at(&mut self, end: Nanos) -> Result<(), LoadError> {
        if let Some(Measured { span, .. }) = &mut self.measured {
            span.end = end;
        }
        self.program.counted(|counted| counted.end_at(end))
    }

    fn measure_part(&mut self, slice: Span, is_last: bool) -> Result<(), LoadError> {
        let part = Some((slice.end - slice.start, self.usage()?));
        match &mut self.measured {
            Some(measured) => {
                (measured.part, measured.span.end) = (part, slice.end);
            }
            none => {
                let (span, before, continues, due) = (slice, Default::default(), true, None);
                *none = Some(Measured { span, part, before, continues, due });
            }
        }
        self.program.counted(|counted| counted.measure_part(slice, is_last))
    }

    fn leave(&mut self) -> Result<(), LoadError> {
        let reading = self.usage()?;
        if let Some(measured) = &mut self.measured {
            measured.end_part(&reading);
        }
        self.program.counted(|counted| counted.freezes.begin(clock::now()))
    }

    fn enter(&mut self) -> Result<(), LoadError> {
        self.program.counted(|counted| counted.freezes.end(clock::now()))
    }

    fn finish(&mut self) -> Result<Measurement, LoadError> {
        let mut measured = self.measured.take().ok_or_else(not_loading)?;
        let after = self.usage()?;
        let ends = self.load.as_ref().is_some_and(|load| load.ends);
        if !ends {
            self.await_complete(measured.span.end)?;
        }
        if !measured.continues {
            self.stop(ends)?;
        }
        if measured.due.is_some()
            && !self.program.counted(|it| it.is_complete(measured.span.end))?
        {
            let problem = "it stopped without a record of each call that was due in the window";
            return Err(LoadError::Failed(problem.to_owned()));
        }
        let tally = self.program.counted(|counted| {
            let span = &mut measured.span;
            if span.end == Nanos::NEVER {
                span.end = counted.load.last + Nanos(1);
                counted.end_at(span.end);
            }
            counted.counter.take()
        })?;
        let tally = tally.ok_or_else(not_loading)?;
        self.windows += 1;
        let Measured { span, continues, .. } = measured;
        if let Some((length, _)) = measured.part.as_mut().filter(|_| !continues) {
            // The window's end may have moved.
            *length = span.end - span.start;
        }
        measured.end_part(&after);
        let (length, client) = measured.before;
        let pacing = measured.due.map(|due| due.pacing(length, tally.calls.series.len()));
        let unmeasured = self.unmeasured()?;
        Ok(Measurement { span, length, tally, client, pacing, unmeasured })
    }

    fn pause(&mut self) -> Result<Unmeasured, LoadError> {
        self.measured = None;
        self.stop(false)?;
        self.program.counted(|counted| counted.counter.take())?;
        self.unmeasured()
    }

    fn spot_check(&mut self) -> Result<Unmeasured, LoadError> {
        self.unmeasured()
    }

    fn progress(&self) -> Result<Progress, LoadError> {
        self.program.counted(|counted| Progress { ended: counted.ended, failed: counted.failed })
    }

    fn sample(&self) -> Result<Sample, LoadError> {
        let cpu = self.usage()?.cpu();
        let outstanding = if self.load.is_some() { self.setting.slots.into() } else { 0 };
        let progress = self.progress()?;
        self.program.counted(|counted| {
            let (ok, outcomes) = counted.counter.so_far();
            Sample { progress, outstanding, cpu, ok, outcomes }
        })
    }

    fn is_drained(&self) -> Result<bool, LoadError> {
        self.program.with(|state| state.stopped.is_some())
    }

    fn cycle(&self) -> Option<Nanos> {
        self.cycle
    }
}

impl Drop for ProgramSession {
    fn drop(&mut self) {
        // No message is needed if the program has ended, so errors are ignored.
        let _ = self.program.send(&Command::Close);
    }
}
