//! The parts of the page that show a sweep or a search: a row per rate.

use rpcbench_record::{Measured, Run, Trial, Workload};

use super::buckets::Distribution;
use super::cell::CellView;
use super::part::{KindView, OverLoad, PartView};
use super::table::{ColumnView, RowView, ShownView, TableView};
use crate::document::Part;
use crate::figures::merged;
use crate::format;
use crate::load::points::{POINT, PointFigure, PointFigures};
use crate::load::{LoadCurve, LoadPoint};

/// The part of a load at several rates.
pub(super) fn part(curve: &LoadCurve, part: Part) -> PartView {
    PartView {
        headline: curve.headline().into_iter().collect(),
        table: table(rows(&curve.address, &curve.points)),
        over_load: Some(OverLoad { x: POINT[0].key, table: None }),
        // The page draws these blocks itself.
        blocks: Vec::new(),
        ..PartView::of(KindView::Curve, &curve.workload.name, part)
    }
}

/// The rates tried for each entry, search by search.
pub(super) fn searches(run: &Run, workload: &Workload) -> OverLoad {
    let trials = run.trials.iter().filter(|trial| trial.workload == workload.name);
    OverLoad { x: POINT[0].key, table: Some(table(trials.flat_map(searched).collect())) }
}

fn searched(trial: &Trial) -> Vec<RowView> {
    let steps = trial.search.iter().flat_map(|search| &search.steps);
    let points: Vec<LoadPoint> = steps.map(LoadPoint::searched).collect();
    match trial.process {
        0 | 1 => rows(&trial.entry, &points),
        process => rows(&format!("{} (process {process})", trial.entry), &points),
    }
}

/// Points as rows, lowest rate first.
fn rows(entry: &str, points: &[LoadPoint]) -> Vec<RowView> {
    let mut points: Vec<&LoadPoint> = points.iter().collect();
    points.sort_by_key(|point| point.rate);
    let last_kept =
        |at: usize| points[at].is_kept() && points.get(at + 1).is_some_and(|next| !next.is_kept());
    let row = |(at, point): (usize, &&LoadPoint)| {
        let figures = PointFigures::of(point);
        RowView {
            ranked: point.is_kept(),
            knee: last_kept(at),
            values: POINT.iter().map(|figure| figure.value(&figures)).collect(),
            texts: POINT.iter().map(|figure| Some(figure.text(&figures))).collect(),
            cell: response(&point.windows)
                .map(|response| CellView { response: Some(response), ..CellView::default() }),
            name: format!("{} calls/s", format::si(point.rate.get())),
            entry: entry.to_owned(),
            verdict: point.verdict.to_string(),
            ..RowView::default()
        }
    };
    points.iter().enumerate().map(row).collect()
}

/// Response times of ok calls over all windows of a rate.
fn response(windows: &[Measured]) -> Option<Distribution> {
    Distribution::of(&merged(windows.iter().filter_map(|window| window.latency.as_ref()))?)
}

fn table(rows: Vec<RowView>) -> TableView {
    let column = |figure: &PointFigure| ColumnView {
        key: figure.key,
        title: figure.title.to_owned(),
        unit: figure.unit.name(),
        meaning: figure.meaning.to_owned(),
        number: figure.unit.is_number(),
        shown: ShownView::Usually,
        interval: None,
    };
    TableView { columns: POINT.iter().map(column).collect(), rows }
}
