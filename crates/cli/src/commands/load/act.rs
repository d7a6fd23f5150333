//! The load itself: connected, the capacity found where the arrival process needs it, warmed up, measured.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, bail};
use rpcbench_engine::clock::{self, Nanos};
use rpcbench_engine::{CallLog, Measurement, Session, Span, Unmeasured};
use rpcbench_harness::counters::MachineReading;
use rpcbench_harness::run::Interrupt;
use rpcbench_record::{Arrivals, Capacity, MachineUsage, Measured, WarmUp};
use rpcbench_report::format::si;

use super::live::{Live, Stage};
use super::plan::Planned;
use crate::commands::calls_log::{CallsLog, LogThread};
use crate::commands::scene;
use crate::context::Context;

/// How long a closed loop runs before the capacity is measured.
const SETTLE: Nanos = Nanos::from_millis(1000);
/// How long the capacity is measured.
const CAPACITY_WINDOW: Nanos = Nanos::from_millis(3000);

/// What came of a load.
pub struct Loaded {
    /// When the window began.
    pub started: jiff::Timestamp,
    /// The arrival process, with a rate in calls a second.
    pub arrivals: Arrivals,
    /// Where the arrival process needed one.
    pub capacity: Option<Capacity>,
    /// The calls before the window.
    pub before: Unmeasured,
    /// The window.
    pub measured: Measured,
    /// Every call of it, still being written.
    pub log: Option<LogThread>,
}

/// Ctrl-C came before a window was over, or one that was to be compared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped before anything was measured")]
pub struct Stopped;

/// A load on its way.
pub struct Act<'a> {
    session: Session,
    /// What shows it.
    pub live: Live,
    interrupt: Interrupt,
    cpus: &'a [u32],
    /// Before each window.
    warm_up: Nanos,
    window: Nanos,
}

pub fn measure(
    context: &Context,
    planned: &Planned,
    cpus: &[u32],
    (mut log, quiet): (Option<CallsLog>, bool),
) -> anyhow::Result<Loaded> {
    let workload = &planned.workload;
    let sender = log.as_mut().and_then(CallsLog::take_sender);
    let mut act = Act::begin(context, planned, cpus, (sender.as_ref(), quiet))?;
    drop(sender);
    let mut before = Unmeasured::default();
    let capacity = match workload.arrivals.needs_capacity() {
        true => Some(act.capacity(log.as_ref(), &mut before)?),
        false => None,
    };
    let arrivals = act.apply(workload.arrivals, capacity)?;
    let log = log.map(CallsLog::start).transpose()?;
    let (measurement, machine, started) = act.window()?;
    act.live.finish();
    // Engine counts of this session include those of the capacity's warm-up.
    before.outcomes.add(&measurement.unmeasured.outcomes);
    before.examples.extend(measurement.unmeasured.examples.iter().cloned());
    let measured = measurement.into_measured(None, machine);
    Ok(Loaded { started, arrivals, capacity, before, measured, log })
}

impl<'a> Act<'a> {
    /// Connects.
    pub fn begin(
        context: &Context,
        planned: &Planned,
        cpus: &'a [u32],
        (log, quiet): (Option<&CallLog>, bool),
    ) -> anyhow::Result<Self> {
        let interrupt = scene::interrupt("ending the window here")?;
        let stop = interrupt.clone();
        // Until all connections are open there is no window that could end.
        let connecting = Arc::new(AtomicBool::new(true));
        let still = connecting.clone();
        let given_up =
            move || stop.check().is_err() || (still.load(Ordering::Relaxed) && stop.after_this());
        let session = Session::open_with(&planned.plan, &planned.payload, log, given_up)?;
        connecting.store(false, Ordering::Relaxed);
        let live = Live::new(context, quiet, planned.plan.threads);
        let warm_up = match planned.workload.warm_up {
            WarmUp::Fixed { length_ms } => Nanos::from_millis(length_ms),
            WarmUp::UntilSteady { .. } => Nanos(0),
        };
        let window = Nanos::from_millis(planned.workload.window.length_ms());
        Ok(Self { session, live, interrupt, cpus, warm_up, window })
    }

    /// Measures a window by the arrivals that are on.
    pub fn window(&mut self) -> anyhow::Result<(Measurement, MachineUsage, jiff::Timestamp)> {
        self.span(self.warm_up, ("measuring", self.window))
    }

    /// Measures a window with other arrivals.
    pub fn window_at(&mut self, arrivals: Arrivals) -> anyhow::Result<Measured> {
        self.session.change_arrivals(arrivals)?;
        let (measurement, machine, _) = self.window()?;
        if self.is_stopped() {
            bail!(Stopped); // Windows of different length don't compare.
        }
        Ok(measurement.into_measured(None, machine))
    }

    /// Whether Ctrl-C came.
    pub fn is_stopped(&self) -> bool {
        self.interrupt.after_this()
    }

    /// Measures what the server can do at most; `before` gets the calls of that window.
    pub fn capacity(
        &mut self,
        log: Option<&CallsLog>,
        before: &mut Unmeasured,
    ) -> anyhow::Result<Capacity> {
        let seconds = (SETTLE + CAPACITY_WINDOW).as_secs_f64();
        self.live.keep(&format!(
            "the rate is a share of the capacity: a closed loop of {seconds} s finds it"
        ));
        let (measurement, ..) = self.span(SETTLE, ("capacity", CAPACITY_WINDOW))?;
        if let Some(log) = log {
            log.forget();
        }
        if self.is_stopped() {
            bail!(Stopped);
        }
        before.outcomes.add(&measurement.tally.outcomes);
        before.examples.extend(measurement.tally.examples.iter().cloned());
        let calls_per_s = measurement.tally.outcomes.ok as f64 / CAPACITY_WINDOW.as_secs_f64();
        self.live.keep(&format!("capacity: {} calls/s", si(calls_per_s)));
        Ok(Capacity { calls_per_s, window_ns: CAPACITY_WINDOW.0 })
    }

    /// From here on calls come due by `arrivals`; its rate is known once `capacity` is.
    fn apply(
        &mut self,
        arrivals: Arrivals,
        capacity: Option<Capacity>,
    ) -> anyhow::Result<Arrivals> {
        let Some(capacity) = capacity else { return Ok(arrivals) };
        let found = capacity.calls_per_s;
        let known = arrivals.resolve(found).with_context(|| {
            format!(
                "--arrivals {arrivals}: no rate is a share of {found} calls/s, the capacity found"
            )
        })?;
        self.session.change_arrivals(known)?;
        self.live.keep(&format!("arrivals: {known}"));
        Ok(known)
    }

    /// A load with a measured window at its end.
    fn span(
        &mut self,
        warm_up: Nanos,
        (name, length): (&'static str, Nanos),
    ) -> anyhow::Result<(Measurement, MachineUsage, jiff::Timestamp)> {
        let begin = clock::now();
        let span = Span { start: begin + warm_up, end: begin + warm_up + length };
        self.session.start_measuring(span);
        let warm = Stage { name: "warm-up", start: begin, end: span.start, plain: false };
        if self.live.follow(&warm, &self.session, &self.interrupt)? {
            bail!(Stopped);
        }
        let (first, started) = (MachineReading::read(&[], self.cpus)?, clock::wall());
        let plain = name == "measuring";
        let stage = Stage { name, start: span.start, end: span.end, plain };
        if self.live.follow(&stage, &self.session, &self.interrupt)? {
            self.session.cut();
        }
        let last = MachineReading::read(&[], self.cpus)?;
        self.live.now("waiting for the last calls");
        Ok((self.session.finish()?, last.since(&first), started))
    }
}
