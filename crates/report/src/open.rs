//! Verdicts on open loops: whether the client kept its schedule and the server kept up.

use rpcbench_record::{Measured, NotMet, Pacing, Search, SearchStep, StepVerdict, Trial};

use crate::figures::{Estimate, mean};
use crate::format::{percent_near, si};
use crate::verdict::{Verdict, VerdictKind};

/// The verdict on trials of an open loop in which every call was answered correctly.
pub(crate) fn paced(trials: &[(&Trial, &Measured)]) -> Verdict {
    let late = || trials.iter().find_map(|(trial, measured)| late(trial.number, measured));
    let bound = || trials.iter().find(|(_, m)| m.client_saturated()).map(|(_, m)| client_bound(m));
    let overloaded = || trials.iter().find(|(_, measured)| measured.kept_up() == Some(false));
    let overloaded = || overloaded().map(|(trial, _)| Verdict::overloaded(trial.number));
    let client = searched(trials).or_else(late).or_else(bound);
    client.or_else(overloaded).unwrap_or_else(|| Verdict::ranked(VerdictKind::Ok))
}

/// The verdict on a window in which the client fell behind its own schedule. `None` if it did not.
pub(crate) fn late(trial: u32, measured: &Measured) -> Option<Verdict> {
    let pacing = measured.pacing.filter(Pacing::generator_late)?;
    let rate = si(pacing.due as f64 * 1e9 / measured.window_ns as f64);
    let share = percent_near(pacing.late_share(), &[Pacing::LATE_SHARE]);
    let reason =
        format!("trial {trial}: the client started {share} of its calls late, at {rate} calls/s");
    Some(Verdict::because(VerdictKind::GeneratorLate, reason))
}

/// The verdict on an open loop whose client had no CPU left. At a given rate, the server's CPU use is no evidence.
pub(crate) fn client_bound(measured: &Measured) -> Verdict {
    Verdict::client_bound(measured.busiest_client(), None)
}

/// The verdict on searches if one ended at the client's limit.
pub(crate) fn searched(trials: &[(&Trial, &Measured)]) -> Option<Verdict> {
    trials.iter().find_map(|(trial, _)| ended_by_client(trial))
}

fn ended_by_client(trial: &Trial) -> Option<Verdict> {
    let unmet = trial.search.as_ref()?.unmet()?;
    match unmet.verdict {
        StepVerdict::NotMet(NotMet::GeneratorLate) => {
            let (trial, rate) = (trial.number, si(unmet.rate.get()));
            let reason = format!(
                "trial {trial}: the search ended at {rate} calls/s, where the client fell behind its own schedule"
            );
            Some(Verdict::because(VerdictKind::GeneratorLate, reason))
        }
        StepVerdict::NotMet(NotMet::ClientBound) => {
            let saturated = unmet.windows.iter().find(|window| window.client_saturated());
            saturated.or(unmet.windows.last()).map(client_bound)
        }
        StepVerdict::Met | StepVerdict::NotMet(_) => None,
    }
}

/// The highest rate that met the threshold, mean over searches. `None` if no search found one.
pub(crate) fn highest_rate(searches: &[&Search]) -> Option<Estimate> {
    Some(Estimate::raw(mean_rate(searches, Search::met)?))
}

/// The ratio between the lowest rate that did not meet the threshold and the highest rate that did. In each search the true limit
/// lies between the two, and repetition does not narrow this. 1 without a search.
pub(crate) fn bracket(searches: &[&Search]) -> f64 {
    let ends = mean_rate(searches, Search::unmet).zip(mean_rate(searches, Search::met));
    ends.map_or(1.0, |(unmet, met)| (unmet / met).max(1.0))
}

/// Mean rate over the searches that have the step.
fn mean_rate(searches: &[&Search], of: fn(&Search) -> Option<&SearchStep>) -> Option<f64> {
    let steps = searches.iter().filter_map(|search| of(search));
    mean(&steps.map(|step| step.rate.get()).collect::<Vec<_>>())
}
