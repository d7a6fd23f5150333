//! Loads, as found in the record of their run.

use jiff::Timestamp;
use rpcbench_record::{
    Arrivals, Header, Measured, Plan, PlannedServer, Protocol, Rate, Run, Trial, Unmeasured,
    Workload,
};

use super::curve::{LoadCurve, LoadPoint};
use super::verdict::is_cut_short;
use crate::figures::Figures;

/// One load: a window on one server, and the calls outside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The run: program, machine, limits, seed, and thresholds of `--fail-if`.
    pub header: Header,
    /// When the window began.
    pub started: Timestamp,
    /// Where the server listens, as typed.
    pub address: String,
    /// How calls travelled.
    pub protocol: Protocol,
    /// The workload. A rate that was a share of the capacity is resolved to calls per second.
    pub workload: Workload,
    /// The capacity of which the rate is a share, if it is one.
    pub capacity: Option<Capacity>,
    /// Calls outside the window, including those that measured the capacity.
    pub outside: Unmeasured,
    /// The window.
    pub measured: Measured,
}

/// A server's maximum rate, measured by a closed loop before the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// Calls that ended `ok`, per second.
    pub calls_per_s: f64,
    /// Length of the closed loop's window, nanoseconds.
    pub window_ns: u64,
    /// Whether it is the client's limit, not the server's.
    pub client_bound: bool,
}

impl Load {
    pub(crate) fn of(
        run: &Run,
        server: &PlannedServer,
        workload: &Workload,
        trial: &Trial,
    ) -> Option<Self> {
        let measured = trial.measured()?.clone();
        let plan = &run.header.plan;
        let mut outside = trial.unmeasured.clone().unwrap_or_default();
        let by_share = workload.arrivals.needs_capacity();
        let closed = by_share.then(|| workload.capacity_from(&plan.workloads)).flatten();
        let closed = closed.and_then(|closed| {
            run.trials.iter().find(|t| t.workload == closed.name).and_then(Trial::measured)
        });
        if let Some(closed) = closed {
            outside.outcomes.add(&closed.outcomes);
            outside.error_examples.extend(closed.error_examples.iter().cloned());
        }
        let capacity =
            by_share.then(|| run.capacity(&server.entry, &workload.name, None)).flatten();
        let client_bound = run.client_bound_capacity(&server.entry, &workload.name).is_some();
        let capacity = capacity.zip(closed).map(|(calls_per_s, closed)| Capacity {
            calls_per_s,
            window_ns: closed.window_ns,
            client_bound,
        });
        Some(Self {
            header: run.header.clone(),
            started: trial.started,
            address: server.entry.clone(),
            protocol: server.protocol,
            workload: Workload {
                arrivals: trial.arrivals.unwrap_or(workload.arrivals),
                ..workload.clone()
            },
            capacity,
            outside,
            measured,
        })
    }

    /// The figures of the window. `None` if it has no length.
    pub(super) fn figures(&self) -> Option<Figures> {
        Figures::of(&[&self.measured], Some(self.header.plan.limits))
    }
}

impl LoadCurve {
    /// The rates of a run that were measured to their end. `None` if no rate was.
    pub(crate) fn of(run: &Run, server: &PlannedServer, first: &Workload) -> Option<Self> {
        let search = run.trials.iter().find_map(|trial| trial.search.as_deref());
        let points: Vec<LoadPoint> = match search {
            Some(search) => search.steps.iter().map(LoadPoint::searched).collect(),
            None => run.trials.iter().filter_map(|t| LoadPoint::of(&run.header.plan, t)).collect(),
        };
        let by_share = first.arrivals.needs_capacity();
        let capacity = by_share.then(|| run.capacity(&server.entry, &first.name, None)).flatten();
        (!points.is_empty()).then(|| Self {
            header: run.header.clone(),
            address: server.entry.clone(),
            protocol: server.protocol,
            workload: first.clone(),
            capacity,
            client_bound_capacity: capacity.is_some()
                && run.client_bound_capacity(&server.entry, &first.name).is_some(),
            points,
            search: search.cloned(),
        })
    }
}

impl LoadPoint {
    /// The point of a sweep for a trial. `None` if it measured a capacity or was stopped early: windows of different
    /// length can't be compared.
    pub fn of(plan: &Plan, trial: &Trial) -> Option<Self> {
        let (Arrivals::Constant { rate: Rate::PerSecond(rate) }
        | Arrivals::Poisson { rate: Rate::PerSecond(rate) }) = trial.arrivals?
        else {
            return None;
        };
        let workload = plan.workload(&trial.workload)?;
        let server = plan.servers.iter().find(|server| server.entry == trial.entry)?;
        let measured = trial.measured()?;
        (!is_cut_short(measured, workload))
            .then(|| Self::swept(rate, measured.clone(), workload, server.protocol))
    }
}
