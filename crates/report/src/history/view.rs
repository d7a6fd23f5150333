//! A history for terminals, Markdown and programs.

use rpcbench_record::{RunId, schema};
use schemars::JsonSchema;
use serde::Serialize;

use super::plot::plot;
use super::{CellHistory, History, Point, Since};
use crate::changes::{ComparedFigure, change_of};
use crate::columns::Column;
use crate::export::{ExportError, rows_csv, to_json};
use crate::format::{self, NOTHING};
use crate::markdown;
use crate::text::{self, BAD, BOLD, GOOD, PLAIN, Style, lines, prose};
use crate::words::began;

/// Version of the exported fields. A field renamed, removed or given another unit makes a new one.
const HISTORY_SCHEMA: u32 = 1;

/// For a terminal, ending in a line feed.
#[must_use]
pub fn history_text(history: &History, style: Style) -> String {
    let mut out = String::new();
    prose(&mut out, &headline(history), BOLD, style);
    out.push('\n');
    for cell in &history.cells {
        prose(&mut out, &title(cell), BOLD, style);
        let mut columns = columns(history, cell);
        columns.insert(DRAWN, Column::new("", false, drawn(cell)));
        lines(&mut out, &columns, cell.points.iter().map(ink), style);
        out.push('\n');
    }
    if !history.cells.is_empty() {
        prose(&mut out, &meaning(history), PLAIN, style);
        prose(&mut out, "*: the figure; -: its 95 % interval.", PLAIN, style);
    }
    text::close(&mut out);
    out
}

/// As Markdown (GitHub's tables), ending in a line feed.
#[must_use]
pub fn history_markdown(history: &History) -> String {
    let mut blocks = vec!["# rpcbench: history".to_owned(), headline(history)];
    for cell in &history.cells {
        blocks.push(format!("## {}", title(cell)));
        blocks.push(markdown::table(&columns(history, cell)));
    }
    if !history.cells.is_empty() {
        blocks.push(meaning(history));
    }
    let mut text = blocks.join("\n\n");
    text.push('\n');
    text
}

/// `3 runs, 2026-03-01 12:00 UTC to 2026-03-09 12:00 UTC`.
fn headline(history: &History) -> String {
    match history.runs.as_slice() {
        [] => "No runs.".to_owned(),
        [run] => format!("1 run, {}", began(run)),
        [first, .., last] => {
            format!("{} runs, {} to {}", history.runs.len(), began(first), began(last))
        }
    }
}

fn title(cell: &CellHistory) -> String {
    format!("{} under {}", cell.entry, cell.workload)
}

fn meaning(history: &History) -> String {
    let within = format::percent(history.precision);
    format!(
        "change: since the last run before with a figure, as `rpcbench compare` tells it; same: within {within}."
    )
}

/// Where a terminal has the drawn figures: behind the figure.
const DRAWN: usize = 2;

fn drawn(cell: &CellHistory) -> Vec<String> {
    plot(&cell.points.iter().map(|point| point.estimate).collect::<Vec<_>>())
}

fn columns(history: &History, cell: &CellHistory) -> Vec<Column> {
    let points = &cell.points;
    let of = |text: &dyn Fn(&Point) -> String| points.iter().map(text).collect::<Vec<_>>();
    let value = |point: &Point| point.estimate.map_or_else(|| NOTHING.to_owned(), |it| it.rate());
    let title = ComparedFigure::ranking(cell.by).title();
    let mut columns = vec![
        Column::new("run", false, of(&|point| began(&history.runs[point.run]))),
        Column::new(title, true, of(&value)),
        Column::new("change", true, of(&change)),
        Column::new("finding", false, of(&|point| finding(point))),
    ];
    if points.windows(2).any(|pair| pair[0].versions != pair[1].versions) {
        columns.push(Column::new("versions", false, of(&|point| point.versions.clone())));
    }
    columns
}

fn change(point: &Point) -> String {
    match &point.since {
        Since::Changed(change) => change_of(change.ratio),
        Since::Nothing | Since::Incomparable(_) => NOTHING.to_owned(),
    }
}

/// What is known of a change; where there is no figure, why.
fn finding(point: &Point) -> String {
    match &point.since {
        Since::Changed(change) => change.figure.word(change.finding).to_owned(),
        Since::Incomparable(reason) => format!("not comparable: {reason}"),
        Since::Nothing if point.estimate.is_some() => NOTHING.to_owned(),
        Since::Nothing => point.verdict.to_string(),
    }
}

/// What became slower stands out, and what became faster.
fn ink(point: &Point) -> anstyle::Style {
    match finding(point).as_str() {
        "slower" => BAD,
        "faster" => GOOD,
        _ => PLAIN,
    }
}

/// A history in JSON.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "History")]
struct HistoryView<'a> {
    schema: u32,
    /// Difference up to which two values count as the same.
    precision_share: f64,
    /// A row for each run of each cell.
    points: Vec<PointView<'a>>,
}

/// A cell in one run.
#[derive(Serialize, JsonSchema)]
struct PointView<'a> {
    entry: &'a str,
    workload: &'a str,
    run: RunId,
    started: String,
    tool_version: &'a str,
    tool_commit: Option<&'a str>,
    versions: &'a str,
    verdict: String,
    /// Its name in exports, which ends in its unit.
    figure: &'static str,
    value: Option<f64>,
    /// The ends of its 95 % interval.
    value_low: Option<f64>,
    value_high: Option<f64>,
    /// The value over that of the last run before that has one, both adjusted alike.
    ratio: Option<f64>,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
    /// What is known of the change, or why nothing is.
    finding: Option<String>,
}

/// As JSON, indented, ending in a line feed.
///
/// # Errors
/// If a value can't be written; see [`ExportError`].
pub fn history_json(history: &History) -> Result<String, ExportError> {
    to_json(&HistoryView {
        schema: HISTORY_SCHEMA,
        precision_share: history.precision,
        points: points(history).collect(),
    })
}

/// A row for each run of each cell, under a header.
///
/// # Errors
/// If a row can't be written; see [`ExportError`].
pub fn history_csv(history: &History) -> Result<String, ExportError> {
    rows_csv(points(history))
}

/// The JSON Schema (draft 2020-12) of what [`history_json`] writes. `docs/schemas` has it.
#[must_use]
pub fn history_schema() -> serde_json::Value {
    schema::of::<HistoryView>()
}

fn points(history: &History) -> impl Iterator<Item = PointView<'_>> {
    let of_cell = move |cell| move |point| view(history, cell, point);
    history.cells.iter().flat_map(move |cell| cell.points.iter().map(of_cell(cell)))
}

fn view<'a>(history: &'a History, cell: &'a CellHistory, point: &'a Point) -> PointView<'a> {
    let run = &history.runs[point.run];
    let range = point.estimate.and_then(|estimate| estimate.own);
    let change = match &point.since {
        Since::Changed(change) => Some(change),
        Since::Nothing | Since::Incomparable(_) => None,
    };
    let ratio = change.and_then(|change| change.range);
    PointView {
        entry: &cell.entry,
        workload: &cell.workload,
        run: run.id,
        started: run.started.to_string(),
        tool_version: &run.tool.version,
        tool_commit: run.tool.commit.as_deref(),
        versions: &point.versions,
        verdict: point.verdict.to_string(),
        figure: ComparedFigure::ranking(cell.by).key(),
        value: point.estimate.map(|estimate| estimate.value),
        value_low: range.map(|range| range.low),
        value_high: range.map(|range| range.high),
        ratio: change.map(|change| change.ratio),
        ratio_low: ratio.map(|range| range.low),
        ratio_high: ratio.map(|range| range.high),
        finding: Some(finding(point)).filter(|finding| finding != NOTHING),
    }
}
