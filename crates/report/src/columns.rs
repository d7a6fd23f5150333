//! The columns of a table: those of the catalog that are in it, and fit.

use comfy_table::{CellAlignment, Table as Grid};

use crate::catalog::{FIGURES, Figure, Kind, Spare, Subject};
use crate::format::NOTHING;

/// A column of one table, with its cells.
pub(crate) struct Column {
    pub(crate) title: &'static str,
    pub(crate) is_number: bool,
    spare: Spare,
    pub(crate) cells: Vec<String>,
}

impl Column {
    /// Characters of its widest cell.
    fn room(&self) -> usize {
        let cells = self.cells.iter().map(|cell| cell.chars().count());
        cells.max().unwrap_or_default().max(self.title.chars().count())
    }

    pub(crate) fn alignment(&self) -> CellAlignment {
        if self.is_number { CellAlignment::Right } else { CellAlignment::Left }
    }
}

/// Every column of a table, in order.
pub(crate) fn columns(kind: Kind, rows: &[Subject]) -> Vec<Column> {
    let mut placed: Vec<_> = FIGURES
        .iter()
        .filter_map(|figure| Some((figure.column?.place, made(figure, kind, rows)?)))
        .collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, column)| column).collect()
}

/// `None` where the table does not have it.
fn made(figure: &Figure, kind: Kind, rows: &[Subject]) -> Option<Column> {
    let column = figure.column?;
    let spare = column.spare(kind)?;
    let shown = |row| figure.shown(row).unwrap_or_else(|| NOTHING.to_owned());
    let cells: Vec<String> = rows.iter().map(shown).collect();
    let differ = cells.windows(2).any(|pair| pair[0] != pair[1]);
    (differ || !column.if_rows_differ).then_some(Column {
        title: column.title,
        is_number: figure.unit.is_number(),
        spare,
        cells,
    })
}

/// The columns that fit into a line of `width` characters with `gap` between them, and the titles of those that
/// do not.
pub(crate) fn fitting(
    mut columns: Vec<Column>,
    width: Option<usize>,
    gap: usize,
) -> (Vec<Column>, Vec<&'static str>) {
    let order: Vec<&str> = columns.iter().map(|column| column.title).collect();
    let limit = width.unwrap_or(usize::MAX);
    let mut hidden = Vec::new();
    while columns.iter().map(|column| column.room() + gap).sum::<usize>() > limit {
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
pub(crate) fn fill(grid: &mut Grid, columns: &[Column], cell: fn(&str) -> String) {
    grid.set_header(columns.iter().map(|column| column.title));
    let rows = columns.first().map_or(0, |column| column.cells.len());
    for row in 0..rows {
        grid.add_row(columns.iter().map(|column| cell(&column.cells[row])));
    }
    for (shown, column) in grid.column_iter_mut().zip(columns) {
        shown.set_cell_alignment(column.alignment());
    }
}
