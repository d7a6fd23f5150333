//! One trial: a measured window, or a search that makes many of them.

use rpcbench_engine::clock::{self, Nanos};
use rpcbench_engine::{Span, Unmeasured};
use rpcbench_record::{
    Arrivals, Failure, Measured, PerSecond, Rate, Search as SearchRecord, SearchStep, StepVerdict,
    Threshold, TrialResult, Workload,
};

use super::guest::{Guest, Trouble, describe};
use super::lab::{Lab, failure};
use super::observer::Event;
use super::scene::Scene;
use super::warm::errors;
use crate::counters::{Counters, MachineReading};
use crate::search::{PRECISION, Search, at_rate};

/// Load before the window opens: caches, clocks and TCP windows after a freeze.
const SETTLE: Nanos = Nanos::from_millis(500);

/// What is read at each edge of the window.
struct Edge {
    server: Counters,
    machine: MachineReading,
}

impl Edge {
    fn read(guest: &mut Guest, lab: &Lab) -> Result<Self, Failure> {
        let (meter, group) = guest.metered();
        let server = meter.read(group).map_err(describe)?;
        let machine =
            MachineReading::read(&lab.split.server, &lab.split.client).map_err(describe)?;
        Ok(Self { server, machine })
    }
}

/// What came of a trial.
pub(super) struct Outcome {
    /// The arrival process of the window. `None` in a closed loop, and where a search found no rate.
    pub arrivals: Option<Arrivals>,
    pub search: Option<Box<SearchRecord>>,
    pub result: TrialResult,
}

/// Measures a warm server under `arrivals`, or from there on searches for what its workload asks for.
pub(super) fn run(
    guest: &mut Guest,
    scene: &Scene<'_>,
    arrivals: Arrivals,
) -> Result<Outcome, Trouble> {
    match scene.workload.find_max {
        None => {
            let measured = measure(guest, scene, arrivals)?;
            let result = TrialResult::Measured(Box::new(measured));
            Ok(Outcome { arrivals: arrivals.is_open().then_some(arrivals), search: None, result })
        }
        Some(threshold) => search(guest, scene, (threshold, arrivals)),
    }
}

/// One window, in which no call may have failed before it and some must be answered.
fn measure(guest: &mut Guest, scene: &Scene<'_>, arrivals: Arrivals) -> Result<Measured, Trouble> {
    let (measured, before) = window(guest, scene, arrivals)?;
    if before.outcomes.errors() > guest.forgiven {
        let reason =
            errors(guest.protocol, &before.outcomes, "before the window", &before.examples);
        return Err(guest.blame(reason).into());
    }
    if measured.outcomes.ok == 0 {
        let reason =
            errors(guest.protocol, &measured.outcomes, "in the window", &measured.error_examples);
        return Err(guest.blame(reason).into());
    }
    Ok(measured)
}

/// The highest rate under which the threshold holds; the arrival process says at which rate to begin.
fn search(
    guest: &mut Guest,
    scene: &Scene<'_>,
    (threshold, arrivals): (Threshold, Arrivals),
) -> Result<Outcome, Trouble> {
    let (Arrivals::Poisson { rate: Rate::PerSecond(first) }
    | Arrivals::Constant { rate: Rate::PerSecond(first) }) = arrivals
    else {
        return Err(failure(format!("{arrivals} has no rate at which a search can begin")).into());
    };
    let mut search = Search::new(threshold, first, PRECISION).map_err(describe)?;
    while let Some(rate) = search.rate() {
        let arrivals = with(arrivals, rate)?;
        let (measured, before) = window(guest, scene, arrivals)?;
        // What fails at a rate that is too high is no failure of the trial.
        guest.forgiven = before.outcomes.errors();
        if search.tell(measured).is_some() {
            let step = search.record().steps.last();
            let entry = scene.entry.name();
            step.iter().for_each(|step| {
                let entry = entry.clone();
                scene.observer.event(&Event::Step { entry, step });
            });
        }
    }
    let record = search.into_record();
    let met = record.met().and_then(|step| Some((step.rate, step.windows.last()?.clone())));
    let (arrivals, result) = match met {
        Some((rate, last)) => (Some(with(arrivals, rate)?), TrialResult::Measured(Box::new(last))),
        None => (None, TrialResult::Failed(never(threshold, record.steps.last()))),
    };
    Ok(Outcome { arrivals, search: Some(Box::new(record)), result })
}

fn with(arrivals: Arrivals, rate: PerSecond) -> Result<Arrivals, Failure> {
    let arrivals = at_rate(arrivals, Rate::PerSecond(rate));
    arrivals.ok_or_else(|| failure(format!("an arrival process without a rate of {rate} calls/s")))
}

/// A threshold that held at no rate; `last` is the lowest that was tried.
fn never(threshold: Threshold, last: Option<&SearchStep>) -> Failure {
    let how = last.map_or(String::new(), |step| {
        let why = match step.verdict {
            StepVerdict::Met => String::new(),
            StepVerdict::NotMet(why) => format!(" ({why})"),
        };
        format!(", not even {} calls/s{why}", step.rate)
    });
    failure(format!("{threshold} was met at no rate{how}"))
}

/// One window, whatever comes of its calls; and the calls of this server's life outside of windows.
fn window(
    guest: &mut Guest,
    scene: &Scene<'_>,
    arrivals: Arrivals,
) -> Result<(Measured, Unmeasured), Trouble> {
    let Scene { lab, workload, .. } = *scene;
    guest.wake()?;
    let session = guest.session()?;
    session.change_arrivals(arrivals)?;
    let start = clock::now() + SETTLE;
    let span = Span { start, end: start + length(workload) };
    session.start_measuring(span);
    lab.interrupt.wait_until(span.start)?;
    let first = Edge::read(guest, lab)?;
    lab.interrupt.wait_until(span.end)?;
    let last = Edge::read(guest, lab)?;
    let measurement = guest.session()?.finish()?;
    guest.alive("during a trial")?;
    let before = measurement.unmeasured.clone();
    let usage = last.server.since(&first.server);
    let measured = measurement.into_measured(Some(usage), last.machine.since(&first.machine));
    Ok((measured, before))
}

fn length(workload: &Workload) -> Nanos {
    Nanos::from_millis(workload.window.length_ms())
}
