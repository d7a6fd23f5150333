//! The document and the exports of a comparison.

use rpcbench_record::{Build, Header, RunId, schema};
use schemars::JsonSchema;
use serde::Serialize;

use super::words::{self, headline, origin, resolution, warnings};
use super::{Change, Changes, Gated};
use crate::columns::Column;
use crate::document::{Block, Content, Document, Part, Table};
use crate::export::{Export, ExportError, rows_csv, to_json};
use crate::format::NOTHING;

/// Version of the exported fields. It changes if a field is renamed, removed or gets another unit.
const CHANGES_SCHEMA: u32 = 1;

impl<'a> Document<'a> {
    /// The document of a comparison.
    pub fn of_changes(changes: &'a Changes) -> Self {
        let tones = changes.rows.iter().map(Change::tone).collect();
        let table = Table { columns: columns(&changes.rows), tones };
        let part = Part {
            headline: headline(changes),
            title: None,
            setting: runs(changes),
            blocks: vec![
                Block::untitled(Content::Table(table)),
                Block::untitled(Content::Prose(resolution(changes))),
                Block::list("Versions", changes.versions.iter().cloned()),
                Block::list("Not compared", changes.left_out.iter().map(ToString::to_string)),
            ],
        };
        Self {
            parts: vec![part],
            warnings: warnings(changes),
            ..Self::new("changes".to_owned(), changes)
        }
    }
}

/// Describes what was compared.
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
    type Cell = fn(&Change) -> String;
    let several = words::differ(rows, |row| &row.workload);
    let both = rows.iter().any(words::is_compared_by_others);
    let [old, new] = match rows.iter().any(|row| row.corrected) {
        true => ["old corrected", "new corrected"],
        false => ["old compared", "new compared"],
    };
    let columns: [(&str, bool, Cell); 10] = [
        ("server", false, |row| row.entry.clone()),
        ("workload", false, |row| row.workload.clone()),
        ("figure", false, |row| row.figure.title().to_owned()),
        ("old", true, |row| row.figure.show(row.old)),
        ("new", true, |row| row.figure.show(row.new)),
        (old, true, |row| row.figure.show(row.compared[0])),
        (new, true, |row| row.figure.show(row.compared[1])),
        ("change", true, |row| words::change(row.ratio)),
        ("95 % range", true, |row| words::range(row).unwrap_or_else(|| NOTHING.to_owned())),
        ("finding", false, |row| row.figure.word(row.finding).to_owned()),
    ];
    let shown = columns.into_iter().filter(|(title, ..)| match *title {
        "workload" => several,
        title => both || title != old && title != new,
    });
    let column = |(title, is_number, cell): (_, _, Cell)| {
        Column::new(title, is_number, rows.iter().map(cell).collect())
    };
    shown.map(column).collect()
}

/// A comparison as JSON.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Changes")]
struct ChangesView<'a> {
    schema: u32,
    old: RunView<'a>,
    /// The new run; the same as `old` if builds of one run are compared.
    new: RunView<'a>,
    /// Difference up to which two values count as equal, a share.
    precision_share: f64,
    /// Median change of the ranking figure, new divided by old, which is removed from all changes. Of all workloads, the one
    /// farthest from 1. `null` if no workload has enough cells, and for builds.
    common_ratio: Option<f64>,
    /// Time of the machine reference in the new run divided by that in the old one: 1.05 if the machine was 5 % slower. Of all
    /// workloads, the one farthest from 1. `null` if no workload has it in both runs.
    machine_ratio: Option<f64>,
    changes: Vec<ChangeView<'a>>,
    not_compared: Vec<String>,
    /// Verdicts of the limits of `--fail-if` on each cell.
    limits: &'a [Gated],
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
    /// Folder of the build, or its revision as typed. `null` unless builds are compared.
    build: Option<&'a str>,
    /// Commit of the revision, hex. `null` for a folder, and unless builds are compared.
    build_commit: Option<&'a str>,
}

/// The columns of a [`ChangeView`], for a CSV file without rows.
const COLUMNS: [&str; 12] = [
    "workload",
    "entry",
    "figure",
    "old",
    "new",
    "old_compared",
    "new_compared",
    "corrected",
    "ratio",
    "ratio_low",
    "ratio_high",
    "finding",
];

/// One figure of a cell in both runs.
#[derive(Serialize, JsonSchema)]
struct ChangeView<'a> {
    workload: &'a str,
    entry: &'a str,
    /// Name of the figure in exports, which ends in its unit.
    figure: &'static str,
    /// Value in the old run, as its own report shows it.
    old: f64,
    /// Value in the new run, as its own report shows it.
    new: f64,
    /// Value in the old run from which the change is computed: a geometric mean over processes, as is `new_compared`.
    old_compared: f64,
    new_compared: f64,
    /// True if the common change is removed from `old_compared` and `new_compared`.
    corrected: bool,
    /// `new_compared` divided by `old_compared`.
    ratio: f64,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
    /// Finding about the change: `same`, `can't tell`, or a direction such as `faster` or `slightly slower` (by less than the
    /// precision).
    finding: &'static str,
}

impl Export for Changes {
    fn json(&self) -> Result<String, ExportError> {
        let builds = self.builds.as_ref();
        to_json(&ChangesView {
            schema: CHANGES_SCHEMA,
            old: run(&self.old, builds.map(|[old, _]| old)),
            new: run(&self.new, builds.map(|[_, new]| new)),
            precision_share: self.precision,
            common_ratio: self.common,
            machine_ratio: self.machine,
            changes: self.rows.iter().map(row).collect(),
            not_compared: self.left_out.iter().map(ToString::to_string).collect(),
            limits: &self.gates,
            versions: &self.versions,
            warnings: warnings(self),
        })
    }

    fn csv(&self) -> Result<String, ExportError> {
        match self.rows.as_slice() {
            [] => Ok(format!("{}\n", COLUMNS.join(","))),
            rows => rows_csv(rows.iter().map(row)),
        }
    }
}

/// The JSON Schema (draft 2020-12) of a comparison's JSON, as in `docs/schemas`.
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
        old_compared: change.compared[0],
        new_compared: change.compared[1],
        corrected: change.corrected,
        ratio: change.ratio,
        ratio_low: change.range.map(|range| range.low),
        ratio_high: change.range.map(|range| range.high),
        finding: change.figure.word(change.finding),
    }
}
