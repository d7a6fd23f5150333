//! Tables for the terminal and for Markdown.

use clap::ValueEnum;
use comfy_table::{CellAlignment, Table, presets};

/// How tables are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Style {
    /// For a terminal
    Text,
    /// Markdown
    Markdown,
}

/// A table whose columns in `numbers` are aligned right.
pub fn table<const N: usize>(
    titles: &[&str; N],
    numbers: std::ops::Range<usize>,
    rows: impl Iterator<Item = [String; N]>,
    style: Style,
) -> Table {
    let mut table = Table::new();
    table.load_style(match style {
        Style::Text => presets::NOTHING,
        Style::Markdown => presets::ASCII_MARKDOWN,
    });
    table.set_header(titles);
    rows.for_each(|row| _ = table.add_row(row));
    for column in table.column_iter_mut().skip(numbers.start).take(numbers.len()) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
