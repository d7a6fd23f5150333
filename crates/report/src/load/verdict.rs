//! What a load's figures are worth.

use rpcbench_record::{
    Arrivals, Comparison, Figure, Measured, Pacing, Threshold, Unmeasured, Window, Workload,
};

use super::Load;
use crate::cell::errors;
use crate::connections;
use crate::doubt::doubts;
use crate::format;
use crate::verdict::{SATURATED, Verdict, saturation};

impl Load {
    /// What its figures are worth: the first verdict that applies.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if failed(self) {
            return Verdict::Failed { reason: errors(&self.measured.outcomes, self.protocol) };
        }
        if let Some(reason) = connections::fault(&[&self.measured]) {
            return Verdict::Failed { reason };
        }
        if let Some(doubt) = doubts(&self.measured, &self.workload).into_iter().next() {
            return Verdict::Suspect { trial: 1, doubt };
        }
        if let Some(late) = late(&self.measured) {
            return late;
        }
        let limits = exceeded(self);
        if !limits.is_empty() {
            return Verdict::LimitExceeded { limits };
        }
        let (server, client) = (server_share(self), busiest(self));
        let serial = !self.workload.arrivals.is_open() && self.measured.server_thread_saturated();
        match server.map(|server| saturation(Some(server), client)) {
            Some(Verdict::ServerBound) if !self.workload.arrivals.is_open() => Verdict::ServerBound,
            _ if client >= SATURATED && !serial => Verdict::ClientBound { client, server },
            _ if exhaustion(self).is_some() => Verdict::ClientBound { client, server },
            _ if overloaded(self) => Verdict::Overloaded { trial: 1 },
            _ => Verdict::Ok,
        }
    }

    /// Whether the verdict is one against, for whoever asks by exit code. Calls that failed outside of the window count
    /// too, where no `--fail-if` says how many may.
    #[must_use]
    pub fn is_against(&self) -> bool {
        let against = matches!(
            self.verdict(),
            Verdict::Failed { .. }
                | Verdict::GeneratorLate { .. }
                | Verdict::LimitExceeded { .. }
                | Verdict::Overloaded { .. }
        );
        let limits = !exceeded(self).is_empty() || lateness(self).is_some();
        let limits = limits || exhaustion(self).is_some();
        against || limits || (self.outside.outcomes.errors() > 0 && !tolerates_errors(self))
    }

    /// Everything that speaks against it, a sentence each.
    #[must_use]
    pub fn complaints(&self) -> Vec<String> {
        let Unmeasured { outcomes, error_examples } = &self.outside;
        let outside = (outcomes.errors() > 0).then(|| {
            let example = error_examples.first().map(|e| format!(", such as: {e}"));
            let (failed, all) = (outcomes.errors(), outcomes.total());
            let example = example.unwrap_or_default();
            format!("{failed} of {all} calls failed outside of the window{example}")
        });
        let limits = exceeded(self).into_iter().map(|limit| format!("--fail-if {limit}"));
        let fault = connections::fault(&[&self.measured]);
        let rest = [fault, lateness(self), exhaustion(self), overload(self), cut_short(self)];
        let rest = rest.into_iter().flatten();
        outside.into_iter().chain(limits).chain(rest).collect()
    }
}

/// The verdict on a window in which the client fell behind its own schedule. `None` where it did not.
pub(super) fn late(measured: &Measured) -> Option<Verdict> {
    let pacing = measured.pacing.filter(Pacing::generator_late)?;
    let rate_per_s = pacing.due as f64 * 1e9 / measured.window_ns as f64;
    Some(Verdict::GeneratorLate { trial: 1, late: Some(pacing.late_share()), rate_per_s })
}

/// The limits of `--fail-if` that say how many calls may fail.
fn tolerances(load: &Load) -> impl Iterator<Item = &Threshold> {
    let most = |limit: &&Threshold| {
        limit.figure() == Figure::Errors && limit.comparison() == Comparison::Above
    };
    load.header.plan.fail_if.iter().filter(most)
}

/// Whether calls may fail at all.
fn tolerates_errors(load: &Load) -> bool {
    tolerances(load).next().is_some()
}

/// Whether more calls failed than may.
fn failed(load: &Load) -> bool {
    let outcomes = &load.measured.outcomes;
    let beyond = tolerances(load).any(|limit| limit.holds(&load.measured) == Some(true));
    outcomes.ok == 0 || beyond || (outcomes.errors() > 0 && !tolerates_errors(load))
}

/// Everything in a load that contradicts something else in it.
pub(super) fn contradictions(load: &Load) -> Vec<String> {
    doubts(&load.measured, &load.workload).iter().map(ToString::to_string).collect()
}

/// The busiest load thread, share of a CPU.
pub(super) fn busiest(load: &Load) -> f64 {
    load.figures().map_or(0.0, |f| f.client.busiest_share)
}

/// The server's CPU time, share of the CPUs that it may use. `None` where nobody can see it.
fn server_share(load: &Load) -> Option<f64> {
    Some(load.figures()?.server?.cpu_share)
}

/// Why the client is to blame, and what to do. `None` where it kept its schedule.
#[must_use]
pub(super) fn lateness(load: &Load) -> Option<String> {
    let pacing = load.measured.pacing.filter(Pacing::generator_late)?;
    Some(format!(
        "generator late: the client took up {} of the calls more than 1 ms after they came due, so these \
         figures are not the server's; lower the rate, take more --threads, or free CPUs",
        format::percent(pacing.late_share())
    ))
}

/// Why an open loop's figures are the client's, and what to do. `None` where it had CPU to give, or was late besides, and
/// in a closed loop, whose verdict says it.
#[must_use]
pub(super) fn exhaustion(load: &Load) -> Option<String> {
    if !load.workload.arrivals.is_open() || lateness(load).is_some() {
        return None;
    }
    let remedy = "lower the rate, take more --threads, or free CPUs";
    if load.measured.client_saturated() {
        let busiest = format::percent(load.measured.busiest_client());
        return Some(format!(
            "client-bound: the busiest client thread was at {busiest} of a CPU, so these figures may be its own; {remedy}"
        ));
    }
    load.capacity.filter(|capacity| capacity.client_bound).map(|_| {
        format!("client-bound: the capacity is the client's, so the rate is no share of the server's; {remedy}")
    })
}

/// Whether calls came due faster than the server ended them. A rate that changes is there to find where that
/// begins, so it is no verdict on it.
fn overloaded(load: &Load) -> bool {
    let one_rate =
        matches!(load.workload.arrivals, Arrivals::Constant { .. } | Arrivals::Poisson { .. });
    one_rate && load.measured.kept_up() == Some(false)
}

/// How many calls came due and how many were answered in time. `None` where the server kept up.
#[must_use]
pub(super) fn overload(load: &Load) -> Option<String> {
    let pacing = load.measured.pacing.filter(|_| overloaded(load) && exhaustion(load).is_none())?;
    let due = pacing.due as f64 * 1e9 / load.measured.window_ns as f64;
    Some(format!(
        "overloaded: {} calls came due a second, and {} were answered in the second half of the \
         window; the response times only say how long that lasted; lower the rate",
        format::si(due),
        format::si(load.measured.ok_per_s()?)
    ))
}

/// Whether a window was ended before its time.
pub(super) fn is_cut_short(measured: &Measured, workload: &Workload) -> bool {
    match workload.window {
        Window::Duration { length_ms } => measured.window_ns < length_ms * 1_000_000,
        Window::Calls { calls } => measured.outcomes.total() < calls,
    }
}

/// How much of the window there is, if it was ended before its time.
#[must_use]
pub fn cut_short(load: &Load) -> Option<String> {
    is_cut_short(&load.measured, &load.workload).then(|| {
        let planned = load.workload.window;
        let there = match planned {
            Window::Duration { .. } => format::duration_ns(load.measured.window_ns as f64),
            Window::Calls { .. } => format::count(load.measured.outcomes.total()),
        };
        format!("stopped after {there} of {planned}; these are the figures until then")
    })
}

/// The thresholds of `--fail-if` that came true, or could not be looked at, each with what was measured.
#[must_use]
pub(super) fn exceeded(load: &Load) -> Vec<String> {
    let shown = |limit: &Threshold| {
        let value = limit.figure().of(&load.measured);
        if value.is_some_and(|value| !limit.admits(value)) {
            return None;
        }
        Some(format!("{limit}: {} is {}", limit.figure(), figure(limit.figure(), value)))
    };
    load.header.plan.fail_if.iter().filter_map(shown).collect()
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
