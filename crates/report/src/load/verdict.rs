//! Verdict, warnings and complaints about a load.

use rpcbench_record::{
    Arrivals, Comparison, Disturbance, Figure, Measured, Pacing, SATURATED, Threshold, Unmeasured,
    Window, Workload,
};

use super::Load;
use crate::cell::errors;
use crate::doubt::doubts;
use crate::format;
use crate::open::late;
use crate::verdict::{Verdict, VerdictKind};
use crate::{connections, disturbed};

impl Load {
    /// The first verdict that applies.
    pub fn verdict(&self) -> Verdict {
        if failed(self) {
            return Verdict::failed(errors(&self.measured.outcomes, self.protocol));
        }
        if let Some(reason) = connections::fault(&[&self.measured]) {
            return Verdict::failed(reason);
        }
        if let Some(doubt) = doubts(&self.measured, &self.workload).first() {
            return Verdict::suspect(1, doubt);
        }
        if let Some(late) = late(1, &self.measured) {
            return late;
        }
        if let Some((kind, reason)) = disturbance(self) {
            return Verdict::because(kind, format!("trial 1: {reason}"));
        }
        let limits = exceeded(self);
        if !limits.is_empty() {
            return Verdict::because(VerdictKind::LimitExceeded, limits.join("; "));
        }
        let (server, client) = (server_share(self), busiest(self));
        let closed = !self.workload.arrivals.is_open();
        let serial = closed && self.measured.server_thread_saturated();
        let by_cpu = Verdict::saturation(server, client);
        if closed && by_cpu.kind == VerdictKind::ServerBound {
            by_cpu
        } else if client >= SATURATED && !serial || exhaustion(self).is_some() {
            Verdict::client_bound(client, server)
        } else if overloaded(self) {
            Verdict::overloaded(1)
        } else {
            Verdict::ranked(VerdictKind::Ok)
        }
    }

    /// True if a check or a limit failed, for the exit code. Failed calls outside the window count too, unless `--fail-if` allows
    /// errors.
    pub fn checks_failed(&self) -> bool {
        use VerdictKind::{Failed, GeneratorLate, LimitExceeded, Overloaded, Suspect};
        let failed = matches!(
            self.verdict().kind,
            Failed | Suspect | GeneratorLate | LimitExceeded | Overloaded
        );
        let limits = !exceeded(self).is_empty() || lateness(self).or(exhaustion(self)).is_some();
        failed || limits || (self.outside.outcomes.errors() > 0 && !tolerates_errors(self))
    }

    /// The problems of the load, one sentence each.
    pub fn complaints(&self) -> Vec<String> {
        let Unmeasured { outcomes, error_examples } = &self.outside;
        let outside = (outcomes.errors() > 0).then(|| {
            let example = error_examples.first().map(|e| format!(", such as: {e}"));
            let (failed, all) = (outcomes.errors(), outcomes.total());
            let example = example.unwrap_or_default();
            let inside = &self.measured.outcomes;
            let place = match inside.errors() {
                0 => format!("{failed} of {all} calls failed outside the window"),
                n => format!(
                    "{n} of {} calls failed in the window, and {failed} of {all} outside it",
                    inside.total()
                ),
            };
            format!("{place}{example}")
        });
        let limits = exceeded(self).into_iter().map(|limit| format!("limit {limit}"));
        let fault = connections::fault(&[&self.measured]);
        let doubt =
            doubts(&self.measured, &self.workload).first().map(|doubt| format!("suspect: {doubt}"));
        let rest =
            [fault, doubt, lateness(self), exhaustion(self), overload(self), cut_short(self)];
        let rest = rest.into_iter().flatten();
        outside.into_iter().chain(limits).chain(rest).collect()
    }
}

/// The `--fail-if` limits on errors.
fn tolerances(load: &Load) -> impl Iterator<Item = &Threshold> {
    let most = |limit: &&Threshold| {
        limit.figure() == Figure::Errors && limit.comparison() == Comparison::Above
    };
    load.header.plan.fail_if.iter().filter(most)
}

/// True if `--fail-if` allows errors.
fn tolerates_errors(load: &Load) -> bool {
    tolerances(load).next().is_some()
}

/// True if more calls failed than allowed.
fn failed(load: &Load) -> bool {
    let outcomes = &load.measured.outcomes;
    let beyond = tolerances(load).any(|limit| limit.holds(&load.measured) == Some(true));
    outcomes.ok == 0 || beyond || (outcomes.errors() > 0 && !tolerates_errors(load))
}

/// CPU use of the busiest load thread, as a share of a CPU.
pub(super) fn busiest(load: &Load) -> f64 {
    load.figures().map_or(0.0, |f| f.client.busiest_share)
}

/// CPU use of the server, as a share of its CPUs. `None` if unknown.
fn server_share(load: &Load) -> Option<f64> {
    Some(load.figures()?.server?.cpu_share)
}

/// What kept the client from its work, with the remedy. `None` if nothing did for long enough to matter. If the window is a number
/// of calls, it may end long before the server's counters are read.
fn disturbance(load: &Load) -> Option<(VerdictKind, String)> {
    let disturbance = load.measured.disturbance()?;
    let counts = match disturbance {
        Disturbance::ClientAbsent(_) => true,
        Disturbance::CountersApart(_) => matches!(load.workload.window, Window::Duration { .. }),
        Disturbance::ServerStarved(_) => false,
    };
    counts.then(|| (disturbed::kind(disturbance), disturbed::describe(&load.measured, disturbance)))
}

/// Explains the client's lateness, with the remedy. `None` if the client kept its schedule and read replies as they came.
pub(super) fn lateness(load: &Load) -> Option<String> {
    if let Some((kind, reason)) = disturbance(load) {
        return Some(format!("{}: {reason}", kind.name()));
    }
    let pacing = load.measured.pacing.filter(Pacing::generator_late)?;
    Some(format!(
        "generator late: the client started {} of the calls more than 1 ms late, so these figures are not the \
         server's; lower the rate, use more client threads, or free CPUs",
        format::percent_near(pacing.late_share(), &[Pacing::LATE_SHARE])
    ))
}

/// Explains why the figures of an open loop show the client, with the remedy. `None` if the client had CPU to spare or was late,
/// and in a closed loop, where the verdict says so.
pub(super) fn exhaustion(load: &Load) -> Option<String> {
    if !load.workload.arrivals.is_open() || lateness(load).is_some() {
        return None;
    }
    let remedy = format!("lower the rate, {}, or free CPUs", more_threads(load));
    if load.measured.client_saturated() {
        let busiest = format::percent_near(load.measured.busiest_client(), &[SATURATED]);
        return Some(format!(
            "client-bound: the busiest client thread was at {busiest} of a CPU, so these figures can be the client's own; {remedy}"
        ));
    }
    load.capacity.filter(|capacity| capacity.client_bound).map(|_| {
        format!("client-bound: the capacity is the client's, so the rate is not a share of the server's; {remedy}")
    })
}

/// How to get more out of the client: a connection is served by one thread.
pub(super) fn more_threads(load: &Load) -> &'static str {
    match load.workload.client_threads < load.workload.connections {
        true => "use more client threads",
        false => "use more connections, and more client threads for them",
    }
}

/// True if calls came due faster than the server finished them. Changing rates do not count, as they are meant to find the point
/// where this begins.
fn overloaded(load: &Load) -> bool {
    let one_rate =
        matches!(load.workload.arrivals, Arrivals::Constant { .. } | Arrivals::Poisson { .. });
    one_rate && load.measured.kept_up() == Some(false)
}

/// The numbers of calls that came due and that were answered in time. `None` if the server kept up.
pub(super) fn overload(load: &Load) -> Option<String> {
    let pacing = load.measured.pacing.filter(|_| overloaded(load) && exhaustion(load).is_none())?;
    let due = pacing.due as f64 * 1e9 / load.measured.window_ns as f64;
    Some(format!(
        "overloaded: {} calls came due per second, {} were answered in the second half of the window; response \
         times only show how long that lasted; lower the rate",
        format::si(due),
        format::si(load.measured.ok_per_s()?)
    ))
}

/// True for a window that was stopped early.
pub(super) fn is_cut_short(measured: &Measured, workload: &Workload) -> bool {
    match workload.window {
        Window::Duration { length_ms } => measured.window_ns < length_ms * 1_000_000,
        Window::Calls { calls } => measured.outcomes.total() < calls,
    }
}

/// Describes the measured part of a window that was stopped early.
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

/// The `--fail-if` thresholds that were exceeded or could not be checked, with the measured values.
pub(super) fn exceeded(load: &Load) -> Vec<String> {
    let shown = |limit: &Threshold| {
        let value = limit.figure().of(&load.measured);
        if value.is_some_and(|value| !limit.admits(value)) {
            return None;
        }
        Some(format!("{limit}: {} is {}", limit.figure(), figure(limit, value)))
    };
    load.header.plan.fail_if.iter().filter_map(shown).collect()
}

fn figure(limit: &Threshold, value: Option<f64>) -> String {
    let limits = &[limit.limit()];
    match (limit.figure(), value) {
        (_, None) => "unknown: no call came due".to_owned(),
        (_, Some(time)) if time.is_infinite() => "unbounded: calls failed".to_owned(),
        (figure, Some(ns)) if figure.is_time() => format::duration_near(ns, limits),
        (Figure::Errors, Some(share)) => format::percent_near(share, limits),
        (_, Some(rate)) => format!("{} calls/s", format::si_near(rate, limits)),
    }
}

/// The `--fail-if` limits on a figure, by its name.
pub(super) fn limits(load: &Load, figure: &str) -> Vec<f64> {
    let own = load.header.plan.fail_if.iter().filter(|limit| limit.figure().to_string() == figure);
    own.map(|limit| limit.limit()).collect()
}
