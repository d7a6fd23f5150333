//! The columns of a table: those that exist, those the user chose, and those that fit.

use std::borrow::Cow;
use std::str::FromStr;

use comfy_table::{CellAlignment, Table as Grid};
use rpcbench_record::ParseError;
use serde::Serialize;

use crate::catalog::{FIGURES, Figure, Kind, RowKind, Shown, Spare, Subject, exported};
use crate::format::NOTHING;

/// The columns of a table for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Columns {
    /// The most important ones that fit.
    #[default]
    Few,
    /// Every column.
    Wide,
    /// These, in this order.
    Chosen(Vec<ColumnName>),
}

/// A column by its title, or by its field in exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnName(pub(crate) &'static Figure);

impl ColumnName {
    /// All names in the catalog's order: titles, and fields without one.
    pub fn all() -> Vec<&'static str> {
        let mut titles: Vec<_> = exported(RowKind::Cells).map(Figure::title).collect();
        // `server` is both a title and a field name.
        titles.dedup();
        titles
    }
}

impl FromStr for ColumnName {
    type Err = ParseError;

    /// Titles take precedence: `server` is the column that also shows the variant.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let called = |is: fn(&Figure) -> &'static str| {
            exported(RowKind::Cells).find(|figure| is(figure) == name)
        };
        let found = called(Figure::title).or_else(|| called(|figure| figure.key));
        found.map(Self).ok_or_else(|| {
            let known = Self::all().join(", ");
            ParseError(format!("unknown column '{name}'; expected one of {known}"))
        })
    }
}

/// A column of one table, with its cells.
#[derive(Clone, Serialize)]
pub(crate) struct Column {
    pub(crate) title: Cow<'static, str>,
    pub(crate) is_number: bool,
    /// True if its cells are drawings in fixed-width characters.
    #[serde(skip)]
    pub(crate) drawn: bool,
    #[serde(skip)]
    spare: Spare,
    pub(crate) cells: Vec<String>,
}

impl Column {
    /// A column that is never dropped.
    pub(crate) fn new(
        title: impl Into<Cow<'static, str>>,
        is_number: bool,
        cells: Vec<String>,
    ) -> Self {
        Self { title: title.into(), is_number, drawn: false, spare: 0, cells }
    }

    /// A column of drawings.
    pub(crate) fn drawn(cells: Vec<String>) -> Self {
        Self { drawn: true, ..Self::new("", false, cells) }
    }

    /// Width of the widest cell, characters.
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| cell.chars().count());
        cells.max().unwrap_or_default().max(self.title.chars().count())
    }
}

/// The columns of a table, in order.
pub(crate) fn columns(kind: Kind, rows: &[Subject], which: &Columns) -> Vec<Column> {
    if let Columns::Chosen(names) = which {
        return names.iter().map(|name| column(name.0, rows, 0)).collect();
    }
    let wide = *which == Columns::Wide;
    let mut placed: Vec<_> = FIGURES
        .iter()
        .filter_map(|figure| {
            let spare = spare(figure, kind, rows, wide)?;
            let column = column(figure, rows, spare);
            is_informative(figure, &column).then_some((figure.column?.slot, column))
        })
        .collect();
    placed.sort_by_key(|(slot, _)| *slot);
    placed.into_iter().map(|(_, column)| column).collect()
}

/// How early the column is dropped. `None` if the table does not have it.
fn spare(figure: &Figure, kind: Kind, rows: &[Subject], wide: bool) -> Option<Spare> {
    let column = figure.column?;
    let ranks = |by| rows.iter().any(|row| row.cell.is_some_and(|cell| cell.by == by));
    match column.shown(kind)? {
        _ if wide => Some(0),
        Shown::Wide => None,
        Shown::Usually(_) if kind == Kind::Ranking && !column.ranks.is_none_or(ranks) => None,
        Shown::Usually(spare) => Some(spare),
    }
}

/// False for an empty column that another one replaces, and for a column of equal values that is meant to show differences.
fn is_informative(figure: &Figure, column: &Column) -> bool {
    let Some(of) = figure.column else { return false };
    let differ = column.cells.windows(2).any(|pair| pair[0] != pair[1]);
    let empty = column.cells.iter().all(|cell| cell == NOTHING);
    (differ || !of.if_rows_differ) && !(empty && (of.ranks.is_some() || of.if_known))
}

fn column(figure: &Figure, rows: &[Subject], spare: Spare) -> Column {
    let shown = |row| figure.shown(row).unwrap_or_else(|| NOTHING.to_owned());
    let cells = rows.iter().map(shown).collect();
    Column { spare, ..Column::new(figure.title(), figure.unit.is_number(), cells) }
}

/// The columns that fit into `width` characters with `gap` between them, and the titles of the others.
pub(crate) fn fitting(
    columns: &[Column],
    width: Option<usize>,
    gap: usize,
) -> (Vec<Column>, Vec<Cow<'static, str>>) {
    let mut columns = columns.to_vec();
    let order: Vec<_> = columns.iter().map(|column| column.title.clone()).collect();
    let limit = width.unwrap_or(usize::MAX - gap);
    let mut hidden = Vec::new();
    while columns.iter().map(|column| column.width() + gap).sum::<usize>() > limit + gap {
        let spare = columns.iter().enumerate().max_by_key(|(_, column)| column.spare);
        match spare {
            Some((at, column)) if column.spare > 0 => {
                hidden.push(column.title.clone());
                columns.remove(at);
            }
            _ => break,
        }
    }
    hidden.sort_by_key(|title: &Cow<'_, str>| order.iter().position(|other| other == title));
    (columns, hidden)
}

/// Fills a grid. Returns true if it has a header, which requires a title.
pub(crate) fn fill(grid: &mut Grid, columns: &[Column], cell: impl Fn(&str) -> String) -> bool {
    let header = columns.iter().any(|column| !column.title.is_empty());
    if header {
        grid.set_header(columns.iter().map(|column| &column.title));
    }
    let rows = columns.first().map_or(0, |column| column.cells.len());
    for row in 0..rows {
        grid.add_row(columns.iter().map(|column| cell(&column.cells[row])));
    }
    for (shown, column) in grid.column_iter_mut().zip(columns) {
        shown.set_cell_alignment(match column.is_number {
            true => CellAlignment::Right,
            false => CellAlignment::Left,
        });
    }
    header
}
