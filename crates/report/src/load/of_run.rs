//! Extracts loads from the record of their run.

use jiff::Timestamp;
use rpcbench_record::{
    Header, Latency, Measured, Plan, PlannedServer, Protocol, Rate, Run, Tls, Trial, Unmeasured,
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
    /// The server's address, as typed.
    pub address: String,
    /// The protocol.
    pub protocol: Protocol,
    /// The workload. A rate given as a share of the capacity is converted to calls per second.
    pub workload: Workload,
    /// The capacity of which the rate is a share. `None` if it is not a share.
    pub capacity: Option<Capacity>,
    /// What the connections negotiated for TLS. `None` without TLS.
    pub tls: Option<Tls>,
    /// Calls outside the window, including those that measured the capacity.
    pub outside: Unmeasured,
    /// The window.
    pub measured: Measured,
    /// Notes for readers about where server and client ran.
    pub placement_notes: Vec<String>,
}

/// A server's maximum rate, measured by a closed loop before the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// Calls that ended `ok`, per second.
    pub calls_per_s: f64,
    /// Length of the closed loop's window, nanoseconds.
    pub window_ns: u64,
    /// True if the capacity is the client's limit, not the server's.
    pub client_bound: bool,
}

impl Capacity {
    /// The capacity. `None` if the rate is not a share of it.
    fn of(run: &Run, server: &PlannedServer, workload: &Workload) -> Option<Self> {
        let window_ns = closed_loop(run, workload)?.window_ns;
        let calls_per_s = run.capacity(&server.entry, &workload.name, None)?;
        let client_bound = run.client_bound_capacity(&server.entry, &workload.name).is_some();
        Some(Self { calls_per_s, window_ns, client_bound })
    }
}

/// The window that measured the capacity of which the rate is a share.
fn closed_loop<'a>(run: &'a Run, workload: &Workload) -> Option<&'a Measured> {
    let closed = workload.capacity_from(&run.header.plan.workloads);
    let closed = closed.filter(|_| workload.arrivals.needs_capacity())?;
    run.trials.iter().find(|trial| trial.workload == closed.name).and_then(Trial::measured)
}

impl Load {
    pub(crate) fn of(
        run: &Run,
        server: &PlannedServer,
        workload: &Workload,
        trial: &Trial,
    ) -> Option<Self> {
        let measured = trial.measured()?.clone();
        let mut outside = trial.unmeasured.clone().unwrap_or_default();
        let closed = closed_loop(run, workload);
        if let Some(closed) = closed {
            outside.outcomes.add(&closed.outcomes);
            outside.error_examples.extend(closed.error_examples.iter().cloned());
        }
        let prepared = run.preparations.iter().rfind(|it| it.entry == server.entry);
        let placement_notes = prepared.map(|it| it.isolation.notes.clone()).unwrap_or_default();
        Some(Self {
            header: run.header.clone(),
            started: trial.started,
            address: address(server).to_owned(),
            protocol: server.protocol,
            workload: Workload {
                arrivals: trial.arrivals.unwrap_or(workload.arrivals),
                ..workload.clone()
            },
            capacity: Capacity::of(run, server, workload),
            tls: run
                .preparations
                .iter()
                .find(|it| it.workload == workload.name)
                .and_then(|it| it.tls.clone()),
            outside,
            measured,
            placement_notes,
        })
    }

    /// Address and target. Loads with the same name call the same.
    pub(crate) fn name(&self) -> String {
        named(&self.address, &self.workload)
    }

    /// The distributions of ok calls: name, meaning, and times.
    pub(crate) fn times(&self) -> [(&'static str, &'static str, Option<&Latency>); 3] {
        let Measured { latency, service, send_lag, .. } = &self.measured;
        [
            ("response", "from due to done, of ok calls", latency.as_ref()),
            ("service", "from sent to done, of ok calls", service.as_ref()),
            ("send lag", "from due to sent, of ok calls", send_lag.as_ref()),
        ]
    }

    /// The figures of the window. `None` if it has no length.
    pub(crate) fn figures(&self) -> Option<Figures> {
        Figures::of(&[&self.measured], Some(self.header.plan.limits))
    }
}

impl LoadCurve {
    /// The rates of a run that were measured to their end. `None` without such rates.
    pub(crate) fn of(run: &Run, server: &PlannedServer, first: &Workload) -> Option<Self> {
        let search = run.trials.iter().find_map(|trial| trial.search.as_deref());
        let points: Vec<LoadPoint> = match search {
            Some(search) => search.steps.iter().map(LoadPoint::searched).collect(),
            None => run.trials.iter().filter_map(|t| LoadPoint::of(&run.header.plan, t)).collect(),
        };
        (!points.is_empty()).then(|| Self {
            header: run.header.clone(),
            address: address(server).to_owned(),
            protocol: server.protocol,
            workload: first.clone(),
            capacity: Capacity::of(run, server, first),
            points,
            search: search.cloned(),
        })
    }
}

impl LoadPoint {
    /// The point of a sweep that a trial measured. `None` if it measured a capacity, or was stopped early: windows of different
    /// lengths can't be compared.
    pub fn of(plan: &Plan, trial: &Trial) -> Option<Self> {
        let Rate::PerSecond(rate) = trial.arrivals?.rate()? else { return None };
        let workload = plan.workload(&trial.workload)?;
        let server = plan.servers.iter().find(|server| server.entry == trial.entry)?;
        let measured = trial.measured()?;
        (!is_cut_short(measured, workload))
            .then(|| Self::swept(rate, measured.clone(), workload, server.protocol))
    }
}

/// An address, with the call's target unless it is a shape of the contract.
pub(super) fn named(address: &str, workload: &Workload) -> String {
    match workload.content.call() {
        Some(call) => format!("{address} {}", call.target),
        None => address.to_owned(),
    }
}

/// The address of a server that the user runs: its entry without the call's target.
fn address(server: &PlannedServer) -> &str {
    let target = server.variant.as_ref();
    let bare = target.and_then(|it| server.entry.strip_suffix(it.as_str())?.strip_suffix('@'));
    bare.unwrap_or(&server.entry)
}
