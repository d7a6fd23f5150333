//! The columns of a table: those that are in it, were asked for, and fit.

use std::fmt;
use std::str::FromStr;

use comfy_table::{CellAlignment, Table as Grid};

use crate::catalog::{Export, FIGURES, Figure, Kind, Shown, Spare, Subject, exported};
use crate::format::NOTHING;

/// Which columns a table for people has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Columns {
    /// Those that a reader needs first, as many as there is room for.
    #[default]
    Few,
    /// All that there are.
    Wide,
    /// These, in this order.
    Chosen(Vec<ColumnName>),
}

/// A column by its title, or by the field that exports have.
#[derive(Clone, Copy)]
pub struct ColumnName(pub(crate) &'static Figure);

impl ColumnName {
    /// Every name, in the order of the catalog: titles where columns have one.
    #[must_use]
    pub fn all() -> Vec<&'static str> {
        let mut titles: Vec<_> = exported(Export::Cells).map(Figure::title).collect();
        // The column `server` of tables, and the field that has the name alone.
        titles.dedup();
        titles
    }
}

impl fmt::Debug for ColumnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.key)
    }
}

impl PartialEq for ColumnName {
    fn eq(&self, other: &Self) -> bool {
        self.0.key == other.0.key
    }
}

impl Eq for ColumnName {}

/// There is no such column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no column '{name}'; there are: {}", ColumnName::all().join(", "))]
pub struct UnknownColumn {
    /// As typed.
    pub name: String,
}

impl FromStr for ColumnName {
    type Err = UnknownColumn;

    /// Titles come first: `server` is the column of that title, which has the variant too.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let called = |is: fn(&Figure) -> &'static str| {
            exported(Export::Cells).find(|figure| is(figure) == name)
        };
        let found = called(Figure::title).or_else(|| called(|figure| figure.key));
        found.map(Self).ok_or_else(|| UnknownColumn { name: name.to_owned() })
    }
}

/// A column of one table, with its cells.
pub(crate) struct Column {
    pub(crate) title: &'static str,
    pub(crate) is_number: bool,
    spare: Spare,
    pub(crate) cells: Vec<String>,
}

impl Column {
    /// One that never goes.
    pub(crate) fn new(title: &'static str, is_number: bool, cells: Vec<String>) -> Self {
        Self { title, is_number, spare: 0, cells }
    }

    /// Characters of its widest cell.
    fn room(&self) -> usize {
        let cells = self.cells.iter().map(|cell| cell.chars().count());
        cells.max().unwrap_or_default().max(self.title.chars().count())
    }

    pub(crate) fn alignment(&self) -> CellAlignment {
        if self.is_number { CellAlignment::Right } else { CellAlignment::Left }
    }
}

/// The columns of a table, in order.
pub(crate) fn columns(kind: Kind, rows: &[Subject], which: &Columns) -> Vec<Column> {
    if let Columns::Chosen(names) = which {
        return names.iter().map(|name| made(name.0, rows, 0)).collect();
    }
    let wide = *which == Columns::Wide;
    let mut placed: Vec<_> = FIGURES
        .iter()
        .filter_map(|figure| {
            let spare = spare(figure, kind, rows, wide)?;
            let column = made(figure, rows, spare);
            worth_its_place(figure, &column).then_some((figure.column?.place, column))
        })
        .collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, column)| column).collect()
}

/// How readily it goes. `None` where the table does not have it.
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

/// A figure that no row has is left out where others have its place, and so is one that tells no row from another where
/// that is all it is there for.
fn worth_its_place(figure: &Figure, column: &Column) -> bool {
    let Some(of) = figure.column else { return false };
    let differ = column.cells.windows(2).any(|pair| pair[0] != pair[1]);
    let empty = column.cells.iter().all(|cell| cell == NOTHING);
    (differ || !of.if_rows_differ) && !(empty && (of.ranks.is_some() || of.if_known))
}

fn made(figure: &Figure, rows: &[Subject], spare: Spare) -> Column {
    let shown = |row| figure.shown(row).unwrap_or_else(|| NOTHING.to_owned());
    Column {
        title: figure.title(),
        is_number: figure.unit.is_number(),
        spare,
        cells: rows.iter().map(shown).collect(),
    }
}

/// The columns that fit into a line of `width` characters with `gap` between them, and the titles of those that
/// do not.
pub(crate) fn fitting(
    mut columns: Vec<Column>,
    width: Option<usize>,
    gap: usize,
) -> (Vec<Column>, Vec<&'static str>) {
    let order: Vec<&str> = columns.iter().map(|column| column.title).collect();
    let limit = width.unwrap_or(usize::MAX - gap);
    let mut hidden = Vec::new();
    while columns.iter().map(|column| column.room() + gap).sum::<usize>() > limit + gap {
        let spare = columns.iter().enumerate().max_by_key(|(_, column)| column.spare);
        match spare {
            Some((at, column)) if column.spare > 0 => {
                hidden.push(column.title);
                columns.remove(at);
            }
            _ => break,
        }
    }
    hidden.sort_by_key(|title| order.iter().position(|other| other == title));
    (columns, hidden)
}

/// Fills a grid: a header, and a line for each row.
pub(crate) fn fill(grid: &mut Grid, columns: &[Column], cell: impl Fn(&str) -> String) {
    grid.set_header(columns.iter().map(|column| column.title));
    let rows = columns.first().map_or(0, |column| column.cells.len());
    for row in 0..rows {
        grid.add_row(columns.iter().map(|column| cell(&column.cells[row])));
    }
    for (shown, column) in grid.column_iter_mut().zip(columns) {
        shown.set_cell_alignment(column.alignment());
    }
}
