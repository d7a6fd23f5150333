//! What the page shows of a load, of a sweep and of a search.

use rpcbench_record::{Latency, Run, Workload};
use rpcbench_stats::Histogram;
use serde::Serialize;

use super::buckets::Distribution;
use super::cell::CellView;
use super::part::{KindView, OverLoad, PartView, list};
use super::table::{ColumnView, RowView, ShownView, TableView, figure};
use crate::load::page::{self, POINT, Page};
use crate::load::{Load, LoadCurve, LoadPoint, LoadView, found};

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

/// The part of a run that is a load. `None` where it is none, or never came to a whole window.
pub(super) fn part(run: &Run) -> Option<PartView> {
    Some(match LoadView::of(run)? {
        LoadView::One(load) => one(run, &load),
        LoadView::Several(curve) => several(&curve),
    })
}

fn one(run: &Run, load: &Load) -> PartView {
    let Page { title, headline, blocks, times, legend, remarks, errors } = page::of(load);
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
        lists: [list("Warnings", remarks), list("Errors seen", errors)]
            .into_iter()
            .flatten()
            .collect(),
        table: TableView {
            columns: Vec::new(),
            rows: vec![row(load, CellView::of_trials(run, &trials))],
        },
        ..PartView::blank(KindView::Load, &load.workload.name, vec![title])
    }
}

fn row(load: &Load, cell: CellView) -> RowView {
    RowView {
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

fn several(curve: &LoadCurve) -> PartView {
    let complaint = curve.complaint();
    PartView {
        headline: found(curve).or_else(|| page::swept(curve)).into_iter().collect(),
        table: rates(&curve.address, &curve.points),
        over_load: Some(OverLoad { x: POINT[0], table: None }),
        lists: list("Warnings", complaint.into_iter().collect()).into_iter().collect(),
        ..PartView::blank(KindView::Curve, &curve.workload.name, vec![page::curve_title(curve)])
    }
}

/// The rates that were tried for each entry, search by search.
pub(super) fn searches(run: &Run, workload: &Workload) -> OverLoad {
    let searches =
        run.trials.iter().filter(|trial| trial.workload == workload.name).filter_map(|trial| {
            let points: Vec<LoadPoint> =
                trial.search.as_ref()?.steps.iter().map(LoadPoint::searched).collect();
            Some(rates(&trial.entry, &points))
        });
    let rows = searches.flat_map(|table| table.rows).collect();
    OverLoad { x: POINT[0], table: Some(TableView { columns: columns(), rows }) }
}

/// Points as rows, the lowest rate first.
fn rates(entry: &str, points: &[LoadPoint]) -> TableView {
    let mut points: Vec<&LoadPoint> = points.iter().collect();
    points.sort_by_key(|point| point.rate);
    let rows = points.iter().enumerate().map(|(at, point)| RowView {
        entry: entry.to_owned(),
        verdict: point.verdict.to_string(),
        ranked: false,
        knee: point.is_kept() && points.get(at + 1).is_some_and(|next| !next.is_kept()),
        values: page::point_values(point).0.into_iter().map(|(_, value)| value).collect(),
        texts: page::point_texts(point),
        reason: None,
        notes: Vec::new(),
        evidence: Vec::new(),
        cell: None,
    });
    TableView { columns: columns(), rows: rows.collect() }
}

fn columns() -> Vec<ColumnView> {
    POINT.into_iter().map(column).collect()
}

/// Most are figures of the catalog, over all calls of a rate's windows.
fn column(key: &'static str) -> ColumnView {
    let known = figure(key);
    let (title, unit, meaning) = match key {
        "rate_per_s" => ("rate", "1/s", "Calls due a second"),
        "windows" => ("windows", "count", "Windows at that rate"),
        "p50_ns" | "p99_ns" | "p999_ns" => (
            known.map_or(key, |figure| figure.title()),
            "ns",
            "Percentile of response time over all calls, a failed call being one without end",
        ),
        _ => known.map_or((key, "", ""), |f| (f.title(), f.unit.name(), f.meaning)),
    };
    let number = known.is_none_or(|figure| figure.unit.is_number());
    ColumnView { key, title, unit, meaning, number, shown: ShownView::Usually, interval: None }
}
