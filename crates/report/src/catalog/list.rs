//! The catalog as a list: a part of `docs/fields.md`.

use super::{FIGURES, Figure, RowKind};

/// Every figure of the exports, as a Markdown table ending in a line feed.
pub fn figure_list() -> String {
    let head = "| field | unit | in | column | meaning |\n|---|---|---|---|---|\n";
    std::iter::once(head.to_owned()).chain(FIGURES.iter().map(line)).collect()
}

fn line(figure: &Figure) -> String {
    let places = match (figure.of.is_in(RowKind::Cells), figure.of.is_in(RowKind::Trials)) {
        (true, true) => "cells, trials",
        (true, false) => "cells",
        _ => "trials",
    };
    let column = figure.column.map_or("", |column| column.title);
    let (key, unit, meaning) = (figure.key, figure.unit.name(), figure.meaning);
    format!("| `{key}` | {unit} | {places} | {column} | {meaning} |\n")
}
