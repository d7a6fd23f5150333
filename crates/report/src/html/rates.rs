//! What the page shows of a sweep and of a search: a row for each rate.

use rpcbench_record::{Measured, Run, Trial, Workload};
use rpcbench_stats::Histogram;

use super::buckets::Distribution;
use super::cell::CellView;
use super::part::{KindView, OverLoad, PartView};
use super::table::{ColumnView, RowView, ShownView, TableView, figure};
use crate::format;
use crate::load::page::{self, POINT};
use crate::load::{LoadCurve, LoadPoint, found};

/// The column of the rate.
const RATE: &str = POINT[0];

/// The part of a load at several rates.
pub(super) fn part(curve: &LoadCurve) -> PartView {
    let rows = rows(&curve.address, &curve.points);
    PartView {
        headline: found(curve).or_else(|| page::swept(curve)).into_iter().collect(),
        table: TableView { columns: columns(), rows },
        over_load: Some(OverLoad { x: RATE, table: None }),
        ..PartView::blank(KindView::Curve, &curve.workload.name, vec![page::curve_title(curve)])
    }
}

/// The rates that were tried for each entry, search by search.
pub(super) fn searches(run: &Run, workload: &Workload) -> OverLoad {
    let trials = run.trials.iter().filter(|trial| trial.workload == workload.name);
    let rows = trials.flat_map(searched).collect();
    OverLoad { x: RATE, table: Some(TableView { columns: columns(), rows }) }
}

fn searched(trial: &Trial) -> Vec<RowView> {
    let steps = trial.search.iter().flat_map(|search| &search.steps);
    let points: Vec<LoadPoint> = steps.map(LoadPoint::searched).collect();
    match trial.process {
        0 | 1 => rows(&trial.entry, &points),
        process => rows(&format!("{} (process {process})", trial.entry), &points),
    }
}

/// Points as rows, the lowest rate first.
fn rows(entry: &str, points: &[LoadPoint]) -> Vec<RowView> {
    let mut points: Vec<&LoadPoint> = points.iter().collect();
    points.sort_by_key(|point| point.rate);
    let last_kept =
        |at: usize| points[at].is_kept() && points.get(at + 1).is_some_and(|next| !next.is_kept());
    let row = |(at, point): (usize, &&LoadPoint)| RowView {
        name: format!("{} calls/s", format::si(point.rate.get())),
        entry: entry.to_owned(),
        verdict: point.verdict.to_string(),
        ranked: point.is_kept(),
        knee: last_kept(at),
        values: page::point_values(point).0.into_iter().map(|(_, value)| value).collect(),
        texts: page::point_texts(point),
        reason: None,
        notes: Vec::new(),
        evidence: Vec::new(),
        cell: response(&point.windows).map(CellView::of_response),
    };
    points.iter().enumerate().map(row).collect()
}

/// Response times of ok calls over all windows of a rate.
fn response(windows: &[Measured]) -> Option<Distribution> {
    let mut all = Histogram::new();
    for latency in windows.iter().filter_map(|window| window.latency.as_ref()) {
        all.merge(&Histogram::from_base64(&latency.histogram).ok()?);
    }
    Distribution::of(&all)
}

fn columns() -> Vec<ColumnView> {
    POINT.into_iter().map(column).collect()
}

/// Most are figures of the catalog, over all calls of a rate's windows.
fn column(key: &'static str) -> ColumnView {
    let known = figure(key);
    let known = known.map_or((key, "", ""), |f| (f.title(), f.unit.name(), f.meaning));
    let (title, unit, meaning) = match key {
        "rate_per_s" => ("rate", "1/s", "Calls due a second"),
        "windows" => (key, "count", "Windows at that rate"),
        "client_busiest_share" => ("client CPU", known.1, known.2),
        "p50_ns" | "p99_ns" | "p999_ns" => (
            known.0,
            known.1,
            "Percentile of response time over all calls, a failed call being one without end",
        ),
        _ => known,
    };
    let number = unit != "text";
    ColumnView { key, title, unit, meaning, number, shown: ShownView::Usually, interval: None }
}
