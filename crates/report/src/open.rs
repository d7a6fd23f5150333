//! What an open loop's figures are worth: whether the client kept to its schedule, and the server to the rate.

use rpcbench_record::{Measured, NotMet, Search, StepVerdict, Trial};
use rpcbench_stats::mean_interval;

use crate::figures::Estimate;
use crate::verdict::Verdict;

/// The verdict on trials of an open loop in which every call was answered right.
pub(crate) fn paced(trials: &[(&Trial, &Measured)]) -> Verdict {
    let searched = trials.iter().find_map(|(trial, _)| {
        let rate = late_rate(trial.search.as_ref()?)?;
        Some(Verdict::GeneratorLate { trial: trial.number, late: None, rate_per_s: rate })
    });
    if let Some(late) = searched {
        return late;
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
    match trials.iter().find(|(_, measured)| measured.kept_up() == Some(false)) {
        Some((trial, _)) => Verdict::Overloaded { trial: trial.number },
        None => Verdict::Ok,
    }
}

/// The rate at which a search ended for the client's sake.
fn late_rate(search: &Search) -> Option<f64> {
    let unmet = search.unmet()?;
    (unmet.verdict == StepVerdict::NotMet(NotMet::GeneratorLate)).then(|| unmet.rate.get())
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
