//! What an open loop's figures are worth: whether the client kept its schedule, and the server the rate.

use rpcbench_record::{Measured, NotMet, Pacing, Search, SearchStep, StepVerdict, Trial};

use crate::figures::Estimate;
use crate::verdict::Verdict;

/// The verdict on trials of an open loop in which every call was answered correctly.
pub(crate) fn paced(trials: &[(&Trial, &Measured)]) -> Verdict {
    if let Some(clients) = trials.iter().find_map(|(trial, _)| searched(trial)) {
        return clients;
    }
    if let Some(late) = trials.iter().find_map(|(trial, measured)| late(trial.number, measured)) {
        return late;
    }
    if let Some((_, measured)) = trials.iter().find(|(_, measured)| measured.client_saturated()) {
        return client_bound(measured);
    }
    match trials.iter().find(|(_, measured)| measured.kept_up() == Some(false)) {
        Some((trial, _)) => Verdict::Overloaded { trial: trial.number },
        None => Verdict::Ok,
    }
}

/// The verdict on a window in which the client fell behind its own schedule. `None` if it did not.
pub(crate) fn late(trial: u32, measured: &Measured) -> Option<Verdict> {
    let pacing = measured.pacing.filter(Pacing::generator_late)?;
    let rate_per_s = pacing.due as f64 * 1e9 / measured.window_ns as f64;
    Some(Verdict::GeneratorLate { trial, late: Some(pacing.late_share()), rate_per_s })
}

/// The verdict on an open loop whose client had no CPU left. At a given rate the server's CPU use says nothing.
pub(crate) fn client_bound(measured: &Measured) -> Verdict {
    Verdict::ClientBound { client: measured.busiest_client(), server: None }
}

/// The verdict on a search that the client's limit ended. `None` if it was not.
fn searched(trial: &Trial) -> Option<Verdict> {
    let unmet = trial.search.as_ref()?.unmet()?;
    match unmet.verdict {
        StepVerdict::NotMet(NotMet::GeneratorLate) => Some(Verdict::GeneratorLate {
            trial: trial.number,
            late: None,
            rate_per_s: unmet.rate.get(),
        }),
        StepVerdict::NotMet(NotMet::ClientBound) => {
            let saturated = unmet.windows.iter().find(|window| window.client_saturated());
            saturated.or(unmet.windows.last()).map(client_bound)
        }
        StepVerdict::Met | StepVerdict::NotMet(_) => None,
    }
}

/// The highest rate that met the threshold, mean over searches. `None` if no search found one.
pub(crate) fn highest_rate(searches: &[&Search]) -> Option<Estimate> {
    Some(Estimate::raw(mean(searches, Search::met)?))
}

/// The ratio between the lowest rate that did not meet the threshold and the highest that did. The true limit lies
/// between the two in each search, however often it is repeated. 1 without a search.
pub(crate) fn bracket(searches: &[&Search]) -> f64 {
    let ends = mean(searches, Search::unmet).zip(mean(searches, Search::met));
    ends.map_or(1.0, |(unmet, met)| (unmet / met).max(1.0))
}

/// Mean rate over the searches that have the step.
fn mean(searches: &[&Search], of: fn(&Search) -> Option<&SearchStep>) -> Option<f64> {
    let rates: Vec<f64> =
        searches.iter().filter_map(|search| Some(of(search)?.rate.get())).collect();
    (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
}
