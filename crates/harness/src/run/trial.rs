//! One trial: a measured window, or a search that makes many of them.

use std::time::Duration;

use jiff::Timestamp;
use rpcbench_engine::clock::{self, Nanos};
use rpcbench_engine::{Session, Span};
use rpcbench_record::{
    Arrivals, Failure, Measured, PerSecond, Rate, Search as SearchRecord, SearchStep, StepVerdict,
    Threshold, TrialResult, Unmeasured, Window as WindowPlan, Workload,
};

use super::context::Context;
use super::interrupt::StopNow;
use super::observer::{Event, Phase, Stage};
use super::subject::Admission;
use super::target::{Target, Trouble, describe, failure};
use super::warm::errors;
use crate::host::counters::{Counters, MachineReading};
use crate::host::reference::Reference;
use crate::search::{PRECISION, Search, at_rate};

/// How long before the window its first counters are read: to read them takes CPU time, of which a server with many threads
/// wants milliseconds, and in the window that is the load's.
const LEAD: Nanos = Nanos::from_millis(10);
/// The longest time for which a closed loop runs before its window because of its server, if the workload asks for less.
const LONGEST_SETTLE: Nanos = Nanos::from_millis(2000);

/// What is read at each edge of the window.
struct Edge {
    at: Nanos,
    server: Option<Counters>,
    machine: MachineReading,
}

impl Edge {
    fn read(target: &mut Target, context: &Context<'_>) -> Result<Self, Failure> {
        let server = target.sample()?;
        let cpus = target.isolation().server_cpus;
        let machine = MachineReading::read(&cpus, &context.environment.client_cpus);
        Ok(Self { at: clock::now(), server, machine: machine.map_err(describe)? })
    }
}

/// What came of a trial.
pub(super) struct Outcome {
    /// When its last window began.
    pub started: Timestamp,
    /// The arrival process of the window. `None` in a closed loop, and where a search found no rate.
    pub arrivals: Option<Arrivals>,
    pub search: Option<Box<SearchRecord>>,
    pub unmeasured: Option<Unmeasured>,
    pub result: TrialResult,
}

/// When the window of a trial that begins now will end. `None` where that depends on the server: a number of calls, a search.
pub(super) fn end(workload: &Workload) -> Option<Nanos> {
    let length = workload.window.length_ms().filter(|_| workload.find_max.is_none())?;
    Some(clock::now() + Nanos::from_millis(workload.settle_ms + length))
}

/// Measures a warm server under `arrivals`, or from there on searches for what its workload asks for.
pub(super) fn run(
    target: &mut Target,
    context: &Context<'_>,
    arrivals: Arrivals,
) -> Result<Outcome, Trouble> {
    match context.workload.find_max {
        None => measure(target, context, arrivals),
        Some(threshold) => search(target, context, threshold, arrivals),
    }
}

/// One window. Unless the server is taken as it is, no call may have failed outside of it, and some must be answered.
fn measure(
    target: &mut Target,
    context: &Context<'_>,
    arrivals: Arrivals,
) -> Result<Outcome, Trouble> {
    let Window { started, measured, unmeasured, .. } = window(target, context, arrivals)?;
    if let Admission::Proven { .. } = context.subject.admission {
        let protocol = context.subject.protocol;
        let fault = if unmeasured.outcomes.errors() > target.tolerated_errors {
            let Unmeasured { outcomes, error_examples } = &unmeasured;
            Some(errors(protocol, outcomes, "outside of the window", error_examples))
        } else if measured.outcomes.total() == 0 {
            Some(no_call(arrivals, context.workload.in_flight))
        } else if measured.outcomes.ok == 0 {
            let examples = &measured.error_examples;
            Some(errors(protocol, &measured.outcomes, "in the window", examples))
        } else {
            None
        };
        if let Some(reason) = fault {
            return Err(target.blame(reason).into());
        }
    }
    Ok(Outcome {
        started,
        arrivals: arrivals.is_open().then_some(arrivals),
        search: None,
        unmeasured: Some(unmeasured),
        result: TrialResult::Measured(Box::new(measured)),
    })
}

/// Why a window has no call: in a closed loop the next one is due when one has ended.
fn no_call(arrivals: Arrivals, in_flight: u32) -> String {
    match arrivals.is_open() {
        true => "no call came due in the window: take a longer one, or a higher rate".to_owned(),
        false => format!(
            "no call ended in the window: those in flight, {in_flight}, waited from before it until after it"
        ),
    }
}

/// The highest rate under which the threshold holds; the arrival process says at which rate to begin.
fn search(
    target: &mut Target,
    context: &Context<'_>,
    threshold: Threshold,
    arrivals: Arrivals,
) -> Result<Outcome, Trouble> {
    let (Arrivals::Poisson { rate: Rate::PerSecond(first) }
    | Arrivals::Constant { rate: Rate::PerSecond(first) }) = arrivals
    else {
        return Err(failure(format!("{arrivals} has no rate at which a search can begin")).into());
    };
    let (mut started, mut unmeasured) = (clock::wall(), None);
    let mut search = Search::new(threshold, first, PRECISION).map_err(describe)?;
    while let Some(rate) = search.rate() {
        let Some(window) = whole_window(target, context, with(arrivals, rate)?)? else {
            if search.record().steps.is_empty() {
                return Err(StopNow.into());
            }
            break;
        };
        // What fails at a rate that is too high is no failure of the trial.
        target.tolerated_errors = window.unmeasured.outcomes.errors();
        (started, unmeasured) = (window.started, Some(window.unmeasured));
        if let Some(step) = search.tell(window.measured) {
            let entry = context.subject.entry.clone();
            context.observer.event(&Event::Step { entry, step });
        }
    }
    let record = search.into_record();
    let met = record.met().and_then(|step| Some((step.rate, last_of(&step.windows)?.clone())));
    let (arrivals, result) = match met {
        Some((rate, last)) => (Some(with(arrivals, rate)?), TrialResult::Measured(Box::new(last))),
        None => (None, TrialResult::Failed(never(threshold, record.steps.last()))),
    };
    Ok(Outcome { started, arrivals, search: Some(Box::new(record)), unmeasured, result })
}

/// The last window in which the client did its part; chance allows of one in which it did not.
fn last_of(windows: &[Measured]) -> Option<&Measured> {
    let late = |window: &Measured| window.pacing.is_some_and(|pacing| pacing.generator_late());
    let mut sound = windows.iter().filter(|window| !late(window) && !window.client_saturated());
    sound.next_back().or(windows.last())
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

/// One window, and what came before it.
struct Window {
    started: Timestamp,
    measured: Measured,
    /// The calls of this server's life outside of windows.
    unmeasured: Unmeasured,
    /// Ctrl-C ended it before its time.
    cut: bool,
}

/// One window that was not ended before its time: others would not compare with it. `None`: Ctrl-C ended it.
fn whole_window(
    target: &mut Target,
    context: &Context<'_>,
    arrivals: Arrivals,
) -> Result<Option<Window>, Trouble> {
    match window(target, context, arrivals) {
        Err(Trouble::Stop(_)) if context.environment.interrupt.ends_window() => Ok(None),
        measured => Ok(measured.map(Some)?.filter(|window| !window.cut)),
    }
}

/// The machine reference beside a closed loop, on CPUs that are the server's. `None` elsewhere: in an open loop it could touch
/// a tail.
fn reference(
    target: &Target,
    context: &Context<'_>,
    arrivals: Arrivals,
) -> Result<Option<Reference>, Failure> {
    let cpus = target.isolation().server_cpus;
    let is_ours = matches!(context.subject.admission, Admission::Proven { .. });
    if arrivals.is_open() || !is_ours || cpus.is_empty() {
        return Ok(None);
    }
    Reference::begin(&cpus).map(Some).map_err(describe)
}

/// A window that has been opened.
struct Opened {
    start: Nanos,
    end: Nanos,
    first: Edge,
    reference: Option<Reference>,
}

/// Puts the load on, and opens the window when it has settled.
fn open(target: &mut Target, context: &Context<'_>, arrivals: Arrivals) -> Result<Opened, Trouble> {
    let workload = context.workload;
    // Where the window begins with the first call, it must not wait for counters to be read.
    let before = (workload.settle_ms == 0).then(|| Edge::read(target, context)).transpose()?;
    let session = target.session()?;
    let settle = settle(session, workload, arrivals);
    let begin = clock::now();
    let start = begin + settle;
    let end = match workload.window {
        WindowPlan::Duration { length_ms } => {
            let end = start + Nanos::from_millis(length_ms);
            session.start_measuring(Span { start, end });
            end
        }
        WindowPlan::Calls { calls } => {
            session.start_measuring_calls(start, calls);
            Nanos::NEVER
        }
    };
    let reference = reference(target, context, arrivals)?;
    let stage = |end| Stage { phase: Phase::Settling, workload: &workload.name, start: begin, end };
    let first = match before {
        Some(first) => first,
        None if context.follow(&stage(start - LEAD), target)? => return Err(StopNow.into()),
        None => Edge::read(target, context)?,
    };
    Ok(Opened { start, end, first, reference })
}

/// How long the load runs before the window. A closed loop begins with all its calls at once, and those at the window's edges
/// must be as far on the way as those of any other time: so long as all of them took to be answered before, and half as long
/// again.
fn settle(session: &Session, workload: &Workload, arrivals: Arrivals) -> Nanos {
    let asked = Nanos::from_millis(workload.settle_ms);
    match session.cycle() {
        Some(cycle) if !arrivals.is_open() && workload.settle_ms > 0 => {
            asked.max(Nanos(cycle.0 / 2 * 3).min(LONGEST_SETTLE))
        }
        _ => asked,
    }
}

/// One window, whatever comes of its calls.
fn window(
    target: &mut Target,
    context: &Context<'_>,
    arrivals: Arrivals,
) -> Result<Window, Trouble> {
    target.wake()?;
    target.session()?.change_arrivals(arrivals)?;
    let Opened { start, end, first, reference } = open(target, context, arrivals)?;
    let started = clock::wall() + Duration::from(start - clock::now());
    let stage = Stage { phase: Phase::Measuring, workload: &context.workload.name, start, end };
    let cut = context.follow(&stage, target)?;
    if cut {
        target.session()?.cut();
    }
    let last = Edge::read(target, context)?;
    context.observer.event(&Event::Draining);
    let mut measurement = target.session()?.finish()?;
    target.alive("during a trial")?;
    let mut machine = last.machine.since(&first.machine);
    if let Some(reference) = reference {
        machine.reference = reference.end(first.at, last.at).map_err(describe)?;
        // Its own work is nobody else's.
        let own = machine.reference.map_or(0, |reference| reference.cpu_ns());
        machine.server_cpus_busy_ns = machine.server_cpus_busy_ns.map(|ns| ns.saturating_sub(own));
    }
    let presence = context.environment.presence.as_ref();
    machine.rivals = presence.map_or(0, |presence| presence.rivals().len() as u32);
    let outside = std::mem::take(&mut measurement.unmeasured);
    let runtime = target.runtime(measurement.span)?;
    let usage = last.server.zip(first.server).map(|(last, first)| last.since(&first));
    Ok(Window {
        started,
        measured: Measured { runtime, ..measurement.into_measured(usage, machine) },
        unmeasured: Unmeasured { outcomes: outside.outcomes, error_examples: outside.examples },
        cut,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_without_calls_is_told_by_how_calls_come_due() {
        assert!(no_call(Arrivals::Closed, 1000).contains("those in flight, 1000, waited"));
        let open = no_call("constant:1".parse().unwrap(), 1000);
        assert!(open.contains("no call came due") && open.contains("a higher rate"));
    }
}
