//! The figures that can be compared.

use std::fmt;
use std::str::FromStr;

use itertools::Itertools as _;
use rpcbench_record::{ParseError, RankedBy};
use rpcbench_stats::Finding;

use crate::catalog::{FIGURES, Figure, RowKind, Unit, exported, ranked_by};

/// A figure of trials, by its name in exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComparedFigure(pub(super) &'static Figure);

impl ComparedFigure {
    /// The figure that entries are ranked by.
    pub(crate) fn ranking(by: RankedBy) -> Self {
        let key = ranked_by(by);
        let found = FIGURES.iter().find(|figure| figure.key == key);
        Self(found.unwrap_or(&FIGURES[0]))
    }

    /// The ranking that uses this figure.
    pub(super) fn ranks(self) -> Option<RankedBy> {
        let all = [RankedBy::CallsPerCpuSecond, RankedBy::CallsPerSecond, RankedBy::HighestRate];
        all.into_iter().find(|by| ranked_by(*by) == self.key())
    }

    /// All measured figures of trials, and the figures that entries are ranked by.
    pub fn all() -> impl Iterator<Item = Self> {
        let of_trials = exported(RowKind::Trials).chain([Self::ranking(RankedBy::HighestRate).0]);
        of_trials.filter(|figure| figure.is_measured()).map(Self)
    }

    pub(crate) fn title(self) -> &'static str {
        self.0.title()
    }

    /// The name in exports.
    pub fn key(self) -> &'static str {
        self.0.key
    }

    /// Formats a value for people.
    pub(crate) fn show(self, value: f64) -> String {
        self.0.unit.show(&value.into())
    }

    /// A finding about the figure, in words.
    pub fn word(self, finding: Finding) -> &'static str {
        let [more, slightly_more, slightly_less, less] = match self.0.unit {
            Unit::PerSecond => ["faster", "slightly faster", "slightly slower", "slower"],
            Unit::Nanoseconds | Unit::Milliseconds | Unit::Seconds => {
                ["slower", "slightly slower", "slightly faster", "faster"]
            }
            _ => ["higher", "slightly higher", "slightly lower", "lower"],
        };
        match finding {
            Finding::Faster => more,
            Finding::SlightlyFaster => slightly_more,
            Finding::Equal => "same",
            Finding::SlightlySlower => slightly_less,
            Finding::Slower => less,
            Finding::Open => "can't tell",
        }
    }
}

impl fmt::Display for ComparedFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.key())
    }
}

impl FromStr for ComparedFigure {
    type Err = ParseError;

    fn from_str(name: &str) -> Result<Self, ParseError> {
        let name = name.trim();
        let found = Self::all().find(|figure| figure.key() == name || figure.0.title() == name);
        found.ok_or_else(|| {
            let known = Self::all().map(Self::key).join(", ");
            ParseError(format!("unknown figure '{name}'; expected one of {known}"))
        })
    }
}
