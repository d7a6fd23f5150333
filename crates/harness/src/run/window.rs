//! A measured window of a process.

use std::time::Duration;

use jiff::Timestamp;
use rpcbench_clock::{self as clock, Nanos};
use rpcbench_record::{Arrivals, Measured, Unmeasured, Workload};

use super::loaded_server::{LoadedServer, StepError};
use super::observer::{Event, Phase, Stage};
use super::settle::settle_by_slices;
use crate::interrupt::StopNow;
use crate::placement::{Counters, MachineReading, PlacementError};

/// Time before the window at which its first counters are read: reading those of a server with many threads takes milliseconds of
/// CPU time, which in the window belongs to the load. Load threads must learn of a window, or of its new end, this early as well.
const LEAD: Nanos = Nanos::from_millis(20);
/// Bounds of the interval between checks whether the last call has ended. The interval is a fiftieth of the time so far.
const POLL: (Nanos, Nanos) = (Nanos::from_millis(1), Nanos::from_millis(50));
/// Interval between checks in a long window: the server must still run, and must not fill the disk with its log.
const WATCH: Nanos = Nanos::from_millis(1000);

pub(super) struct Window {
    pub started: Timestamp,
    pub measured: Measured,
    /// The server's calls outside of windows so far.
    pub unmeasured: Unmeasured,
    /// Ctrl-C ended it early.
    pub cut: bool,
}

/// Counters at an edge of the window.
struct Edge {
    server: Option<Counters>,
    counterpart: Option<Counters>,
    machine: MachineReading,
}

impl Edge {
    fn read(of: &mut LoadedServer<'_>) -> Result<Self, PlacementError> {
        let (server, counterpart) = (of.running.sample()?, of.sample_counterpart()?);
        Ok(Self { server, counterpart, machine: of.running.machine().sample()? })
    }
}

struct Opened {
    start: Nanos,
    end: Nanos,
    first: Edge,
}

impl LoadedServer<'_> {
    /// Measures a window under `arrivals`.
    pub fn window(&mut self, workload: &Workload, arrivals: Arrivals) -> Result<Window, StepError> {
        self.leave_rounds()?;
        self.wake()?;
        self.load()?.set_arrivals(arrivals)?;
        let mut opened = self.open(workload, arrivals)?;
        let before = self.load()?.progress()?.ended;
        let Opened { start, end, .. } = opened;
        let started = clock::wall() + Duration::from(start - self.context.now());
        let cut = if arrivals.is_open() || end == Nanos::NEVER || !self.context.adapts {
            let stage = Stage { phase: Phase::Measuring, workload: &workload.name, start, end };
            self.follow(&stage)?
        } else {
            self.stretch(workload, &mut opened, before)?
        };
        let first = opened.first;
        if cut {
            self.load()?.cut()?;
        }
        let last = Edge::read(self)?;
        self.context.observer.event(&Event::Draining);
        let mut measurement = self.load()?.finish()?;
        self.alive("during a trial")?;
        let machine = self.running.machine().usage(&first.machine, &last.machine)?;
        let unmeasured = std::mem::take(&mut measurement.unmeasured);
        let [runtime, counterpart_runtime] = self.runtimes(&[measurement.span])?;
        let usage = last.server.zip(first.server);
        let usage = usage.map(|(last, first)| self.with_rests(last.since(&first)));
        let called =
            last.counterpart.zip(first.counterpart).map(|(last, first)| last.since(&first));
        let of_calls = end == Nanos::NEVER && !cut;
        let measured = measurement.into_measured(usage, machine);
        let measured = Measured { runtime, counterpart_runtime, of_calls, ..measured };
        let measured = self.with_counterpart(measured, called.as_ref());
        self.level = measured.ok_per_server_cpu_s().map(|calls| calls / 1e9);
        Ok(Window { started, measured, unmeasured, cut })
    }

    /// Starts the load, and opens the window once it has settled.
    fn open(&mut self, workload: &Workload, arrivals: Arrivals) -> Result<Opened, StepError> {
        // If the window opens with the first call, the call must not wait for counters to be read.
        let before = (workload.settle_ms == 0).then(|| Edge::read(self)).transpose()?;
        let begin = self.context.now();
        let mut settle = Nanos::from_millis(workload.settle_ms);
        if !arrivals.is_open() {
            // In an open loop, the reference could disturb the tail.
            self.running.machine().start_reference()?;
            if self.context.adapts && before.is_none() && workload.window.length_ms().is_some() {
                settle_by_slices(self, workload, begin)?;
                settle = self.context.now() - begin + LEAD;
            }
        }
        let start = begin + settle;
        let end = self.load()?.measure(start, workload.window)?;
        // Leaves time to read the first counters.
        self.await_first_call(workload, if before.is_some() { end } else { start - LEAD })?;
        let (phase, workload) = (Phase::Settling, &*workload.name);
        let stage = Stage { phase, workload, start: begin, end: start - LEAD };
        let first = match before {
            Some(first) => first,
            None if self.follow(&stage)? => return Err(StopNow.into()),
            None => Edge::read(self)?,
        };
        Ok(Opened { start, end, first })
    }

    /// Extends a closed loop's window, by its length each time, until as many calls have ended in it as are in flight: the
    /// edges of the window would cut most of fewer calls. Each call in flight ends within the timeout, so the extension is
    /// no longer than that. Returns true if Ctrl-C ended the window.
    fn stretch(
        &mut self,
        workload: &Workload,
        opened: &mut Opened,
        before: u64,
    ) -> Result<bool, StepError> {
        let length = opened.end - opened.start;
        let max = length + Nanos::from_millis(workload.timeout_ms);
        loop {
            let (start, end) = (opened.end - length, opened.end);
            let stage = Stage { phase: Phase::Measuring, workload: &workload.name, start, end };
            if end - opened.start >= max {
                return self.follow(&stage);
            }
            if self.follow(&Stage { end: end - LEAD, ..stage })? {
                return Ok(true);
            }
            if self.load()?.progress()?.ended - before >= u64::from(workload.in_flight) {
                return Ok(self.context.interrupt().wait_or_cut(end)?);
            }
            opened.end = end + length;
            self.load()?.end_at(opened.end)?;
        }
    }

    /// Waits for the stage's end, or for the last of a number of calls, while the observer samples the load as often as it
    /// wants. Fails if the server ends meanwhile. Returns true if Ctrl-C ended the stage early.
    fn follow(&mut self, stage: &Stage<'_>) -> Result<bool, StepError> {
        let (context, counts_calls) = (self.context, stage.end == Nanos::NEVER);
        let every = context.observer.sample_every(stage);
        let mut next = every.map_or(Nanos::NEVER, |_| stage.start);
        let mut watch = context.now() + WATCH;
        loop {
            let now = context.now();
            let pause = Nanos((now.since(stage.start) / 50).clamp(POLL.0.0, POLL.1.0));
            let until = if counts_calls { now + pause } else { next.min(stage.end).min(watch) };
            if context.interrupt().wait_or_cut(until)? {
                return Ok(true);
            }
            let is_over = match counts_calls {
                true => self.load()?.is_drained()?,
                false => context.now() >= stage.end,
            };
            if is_over {
                return Ok(false);
            }
            if context.now() >= watch {
                self.alive("during a trial")?;
                watch = context.now() + WATCH;
            }
            if let Some(every) = every.filter(|_| next <= context.now()) {
                context.observer.sample(stage, &self.load()?.sample()?);
                next = if counts_calls { context.now() } else { next } + every;
            }
        }
    }
}
