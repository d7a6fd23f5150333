//! What a load's figures are worth.

use std::fmt;

use rpcbench_record::{Arrivals, Comparison, Figure, LoadRecord, Pacing, Threshold};

use crate::doubt::doubts;
use crate::figures::Figures;
use crate::format;
use crate::verdict::SATURATED;

/// What a load's figures are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadVerdict {
    /// They are the server's.
    Ok,
    /// Calls failed: more than `--fail-if errors>..` lets pass, or any where nothing does.
    Failed,
    /// They contradict each other.
    Suspect,
    /// The client fell behind its own schedule: see [`rpcbench_record::Pacing::generator_late`].
    GeneratorLate,
    /// What `--fail-if` names came true.
    LimitExceeded,
    /// The client was the limit.
    ClientBound,
    /// The server ended fewer calls than came due: see [`rpcbench_record::Measured::kept_up`].
    Overloaded,
}

impl LoadVerdict {
    /// The first that applies.
    #[must_use]
    pub fn of(load: &LoadRecord) -> Self {
        if failed(load) {
            Self::Failed
        } else if !contradictions(load).is_empty() {
            Self::Suspect
        } else if load.measured.pacing.is_some_and(|pacing| pacing.generator_late()) {
            Self::GeneratorLate
        } else if !exceeded(load).is_empty() {
            Self::LimitExceeded
        } else if busiest(load) >= SATURATED {
            Self::ClientBound
        } else if overloaded(load) {
            Self::Overloaded
        } else {
            Self::Ok
        }
    }

    /// The word for it, as texts and exports have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Suspect => "suspect",
            Self::GeneratorLate => "generator late",
            Self::LimitExceeded => "limit exceeded",
            Self::ClientBound => "client-bound",
            Self::Overloaded => "overloaded",
        }
    }
}

impl fmt::Display for LoadVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The limits of `--fail-if` that say how many calls may fail.
fn tolerances(load: &LoadRecord) -> impl Iterator<Item = &Threshold> {
    let most = |limit: &&Threshold| {
        limit.figure() == Figure::Errors && limit.comparison() == Comparison::Above
    };
    load.fail_if.iter().filter(most)
}

/// Whether calls may fail at all.
#[must_use]
pub fn tolerates_errors(load: &LoadRecord) -> bool {
    tolerances(load).next().is_some()
}

/// Whether more calls failed than may.
fn failed(load: &LoadRecord) -> bool {
    let outcomes = &load.measured.outcomes;
    let beyond = tolerances(load).any(|limit| limit.holds(&load.measured) == Some(true));
    outcomes.ok == 0 || beyond || (outcomes.errors() > 0 && !tolerates_errors(load))
}

/// Everything in a load that contradicts something else in it.
pub(super) fn contradictions(load: &LoadRecord) -> Vec<String> {
    doubts(&load.measured, &load.workload).iter().map(ToString::to_string).collect()
}

/// The busiest load thread, share of a CPU.
pub(super) fn busiest(load: &LoadRecord) -> f64 {
    Figures::of(&[&load.measured], None).map_or(0.0, |f| f.client.busiest_share)
}

/// Why the client is to blame, and what to do. `None` where it kept its schedule.
#[must_use]
pub fn lateness(load: &LoadRecord) -> Option<String> {
    let pacing = load.measured.pacing.filter(Pacing::generator_late)?;
    Some(format!(
        "generator late: the client took up {} of the calls more than 1 ms after they came due, so these \
         figures are not the server's; lower the rate, take more --client-threads, or free CPUs",
        format::percent(pacing.late_share())
    ))
}

/// Whether calls came due faster than the server ended them. A rate that changes is there to find where that
/// begins, so it is no verdict on it.
fn overloaded(load: &LoadRecord) -> bool {
    let one_rate =
        matches!(load.workload.arrivals, Arrivals::Constant { .. } | Arrivals::Poisson { .. });
    one_rate && load.measured.kept_up() == Some(false)
}

/// How many calls came due and how many were answered in time. `None` where the server kept up.
#[must_use]
pub fn overload(load: &LoadRecord) -> Option<String> {
    let pacing = load.measured.pacing.filter(|_| overloaded(load))?;
    let due = pacing.due as f64 * 1e9 / load.measured.window_ns as f64;
    Some(format!(
        "overloaded: {} calls came due a second, and {} were answered in the second half of the \
         window; the response times only say how long that lasted; lower the rate",
        format::si(due),
        format::si(load.measured.ok_per_s()?)
    ))
}

/// How much of the window there is, if it was ended before its time.
#[must_use]
pub fn cut_short(load: &LoadRecord) -> Option<String> {
    let (ns, planned_ms) = (load.measured.window_ns, load.workload.window.length_ms());
    (ns < planned_ms * 1_000_000).then(|| {
        let (there, planned) = (format::duration_ns(ns as f64), format::length_ms(planned_ms));
        format!("stopped after {there} of {planned}; these are the figures of that time")
    })
}

/// The thresholds of `--fail-if` that came true, or could not be looked at, each with what was measured.
#[must_use]
pub fn exceeded(load: &LoadRecord) -> Vec<String> {
    let shown = |limit: &Threshold| {
        let value = limit.figure().of(&load.measured);
        if value.is_some_and(|value| !limit.admits(value)) {
            return None;
        }
        Some(format!("{limit}: {} is {}", limit.figure(), figure(limit.figure(), value)))
    };
    load.fail_if.iter().filter_map(shown).collect()
}

/// To five digits and more, as it may lie close to its limit.
fn figure(figure: Figure, value: Option<f64>) -> String {
    match value {
        None => "not known, as no call came due".to_owned(),
        Some(time) if time.is_infinite() => "without a bound, as calls failed".to_owned(),
        Some(ns) if figure.is_time() && ns >= 1e9 => format!("{:.4} s", ns / 1e9),
        Some(ns) if figure.is_time() && ns >= 1e6 => format!("{:.4} ms", ns / 1e6),
        Some(ns) if figure.is_time() => format!("{:.3} us", ns / 1e3),
        Some(share) if figure == Figure::Errors => format!("{:.4} %", share * 100.0),
        Some(rate) => format!("{rate:.1} calls/s"),
    }
}
