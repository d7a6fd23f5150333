//! A comparison of two runs for terminals, Markdown and programs.

use rpcbench_record::{Build, Header, RunId, schema};
use schemars::JsonSchema;
use serde::Serialize;

use super::words::{self, differ, headline, origin, resolution, warnings};
use super::{Change, Changes, Worth};
use crate::columns::Column;
use crate::export::{ExportError, rows_csv, to_json};
use crate::format::NOTHING;
use crate::markdown;
use crate::text::{self, BAD, BOLD, CAUTION, GOOD, PLAIN, Style, lines, plain, prose, section};

/// Version of the exported fields. A field renamed, removed or given another unit makes a new one.
const CHANGES_SCHEMA: u32 = 1;

/// For a terminal, ending in a line feed.
#[must_use]
pub fn changes_text(changes: &Changes, style: Style) -> String {
    let mut out = String::new();
    headline(changes).iter().for_each(|line| prose(&mut out, line, BOLD, style));
    runs(changes).iter().for_each(|line| prose(&mut out, line, PLAIN, style));
    out.push('\n');
    if !changes.rows.is_empty() {
        lines(&mut out, &columns(&changes.rows), changes.rows.iter().map(ink), style);
        out.push('\n');
    }
    let told = resolution(changes);
    told.iter().for_each(|line| prose(&mut out, line, PLAIN, style));
    if !told.is_empty() {
        out.push('\n');
    }
    section(&mut out, "Versions", style, plain(changes.versions.clone()));
    section(&mut out, "Not compared", style, plain(changes.left_out.clone()));
    let warned = warnings(changes).into_iter().map(|line| (CAUTION, line));
    section(&mut out, "Warnings", style, warned);
    text::close(&mut out);
    out
}

/// As Markdown (GitHub's tables), ending in a line feed.
#[must_use]
pub fn changes_markdown(changes: &Changes) -> String {
    let mut blocks = vec!["# rpcbench: changes".to_owned()];
    blocks.extend(headline(changes).into_iter().map(|line| format!("**{line}**")));
    blocks.push(runs(changes).join("  \n"));
    if !changes.rows.is_empty() {
        blocks.push(markdown::table(&columns(&changes.rows)));
    }
    blocks.extend(resolution(changes));
    blocks.extend(markdown::list("Versions", changes.versions.iter().cloned()));
    blocks.extend(markdown::list("Not compared", changes.left_out.iter().cloned()));
    blocks.extend(markdown::list("Warnings", warnings(changes).into_iter()));
    let mut text = blocks.join("\n\n");
    text.push('\n');
    text
}

/// What was compared.
pub(crate) fn runs(changes: &Changes) -> Vec<String> {
    match &changes.builds {
        Some([old, new]) => {
            vec![
                format!("old: {old}"),
                format!("new: {new}"),
                format!("run: {}", origin(&changes.new)),
            ]
        }
        None => {
            vec![format!("old: {}", origin(&changes.old)), format!("new: {}", origin(&changes.new))]
        }
    }
}

pub(crate) fn columns(rows: &[Change]) -> Vec<Column> {
    let of = |cell: fn(&Change) -> String| rows.iter().map(cell).collect::<Vec<_>>();
    let mut columns = vec![Column::new("server", false, of(|row| row.entry.clone()))];
    if differ(rows, |row| &row.workload) {
        columns.push(Column::new("workload", false, of(|row| row.workload.clone())));
    }
    columns.push(Column::new("figure", false, of(|row| row.figure.title().to_owned())));
    columns.push(Column::new("old", true, of(|row| row.figure.show(row.old))));
    columns.push(Column::new("new", true, of(|row| row.figure.show(row.new))));
    columns.push(Column::new("change", true, of(|row| words::change(row.ratio))));
    let range = |row: &Change| words::range(row).unwrap_or_else(|| NOTHING.to_owned());
    columns.push(Column::new("95 % range", true, of(range)));
    columns.push(Column::new("finding", false, of(|row| row.figure.word(row.finding).to_owned())));
    columns
}

/// What became slower stands out, and what became faster.
fn ink(row: &Change) -> anstyle::Style {
    match row.worth() {
        Worth::Bad => BAD,
        Worth::Good => GOOD,
        Worth::Neither => PLAIN,
    }
}

/// A comparison in JSON.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Changes")]
struct ChangesView<'a> {
    schema: u32,
    old: RunView<'a>,
    /// The same as `old` where builds of one run are compared.
    new: RunView<'a>,
    /// Difference up to which two values count as the same.
    precision_share: f64,
    /// The median change of what cells are ranked by, a ratio, which is taken out of all changes; `null` where there are too
    /// few cells to tell it.
    common_ratio: Option<f64>,
    /// What the machine reference shows in the new run over the old one, a ratio of times.
    machine_ratio: Option<f64>,
    /// Whether figures are adjusted by the machine reference.
    adjusted: bool,
    changes: Vec<ChangeView<'a>>,
    not_compared: &'a [String],
    versions: &'a [String],
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct RunView<'a> {
    id: RunId,
    suite: &'a str,
    started: String,
    tool_version: &'a str,
    tool_commit: Option<&'a str>,
    /// Where builds of one run are compared: the folder, or the revision as typed.
    build: Option<&'a str>,
    /// The commit of a revision, hex.
    build_commit: Option<&'a str>,
}

/// One figure of a cell in both runs.
#[derive(Serialize, JsonSchema)]
struct ChangeView<'a> {
    workload: &'a str,
    entry: &'a str,
    /// Its name in exports, which ends in its unit.
    figure: &'static str,
    old: f64,
    new: f64,
    /// The new value over the old one.
    ratio: f64,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
    /// What is known of it.
    finding: &'static str,
}

/// As JSON, indented, ending in a line feed.
///
/// # Errors
/// If a value can't be written; see [`ExportError`].
pub fn changes_json(changes: &Changes) -> Result<String, ExportError> {
    to_json(&ChangesView {
        schema: CHANGES_SCHEMA,
        old: run(&changes.old, changes.builds.as_ref().map(|[old, _]| old)),
        new: run(&changes.new, changes.builds.as_ref().map(|[_, new]| new)),
        precision_share: changes.precision,
        common_ratio: changes.common,
        machine_ratio: changes.machine,
        adjusted: changes.adjusted,
        changes: changes.rows.iter().map(row).collect(),
        not_compared: &changes.left_out,
        versions: &changes.versions,
        warnings: warnings(changes),
    })
}

/// A row for each figure of a cell, under a header.
///
/// # Errors
/// If a row can't be written; see [`ExportError`].
pub fn changes_csv(changes: &Changes) -> Result<String, ExportError> {
    rows_csv(changes.rows.iter().map(row))
}

/// The JSON Schema (draft 2020-12) of what [`changes_json`] writes. `docs/schemas` has it.
#[must_use]
pub fn changes_schema() -> serde_json::Value {
    schema::of::<ChangesView>()
}

fn run<'a>(header: &'a Header, build: Option<&'a Build>) -> RunView<'a> {
    RunView {
        id: header.id,
        suite: &header.plan.suite,
        started: header.started.to_string(),
        tool_version: &header.tool.version,
        tool_commit: header.tool.commit.as_deref(),
        build: build.map(|build| build.origin.as_str()),
        build_commit: build.and_then(|build| build.commit.as_deref()),
    }
}

fn row(change: &Change) -> ChangeView<'_> {
    ChangeView {
        workload: &change.workload,
        entry: &change.entry,
        figure: change.figure.key(),
        old: change.old,
        new: change.new,
        ratio: change.ratio,
        ratio_low: change.range.map(|range| range.low),
        ratio_high: change.range.map(|range| range.high),
        finding: change.figure.word(change.finding),
    }
}
