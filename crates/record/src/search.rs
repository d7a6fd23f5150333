//! A search for the highest rate at which a threshold holds.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arrivals::PerSecond;
use crate::threshold::Threshold;
use crate::trial::Measured;

/// A finished search for the highest rate that meets a threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Search {
    /// Condition that a rate must meet.
    pub threshold: Threshold,
    /// Target distance between the highest rate that met the threshold and the lowest that did not, as a share of the former.
    pub precision: f64,
    /// The rates tried, in order. Each was tried once.
    pub steps: Vec<SearchStep>,
}

/// One rate of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchStep {
    /// Calls due per second.
    #[serde(with = "calls_per_s")]
    #[schemars(with = "f64")]
    pub rate: PerSecond,
    /// Windows measured at this rate, in order.
    pub windows: Vec<Measured>,
    /// Verdict on these windows together.
    pub verdict: StepVerdict,
}

/// Whether a rate met the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepVerdict {
    /// The rate met the threshold.
    Met,
    /// The rate did not meet the threshold, or this is unclear.
    NotMet(NotMet),
}

/// Why a rate did not meet the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotMet {
    /// The figure exceeds the limit.
    Beyond,
    /// Still undecided after the maximum number of windows.
    Unclear,
    /// More than 1 % of the calls did not end `ok`.
    Failing,
    /// The server finished fewer calls than came due.
    Overloaded,
    /// The client fell behind its schedule: the client's limit, not the server's.
    GeneratorLate,
    /// A load thread was saturated: the client's limit, not the server's.
    ClientBound,
}

impl StepVerdict {
    /// True if the client fell short, so that the step says nothing about the server.
    pub fn is_clients(self) -> bool {
        matches!(self, Self::NotMet(why) if why.is_clients())
    }
}

impl NotMet {
    /// True if the limit is the client's, so that it says nothing about the server.
    pub fn is_clients(self) -> bool {
        matches!(self, Self::GeneratorLate | Self::ClientBound)
    }

    /// What fell short on the client's side, as the continuation of `can't tell`.
    pub fn clients_reason(self) -> Option<&'static str> {
        match self {
            Self::GeneratorLate => Some("the client was late"),
            Self::ClientBound => Some("the client had no CPU left"),
            _ => None,
        }
    }
}

impl Search {
    /// The highest rate that met the threshold. `None` if no rate did.
    pub fn met(&self) -> Option<&SearchStep> {
        self.steps.iter().filter(|s| s.verdict == StepVerdict::Met).max_by_key(|s| s.rate)
    }

    /// The lowest rate that did not meet the threshold. `None` if all did.
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

/// Serializes a rate as a number of calls per second.
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
            .ok_or_else(|| D::Error::custom(format!("{calls} is not a rate in calls per second")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(rate: f64, verdict: StepVerdict) -> SearchStep {
        SearchStep { rate: PerSecond::new(rate).unwrap(), windows: Vec::new(), verdict }
    }

    #[test]
    fn search_brackets_highest_met_and_lowest_unmet_rate() {
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
