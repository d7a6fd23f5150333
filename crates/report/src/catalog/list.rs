//! The catalog as a list: a part of `docs/fields.md`.

use super::{FIGURES, Figure, RowKind, Unit};

/// Every figure of the exports, as a Markdown list. Percentiles of one distribution share an item.
pub fn figure_list() -> String {
    let same = |a: &Figure, b: &Figure| population(a).is_some() && population(a) == population(b);
    FIGURES.chunk_by(same).map(item).collect()
}

/// What a percentile is taken over.
fn population(figure: &Figure) -> Option<&'static str> {
    figure.meaning.split_once(" percentile of ").map(|(_, of)| of)
}

fn item(figures: &[Figure]) -> String {
    let keys = joined(figures.iter().map(|it| format!("`{}`", it.key)));
    let details = joined(details(figures).into_iter());
    let details = if details.is_empty() { details } else { format!(" ({details})") };
    let ranks = figures.iter().filter_map(|it| it.meaning.split_once(" percentile of "));
    let ranks = joined(ranks.map(|(rank, _)| rank.to_owned()));
    let meaning = match population(&figures[0]) {
        Some(of) => format!("{ranks} percentile of {of}"),
        None => figures[0].meaning.to_owned(),
    };
    format!("- {keys}{details}: {meaning}\n")
}

/// The unit of a number (unless it is a count or its name ends in the unit), the kind of row if only one has the figure, and the
/// columns.
fn details(figures: &[Figure]) -> Vec<String> {
    let first = &figures[0];
    let name = first.key.trim_end_matches("_low").trim_end_matches("_high");
    let has_unit = ["_ns", "_ms", "_per_s", "_bytes", "_share"].iter().any(|it| name.ends_with(it));
    let is_plain = has_unit || matches!(first.unit, Unit::Word | Unit::Count);
    let unit = (!is_plain).then(|| first.unit.name().to_owned());
    let rows = match (first.of.is_in(RowKind::Cells), first.of.is_in(RowKind::Trials)) {
        (true, true) => None,
        (true, false) => Some("cells".to_owned()),
        _ => Some("trials".to_owned()),
    };
    let titles: Vec<_> = figures.iter().filter_map(|it| Some(it.column?.title)).collect();
    let columns = (!titles.is_empty()).then(|| format!("column {}", titles.join(" ")));
    unit.into_iter().chain(rows).chain(columns).collect()
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}
