//! Loads of servers that the user runs, from run to run.

use indexmap::IndexMap;
use rpcbench_record::Run;

use super::view::PointView;
use crate::columns::Column;
use crate::document::{Block, Content, Table};
use crate::format::{self, NOTHING};
use crate::load::{Load, LoadCurve};
use crate::view::View;
use crate::words;

/// Loads of one target, the earliest first.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadHistory {
    /// Address and target, such as `127.0.0.1:50051 shop.v1.Orders/Get`.
    pub name: String,
    /// Those of one window.
    pub loads: Vec<Load>,
    /// Sweeps and searches.
    pub curves: Vec<LoadCurve>,
}

impl LoadHistory {
    /// The number of records.
    pub(super) fn count(&self) -> u64 {
        (self.loads.len() + self.curves.len()) as u64
    }
}

/// The loads among `runs`, by target, the latest first. `servers` has names of targets or addresses; all if empty.
pub(super) fn loads(runs: &[Run], servers: &[String]) -> Vec<LoadHistory> {
    let mut found: IndexMap<String, LoadHistory> = IndexMap::new();
    for run in runs.iter().rev() {
        let view = View::of(run);
        let (name, address, workload) = match &view {
            View::Load(load) => (load.name(), &load.address, &load.workload),
            View::Curve(curve) => (curve.name(), &curve.address, &curve.workload),
            View::Run(_) => continue,
        };
        let target = workload.content.call().map(|call| &call.target);
        let names = [Some(&name), Some(address), target];
        if !servers.is_empty() && !names.into_iter().flatten().any(|it| servers.contains(it)) {
            continue;
        }
        let new = LoadHistory { name: name.clone(), loads: Vec::new(), curves: Vec::new() };
        let history = found.entry(name).or_insert(new);
        match view {
            View::Load(load) => history.loads.insert(0, *load),
            View::Curve(curve) => history.curves.insert(0, *curve),
            View::Run(_) => {}
        }
    }
    found.into_values().collect()
}

/// Tables of the loads of one target.
pub(super) fn block(history: &LoadHistory) -> Block {
    let tables = [windows(&history.loads), curves(&history.curves)];
    let content = tables.into_iter().filter(|table| table.rows() > 0).map(Content::Table);
    Block::titled(history.name.clone(), content.collect())
}

fn windows(loads: &[Load]) -> Table {
    let of = |text: &dyn Fn(&Load) -> String| loads.iter().map(text).collect();
    let time = |load: &Load, ns: fn(&rpcbench_record::Latency) -> u64| {
        let latency = load.measured.latency.as_ref();
        latency.map_or(NOTHING.to_owned(), |it| format::duration_ns(ns(it) as f64))
    };
    let errors = |load: &Load| {
        let outcomes = &load.measured.outcomes;
        format::percent(outcomes.errors() as f64 / outcomes.total().max(1) as f64)
    };
    let columns = vec![
        Column::new("run", false, of(&|load| words::began(&load.header))),
        Column::new(
            "ok calls/s",
            true,
            of(&|load| rate(load).map_or(NOTHING.to_owned(), format::si)),
        ),
        Column::new("p50", true, of(&|load| time(load, |it| it.p50_ns))),
        Column::new("p99", true, of(&|load| time(load, |it| it.p99_ns))),
        Column::new("errors", true, of(&errors)),
        Column::new("verdict", false, of(&|load| load.verdict().to_string())),
        Column::new("load", false, of(&|load| words::load(&load.workload, load.protocol))),
    ];
    Table { columns, tones: Vec::new() }
}

fn curves(curves: &[LoadCurve]) -> Table {
    let of = |text: &dyn Fn(&LoadCurve) -> String| curves.iter().map(text).collect();
    let columns = vec![
        Column::new("run", false, of(&|curve| words::began(&curve.header))),
        Column::new(
            "sweep or search",
            false,
            of(&|curve| curve.headline().unwrap_or_else(|| NOTHING.to_owned())),
        ),
        Column::new("load", false, of(&|curve| words::load(&curve.workload, curve.protocol))),
    ];
    Table { columns, tones: Vec::new() }
}

fn rate(load: &Load) -> Option<f64> {
    load.figures().map(|figures| figures.calls_per_s.value)
}

/// A row for an export. Loads have one window, so there is no interval, and no finding about a change.
pub(super) fn view<'a>(history: &'a LoadHistory, load: &'a Load) -> PointView<'a> {
    let mut view = PointView::of(&history.name, &load.header, "calls_per_s");
    view.workload = &load.workload.name;
    view.verdict = load.verdict().to_string();
    view.value = rate(load);
    view
}
