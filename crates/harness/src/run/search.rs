//! A trial that searches for the highest rate that meets a threshold.

use rpcbench_clock as clock;
use rpcbench_record::{
    Arrivals, Failure, Measured, PerSecond, Rate, SearchStep, StepVerdict, Threshold, Trial,
    TrialResult,
};

use super::loaded_server::{LoadedServer, StepError, failure};
use super::observer::Event;
use super::trial::{Task, over};
use super::window::Window;
use crate::interrupt::StopNow;
use crate::search::{PRECISION, Search};

/// Searches for the highest rate that meets the threshold, from the rate of `arrivals`.
pub(super) fn search(
    server: &mut LoadedServer<'_>,
    task: &Task<'_>,
    threshold: Threshold,
) -> Result<Trial, StepError> {
    let arrivals = task.arrivals;
    let Some(Rate::PerSecond(first)) = arrivals.rate() else {
        return Err(failure(format!("{arrivals} has no rate to start a search from")).into());
    };
    let (mut started, mut unmeasured) = (clock::wall(), None);
    let mut search =
        Search::new(threshold, first, PRECISION).map_err(|e| failure(e.to_string()))?;
    while let Some(rate) = search.rate() {
        let Some(window) = whole_window(server, task, with(arrivals, rate)?)? else {
            if search.record().steps.is_empty() {
                return Err(StopNow.into());
            }
            break;
        };
        // Calls that fail at too high a rate don't fail the trial.
        server.tolerated = window.unmeasured.outcomes.clone();
        (started, unmeasured) = (window.started, Some(window.unmeasured));
        if let Some(step) = search.add_window(window.measured) {
            let entry = server.subject.entry.clone();
            server.context.observer.event(&Event::Step { entry, step });
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
    Ok(Trial { arrivals, search, unmeasured, ..over(task.planned, started, result) })
}

/// The last window in which calls came due and the client kept up; without one, the last window.
fn last_of(windows: &[Measured]) -> Option<&Measured> {
    let late = |window: &Measured| window.pacing.is_some_and(|pacing| pacing.generator_late());
    let is_sound = |window: &&Measured| {
        window.outcomes.total() > 0 && !late(window) && !window.client_saturated()
    };
    windows.iter().rfind(is_sound).or(windows.last())
}

fn with(arrivals: Arrivals, rate: PerSecond) -> Result<Arrivals, Failure> {
    let arrivals = arrivals.at_rate(Rate::PerSecond(rate));
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
    failure(format!("no rate met {threshold}{how}"))
}

/// Measures a window of the planned length. `None` if Ctrl-C ended it early: a shorter window can't be compared with others.
fn whole_window(
    server: &mut LoadedServer<'_>,
    task: &Task<'_>,
    arrivals: Arrivals,
) -> Result<Option<Window>, StepError> {
    match server.window(task.workload, arrivals) {
        Err(StepError::Stop(_)) if server.context.interrupt().ends_window() => Ok(None),
        measured => Ok(measured.map(Some)?.filter(|window| !window.cut)),
    }
}

#[cfg(test)]
mod tests {
    use rpcbench_record::{Outcomes, Pacing};

    use super::*;

    #[test]
    fn rate_is_shown_by_its_last_sound_window() {
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
