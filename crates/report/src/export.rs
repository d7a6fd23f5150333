//! A summary for programs: JSON and CSV.
//!
//! Field names end in their unit: `_ns`, `_ms`, `_s` (seconds; `_per_s` a rate), `_bytes`, `_share` (of one).
//! `_low` and `_high` are the ends of an interval. What is not known is `null` in JSON and empty in CSV,
//! never 0. The `schema` of JSON is [`EXPORT_SCHEMA`].

use rpcbench_record::{Header, Machine, Run, RunId, Tool, Workload, schema};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use crate::catalog::{Export, Subject, Values, keys, ranked_by, row, row_schema};
use crate::conclusion::Conclusion;
use crate::standings::{Pair, Standings, finding_name as finding};
use crate::summary::{Summary, Table};

/// Version of the exported fields. A field renamed, removed or given another unit makes a new one.
pub const EXPORT_SCHEMA: u32 = 1;

/// Why an export can't be written. None happens with a record that could be read.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A value that JSON does not have.
    #[error("the results can't be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Rows that differ in length.
    #[error("the results can't be written as CSV: {0}")]
    Csv(#[from] csv::Error),
    /// A compressor that did not take them.
    #[error("the results can't be packed into a page: {0}")]
    Pack(#[from] std::io::Error),
}

/// A run in JSON.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Export")]
struct SummaryView<'a> {
    schema: u32,
    run: RunView<'a>,
    workloads: Vec<TableView<'a>>,
    warnings: Vec<WarningView>,
}

#[derive(Serialize, JsonSchema)]
struct RunView<'a> {
    id: RunId,
    suite: &'a str,
    seed: u64,
    cpus: u32,
    memory_bytes: Option<u64>,
    started: String,
    finished: bool,
    tool: &'a Tool,
    machine: &'a Machine,
}

#[derive(Serialize, JsonSchema)]
struct TableView<'a> {
    workload: &'a Workload,
    /// What its cells are ranked by.
    ranked_by: Option<&'static str>,
    conclusion: ConclusionView<'a>,
    /// Difference up to which two entries count as equal.
    precision_share: Option<f64>,
    /// The smallest difference that the run tells.
    resolution_share: Option<f64>,
    /// Whether figures are adjusted by the machine reference.
    adjusted: Option<bool>,
    pairs: Vec<PairView<'a>>,
    #[schemars(schema_with = "cells_schema")]
    cells: Vec<Values>,
    not_measured: Vec<AbsentView<'a>>,
}

/// Who won.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
enum ConclusionView<'a> {
    Fastest { entry: &'a str },
    Equal { entries: &'a [String] },
    Open { entries: &'a [String] },
    Alone { entry: &'a str },
    Nothing,
}

/// Two ranked entries.
#[derive(Serialize, JsonSchema)]
struct PairView<'a> {
    first: &'a str,
    second: &'a str,
    /// The first's figure over the second's.
    ratio: f64,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
    /// What is known of the first against the second.
    finding: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct AbsentView<'a> {
    entry: &'a str,
    reason: &'a str,
}

#[derive(Serialize, JsonSchema)]
struct WarningView {
    kind: &'static str,
    message: String,
    advice: &'static str,
}

/// A summary as JSON, indented, ending in a line feed.
///
/// # Errors
/// If a value can't be written; see [`ExportError`].
pub fn json(summary: &Summary) -> Result<String, ExportError> {
    let view = SummaryView {
        schema: EXPORT_SCHEMA,
        run: run(&summary.header, summary.finished),
        workloads: summary.tables.iter().map(|t| table(summary, t)).collect(),
        warnings: summary
            .warnings
            .iter()
            .map(|w| WarningView { kind: w.kind(), message: w.message(), advice: w.advice() })
            .collect(),
    };
    to_json(&view)
}

/// The JSON Schema (draft 2020-12) of what [`json`] writes. `docs/schemas` has it.
#[must_use]
pub fn export_schema() -> serde_json::Value {
    schema::of::<SummaryView>()
}

fn cells_schema(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({ "type": "array", "items": row_schema(Export::Cells) })
}

/// A row for each cell, under a header.
///
/// # Errors
/// If a row can't be written; see [`ExportError`].
pub fn csv(summary: &Summary) -> Result<String, ExportError> {
    let rows = summary.tables.iter().flat_map(|table| summary.rows_of(table));
    to_csv(&keys(Export::Cells), rows.map(|subject| row(Export::Cells, &subject)))
}

/// A row for each trial that ended, under a header.
///
/// # Errors
/// If a row can't be written; see [`ExportError`].
pub fn trials_csv(run: &Run) -> Result<String, ExportError> {
    let run = &run.printable();
    let rows = run.trials.iter().map(|trial| row(Export::Trials, &Subject::trial(run, trial)));
    to_csv(&keys(Export::Trials), rows)
}

pub(crate) fn to_json(view: &impl Serialize) -> Result<String, ExportError> {
    let mut text = serde_json::to_string_pretty(view)?;
    text.push('\n');
    Ok(text)
}

pub(crate) fn to_csv(
    keys: &[&str],
    rows: impl Iterator<Item = Values>,
) -> Result<String, ExportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(keys)?;
    for row in rows {
        writer.serialize(row.values().collect::<Vec<_>>())?;
    }
    written(writer)
}

/// Rows under a header of their fields.
pub(crate) fn rows_csv<R: Serialize>(
    rows: impl IntoIterator<Item = R>,
) -> Result<String, ExportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    written(writer)
}

fn written(writer: csv::Writer<Vec<u8>>) -> Result<String, ExportError> {
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn run(header: &Header, finished: bool) -> RunView<'_> {
    RunView {
        id: header.id,
        suite: &header.plan.suite,
        seed: header.plan.seed,
        cpus: header.plan.limits.cpus,
        memory_bytes: header.plan.limits.memory_bytes,
        started: header.started.to_string(),
        finished,
        tool: &header.tool,
        machine: &header.machines.client,
    }
}

fn table<'a>(summary: &'a Summary, table: &'a Table) -> TableView<'a> {
    let standings = table.standings.as_ref();
    TableView {
        workload: &table.workload,
        ranked_by: standings.map(|standings| ranked_by(standings.by)),
        conclusion: conclusion(&table.conclusion),
        precision_share: standings.map(|standings| standings.precision),
        resolution_share: standings.and_then(|standings| standings.resolution),
        adjusted: standings.map(Standings::is_adjusted),
        pairs: standings.iter().flat_map(|standings| &standings.pairs).map(pair).collect(),
        cells: summary.rows_of(table).iter().map(|subject| row(Export::Cells, subject)).collect(),
        not_measured: table
            .absent
            .iter()
            .map(|a| AbsentView { entry: a.entry(), reason: a.reason() })
            .collect(),
    }
}

fn conclusion(conclusion: &Conclusion) -> ConclusionView<'_> {
    match conclusion {
        Conclusion::Fastest(pair) => ConclusionView::Fastest { entry: &pair.first },
        Conclusion::Equal { entries } => ConclusionView::Equal { entries },
        Conclusion::Open { entries } => ConclusionView::Open { entries },
        Conclusion::Alone { entry } => ConclusionView::Alone { entry },
        Conclusion::Nothing => ConclusionView::Nothing,
    }
}

fn pair(pair: &Pair) -> PairView<'_> {
    PairView {
        first: &pair.first,
        second: &pair.second,
        ratio: pair.ratio,
        ratio_low: pair.range.map(|range| range.low),
        ratio_high: pair.range.map(|range| range.high),
        finding: finding(pair.finding),
    }
}
