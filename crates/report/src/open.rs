//! What an open loop's figures are worth: whether the client kept to its schedule, and the server to the rate.

use rpcbench_record::{Measured, NotMet, Search, StepVerdict, Trial};
use rpcbench_stats::mean_interval;

use crate::figures::Estimate;
use crate::verdict::Verdict;

/// The verdict on trials of an open loop in which every call was answered right.
pub(crate) fn paced(trials: &[(&Trial, &Measured)]) -> Verdict {
    if let Some(clients) = trials.iter().find_map(|(trial, _)| searched(trial)) {
        return clients;
    }
    for (trial, measured) in trials {
        let Some(pacing) = measured.pacing.filter(|pacing| pacing.generator_late()) else {
            continue;
        };
        let seconds = measured.window_ns as f64 / 1e9;
        let rate_per_s = pacing.due as f64 / seconds;
        return Verdict::GeneratorLate {
            trial: trial.number,
            late: Some(pacing.late_share()),
            rate_per_s,
        };
    }
    if let Some((_, measured)) = trials.iter().find(|(_, measured)| measured.client_saturated()) {
        return client_bound(measured);
    }
    match trials.iter().find(|(_, measured)| measured.kept_up() == Some(false)) {
        Some((trial, _)) => Verdict::Overloaded { trial: trial.number },
        None => Verdict::Ok,
    }
}

/// The verdict on an open loop whose client had no CPU to give; how busy the server was says nothing at a rate that was
/// given.
pub(crate) fn client_bound(measured: &Measured) -> Verdict {
    Verdict::ClientBound { client: measured.busiest_client(), server: None }
}

/// The verdict on a search that ended for the client's sake. `None` where it did not.
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

/// The highest rate that met the threshold, over searches: mean of the rates that did. Its interval reaches from
/// the lower end of theirs to the upper end of that of the rates that did not, since the rate sought lies
/// between the two in each. `None` without a search that found one.
pub(crate) fn highest_rate(searches: &[&Search]) -> Option<Estimate> {
    let rates = |of: fn(&Search) -> Option<f64>| -> Vec<f64> {
        searches.iter().filter_map(|search| of(search)).collect()
    };
    let met = rates(|search| search.met().map(|step| step.rate.get()));
    let unmet = rates(|search| search.unmet().map(|step| step.rate.get()));
    let mut found = Estimate::of(&met)?;
    if let (Some(interval), Some(above)) = (found.interval.as_mut(), mean_interval(&unmet)) {
        interval.high = interval.high.max(above.high);
    }
    Some(found)
}
