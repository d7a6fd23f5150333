//! A load, found in the record of its run.

use jiff::Timestamp;
use rpcbench_record::{
    Arrivals, Header, Measured, PlacementKind, Plan, PlannedServer, Protocol, Rate, Run, Trial,
    Unmeasured, Workload,
};

use super::curve::{LoadCurve, LoadPoint};
use super::verdict::is_cut_short;
use crate::export::ExportError;
use crate::figures::Figures;
use crate::text::Style;

/// One load: a window on one server, and the calls outside of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Of its run: the program, the machine, what the server may use if anything of it can be seen, the seed of the payloads
    /// and of random arrivals, and what must not be true of the window.
    pub header: Header,
    /// When the window began.
    pub started: Timestamp,
    /// Where the server listens, as typed.
    pub address: String,
    /// How calls travelled.
    pub protocol: Protocol,
    /// What was asked for. Where the rate was a share of the capacity, its arrival process has the rate that came of it.
    pub workload: Workload,
    /// The capacity that the arrival process's rate is a share of. `None` where it is none.
    pub capacity: Option<Capacity>,
    /// Calls outside of the window, those that found the capacity included.
    pub outside: Unmeasured,
    /// The window.
    pub measured: Measured,
}

/// What a server can do at most, found by a closed loop before the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// Calls that ended `ok`, a second.
    pub calls_per_s: f64,
    /// Length of the closed loop's window, nanoseconds.
    pub window_ns: u64,
    /// Whether it is the client's limit, and not the server's.
    pub client_bound: bool,
}

/// A run of one entry that somebody else runs, as its readers need it.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadView {
    /// One window.
    One(Box<Load>),
    /// Several rates: a sweep, or a search.
    Several(Box<LoadCurve>),
}

impl LoadView {
    /// Of a run. `None` if it is no load, or one that never came to a whole window.
    #[must_use]
    pub fn of(run: &Run) -> Option<Self> {
        let run = &run.printable();
        let plan = &run.header.plan;
        let [server] = plan.servers.as_slice() else { return None };
        if plan.placement != PlacementKind::Unmanaged {
            return None;
        }
        let mut loads = plan.loads();
        let first = loads.next()?;
        if first.find_max.is_none() && loads.next().is_none() {
            let trial = run.trials.iter().find(|trial| trial.workload == first.name)?;
            let load = Load::of(run, server, first, trial)?;
            return Some(Self::One(Box::new(load)));
        }
        let curve = LoadCurve::of(run, server, first)?;
        Some(Self::Several(Box::new(curve)))
    }

    /// For a terminal, ending in a line feed.
    #[must_use]
    pub fn text(&self, style: Style) -> String {
        match self {
            Self::One(load) => super::load_text(load, style),
            Self::Several(curve) => super::curve_text(curve, style),
        }
    }

    /// As Markdown, ending in a line feed.
    #[must_use]
    pub fn markdown(&self) -> String {
        match self {
            Self::One(load) => super::load_markdown(load),
            Self::Several(curve) => super::curve_markdown(curve),
        }
    }

    /// As JSON.
    ///
    /// # Errors
    /// If a value can't be written; see [`ExportError`].
    pub fn json(&self) -> Result<String, ExportError> {
        match self {
            Self::One(load) => super::load_json(load),
            Self::Several(curve) => super::curve_json(curve),
        }
    }

    /// As CSV: a header, and a row for each rate.
    ///
    /// # Errors
    /// If a row can't be written; see [`ExportError`].
    pub fn csv(&self) -> Result<String, ExportError> {
        match self {
            Self::One(load) => super::load_csv(load),
            Self::Several(curve) => super::curve_csv(curve),
        }
    }
}

impl Load {
    fn of(run: &Run, server: &PlannedServer, workload: &Workload, trial: &Trial) -> Option<Self> {
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

    /// The figures of the window. `None` for one without length.
    pub(super) fn figures(&self) -> Option<Figures> {
        Figures::of(&[&self.measured], Some(self.header.plan.limits))
    }
}

impl LoadCurve {
    /// The rates of a run that have all their windows. `None` without any.
    fn of(run: &Run, server: &PlannedServer, first: &Workload) -> Option<Self> {
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
    /// The point of a sweep that a trial is. `None` for one that measured a capacity, and one that was ended before its
    /// time: windows of different length don't compare.
    #[must_use]
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
