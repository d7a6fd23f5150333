//! The page's part about two runs or two builds: what changed.

use std::borrow::Cow;

use rpcbench_record::Header;
use serde::Serialize;

use super::Comparison;
use super::names::named;
use super::page::{RunView, typed};
use super::part::{KindView, PartView};
use crate::changes::view::columns;
use crate::changes::words::{name, origin};
use crate::changes::{Change, Changes};
use crate::document::{Document, Tone};
use crate::format;
use crate::words::began;

/// Name of this view among those of the runs.
const NAME: &str = "changes";

/// What figures and words mean.
const HOW_TO_READ: [&str; 4] = [
    "old, new: as each run's own report shows them",
    "change: the new value over the old one, of geometric means over processes; corrected for the machine if the table has those",
    "95 % range: where the change lies; all ranges on this page hold at once",
    "finding: faster or slower if the range excludes no change; slightly so if all of it lies within the precision; same if \
     the change surely lies within it; else can't tell",
];

/// What changed, a row per figure of a cell.
#[derive(Serialize)]
pub(super) struct ChangesView {
    /// Difference up to which two values count as the same, a share.
    precision_share: f64,
    /// Titles, and whether the cells are numbers.
    columns: Vec<(Cow<'static, str>, bool)>,
    rows: Vec<ChangeView>,
}

#[derive(Serialize)]
struct ChangeView {
    /// Unique in the table.
    name: String,
    /// One per column.
    texts: Vec<String>,
    /// The new value divided by the old one, minus 1.
    change_share: f64,
    /// The ends of the change's range.
    range: Option<[f64; 2]>,
    worth: Tone,
}

/// The first view of a page that shows changes.
pub(super) fn view(comparison: &Comparison<'_>) -> RunView {
    let Comparison { changes, arguments } = comparison;
    let document = Document::of_changes(changes);
    let part = |part| PartView {
        changes: Some(ChangesView::of(changes)),
        ..PartView::of(KindView::Changes, NAME, part)
    };
    RunView {
        name: NAME.to_owned(),
        started: began(&changes.new),
        parts: document.parts.into_iter().map(part).collect(),
        warnings: document.warnings,
        how_to_read: HOW_TO_READ.map(str::to_owned).to_vec(),
        command: typed(arguments),
        origin: facts(changes),
        processes: Vec::new(),
        calls: Vec::new(),
    }
}

fn facts(changes: &Changes) -> Vec<(&'static str, String)> {
    let run = |header: &Header| format!("{}, {}", origin(header), header.id);
    let (old, new) = (run(&changes.old), run(&changes.new));
    let mut facts = vec![("precision", format::percent(changes.precision))];
    match changes.builds {
        Some(_) => facts.push(("run", new)),
        None => facts.extend([("old run", old), ("new run", new)]),
    }
    facts
}

impl ChangesView {
    fn of(changes: &Changes) -> Self {
        let columns = columns(&changes.rows);
        let texts = |row: usize| {
            columns.iter().filter_map(|it| it.cells.get(row)).map(|text| named(text)).collect()
        };
        let view = |(row, change): (usize, &Change)| ChangeView {
            name: name(change, &changes.rows),
            texts: texts(row),
            change_share: change.ratio - 1.0,
            range: change.range.map(|range| [range.low - 1.0, range.high - 1.0]),
            worth: change.tone(),
        };
        Self {
            precision_share: changes.precision,
            rows: changes.rows.iter().enumerate().map(view).collect(),
            columns: columns.iter().map(|it| (it.title.clone(), it.is_number)).collect(),
        }
    }
}
