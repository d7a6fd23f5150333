//! One trial: a measured window, or a search that measures many.

use std::time::Duration;

use jiff::Timestamp;
use rpcbench_clock::{self as clock, Nanos};
use rpcbench_record::{
    Arrivals, Failure, Measured, PerSecond, PlannedTrial, Rate, SearchStep, StepVerdict, Threshold,
    Trial, TrialResult, Unmeasured,
};

use super::context::Context;
use super::loaded_server::{LoadedServer, StepError, failure};
use super::observer::{Event, Phase, Stage};
use super::settle::settle_by_slices;
use super::warm::errors;
use crate::interrupt::StopNow;
use crate::placement::{Counters, MachineReading, PlacementError, Running};
use crate::search::{PRECISION, Search, at_rate};

/// How long before the window to read its first counters: reading those of a server with many threads takes milliseconds of
/// CPU time, which in the window belongs to the load. Load threads must know of a window, or of another end of it, as early.
const LEAD: Nanos = Nanos::from_millis(20);
/// How often a disturbed window is measured again.
const MAX_REPEATS: u32 = 2;
const NONE_FINISHED: &str =
    "no call finished in the window, nor in two before it; use longer windows";
const NONE_DUE: &str = "no call came due in the window; use a longer one, or a higher rate";

/// Counters at an edge of the window.
struct Edge {
    server: Option<Counters>,
    machine: MachineReading,
}

impl Edge {
    fn read(server: &mut dyn Running) -> Result<Self, PlacementError> {
        Ok(Self { server: server.sample()?, machine: server.machine().sample()? })
    }
}

/// A trial that is over, in a closed loop and without a search. `started`: when its last window opened.
pub(super) fn over(planned: &PlannedTrial, started: Timestamp, result: TrialResult) -> Trial {
    let PlannedTrial { entry, workload, process, number } = planned.clone();
    let (arrivals, search, unmeasured) = (None, None, None);
    Trial { entry, workload, process, number, started, arrivals, search, unmeasured, result }
}

/// When the window of a trial that begins now will end. `None` if that depends on the server: a number of calls, a search.
pub(super) fn end(context: &Context<'_>) -> Option<Nanos> {
    let Context { workload, environment, .. } = *context;
    let length = workload.window.length_ms().filter(|_| workload.find_max.is_none())?;
    Some(environment.interrupt.now() + Nanos::from_millis(workload.settle_ms + length))
}

/// Measures a warm server under `arrivals`, or searches from there for the rate that its workload asks for.
pub(super) fn run(
    target: &mut LoadedServer,
    context: &Context<'_>,
    planned: &PlannedTrial,
    arrivals: Arrivals,
) -> Result<Trial, StepError> {
    match context.workload.find_max {
        None => measure(target, context, planned, arrivals),
        Some(threshold) => search(target, context, planned, (threshold, arrivals)),
    }
}

/// Measures one window. Under a server that must prove itself, no call may fail outside of it, and some must be answered.
fn measure(
    target: &mut LoadedServer,
    context: &Context<'_>,
    planned: &PlannedTrial,
    arrivals: Arrivals,
) -> Result<Trial, StepError> {
    let Window { started, measured, unmeasured, .. } = undisturbed(target, context, arrivals)?;
    if context.is_proven() {
        let protocol = context.subject.protocol;
        let fault = if unmeasured.outcomes.errors() > target.tolerated_errors {
            let Unmeasured { outcomes, error_examples } = &unmeasured;
            Some(errors(protocol, outcomes, "outside of the window", error_examples))
        } else if measured.outcomes.total() == 0 {
            why_empty(&measured).map(str::to_owned)
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
    Ok(Trial {
        arrivals: arrivals.is_open().then_some(arrivals),
        unmeasured: Some(unmeasured),
        ..over(planned, started, TrialResult::from(measured))
    })
}

/// Measures a window; under a server that must prove itself, again a few times if it was disturbed.
fn undisturbed(
    target: &mut LoadedServer,
    context: &Context<'_>,
    arrivals: Arrivals,
) -> Result<Window, StepError> {
    let mut repeats = if context.is_proven() { MAX_REPEATS } else { 0 };
    loop {
        let window = window(target, context, arrivals)?;
        if window.cut || repeats == 0 || !is_worth_repeating(&window.measured) {
            return Ok(window);
        }
        context.observer.event(&Event::Repeating { entry: context.subject.entry.clone() });
        repeats -= 1;
    }
}

/// Why a server fails if no call ended in its window. `None` if that can be due to the client or the machine.
fn why_empty(measured: &Measured) -> Option<&'static str> {
    let why = if measured.pacing.is_none() { NONE_FINISHED } else { NONE_DUE };
    measured.disturbance().is_none().then_some(why)
}

/// Whether a window says more about the client or the machine than about the server. One with failed calls is evidence.
fn is_worth_repeating(measured: &Measured) -> bool {
    let is_empty = measured.pacing.is_none() && measured.outcomes.total() == 0;
    (is_empty || measured.disturbance().is_some()) && measured.outcomes.errors() == 0
}

/// Searches for the highest rate that meets the threshold, from the rate of `arrivals`.
fn search(
    target: &mut LoadedServer,
    context: &Context<'_>,
    planned: &PlannedTrial,
    (threshold, arrivals): (Threshold, Arrivals),
) -> Result<Trial, StepError> {
    let (Arrivals::Poisson { rate: Rate::PerSecond(first) }
    | Arrivals::Constant { rate: Rate::PerSecond(first) }) = arrivals
    else {
        return Err(failure(format!("{arrivals} has no rate to start a search from")).into());
    };
    let (mut started, mut unmeasured) = (clock::wall(), None);
    let mut search =
        Search::new(threshold, first, PRECISION).map_err(|e| failure(e.to_string()))?;
    while let Some(rate) = search.rate() {
        let Some(window) = whole_window(target, context, with(arrivals, rate)?)? else {
            if search.record().steps.is_empty() {
                return Err(StopNow.into());
            }
            break;
        };
        // Calls that fail at too high a rate don't fail the trial.
        target.tolerated_errors = window.unmeasured.outcomes.errors();
        (started, unmeasured) = (window.started, Some(window.unmeasured));
        if let Some(step) = search.tell(window.measured) {
            let entry = context.subject.entry.clone();
            context.observer.event(&Event::Step { entry, step });
        }
    }
    let record = search.into_record();
    // If only the client fell short, the server did not fail: the last window shows the client's limit.
    let clients = record.unmet().filter(|step| step.verdict.is_clients());
    let shown = record.met().or(clients);
    let shown = shown.and_then(|step| Some((step.rate, last_of(&step.windows)?.clone())));
    let (arrivals, result) = match shown {
        Some((rate, last)) => (Some(with(arrivals, rate)?), TrialResult::from(last)),
        None => (None, TrialResult::Failed(never(threshold, record.steps.last()))),
    };
    let search = Some(Box::new(record));
    Ok(Trial { arrivals, search, unmeasured, ..over(planned, started, result) })
}

/// The last window in which calls came due and the client kept up, or the last one.
fn last_of(windows: &[Measured]) -> Option<&Measured> {
    let late = |window: &Measured| window.pacing.is_some_and(|pacing| pacing.generator_late());
    let is_sound = |window: &&Measured| {
        window.outcomes.total() > 0 && !late(window) && !window.client_saturated()
    };
    windows.iter().rfind(is_sound).or(windows.last())
}

fn with(arrivals: Arrivals, rate: PerSecond) -> Result<Arrivals, Failure> {
    let arrivals = at_rate(arrivals, Rate::PerSecond(rate));
    arrivals.ok_or_else(|| failure(format!("an arrival process without a rate of {rate} calls/s")))
}

/// The failure of a threshold that no rate met; `last` is the lowest tried.
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

struct Window {
    started: Timestamp,
    measured: Measured,
    /// The server's calls outside of windows so far.
    unmeasured: Unmeasured,
    /// Ctrl-C ended it early.
    cut: bool,
}

/// Measures a window of the planned length. `None` if Ctrl-C ended it early: it would not compare with others.
fn whole_window(
    target: &mut LoadedServer,
    context: &Context<'_>,
    arrivals: Arrivals,
) -> Result<Option<Window>, StepError> {
    match window(target, context, arrivals) {
        Err(StepError::Stop(_)) if context.environment.interrupt.ends_window() => Ok(None),
        measured => Ok(measured.map(Some)?.filter(|window| !window.cut)),
    }
}

struct Opened {
    start: Nanos,
    end: Nanos,
    first: Edge,
}

/// Puts the load on, and opens the window when it has settled.
fn open(
    target: &mut LoadedServer,
    context: &Context<'_>,
    arrivals: Arrivals,
) -> Result<Opened, StepError> {
    let workload = context.workload;
    let now = || context.environment.interrupt.now();
    // If the window opens with the first call, that must not wait for counters to be read.
    let before = (workload.settle_ms == 0).then(|| Edge::read(&mut *target.server)).transpose()?;
    let begin = now();
    let mut settle = Nanos::from_millis(workload.settle_ms);
    if !arrivals.is_open() {
        // In an open loop it could disturb a tail.
        target.server.machine().start_reference()?;
        if context.adapts && before.is_none() && workload.window.length_ms().is_some() {
            settle_by_slices(target, context, begin)?;
            settle = now() - begin + LEAD;
        }
    }
    let start = begin + settle;
    let end = target.load()?.measure(start, workload.window)?;
    let stage = |end| Stage { phase: Phase::Settling, workload: &workload.name, start: begin, end };
    let first = match before {
        Some(first) => first,
        None if context.follow(&stage(start - LEAD), target)? => return Err(StopNow.into()),
        None => Edge::read(&mut *target.server)?,
    };
    Ok(Opened { start, end, first })
}

/// Extends a closed loop's window, by its length each time, until as many calls have ended in it as are in flight: of fewer, most
/// are cut by its edges. Each call in flight ends within the timeout, so this takes no longer. True if Ctrl-C ended it.
fn stretch(
    target: &mut LoadedServer,
    context: &Context<'_>,
    opened: &mut Opened,
    before: u64,
) -> Result<bool, StepError> {
    let (workload, interrupt) = (context.workload, &context.environment.interrupt);
    let length = opened.end - opened.start;
    let longest = length + Nanos::from_millis(workload.timeout_ms);
    loop {
        let stage = Stage {
            phase: Phase::Measuring,
            workload: &workload.name,
            start: opened.end - length,
            end: opened.end,
        };
        if opened.end - opened.start >= longest {
            return context.follow(&stage, target);
        }
        if context.follow(&Stage { end: opened.end - LEAD, ..stage }, target)? {
            return Ok(true);
        }
        if target.load()?.progress()?.ended - before >= u64::from(workload.in_flight) {
            return Ok(interrupt.wait_or_cut(opened.end)?);
        }
        opened.end = opened.end + length;
        target.load()?.end_at(opened.end)?;
    }
}

fn window(
    target: &mut LoadedServer,
    context: &Context<'_>,
    arrivals: Arrivals,
) -> Result<Window, StepError> {
    let interrupt = &context.environment.interrupt;
    target.wake(interrupt.now())?;
    target.load()?.set_arrivals(arrivals)?;
    let mut opened = open(target, context, arrivals)?;
    let before = target.load()?.progress()?.ended;
    let Opened { start, end, .. } = opened;
    let started = clock::wall() + Duration::from(start - interrupt.now());
    let cut = if arrivals.is_open() || end == Nanos::NEVER || !context.adapts {
        let workload = &context.workload.name;
        context.follow(&Stage { phase: Phase::Measuring, workload, start, end }, target)?
    } else {
        stretch(target, context, &mut opened, before)?
    };
    let first = opened.first;
    if cut {
        target.load()?.cut()?;
    }
    let last = Edge::read(&mut *target.server)?;
    context.observer.event(&Event::Draining);
    let mut measurement = target.load()?.finish()?;
    target.alive("during a trial")?;
    let machine = target.server.machine().usage(&first.machine, &last.machine)?;
    let unmeasured = std::mem::take(&mut measurement.unmeasured);
    let runtime = target.server.runtime(measurement.span)?;
    let usage = last.server.zip(first.server).map(|(last, first)| last.since(&first));
    let measured = Measured { runtime, ..measurement.into_measured(usage, machine) };
    target.level = measured.ok_per_server_cpu_s().map(|calls| calls / 1e9);
    Ok(Window { started, measured, unmeasured, cut })
}

#[cfg(test)]
mod tests {
    use rpcbench_record::{Outcomes, Pacing};

    use super::*;

    #[test]
    fn a_disturbed_window_is_measured_again_unless_calls_failed() {
        let mut measured = Measured { window_ns: 250_000_000, ..Measured::default() };
        assert!(is_worth_repeating(&measured), "no call finished");
        assert_eq!(why_empty(&measured), Some(NONE_FINISHED));
        measured.outcomes.ok = 1;
        assert!(!is_worth_repeating(&measured));
        measured.client.longest_absence_ns = 200_000_000;
        assert!(is_worth_repeating(&measured));
        assert_eq!(why_empty(&measured), None);
        measured.outcomes.timeout = 1;
        assert!(!is_worth_repeating(&measured));
    }

    #[test]
    fn a_rate_is_shown_by_its_last_window_with_calls_in_which_the_client_kept_up() {
        let window = |due, late| Measured {
            outcomes: Outcomes { ok: due, ..Outcomes::default() },
            pacing: Some(Pacing { due, late, ..Pacing::default() }),
            ..Measured::default()
        };
        let (sound, late, empty) = (window(100, 0), window(100, 100), window(0, 0));
        let windows = [sound, late, empty];
        assert_eq!(last_of(&windows), Some(&windows[0]));
        assert_eq!(last_of(&windows[1..]), Some(&windows[2]));
        assert_eq!(last_of(&[]), None);
    }
}
