//! The catalog: every figure and every label of a row, once. Tables for people, CSV, JSON, its JSON Schema and the
//! list in `docs/method.md` are made from it.

mod figures;
mod list;
mod subject;
mod value;

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
    /// Name in exports. It ends in its unit, and stays the same within a schema version.
    pub(crate) key: &'static str,
    pub(crate) unit: Unit,
    /// One sentence without its full stop.
    pub(crate) meaning: &'static str,
    of: Of,
    /// `None`: in exports only.
    pub(crate) column: Option<Column>,
}

/// What a figure is read from, which decides where it is exported.
#[derive(Clone, Copy)]
pub(crate) enum Of {
    /// The run that a row is of: where, under which limits and by what it was measured.
    Run(fn(&Header) -> Option<Value>),
    /// Any row of a run: what was measured.
    Any(fn(&Subject) -> Option<Value>),
    /// A cell.
    Cell(fn(&Row) -> Option<Value>),
    /// A trial, whether or not it was measured to its end.
    Trial(fn(&Trial) -> Option<Value>),
    /// One window or more, taken together: those of a cell, or that of a trial.
    Windows(fn(&Figures) -> Option<Value>),
    /// The window of a trial.
    Window(fn(&Window) -> Option<Value>),
}

/// Where rows are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Export {
    /// A row is a cell.
    Cells,
    /// A row is a trial.
    Trials,
    /// A row is a window: only what it has of itself, and of its run.
    Windows,
}

impl Of {
    fn is_in(self, export: Export) -> bool {
        match self {
            Self::Any(_) => export != Export::Windows,
            Self::Cell(_) => export == Export::Cells,
            Self::Trial(_) => export == Export::Trials,
            Self::Run(_) | Self::Windows(_) => true,
            Self::Window(_) => export != Export::Cells,
        }
    }
}

/// How a figure stands in tables for people.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    pub(crate) title: &'static str,
    pub(crate) place: Place,
    ranking: Option<Shown>,
    curve: Option<Shown>,
    /// In a ranking unless asked for: only where this is what entries are ranked by.
    pub(crate) ranks: Option<RankedBy>,
    /// Only where rows differ in it.
    pub(crate) if_rows_differ: bool,
    /// Only where a row has it.
    pub(crate) if_known: bool,
    /// Where the unit's own way of writing it won't do.
    text: Option<fn(&Subject) -> Option<String>>,
}

/// Columns with the highest number go first where a terminal is narrow; 0 never goes.
pub(crate) type Spare = u8;

/// When a table has a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Where there is room for it.
    Usually(Spare),
    /// In wide tables.
    Wide,
}

/// From left to right; columns of one place stand in the order of the catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
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
    Figure { key, unit, meaning, of, column: None }
}

impl Figure {
    /// A column, in the tables that the calls after it name.
    const fn column(self, title: &'static str, place: Place) -> Self {
        let column = Column {
            title,
            place,
            ranking: None,
            curve: None,
            ranks: None,
            if_rows_differ: false,
            if_known: false,
            text: None,
        };
        Self { column: Some(column), ..self }
    }

    const fn ranking(mut self, spare: Spare) -> Self {
        if let Some(column) = &mut self.column {
            column.ranking = Some(Shown::Usually(spare));
        }
        self
    }

    /// In wide rankings.
    const fn wide(mut self) -> Self {
        if let Some(column) = &mut self.column {
            column.ranking = Some(Shown::Wide);
        }
        self
    }

    const fn ranks(mut self, by: RankedBy) -> Self {
        if let Some(column) = &mut self.column {
            column.ranks = Some(by);
        }
        self
    }

    const fn curve(mut self, spare: Spare) -> Self {
        if let Some(column) = &mut self.column {
            column.curve = Some(Shown::Usually(spare));
        }
        self
    }

    const fn if_rows_differ(mut self) -> Self {
        if let Some(column) = &mut self.column {
            column.if_rows_differ = true;
        }
        self
    }

    const fn if_known(mut self) -> Self {
        if let Some(column) = &mut self.column {
            column.if_known = true;
        }
        self
    }

    const fn text(mut self, text: fn(&Subject) -> Option<String>) -> Self {
        if let Some(column) = &mut self.column {
            column.text = Some(text);
        }
        self
    }

    /// Whether it is a number that a window of load has, and that a change of the server would change.
    pub(crate) fn is_measured(&self) -> bool {
        let ranks = self.column.is_some_and(|column| column.ranks.is_some());
        let measured = ranks || matches!(self.of, Of::Windows(_) | Of::Window(_));
        measured && self.unit.is_number()
    }

    /// What stands above its column.
    pub(crate) fn title(&self) -> &'static str {
        self.column.map_or(self.key, |column| column.title)
    }

    /// Its value. `None` where it is not known, or the row has no such figure.
    pub(crate) fn value(&self, subject: &Subject) -> Option<Value> {
        match self.of {
            Of::Run(of) => of(subject.header),
            Of::Any(of) => of(subject),
            Of::Cell(of) => of(subject.cell?),
            Of::Trial(of) => of(subject.trial?),
            Of::Windows(of) => of(subject.figures.as_deref()?),
            Of::Window(of) => of(subject.window.as_ref()?),
        }
    }

    /// Its value as people read it.
    pub(crate) fn shown(&self, subject: &Subject) -> Option<String> {
        match self.column.and_then(|column| column.text) {
            Some(text) => text(subject),
            None => Some(self.unit.show(&self.value(subject)?)),
        }
    }
}

impl Column {
    /// `None`: it is not in tables of this kind, unless asked for.
    pub(crate) fn shown(&self, kind: Kind) -> Option<Shown> {
        match kind {
            Kind::Ranking => self.ranking,
            Kind::Curve => self.curve,
        }
    }
}

/// The figures of an export, in order.
pub(crate) fn exported(export: Export) -> impl Iterator<Item = &'static Figure> {
    FIGURES.iter().filter(move |figure| figure.of.is_in(export))
}

/// A row of an export.
pub(crate) fn row(export: Export, subject: &Subject) -> Values {
    Values(exported(export).map(|figure| (figure.key, figure.value(subject))).collect())
}

/// What a row tells of its run.
pub(crate) fn run_values(header: &Header) -> Values {
    let value = |figure: &Figure| match figure.of {
        Of::Run(of) => Some((figure.key, of(header))),
        _ => None,
    };
    Values(FIGURES.iter().filter_map(value).collect())
}

/// The JSON Schema of a row.
pub(crate) fn row_schema(export: Export) -> serde_json::Value {
    let property = |figure: &Figure| {
        let types = [figure.unit.json_type(), "null"];
        let schema = serde_json::json!({ "type": types, "description": figure.meaning });
        (figure.key.to_owned(), schema)
    };
    let properties: serde_json::Map<_, _> = exported(export).map(property).collect();
    serde_json::json!({
        "type": "object",
        "properties": properties,
        "required": keys(export),
        "additionalProperties": false,
    })
}

/// The names of an export's fields, in order.
pub(crate) fn keys(export: Export) -> Vec<&'static str> {
    exported(export).map(|figure| figure.key).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_key_stands_twice() {
        let keys: BTreeSet<&str> = FIGURES.iter().map(|figure| figure.key).collect();
        assert_eq!(keys.len(), FIGURES.len());
    }

    /// How keys of a unit end; a rate for each second of CPU time ends in `_s` as well.
    fn suffix(unit: Unit) -> &'static str {
        match unit {
            Unit::Nanoseconds => "_ns",
            Unit::Milliseconds => "_ms",
            Unit::Seconds | Unit::PerSecond => "_s",
            Unit::Bytes => "_bytes",
            Unit::Share => "_share",
            Unit::Count | Unit::Word | Unit::Flag => "",
        }
    }

    #[test]
    fn no_title_stands_twice() {
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
    fn meanings_are_sentences_without_their_full_stop() {
        for figure in FIGURES {
            let (first, last) = (figure.meaning.chars().next(), figure.meaning.chars().last());
            assert!(first.is_some_and(|c| !c.is_lowercase()), "{}", figure.key);
            assert!(last.is_some_and(|c| c != '.'), "{}", figure.key);
        }
    }
}
