//! The document and the exports of a history.

use rpcbench_record::{Header, RunId, schema};
use schemars::JsonSchema;
use serde::Serialize;

use super::plot::plot;
use super::{CellHistory, History, LoadHistory, Point, Since, loads};
use crate::changes::{Change, ComparedFigure, change_of, is_compared_by_others};
use crate::columns::Column;
use crate::document::{Block, Content, Document, Part, Table, Tone};
use crate::export::{Export, ExportError, rows_csv, to_json};
use crate::format::{self, NOTHING};
use crate::words::began;

/// Version of the exported fields. It changes if a field is renamed, removed or gets another unit.
const HISTORY_SCHEMA: u32 = 1;

impl<'a> Document<'a> {
    /// The document of a history.
    pub fn of_history(history: &'a History) -> Self {
        let cells = history.cells.iter().map(|cell| {
            let tones = cell.points.iter().map(tone).collect();
            let table = Table { columns: columns(history, cell), tones };
            Block::titled(
                format!("{} under {}", cell.entry, cell.workload),
                vec![Content::Table(table)],
            )
        });
        let legend = Block {
            title: None,
            content: vec![
                Content::Prose(vec![legend(history)]),
                Content::Hint("*: the figure; -: its 95 % interval."),
            ],
        };
        let legend = (!history.cells.is_empty()).then_some(legend);
        let loads = history.loads.iter().map(loads::block);
        let (setting, blocks) =
            (vec![headline(history)], cells.chain(legend).chain(loads).collect());
        let part = Part { setting, blocks, ..Part::default() };
        Self { parts: vec![part], ..Self::new("history".to_owned(), history) }
    }
}

/// `3 runs, 2026-03-01 12:00 UTC to 2026-03-09 12:00 UTC`.
fn headline(history: &History) -> String {
    let loads = history.loads.iter().map(LoadHistory::count).sum();
    match history.runs.as_slice() {
        [] if loads > 0 => {
            let targets = format::plural(history.loads.len() as u64, "target");
            format!("{} of {targets}", format::plural(loads, "load"))
        }
        [] => "No runs.".to_owned(),
        [run] => format!("1 run, {}", began(run)),
        [first, .., last] => {
            format!("{} runs, {} to {}", history.runs.len(), began(first), began(last))
        }
    }
}

fn legend(history: &History) -> String {
    let within = format::percent(history.precision);
    let changes = || history.cells.iter().flat_map(|cell| &cell.points).filter_map(changed);
    let compared = match changes().any(is_compared_by_others) {
        true if changes().any(|change| change.corrected) => {
            "The figure is as the run's own report shows it. compared: it and the one before, corrected to one state of \
             the machine; change and finding are of these. "
        }
        true => {
            "The figure is as the run's own report shows it. compared: it and the one before, as means over processes; \
             change and finding are of these. "
        }
        false => "",
    };
    format!(
        "{compared}change: since the last run before with a figure, as in `rpcbench compare`; same: within {within}."
    )
}

fn columns(history: &History, cell: &CellHistory) -> Vec<Column> {
    let points = &cell.points;
    let of = |text: &dyn Fn(&Point) -> String| points.iter().map(text).collect::<Vec<_>>();
    let value = |point: &Point| point.estimate.map_or_else(|| NOTHING.to_owned(), |it| it.rate());
    let drawn = plot(&points.iter().map(|point| point.estimate).collect::<Vec<_>>());
    let mut columns = vec![
        Column::new("run", false, of(&|point| began(&history.runs[point.run]))),
        Column::new(ComparedFigure::ranking(cell.by).title(), true, of(&value)),
        Column::drawn(drawn),
        Column::new("compared", true, of(&compared)),
        Column::new("change", true, of(&change)),
        Column::new("finding", false, of(&finding)),
    ];
    if !points.iter().any(|point| changed(point).is_some_and(is_compared_by_others)) {
        columns.retain(|column| column.title != "compared");
    }
    if points.windows(2).any(|pair| pair[0].versions != pair[1].versions) {
        columns.push(Column::new("versions", false, of(&|point| point.versions.clone())));
    }
    columns
}

fn changed(point: &Point) -> Option<&Change> {
    match &point.since {
        Since::Changed(change) => Some(change),
        Since::Nothing | Since::Incomparable(_) => None,
    }
}

fn change(point: &Point) -> String {
    changed(point).map_or_else(|| NOTHING.to_owned(), |change| change_of(change.ratio))
}

/// `22.7k to 21.8k`: the values from which the change is computed.
fn compared(point: &Point) -> String {
    let text = |change: &Change| {
        let [old, new] = change.compared.map(|value| change.figure.show(value));
        format!("{old} to {new}")
    };
    changed(point).map_or_else(|| NOTHING.to_owned(), text)
}

/// The finding about a change, or the reason why there is no figure.
fn finding(point: &Point) -> String {
    match &point.since {
        Since::Changed(change) => change.figure.word(change.finding).to_owned(),
        Since::Incomparable(reason) => format!("not comparable: {reason}"),
        Since::Nothing if point.estimate.is_some() => NOTHING.to_owned(),
        Since::Nothing => point.verdict.to_string(),
    }
}

fn tone(point: &Point) -> Tone {
    changed(point).map_or(Tone::Neither, Change::tone)
}

/// A history as JSON.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "History")]
struct HistoryView<'a> {
    schema: u32,
    /// Difference up to which two values count as equal, a share.
    precision_share: f64,
    /// One point per cell and run.
    points: Vec<PointView<'a>>,
}

/// A cell in one run.
#[derive(Serialize, JsonSchema)]
pub(super) struct PointView<'a> {
    /// Name of the entry. For a load: address and target.
    pub entry: &'a str,
    pub workload: &'a str,
    run: RunId,
    started: String,
    tool_version: &'a str,
    tool_commit: Option<&'a str>,
    versions: &'a str,
    pub verdict: String,
    /// Name of the figure in exports, which ends in its unit.
    figure: &'static str,
    pub value: Option<f64>,
    /// Lower end of the 95 % interval of `value`; `value_high` is the upper end. `null` if unknown.
    value_low: Option<f64>,
    value_high: Option<f64>,
    /// Value in the last earlier run with a figure, from which the change to `value_compared` is computed as in a comparison of
    /// the two runs. `null` if there is no such run, or if it is not comparable.
    earlier_compared: Option<f64>,
    value_compared: Option<f64>,
    /// True if the common change of the two runs is removed from both compared values. `null` without a change.
    corrected: Option<bool>,
    /// `value_compared` divided by `earlier_compared`. `null` without a change.
    ratio: Option<f64>,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
    /// Finding about the change, or why there is no figure. `null` if there is a figure but no earlier one.
    finding: Option<String>,
}

impl Export for History {
    fn json(&self) -> Result<String, ExportError> {
        to_json(&HistoryView {
            schema: HISTORY_SCHEMA,
            precision_share: self.precision,
            points: points(self).collect(),
        })
    }

    fn csv(&self) -> Result<String, ExportError> {
        rows_csv(points(self))
    }
}

/// The JSON Schema (draft 2020-12) of a history's JSON, as in `docs/schemas`.
pub fn history_schema() -> serde_json::Value {
    schema::of::<HistoryView>()
}

fn points(history: &History) -> impl Iterator<Item = PointView<'_>> {
    let of_cell = move |cell| move |point| view(history, cell, point);
    let cells = history.cells.iter().flat_map(move |cell| cell.points.iter().map(of_cell(cell)));
    let of_target = |target| move |load| loads::view(target, load);
    cells.chain(history.loads.iter().flat_map(move |it| it.loads.iter().map(of_target(it))))
}

impl<'a> PointView<'a> {
    /// A point of a run, without a figure.
    pub fn of(entry: &'a str, run: &'a Header, figure: &'static str) -> Self {
        Self {
            entry,
            workload: "",
            run: run.id,
            started: run.started.to_string(),
            tool_version: &run.tool.version,
            tool_commit: run.tool.commit.as_deref(),
            versions: "",
            verdict: String::new(),
            figure,
            value: None,
            value_low: None,
            value_high: None,
            earlier_compared: None,
            value_compared: None,
            corrected: None,
            ratio: None,
            ratio_low: None,
            ratio_high: None,
            finding: None,
        }
    }
}

fn view<'a>(history: &'a History, cell: &'a CellHistory, point: &'a Point) -> PointView<'a> {
    let run = &history.runs[point.run];
    let range = point.estimate.and_then(|estimate| estimate.own);
    let change = changed(point);
    let ratio = change.and_then(|change| change.range);
    PointView {
        workload: &cell.workload,
        versions: &point.versions,
        verdict: point.verdict.to_string(),
        value: point.estimate.map(|estimate| estimate.value),
        value_low: range.map(|range| range.low),
        value_high: range.map(|range| range.high),
        earlier_compared: change.map(|change| change.compared[0]),
        value_compared: change.map(|change| change.compared[1]),
        corrected: change.map(|change| change.corrected),
        ratio: change.map(|change| change.ratio),
        ratio_low: ratio.map(|range| range.low),
        ratio_high: ratio.map(|range| range.high),
        finding: Some(finding(point)).filter(|finding| finding != NOTHING),
        ..PointView::of(&cell.entry, run, ComparedFigure::ranking(cell.by).key())
    }
}
