//! What a run shows together: a ranking, or response times over load.

use rpcbench_record::{RankedBy, Run};
use serde::Serialize;

use super::cell::CellView;
use super::changes::ChangesView;
use super::table::{TableView, table};
use super::{load, rates};
use crate::catalog::{Kind, Subject, ranked_by};
use crate::conclusion;
use crate::curve::{Curve, Part, parts as parts_of};
use crate::groups;
use crate::summary::{Summary, Table};
use crate::words::{self, Unranked};

/// A part of the page.
#[derive(Serialize)]
pub(super) struct PartView {
    pub(super) kind: KindView,
    /// Names it among the others.
    pub(super) name: String,
    /// Who won, by how much, how surely; or what came of a load.
    pub(super) headline: Vec<String>,
    /// What was asked of the servers, and what they were given.
    pub(super) setting: Vec<String>,
    /// What limits it: the resolution, whether figures are adjusted.
    pub(super) told: Vec<String>,
    /// The column that rows are ranked by.
    pub(super) ranked_by: Option<&'static str>,
    pub(super) table: TableView,
    /// Response times over load: the rows of the table itself, or rates that were tried in a search.
    pub(super) over_load: Option<OverLoad>,
    /// Titles of the figures of a window.
    pub(super) window_columns: Vec<WindowColumn>,
    /// Distributions beside those of rows: of a load.
    pub(super) distributions: Vec<load::Named>,
    /// Of runs or builds that are compared.
    pub(super) changes: Option<ChangesView>,
    pub(super) lists: Vec<ListView>,
    pub(super) grids: Vec<load::GridView>,
}

/// A figure that windows have.
#[derive(Serialize)]
pub(super) struct WindowColumn {
    key: &'static str,
    title: &'static str,
    unit: &'static str,
    meaning: &'static str,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KindView {
    Ranking,
    Curve,
    Load,
    Changes,
}

/// Rows at several loads.
#[derive(Serialize)]
pub(super) struct OverLoad {
    /// The column of the load.
    pub(super) x: &'static str,
    /// `None`: they are the part's own.
    pub(super) table: Option<TableView>,
}

/// Lines under a title.
#[derive(Serialize)]
pub(super) struct ListView {
    title: &'static str,
    items: Vec<ItemView>,
}

#[derive(Serialize)]
struct ItemView {
    text: String,
    /// Lines of a log.
    evidence: Vec<String>,
}

/// The parts of a run, in the plan's order.
pub(super) fn parts(run: &Run, summary: &Summary) -> Vec<PartView> {
    let view = |part: &Part| match part {
        Part::Ranking(table) => ranking(run, summary, part, table),
        Part::Curve(curve) => over_load(run, summary, part, curve),
    };
    parts_of(&summary.tables).iter().map(view).collect()
}

fn ranking(run: &Run, summary: &Summary, part: &Part, of: &Table) -> PartView {
    let subjects = summary.rows_of(of);
    let by = of.standings.as_ref().map(|standings| standings.by);
    let searched = by == Some(RankedBy::HighestRate);
    PartView {
        headline: conclusion::headline(of),
        told: [groups::protocols_by_language(of), conclusion::resolution(of)].concat(),
        ranked_by: by.map(ranked_by),
        table: with_cells(run, Kind::Ranking, &subjects),
        over_load: searched.then(|| rates::searches(run, &of.workload)),
        lists: lists([
            (
                "Not ranked",
                words::unranked(of).iter().map(|row| trouble(&row.entry, row)).collect(),
            ),
            ("Not measured", of.absent.iter().map(|a| line(a.entry(), a.reason())).collect()),
            ("Notes", words::notes(of).into_iter().map(ItemView::of).collect()),
        ]),
        ..PartView::empty(run, KindView::Ranking, &of.workload.name, part)
    }
}

fn over_load(run: &Run, summary: &Summary, part: &Part, curve: &Curve) -> PartView {
    let mut table = with_cells(run, Kind::Curve, &curve.subjects(summary));
    mark_knees(&mut table);
    let ends = [curve.tables.first(), curve.tables.last()];
    let mut names: Vec<&str> =
        ends.into_iter().flatten().map(|table| table.workload.name.as_str()).collect();
    names.dedup();
    let troubles = curve.troubles();
    let troubles =
        troubles.iter().map(|(row, loads)| trouble(&format!("{} ({loads})", row.entry), row));
    let absent = curve.absent();
    let absent =
        absent.iter().map(|(a, loads)| line(&format!("{} ({loads})", a.entry()), a.reason()));
    PartView {
        table,
        over_load: Some(OverLoad { x: "offered_per_s", table: None }),
        lists: lists([
            ("Not ok", troubles.collect()),
            ("Not measured", absent.collect()),
            ("Notes", words::curve_notes(curve).into_iter().map(ItemView::of).collect()),
        ]),
        ..PartView::empty(run, KindView::Curve, &names.join(" to "), part)
    }
}

impl PartView {
    fn empty(run: &Run, kind: KindView, name: &str, part: &Part) -> Self {
        let setting = words::heading(&run.header.plan, part);
        Self::blank(kind, name, setting.to_vec())
    }

    /// With a heading and nothing else.
    pub(super) fn blank(kind: KindView, name: &str, setting: Vec<String>) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            headline: Vec::new(),
            setting,
            told: Vec::new(),
            ranked_by: None,
            table: TableView { columns: Vec::new(), rows: Vec::new() },
            over_load: None,
            window_columns: window_columns(),
            distributions: Vec::new(),
            changes: None,
            lists: Vec::new(),
            grids: Vec::new(),
        }
    }
}

impl ItemView {
    fn of(text: String) -> Self {
        Self { text, evidence: Vec::new() }
    }
}

pub(super) fn list(title: &'static str, lines: Vec<String>) -> Option<ListView> {
    let items: Vec<ItemView> = lines.into_iter().map(ItemView::of).collect();
    (!items.is_empty()).then_some(ListView { title, items })
}

fn lists(all: [(&'static str, Vec<ItemView>); 3]) -> Vec<ListView> {
    let lists = all.into_iter().map(|(title, items)| ListView { title, items });
    lists.filter(|list| !list.items.is_empty()).collect()
}

fn trouble(whose: &str, row: &Unranked) -> ItemView {
    let text = format!("{whose}: {}: {}", row.verdict, row.reason);
    ItemView { text, evidence: row.evidence.clone() }
}

fn line(whose: &str, reason: &str) -> ItemView {
    ItemView::of(format!("{whose}: {reason}"))
}

fn window_columns() -> Vec<WindowColumn> {
    let figures = super::table::window_figures().into_iter();
    let view = figures.map(|figure| WindowColumn {
        key: figure.key,
        title: figure.title(),
        unit: figure.unit.name(),
        meaning: figure.meaning,
    });
    view.collect()
}

fn with_cells(run: &Run, kind: Kind, subjects: &[Subject]) -> TableView {
    let mut table = table(kind, subjects);
    for (row, subject) in table.rows.iter_mut().zip(subjects) {
        let cell = subject.cell.zip(subject.workload);
        row.cell = cell.map(|(cell, workload)| CellView::of(run, &workload.name, cell));
    }
    table
}

/// Marks the highest load under which each entry kept up, where there is one above it under which it did not.
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
