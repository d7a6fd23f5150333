//! What a run shows as one part: a ranking, or response times over load.

use rpcbench_record::{RankedBy, Run};
use serde::Serialize;

use super::cell::CellView;
use super::changes::ChangesView;
use super::table::{ColumnView, TableView, table, window_figures};
use super::{load, rates};
use crate::catalog::{Kind, Subject, ranked_by};
use crate::curve::{Curve, Results, results};
use crate::document::{Block, Content, Part};
use crate::summary::{Summary, Table};

#[derive(Default, Serialize)]
pub(super) struct PartView {
    pub(super) kind: KindView,
    /// Distinguishes the part from the others.
    pub(super) name: String,
    pub(super) headline: Vec<String>,
    /// The load and the servers' limits.
    pub(super) setting: Vec<String>,
    /// The column that rows are ranked by.
    pub(super) ranked_by: Option<&'static str>,
    pub(super) table: TableView,
    /// Response times over load: the rows of the table, or the rates that a search tried.
    pub(super) over_load: Option<OverLoad>,
    pub(super) window_columns: Vec<ColumnView>,
    pub(super) distributions: Vec<load::Named>,
    /// Set if runs or builds are compared.
    pub(super) changes: Option<ChangesView>,
    /// Small tables of words, lists and sentences.
    pub(super) blocks: Vec<Block>,
}

#[derive(Clone, Copy, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KindView {
    #[default]
    Ranking,
    Curve,
    Load,
    Changes,
}

/// Rows for several loads.
#[derive(Serialize)]
pub(super) struct OverLoad {
    /// The column of the load.
    pub(super) x: &'static str,
    /// `None` for the part's own table.
    pub(super) table: Option<TableView>,
}

/// The parts of a run, in the plan's order.
pub(super) fn parts(
    run: &Run,
    summary: &Summary,
    parts: impl Iterator<Item = Part>,
) -> Vec<PartView> {
    let view = |(of, part): (&Results, Part)| match of {
        Results::Ranking(table) => ranking(run, summary, table, part),
        Results::Curve(curve) => over_load(run, summary, curve, part),
    };
    results(&summary.tables).iter().zip(parts).map(view).collect()
}

fn ranking(run: &Run, summary: &Summary, of: &Table, part: Part) -> PartView {
    let by = of.rows.first().map(|row| row.by);
    let searched = by == Some(RankedBy::HighestRate);
    PartView {
        ranked_by: by.map(ranked_by),
        table: with_cells(run, Kind::Ranking, &summary.rows_of(of)),
        over_load: searched.then(|| rates::searches(run, &of.workload)),
        ..PartView::of(KindView::Ranking, &of.workload.name, part)
    }
}

fn over_load(run: &Run, summary: &Summary, curve: &Curve, part: Part) -> PartView {
    let mut table = with_cells(run, Kind::Curve, &curve.subjects(summary));
    mark_knees(&mut table);
    let ends = [curve.tables.first(), curve.tables.last()];
    let mut names: Vec<&str> =
        ends.into_iter().flatten().map(|table| table.workload.name.as_str()).collect();
    names.dedup();
    PartView {
        table,
        over_load: Some(OverLoad { x: "offered_per_s", table: None }),
        ..PartView::of(KindView::Curve, &names.join(" to "), part)
    }
}

impl PartView {
    /// A document's part. Untitled tables are left out, as the page shows them with every figure.
    pub(super) fn of(kind: KindView, name: &str, part: Part) -> Self {
        let is_shown = |block: &Block| {
            block.title.is_some() || !matches!(block.content[..], [Content::Table(_)])
        };
        Self {
            kind,
            name: name.to_owned(),
            headline: part.headline,
            setting: part.title.into_iter().chain(part.setting).collect(),
            window_columns: window_figures().into_iter().map(ColumnView::of).collect(),
            blocks: part.blocks.into_iter().filter(is_shown).collect(),
            ..Self::default()
        }
    }
}

fn with_cells(run: &Run, kind: Kind, subjects: &[Subject]) -> TableView {
    let mut table = table(kind, subjects);
    for (row, subject) in table.rows.iter_mut().zip(subjects) {
        let cell = subject.cell.zip(subject.workload);
        row.cell = cell.map(|(cell, workload)| CellView::of(run, &workload.name, cell));
    }
    table
}

/// Marks the highest load at which each entry kept up, if it failed to keep up at a higher one.
fn mark_knees(table: &mut TableView) {
    let rows = &mut table.rows;
    for at in 1..rows.len() {
        let (before, after) = rows.split_at_mut(at);
        if let (Some(last), Some(next)) = (before.last_mut(), after.first())
            && last.entry == next.entry
            && last.verdict == "ok"
            && next.verdict == "overloaded"
        {
            last.knee = true;
        }
    }
}
