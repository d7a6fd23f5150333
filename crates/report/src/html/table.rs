//! Tables of the page: every figure of a row, with name, unit and meaning from the catalog.

use std::borrow::Cow;

use serde::Serialize;

use super::cell::CellView;
use super::names;
use crate::catalog::{ColumnSlot, Figure, Kind, RowKind, Subject, Value, exported};
use crate::columns::{Columns, columns};
use crate::parties::Parties;

#[derive(Default, Serialize)]
pub(super) struct TableView {
    pub(super) columns: Vec<ColumnView>,
    pub(super) rows: Vec<RowView>,
}

/// A figure or a label that rows have.
#[derive(Serialize)]
pub(super) struct ColumnView {
    pub(super) key: &'static str,
    pub(super) title: String,
    pub(super) unit: &'static str,
    pub(super) meaning: String,
    pub(super) number: bool,
    pub(super) shown: ShownView,
    /// Indices of the columns that hold the ends of its interval.
    pub(super) interval: Option<[usize; 2]>,
}

#[derive(Clone, Copy, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum ShownView {
    /// Shown in the table.
    Usually,
    /// Shown in the table with all columns.
    Wide,
    /// Shown in the details of a row.
    Row,
}

#[derive(Default, Serialize)]
pub(super) struct RowView {
    /// Unique in its table.
    pub(super) name: String,
    pub(super) entry: String,
    pub(super) verdict: String,
    /// True if it is ranked.
    pub(super) ranked: bool,
    /// True for the highest load at which the server kept up.
    pub(super) knee: bool,
    /// One per column.
    pub(super) values: Vec<Option<Value>>,
    /// The values formatted for people.
    pub(super) texts: Vec<Option<String>>,
    pub(super) reason: Option<String>,
    pub(super) notes: Vec<String>,
    pub(super) evidence: Vec<String>,
    /// Its drawings.
    pub(super) cell: Option<CellView>,
}

/// The table of cells. The caller adds their drawings.
pub(super) fn table(kind: Kind, rows: &[Subject]) -> TableView {
    let figures = placed();
    let keys: Vec<&str> = figures.iter().map(|figure| figure.key).collect();
    let titles = |which| -> Vec<Cow<'static, str>> {
        columns(kind, rows, &which).into_iter().map(|column| column.title).collect()
    };
    let (usual, wide) = (titles(Columns::Few), titles(Columns::Wide));
    let shown = |figure: &Figure| match figure.column.map(|column| column.title) {
        Some(title) if usual.iter().any(|shown| shown == title) => ShownView::Usually,
        Some(title) if wide.iter().any(|shown| shown == title) => ShownView::Wide,
        _ => ShownView::Row,
    };
    let parties = rows.first().map_or(Parties::Server, |row| Parties::of_run(&row.header.plan));
    let column = |figure: &&Figure| column(figure, shown(figure), &keys).in_words_of(parties);
    TableView {
        columns: figures.iter().map(column).collect(),
        rows: rows.iter().map(|subject| row(kind, &figures, subject)).collect(),
    }
}

/// The figures of cells, sorted by slot. Those without a column come last.
fn placed() -> Vec<&'static Figure> {
    let mut figures: Vec<&Figure> = exported(RowKind::Cells).collect();
    figures.sort_by_key(|figure| figure.column.map_or((1, ColumnSlot::Verdict), |c| (0, c.slot)));
    figures
}

impl ColumnView {
    /// The column of a figure without an interval.
    pub(super) fn of(figure: &Figure) -> Self {
        Self {
            key: figure.key,
            title: names::title(figure),
            unit: figure.unit.name(),
            meaning: names::meaning(figure),
            number: figure.unit.is_number(),
            shown: ShownView::Usually,
            interval: None,
        }
    }
}

impl ColumnView {
    /// The same, reworded for these parties.
    fn in_words_of(self, parties: Parties) -> Self {
        let words = |text: &str| parties.words(text).into_owned();
        Self {
            title: words(&parties.title(self.title.into())),
            meaning: words(&self.meaning),
            ..self
        }
    }
}

fn column(figure: &Figure, shown: ShownView, keys: &[&str]) -> ColumnView {
    let at = |end: &str| {
        let key = format!("{}_{end}", figure.key);
        keys.iter().position(|other| **other == key)
    };
    let interval = at("low").zip(at("high")).map(|(low, high)| [low, high]);
    ColumnView { shown, interval, ..ColumnView::of(figure) }
}

fn row(kind: Kind, figures: &[&Figure], subject: &Subject) -> RowView {
    let cell = subject.cell;
    let entry = subject.server.map(|server| server.entry.clone()).unwrap_or_default();
    let load = subject.workload.filter(|_| kind == Kind::Curve);
    let name = load.map_or_else(|| entry.clone(), |load| format!("{entry} {}", load.name));
    let verdict = cell.map(|cell| cell.verdict.name().to_owned()).unwrap_or_default();
    RowView {
        ranked: cell.is_some_and(|cell| cell.place.is_some()),
        values: figures.iter().map(|figure| figure.value(subject)).collect(),
        texts: figures.iter().map(|figure| Some(names::named(&figure.shown(subject)?))).collect(),
        reason: cell.and_then(|cell| cell.verdict.reason.clone()),
        notes: cell.map(|cell| cell.notes.clone()).unwrap_or_default(),
        evidence: cell.map(|cell| cell.evidence.clone()).unwrap_or_default(),
        name,
        entry,
        verdict,
        ..RowView::default()
    }
}

/// The figures of a window that have a column.
pub(super) fn window_figures() -> Vec<&'static Figure> {
    exported(RowKind::Windows).filter(|figure| figure.column.is_some()).collect()
}
