//! What the page shows of a load.

use rpcbench_record::{Latency, Run};
use rpcbench_stats::Histogram;
use serde::Serialize;

use super::buckets::Distribution;
use super::cell::CellView;
use super::part::{KindView, PartView, list};
use super::rates;
use super::table::{RowView, TableView};
use crate::load::page::{self, Page};
use crate::load::{Load, LoadView};

/// A distribution of its own name.
#[derive(Serialize)]
pub(super) struct Named {
    name: &'static str,
    meaning: &'static str,
    distribution: Distribution,
}

/// A small table of words: a header and rows.
#[derive(Serialize)]
pub(super) struct GridView {
    title: &'static str,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    note: Option<String>,
}

/// The address, or the suite where a load never came to a window.
pub(super) fn name(run: &Run) -> String {
    let server = run.header.plan.servers.first();
    server.map_or_else(|| run.header.plan.suite.clone(), |server| server.entry.clone())
}

/// The part of a run that is a load.
pub(super) fn part(run: &Run, load: &LoadView) -> PartView {
    match load {
        LoadView::One(load) => one(run, load),
        LoadView::Several(curve) => rates::part(curve),
    }
}

/// What speaks against it.
pub(super) fn warnings(load: &LoadView) -> Vec<String> {
    match load {
        LoadView::One(load) => page::of(load).remarks,
        LoadView::Several(curve) => curve.complaint().into_iter().collect(),
    }
}

fn one(run: &Run, load: &Load) -> PartView {
    let Page { title, headline, blocks, times, legend, errors, .. } = page::of(load);
    let named = [
        ("response", "from due to done, of ok calls", &load.measured.latency),
        ("service", "from sent to done, of ok calls", &load.measured.service),
        ("send lag", "from due to sent, of ok calls", &load.measured.send_lag),
    ];
    let distribution =
        |latency: &Latency| Distribution::of(&Histogram::from_base64(&latency.histogram).ok()?);
    let named = named.into_iter().filter_map(|(name, meaning, latency)| {
        Some(Named { name, meaning, distribution: distribution(latency.as_ref()?)? })
    });
    let mut grids: Vec<GridView> =
        blocks.into_iter().map(|(title, lines)| block(title, lines)).collect();
    if let Some((header, rows)) = times.split_first() {
        let (header, rows) = (header.clone(), rows.to_vec());
        grids.insert(1, GridView { title: "Times", header, rows, note: Some(legend) });
    }
    let trial = run.trials.iter().find(|trial| trial.measured() == Some(&load.measured));
    let trials: Vec<_> = trial.into_iter().collect();
    PartView {
        headline: vec![headline],
        distributions: named.collect(),
        grids,
        lists: list("Errors seen", errors).into_iter().collect(),
        table: TableView {
            columns: Vec::new(),
            rows: vec![row(load, CellView::of_trials(run, &trials))],
        },
        ..PartView::blank(KindView::Load, &load.workload.name, vec![title])
    }
}

fn row(load: &Load, cell: CellView) -> RowView {
    RowView {
        name: load.address.clone(),
        entry: load.address.clone(),
        verdict: load.verdict().name().to_owned(),
        ranked: false,
        knee: false,
        values: Vec::new(),
        texts: Vec::new(),
        reason: load.verdict().reason(),
        notes: Vec::new(),
        evidence: Vec::new(),
        cell: Some(cell),
    }
}

fn block(title: &'static str, lines: Vec<(String, String)>) -> GridView {
    let rows = lines.into_iter().map(|(name, value)| vec![name, value]).collect();
    GridView { title, header: Vec::new(), rows, note: None }
}
