//! One trial: a measured window, or a search that measures many.

use jiff::Timestamp;
use rpcbench_clock::{self as clock, Nanos};
use rpcbench_record::{Arrivals, Measured, PlannedTrial, Trial, TrialResult, Workload};

use super::loaded_server::{LoadedServer, StepError};
use super::observer::Event;
use super::search::search;
use super::window::Window;
use crate::interrupt::StopNow;

/// Maximum repetitions of a disturbed window.
pub(super) const MAX_REPEATS: u32 = 2;
const NONE_FINISHED: &str =
    "no call finished in the window, nor in two before it; use longer windows";
const NONE_DUE: &str = "no call came due in the window; use a longer one, or a higher rate";

/// The task of a trial.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub planned: &'a PlannedTrial,
    pub workload: &'a Workload,
    /// When calls come due, with a known rate. A search starts from it.
    pub arrivals: Arrivals,
    /// True if the process stops after the trial.
    pub is_last: bool,
}

/// A finished trial, in a closed loop and without a search. `started`: when its last window opened.
pub(super) fn over(planned: &PlannedTrial, started: Timestamp, result: TrialResult) -> Trial {
    let PlannedTrial { entry, workload, process, number } = planned.clone();
    let (arrivals, search, unmeasured) = (None, None, None);
    Trial { entry, workload, process, number, started, arrivals, search, unmeasured, result }
}

/// Measures a warm process. `position`: number of trials of the run before this one, and of all.
pub(super) fn run(
    server: &mut LoadedServer<'_>,
    task: &Task<'_>,
    position: (usize, usize),
) -> Result<Trial, StopNow> {
    let Task { planned, workload, arrivals, is_last } = *task;
    let (context, began) = (server.context, clock::wall());
    // Unknown if it depends on the server: a number of calls, a search.
    let length = workload.window.length_ms().filter(|_| workload.find_max.is_none());
    let ends = length.map(|ms| context.now() + Nanos::from_millis(workload.settle_ms + ms));
    let current = context.interrupt().begin_trial(ends);
    context.observer.event(&Event::Measuring { planned, arrivals, position });
    let trial = match workload.find_max {
        None => measure(server, task),
        Some(threshold) => search(server, task, threshold),
    };
    let checked = trial.and_then(|trial| {
        // Checked while the load's connections are open: another process may have accepted them.
        server.check_port(is_last)?;
        if server.subject.is_proven() && !context.interrupt().ends_window() {
            server.spot_check(is_last)?;
        }
        Ok(trial)
    });
    drop(current);
    match checked {
        Ok(trial) => Ok(trial),
        Err(StepError::Server(failure)) => {
            let failure = server.explained(failure);
            Ok(over(planned, began, TrialResult::Failed(failure)))
        }
        Err(StepError::Stop(stop)) => Err(stop),
    }
}

/// Measures one window.
fn measure(server: &mut LoadedServer<'_>, task: &Task<'_>) -> Result<Trial, StepError> {
    let window = undisturbed(server, task)?;
    conclude(server, task.planned, task.arrivals, window)
}

/// The trial of a window. A server that must prove itself fails if calls outside of the window failed, or if none in it was
/// answered.
pub(super) fn conclude(
    server: &mut LoadedServer<'_>,
    planned: &PlannedTrial,
    arrivals: Arrivals,
    Window { started, measured, unmeasured, .. }: Window,
) -> Result<Trial, StepError> {
    if server.subject.is_proven() {
        server.judge_unmeasured(unmeasured.clone(), "outside of the window")?;
        if measured.outcomes.total() == 0 {
            // If a server hangs, all its calls may come due between slices.
            let outside = unmeasured.outcomes.since(&server.tolerated);
            if let Some(reason) = why_empty(&measured) {
                return Err(match outside.errors() {
                    0 => server.blame(reason).into(),
                    _ => server.blame_calls(
                        &outside,
                        "outside of the window, and none finished in it",
                        &unmeasured.error_examples,
                    ),
                });
            }
        } else if measured.outcomes.ok == 0 && measured.late_by_machine().is_none() {
            let Measured { outcomes, error_examples, .. } = &measured;
            return Err(server.blame_calls(outcomes, "in the window", error_examples));
        }
    }
    Ok(Trial {
        arrivals: arrivals.is_open().then_some(arrivals),
        unmeasured: Some(unmeasured),
        ..over(planned, started, TrialResult::from(measured))
    })
}

/// Measures a window. If the server must prove itself, a disturbed window is repeated a few times.
fn undisturbed(server: &mut LoadedServer<'_>, task: &Task<'_>) -> Result<Window, StepError> {
    let mut repeats = if server.subject.is_proven() { MAX_REPEATS } else { 0 };
    loop {
        let window = server.window(task.workload, task.arrivals)?;
        if window.cut || repeats == 0 || !is_worth_repeating(&window.measured) {
            return Ok(window);
        }
        let entry = server.subject.entry.clone();
        server.context.observer.event(&Event::Repeating { entry });
        repeats -= 1;
    }
}

/// The reason to fail a server if no call ended in its window. `None` if the client or the machine may be to blame.
fn why_empty(measured: &Measured) -> Option<&'static str> {
    let why = if measured.pacing.is_none() { NONE_FINISHED } else { NONE_DUE };
    measured.disturbance().is_none().then_some(why)
}

/// True if a window says more about the client or the machine than about the server. A window with calls that failed through the
/// server's fault is evidence.
pub(super) fn is_worth_repeating(measured: &Measured) -> bool {
    let is_empty = measured.pacing.is_none() && measured.outcomes.total() == 0;
    let has_fault = measured.outcomes.errors() > 0 && measured.late_by_machine().is_none();
    (is_empty || measured.disturbance().is_some()) && !has_fault
}

#[cfg(test)]
mod tests {
    use rpcbench_record::Latency;

    use super::*;

    #[test]
    fn disturbed_window_is_repeated_unless_calls_failed() {
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
        measured.error_latency = Some(Latency { min_ns: 500_000_000, ..Latency::default() });
        assert!(is_worth_repeating(&measured), "the client was absent while the call waited");
    }
}
