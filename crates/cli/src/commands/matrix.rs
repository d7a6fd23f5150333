//! `rpcbench list --matrix`: a table that is Markdown too, and what is in the way of the servers that are missing.

use comfy_table::{Cell, Table, presets};
use rpcbench_harness::manifest::{Matrix, MatrixCell};

/// Two paragraphs.
pub fn text(matrix: &Matrix) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    let names = matrix.protocols.iter().map(ToString::to_string);
    table.set_header(std::iter::once("language".to_owned()).chain(names));
    for row in &matrix.rows {
        let cells = row.cells.iter().map(cell);
        table.add_row(std::iter::once(Cell::new(&row.language)).chain(cells));
    }
    let reasons = reasons(matrix);
    if reasons.is_empty() {
        table.to_string()
    } else {
        format!("{table}\n\n{}", reasons.join("\n"))
    }
}

fn cell(cell: &MatrixCell) -> Cell {
    match cell {
        MatrixCell::Servers(names) => Cell::new(names.join(", ")),
        MatrixCell::Missing(_) => Cell::new("-"),
    }
}

/// `- C++, json: ...`
fn reasons(matrix: &Matrix) -> Vec<String> {
    let mut reasons = Vec::new();
    for row in &matrix.rows {
        for (protocol, cell) in matrix.protocols.iter().zip(&row.cells) {
            if let MatrixCell::Missing(Some(reason)) = cell {
                reasons.push(format!("- {}, {protocol}: {reason}", row.language));
            }
        }
    }
    reasons
}
