//! Loads of servers that the user runs, from run to run.

use itertools::Itertools as _;
use rpcbench_record::Run;

use super::view::PointView;
use crate::columns::Column;
use crate::document::{Block, Content, Table};
use crate::format::{self, NOTHING};
use crate::load::Load;
use crate::view::View;
use crate::words;

/// Loads of one target, the earliest first.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadHistory {
    /// Address and target, such as `127.0.0.1:50051 shop.v1.Orders/Get`.
    pub name: String,
    /// Each of one window.
    pub loads: Vec<Load>,
}

/// The loads among `runs`, by target, the latest first. `servers` has names of targets or addresses; all if empty.
pub(super) fn loads(runs: &[Run], servers: &[String]) -> Vec<LoadHistory> {
    let all = runs.iter().filter_map(|run| match View::of(run) {
        View::Load(load) => Some(*load),
        View::Run(_) | View::Curve(_) => None,
    });
    let is_meant = |load: &Load| {
        let names = [Some(load.name()), Some(load.address.clone()), target(load)];
        servers.is_empty() || names.iter().flatten().any(|name| servers.contains(name))
    };
    let all: Vec<Load> = all.filter(is_meant).collect();
    let names = all.iter().rev().map(Load::name).unique();
    let of = |name: String| {
        let loads = all.iter().filter(|load| load.name() == name).cloned().collect();
        LoadHistory { name, loads }
    };
    names.map(of).collect()
}

fn target(load: &Load) -> Option<String> {
    load.workload.content.call().map(|call| call.target.clone())
}

/// A table of the loads of one target.
pub(super) fn block(history: &LoadHistory) -> Block {
    let of = |text: &dyn Fn(&Load) -> String| history.loads.iter().map(text).collect();
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
    Block::titled(history.name.clone(), vec![Content::Table(Table { columns, tones: Vec::new() })])
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
