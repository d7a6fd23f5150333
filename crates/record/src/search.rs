//! A search for the highest rate under which a threshold holds, as it went.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arrivals::PerSecond;
use crate::threshold::Threshold;
use crate::trial::Measured;

/// A search that came to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Search {
    /// What was to hold.
    pub threshold: Threshold,
    /// How close, relative to the lower of the two, a rate that met it and one that did not were to come.
    pub precision: f64,
    /// Every rate that was tried, in order; none twice.
    pub steps: Vec<SearchStep>,
}

/// A rate that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchStep {
    /// Calls a second that came due.
    #[serde(with = "calls_per_s")]
    #[schemars(with = "f64")]
    pub rate: PerSecond,
    /// Its windows, in order.
    pub windows: Vec<Measured>,
    /// What they say together.
    pub verdict: StepVerdict,
}

/// Whether the threshold holds at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepVerdict {
    /// It does.
    Met,
    /// It can't be said to.
    NotMet(NotMet),
}

/// Why a rate did not meet its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotMet {
    /// The figure lies beyond the limit.
    Beyond,
    /// As many windows as are made were not enough to tell.
    Unclear,
    /// More than one call in a hundred did not end `ok`.
    Failing,
    /// The server ended fewer calls than came due.
    Overloaded,
    /// The client did not keep to its own schedule: its limit, not the server's.
    GeneratorLate,
    /// A load thread had no CPU left to give: its limit, not the server's.
    ClientBound,
}

impl NotMet {
    /// Whether it says something of the client, and nothing of the server.
    #[must_use]
    pub fn is_clients(self) -> bool {
        matches!(self, Self::GeneratorLate | Self::ClientBound)
    }
}

impl Search {
    /// The highest rate at which the threshold held. `None`: at none that was tried.
    #[must_use]
    pub fn met(&self) -> Option<&SearchStep> {
        self.steps.iter().filter(|s| s.verdict == StepVerdict::Met).max_by_key(|s| s.rate)
    }

    /// The lowest rate at which it did not. `None`: it held at all that were tried.
    #[must_use]
    pub fn unmet(&self) -> Option<&SearchStep> {
        self.steps.iter().filter(|s| s.verdict != StepVerdict::Met).min_by_key(|s| s.rate)
    }
}

impl fmt::Display for StepVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Met => f.pad("met"),
            Self::NotMet(why) => why.fmt(f),
        }
    }
}

impl fmt::Display for NotMet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Beyond => "beyond the limit",
            Self::Unclear => "unclear",
            Self::Failing => "errors",
            Self::Overloaded => "overloaded",
            Self::GeneratorLate => "generator late",
            Self::ClientBound => "client-bound",
        })
    }
}

/// A rate as a number of calls a second.
mod calls_per_s {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use crate::arrivals::PerSecond;

    pub fn serialize<S: Serializer>(rate: &PerSecond, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(rate.get())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PerSecond, D::Error> {
        let calls = f64::deserialize(from)?;
        PerSecond::new(calls)
            .ok_or_else(|| D::Error::custom(format!("{calls} is no rate in calls a second")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(rate: f64, verdict: StepVerdict) -> SearchStep {
        SearchStep { rate: PerSecond::new(rate).unwrap(), windows: Vec::new(), verdict }
    }

    #[test]
    fn the_bracket_is_the_highest_met_and_the_lowest_unmet() {
        let not = StepVerdict::NotMet(NotMet::Overloaded);
        let steps = vec![
            step(1000.0, StepVerdict::Met),
            step(2000.0, not),
            step(1500.5, StepVerdict::Met),
            step(1750.0, StepVerdict::NotMet(NotMet::Unclear)),
        ];
        let search = Search { threshold: "p99<10ms".parse().unwrap(), precision: 0.05, steps };
        assert_eq!(search.met().unwrap().rate.get(), 1500.5);
        assert_eq!(search.unmet().unwrap().rate.get(), 1750.0);
        let json = serde_json::to_string(&search).unwrap();
        assert!(json.contains(r#""rate":1500.5"#) && json.contains(r#""not_met":"overloaded""#));
        assert_eq!(serde_json::from_str::<Search>(&json).unwrap(), search);
        let none = Search { steps: Vec::new(), ..search };
        assert_eq!((none.met(), none.unmet()), (None, None));
    }
}
