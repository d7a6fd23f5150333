//! The catalog lists every figure and every label of a row once. Tables, CSV, JSON, its JSON Schema and `docs/fields.md` are
//! generated from it.

mod figures;
mod list;
mod subject;
mod value;

use std::fmt;

pub(crate) use figures::{FIGURES, ranked_by};
pub use list::figure_list;
pub(crate) use subject::{Subject, Window};
pub(crate) use value::{Unit, Value, Values};

use rpcbench_record::{Header, RankedBy, Trial};

use crate::figures::Figures;
use crate::row::Row;

/// A figure, or a label, of a row.
#[derive(Clone, Copy)]
pub(crate) struct Figure {
    /// Name in exports. It ends in its unit and stays the same within a schema version.
    pub(crate) key: &'static str,
    pub(crate) unit: Unit,
    /// One sentence without full stop.
    pub(crate) meaning: &'static str,
    of: Of,
    /// True if failed cells also have it: what was measured, and how calls ended.
    of_failed: bool,
    /// `None` for exports only.
    pub(crate) column: Option<Column>,
}

/// The source of a figure, which decides where it is exported.
#[derive(Clone, Copy)]
pub(crate) enum Of {
    /// The run: machine, limits, version.
    Run(fn(&Header) -> Option<Value>),
    /// Any row of a run: what was measured.
    Any(fn(&Subject) -> Option<Value>),
    Cell(fn(&Row) -> Option<Value>),
    /// A trial, whether or not it was measured to its end.
    Trial(fn(&Trial) -> Option<Value>),
    /// The windows of a cell, or the window of a trial.
    Windows(fn(&Figures) -> Option<Value>),
    Window(fn(&Window) -> Option<Value>),
}

/// The kind of an exported row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowKind {
    Cells,
    Trials,
    /// A window and its run, without the labels of a cell.
    Windows,
}

impl Of {
    fn is_in(self, kind: RowKind) -> bool {
        match self {
            Self::Any(_) => kind != RowKind::Windows,
            Self::Cell(_) => kind == RowKind::Cells,
            Self::Trial(_) => kind == RowKind::Trials,
            Self::Run(_) | Self::Windows(_) => true,
            Self::Window(_) => kind != RowKind::Cells,
        }
    }
}

/// A figure's column in tables for people.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    pub(crate) title: &'static str,
    pub(crate) slot: ColumnSlot,
    ranking: Option<Shown>,
    curve: Option<Shown>,
    /// Shown in a ranking only if entries are ranked by this.
    pub(crate) ranks: Option<RankedBy>,
    /// Shown only if rows differ in it.
    pub(crate) if_rows_differ: bool,
    /// Shown only if a row has it.
    pub(crate) if_known: bool,
    /// Limits of its values. Values are printed with enough digits to show which side of them they are on.
    limits: &'static [f64],
    /// Overrides how the unit formats a value.
    text: Option<fn(&Subject) -> Option<String>>,
}

/// Columns with the highest number are dropped first on a narrow terminal; 0 is never dropped.
pub(crate) type Spare = u8;

/// When a table has a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// If it fits.
    Usually(Spare),
    Wide,
}

/// The position of a column, from left to right. Columns of one slot are in the order of the catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ColumnSlot {
    Rank,
    Entry,
    Load,
    Speed,
    Figures,
    Verdict,
}

/// A kind of table for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Entries that compete.
    Ranking,
    /// Response times over load.
    Curve,
}

const fn figure(key: &'static str, unit: Unit, meaning: &'static str, of: Of) -> Figure {
    Figure { key, unit, meaning, of, of_failed: false, column: None }
}

const fn column(title: &'static str, slot: ColumnSlot) -> Column {
    let (ranking, curve, ranks, text) = (None, None, None, None);
    let (if_rows_differ, if_known, limits) = (false, false, &[]);
    Column { title, slot, ranking, curve, ranks, if_rows_differ, if_known, limits, text }
}

impl Column {
    const fn ranking(self, spare: Spare) -> Self {
        Self { ranking: Some(Shown::Usually(spare)), ..self }
    }

    const fn wide(self) -> Self {
        Self { ranking: Some(Shown::Wide), ..self }
    }

    const fn curve(self, spare: Spare) -> Self {
        Self { curve: Some(Shown::Usually(spare)), ..self }
    }

    const fn ranks(self, by: RankedBy) -> Self {
        Self { ranks: Some(by), ..self }
    }

    const fn if_rows_differ(self) -> Self {
        Self { if_rows_differ: true, ..self }
    }

    const fn if_known(self) -> Self {
        Self { if_known: true, ..self }
    }

    const fn near(self, limits: &'static [f64]) -> Self {
        Self { limits, ..self }
    }

    const fn text(self, text: fn(&Subject) -> Option<String>) -> Self {
        Self { text: Some(text), ..self }
    }

    /// When a kind of table shows the column. `None` if only on request.
    pub(crate) fn shown(&self, kind: Kind) -> Option<Shown> {
        match kind {
            Kind::Ranking => self.ranking,
            Kind::Curve => self.curve,
        }
    }
}

impl Figure {
    const fn column(self, column: Column) -> Self {
        Self { column: Some(column), ..self }
    }

    const fn of_failed(self) -> Self {
        Self { of_failed: true, ..self }
    }

    /// True if cells have the figure under every verdict: labels, settings, and the signs of a failure.
    fn is_in_failed_cells(&self) -> bool {
        match self.of {
            Of::Windows(_) | Of::Window(_) => self.of_failed,
            Of::Cell(_) => self.of_failed || self.unit == Unit::Word,
            Of::Run(_) | Of::Any(_) | Of::Trial(_) => true,
        }
    }

    /// True for a number measured over a window that a change to the server could affect.
    pub(crate) fn is_measured(&self) -> bool {
        let ranks = self.column.is_some_and(|column| column.ranks.is_some());
        let measured = ranks || matches!(self.of, Of::Windows(_) | Of::Window(_));
        measured && self.unit.is_number()
    }

    /// The title of its column, or else its key.
    pub(crate) fn title(&self) -> &'static str {
        self.column.map_or(self.key, |column| column.title)
    }

    /// The figure's value. `None` if it is unknown, if the row has no such figure, or if the cell failed.
    pub(crate) fn value(&self, subject: &Subject) -> Option<Value> {
        if self.is_withheld(subject) {
            return None;
        }
        match self.of {
            Of::Run(of) => of(subject.header),
            Of::Any(of) => of(subject),
            Of::Cell(of) => of(subject.cell?),
            Of::Trial(of) => of(subject.trial?),
            Of::Windows(of) => of(subject.figures.as_deref()?),
            Of::Window(of) => of(subject.window.as_ref()?),
        }
    }

    fn is_withheld(&self, subject: &Subject) -> bool {
        subject.cell.is_some_and(|cell| cell.verdict.is_failed()) && !self.is_in_failed_cells()
    }

    /// The value formatted for people.
    pub(crate) fn shown(&self, subject: &Subject) -> Option<String> {
        if self.is_withheld(subject) {
            return None;
        }
        match self.column.and_then(|column| column.text) {
            Some(text) => text(subject),
            None => {
                let limits = self.column.map_or(&[][..], |column| column.limits);
                Some(self.unit.show_near(&self.value(subject)?, limits))
            }
        }
    }
}

impl fmt::Debug for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)
    }
}

impl PartialEq for Figure {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Figure {}

/// The figures of a kind of row, in order.
pub(crate) fn exported(kind: RowKind) -> impl Iterator<Item = &'static Figure> {
    FIGURES.iter().filter(move |figure| figure.of.is_in(kind))
}

/// An exported row.
pub(crate) fn row(kind: RowKind, subject: &Subject) -> Values {
    Values(exported(kind).map(|figure| (figure.key, figure.value(subject))).collect())
}

/// The part of a row that describes its run.
pub(crate) fn run_values(header: &Header) -> Values {
    let value = |figure: &Figure| match figure.of {
        Of::Run(of) => Some((figure.key, of(header))),
        _ => None,
    };
    Values(FIGURES.iter().filter_map(value).collect())
}

pub(crate) fn row_schema(kind: RowKind) -> Value {
    let property = |figure: &Figure| {
        let types = [figure.unit.json_type(), "null"];
        let schema = serde_json::json!({ "type": types, "description": figure.meaning });
        (figure.key.to_owned(), schema)
    };
    let properties: serde_json::Map<_, _> = exported(kind).map(property).collect();
    serde_json::json!({
        "type": "object",
        "properties": properties,
        "required": keys(kind),
        "additionalProperties": false,
    })
}

/// The fields of a row, in order.
pub(crate) fn keys(kind: RowKind) -> Vec<&'static str> {
    exported(kind).map(|figure| figure.key).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn catalog_keys_are_unique() {
        let keys: BTreeSet<&str> = FIGURES.iter().map(|figure| figure.key).collect();
        assert_eq!(keys.len(), FIGURES.len());
    }

    /// Suffix of the keys of a unit. Rates per second of CPU time end in `_s` too.
    fn suffix(unit: Unit) -> &'static str {
        match unit {
            Unit::Nanoseconds => "_ns",
            Unit::Milliseconds => "_ms",
            Unit::Seconds | Unit::PerSecond => "_s",
            Unit::Bytes => "_bytes",
            Unit::Share => "_share",
            Unit::Count | Unit::Ratio | Unit::Money | Unit::Word | Unit::Flag => "",
        }
    }

    #[test]
    fn catalog_titles_are_unique() {
        let titles: Vec<&str> =
            FIGURES.iter().filter_map(|figure| Some(figure.column?.title)).collect();
        assert_eq!(titles.iter().collect::<BTreeSet<_>>().len(), titles.len(), "{titles:?}");
    }

    #[test]
    fn keys_end_in_their_unit() {
        let suffixes = ["_ns", "_ms", "_s", "_bytes", "_share"];
        for figure in FIGURES {
            let bare = figure.key.trim_end_matches("_low").trim_end_matches("_high");
            let ending = suffixes.into_iter().find(|suffix| bare.ends_with(suffix));
            assert_eq!(ending.unwrap_or(""), suffix(figure.unit), "{}", figure.key);
        }
    }

    #[test]
    fn every_column_is_in_a_table() {
        for column in FIGURES.iter().filter_map(|figure| figure.column) {
            let shown = column.shown(Kind::Ranking).or(column.shown(Kind::Curve));
            assert!(shown.is_some(), "{}", column.title);
        }
    }

    #[test]
    fn meanings_have_no_full_stop() {
        for figure in FIGURES {
            let (first, last) = (figure.meaning.chars().next(), figure.meaning.chars().last());
            assert!(first.is_some_and(|c| !c.is_lowercase()), "{}", figure.key);
            assert!(last.is_some_and(|c| c != '.'), "{}", figure.key);
        }
    }
}
