//! `rpcbench list --matrix`: a Markdown table, with the reasons why servers are missing.

use comfy_table::{Cell, Table, presets};
use rpcbench_harness::manifest::{Matrix, MatrixCell, MatrixRow};
use rpcbench_record::Protocol;

/// The table, followed by the reasons.
pub fn text(matrix: &Matrix) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    let names = matrix.protocols.iter().map(ToString::to_string);
    let names = std::iter::once("language".to_owned()).chain(names);
    table.set_header(names.chain(["with TLS".to_owned()]));
    for row in &matrix.rows {
        let cells = std::iter::once(Cell::new(&row.language)).chain(row.cells.iter().map(cell));
        table.add_row(cells.chain([listed(&row.with_tls)]));
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
        MatrixCell::Servers(names) => listed(names),
        MatrixCell::Missing(_) => listed(&[]),
    }
}

fn listed(names: &[String]) -> Cell {
    Cell::new(if names.is_empty() { "-".to_owned() } else { names.join(", ") })
}

/// `- Swift, grpc, json: ...`: a line for each reason of a language.
fn reasons(matrix: &Matrix) -> Vec<String> {
    matrix.rows.iter().flat_map(|row| reasons_of(row, &matrix.protocols)).collect()
}

fn reasons_of(row: &MatrixRow, protocols: &[Protocol]) -> Vec<String> {
    let mut lacking: Vec<(&str, Vec<String>)> = Vec::new();
    for (protocol, cell) in protocols.iter().zip(&row.cells) {
        let MatrixCell::Missing(Some(reason)) = cell else { continue };
        match lacking.iter_mut().find(|(known, _)| known == reason) {
            Some((_, protocols)) => protocols.push(protocol.to_string()),
            None => lacking.push((reason, vec![protocol.to_string()])),
        }
    }
    let line = |(reason, protocols): (&str, Vec<String>)| {
        format!("- {}, {}: {reason}", row.language, protocols.join(", "))
    };
    let without_tls = |(server, reason): &(String, String)| format!("- {server}, TLS: {reason}");
    lacking.into_iter().map(line).chain(row.without_tls.iter().map(without_tls)).collect()
}
