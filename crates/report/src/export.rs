//! JSON and CSV of a run.
//!
//! Field names end in their unit: `_ns`, `_ms`, `_s` (seconds; `_per_s` for rates), `_bytes`, `_share` (a fraction). `_low` and
//! `_high` are the ends of an interval. Unknown values are `null` in JSON and empty in CSV, never 0. The `schema` of JSON is
//! [`EXPORT_SCHEMA`]. Text in CSV is made [`inert`] for spreadsheets.

use rpcbench_record::{
    Header, Machine, Run, RunId, Tool, Workload, is_printable, printable, schema,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use crate::catalog::{RowKind, Subject, Value, Values, keys, ranked_by, row, row_schema};
use crate::conclusion::Conclusion;
use crate::row::Absent;
use crate::standings::{Pair, Standings, finding_name as finding};
use crate::summary::{Summary, Table};
use crate::warning::Warning;

/// Version of the exported fields. It changes if a field is renamed, removed or gets another unit.
pub const EXPORT_SCHEMA: u32 = 1;

/// The reason why an export can't be written. Records that were read successfully cause none of these.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A value that JSON can't represent.
    #[error("the results can't be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Rows of different lengths.
    #[error("the results can't be written as CSV: {0}")]
    Csv(#[from] csv::Error),
    /// Compression failed.
    #[error("the results can't be packed into a page: {0}")]
    Pack(#[from] std::io::Error),
}

/// A run as JSON.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Export")]
struct SummaryView<'a> {
    schema: u32,
    run: RunView<'a>,
    workloads: Vec<TableView<'a>>,
    warnings: &'a [Warning],
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
    /// Name of the figure that cells are ranked by. `null` if they are not compared.
    ranked_by: Option<&'static str>,
    conclusion: &'a Conclusion,
    /// Difference up to which two entries count as equal, a share. `null` if entries are not compared.
    precision_share: Option<f64>,
    /// Smallest difference that the run can detect, a share. `null` if it can detect none.
    resolution_share: Option<f64>,
    noise: Option<NoiseView>,
    pairs: Vec<PairView<'a>>,
    #[schemars(schema_with = "cells_schema")]
    cells: Vec<Values>,
    not_measured: &'a [Absent],
}

/// Noise of the ranked entries' windows: standard deviations of the figure's logarithm, which are about shares of the figure.
#[derive(Serialize, JsonSchema)]
struct NoiseView {
    /// Noise between the windows of a process.
    windows_share: f64,
    /// The same without effects shared by all windows of a round.
    in_rounds_share: f64,
}

/// A comparison of two ranked entries.
#[derive(Serialize, JsonSchema)]
struct PairView<'a> {
    first: &'a str,
    second: &'a str,
    /// Figure of `first` divided by that of `second`.
    ratio: f64,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
    /// Finding about `first` compared with `second`.
    finding: &'static str,
}

/// The data of a result, for programs.
pub(crate) trait Export {
    /// Indented JSON, ending in a line feed.
    fn json(&self) -> Result<String, ExportError>;

    /// Rows under a header.
    fn csv(&self) -> Result<String, ExportError>;
}

impl Export for Summary {
    fn json(&self) -> Result<String, ExportError> {
        to_json(&SummaryView {
            schema: EXPORT_SCHEMA,
            run: run(&self.header, self.finished),
            workloads: self.tables.iter().map(|t| table(self, t)).collect(),
            warnings: &self.warnings,
        })
    }

    fn csv(&self) -> Result<String, ExportError> {
        let rows = self.tables.iter().flat_map(|table| self.rows_of(table));
        to_csv(&keys(RowKind::Cells), rows.map(|subject| row(RowKind::Cells, &subject)))
    }
}

/// The JSON Schema (draft 2020-12) of a run's JSON, as in `docs/schemas`.
pub fn export_schema() -> Value {
    schema::of::<SummaryView>()
}

fn cells_schema(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({ "type": "array", "items": row_schema(RowKind::Cells) })
}

/// A row per finished trial, under a header.
///
/// # Errors
/// If a row can't be written; see [`ExportError`].
pub fn trials_csv(run: &Run) -> Result<String, ExportError> {
    let run = &run.printable();
    let rows = run.trials.iter().map(|trial| row(RowKind::Trials, &Subject::trial(run, trial)));
    to_csv(&keys(RowKind::Trials), rows)
}

pub(crate) fn to_json(view: &impl Serialize) -> Result<String, ExportError> {
    let text = serde_json::to_string_pretty(view)?;
    let mut safe = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        if c == '\n' || is_printable(c) {
            safe.push(c);
        } else {
            // Such characters only occur in strings.
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| safe += &format!("\\u{unit:04x}"));
        }
    }
    safe.push('\n');
    Ok(safe)
}

pub(crate) fn to_csv(
    keys: &[&str],
    rows: impl Iterator<Item = Values>,
) -> Result<String, ExportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(keys)?;
    let cell = |value: Option<Value>| match value {
        Some(Value::String(text)) => Some(Value::String(inert(&text))),
        other => other,
    };
    for row in rows {
        writer.serialize(row.0.into_iter().map(|(_, value)| cell(value)).collect::<Vec<_>>())?;
    }
    written(writer)
}

/// Structs as rows, under a header of their fields.
pub(crate) fn rows_csv<R: Serialize>(
    rows: impl IntoIterator<Item = R>,
) -> Result<String, ExportError> {
    let mut plain = csv::Writer::from_writer(Vec::new());
    for row in rows {
        plain.serialize(row)?;
    }
    let plain = written(plain)?;
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(plain.as_bytes());
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in reader.records() {
        let cell = |text: &str| match text.parse::<f64>() {
            Ok(_) => text.to_owned(),
            Err(_) => inert(text),
        };
        writer.write_record(row?.iter().map(cell))?;
    }
    written(writer)
}

/// Makes text harmless to terminals and spreadsheets: an apostrophe precedes a sign that would begin a formula (OWASP, *CSV
/// Injection*). Numbers are not text and stay numbers.
fn inert(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    format!("{}{}", if formula { "'" } else { "" }, printable(text))
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
        conclusion: &table.conclusion,
        precision_share: standings.map(|standings| standings.precision),
        resolution_share: standings.and_then(|standings| standings.resolution),
        noise: standings.and_then(Standings::spread).map(|spread| NoiseView {
            windows_share: spread.windows,
            in_rounds_share: spread.in_rounds,
        }),
        pairs: standings.iter().flat_map(|standings| &standings.pairs).map(pair).collect(),
        cells: summary.rows_of(table).iter().map(|subject| row(RowKind::Cells, subject)).collect(),
        not_measured: &table.absent,
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
