//! When calls come due.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{self, ParseError};

/// Calls per second over all connections, in thousandths of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PerSecond {
    thousandths: u64,
}

impl PerSecond {
    /// Converts from calls per second, rounded to a thousandth. `None` unless from 0.001 to 10^12.
    pub fn new(calls: f64) -> Option<Self> {
        let thousandths = (calls * 1e3).round();
        (1.0..=1e15).contains(&thousandths).then_some(Self { thousandths: thousandths as u64 })
    }

    /// Calls per second.
    pub fn get(self) -> f64 {
        self.thousandths as f64 / 1e3
    }

    /// Thousandths of a call per second; never 0.
    pub fn thousandths(self) -> u64 {
        self.thousandths
    }
}

/// A rate: absolute, or a share of the server's capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// This many calls per second.
    PerSecond(PerSecond),
    /// A share of the measured capacity in percent: 1 to 1000.
    OfCapacity(u32),
}

impl Rate {
    /// The rate for a server of this capacity, calls per second. `None` if it is too small.
    pub fn resolve(self, capacity: f64) -> Option<PerSecond> {
        match self {
            Self::PerSecond(rate) => Some(rate),
            Self::OfCapacity(percent) => PerSecond::new(capacity * f64::from(percent) / 100.0),
        }
    }
}

/// When calls come due. All but `closed` are open loops: calls come due at a given rate over all connections and client threads,
/// whether or not earlier calls have ended.
///
/// Written `closed`, `constant:1000`, `poisson:40%`, `ramp:100..1000/30s` or `steps:100..1000+100/5s`. A rate may end in `k` or
/// `M`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub enum Arrivals {
    /// A call comes due when the previous call on the same slot ends, without think time.
    Closed,
    /// At equal intervals.
    Constant {
        /// Calls per second.
        rate: Rate,
    },
    /// At exponentially distributed intervals.
    Poisson {
        /// Mean calls per second.
        rate: Rate,
    },
    /// At a rate that changes linearly and then stays.
    Ramp {
        /// Rate at the start of the window and in the warm-up before it.
        from: PerSecond,
        /// Rate from `over_ms` on.
        to: PerSecond,
        /// Length of the change, milliseconds.
        over_ms: u64,
    },
    /// At a rate that rises in steps and stays at `to`.
    Steps {
        /// Rate at the start of the window and in the warm-up before it.
        from: PerSecond,
        /// Rate of the last step; larger than `from`.
        to: PerSecond,
        /// Increase of each step.
        by: PerSecond,
        /// Length of a step, milliseconds.
        every_ms: u64,
    },
}

impl Arrivals {
    /// True if calls come due independently of earlier ones.
    pub fn is_open(self) -> bool {
        self != Self::Closed
    }

    /// The rate. `None` for processes without a single one: closed, ramp and steps.
    pub fn rate(self) -> Option<Rate> {
        match self {
            Self::Constant { rate } | Self::Poisson { rate } => Some(rate),
            Self::Closed | Self::Ramp { .. } | Self::Steps { .. } => None,
        }
    }

    /// The same arrival process at another rate. `None` for processes without a single one.
    pub fn at_rate(self, rate: Rate) -> Option<Self> {
        match self {
            Self::Constant { .. } => Some(Self::Constant { rate }),
            Self::Poisson { .. } => Some(Self::Poisson { rate }),
            Self::Closed | Self::Ramp { .. } | Self::Steps { .. } => None,
        }
    }

    /// True if the rate is a share of a capacity.
    pub fn needs_capacity(self) -> bool {
        matches!(self.rate(), Some(Rate::OfCapacity(_)))
    }

    /// The highest rate at which calls come due. `None` in a closed loop, and if the rate is a share of a capacity.
    pub fn peak(self) -> Option<PerSecond> {
        match self {
            Self::Ramp { from, to, .. } => Some(from.max(to)),
            Self::Steps { to, .. } => Some(to),
            Self::Closed | Self::Constant { .. } | Self::Poisson { .. } => match self.rate()? {
                Rate::PerSecond(rate) => Some(rate),
                Rate::OfCapacity(_) => None,
            },
        }
    }

    /// The same arrival process with its rate in calls per second. `None` if the share of `capacity` is too small.
    pub fn resolve(self, capacity: f64) -> Option<Self> {
        let Some(rate) = self.rate() else { return Some(self) };
        self.at_rate(Rate::PerSecond(rate.resolve(capacity)?))
    }
}

impl fmt::Display for PerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.get())
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerSecond(rate) => rate.fmt(f),
            Self::OfCapacity(percent) => write!(f, "{percent}%"),
        }
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("closed"),
            Self::Constant { rate } => write!(f, "constant:{rate}"),
            Self::Poisson { rate } => write!(f, "poisson:{rate}"),
            Self::Ramp { from, to, over_ms } => {
                write!(f, "ramp:{from}..{to}/{}", length(*over_ms))
            }
            Self::Steps { from, to, by, every_ms } => {
                write!(f, "steps:{from}..{to}+{by}/{}", length(*every_ms))
            }
        }
    }
}

fn refused(text: &str) -> ParseError {
    if let Some(problem) = near_miss(text) {
        return ParseError(format!("'{text}' {problem}"));
    }
    ParseError(format!(
        "'{text}' is not an arrival process; expected closed, constant:RATE, poisson:RATE, ramp:FROM..TO/LENGTH or \
         steps:FROM..TO+STEP/LENGTH, with rates in calls a second such as 500, 20k or (constant and poisson) 40% of \
         the measured capacity, and lengths such as 30s; steps must rise"
    ))
}

/// What is wrong with text that almost is an arrival process, and what to write instead.
fn near_miss(text: &str) -> Option<String> {
    let (kind, rest) = text.split_once(':')?;
    let (rates, has_length) = match (kind, rest.split_once('/')) {
        ("constant" | "poisson", _) => (rest, true),
        ("ramp" | "steps", None) => (rest, false),
        ("ramp" | "steps", Some((rates, _))) => (rates, true),
        _ => return None,
    };
    let mut rates = rates.split("..").flat_map(|part| part.split('+'));
    let zero = rates.any(|rate| units::rate(rate) == Some(0.0));
    let problems = [
        (zero, "has a rate of 0; give at least 0.001 calls/s"),
        (!has_length && kind == "ramp", "lacks the length of the ramp; add it, such as /30s"),
        (!has_length && kind == "steps", "lacks the length of a step; add it, such as /5s"),
    ];
    let found: Vec<_> =
        problems.iter().filter(|(found, _)| *found).map(|(_, text)| *text).collect();
    (!found.is_empty()).then(|| found.join(", and "))
}

/// Formats milliseconds exactly.
fn length(milliseconds: u64) -> String {
    units::exact_ns(milliseconds.saturating_mul(1_000_000))
}

impl FromStr for PerSecond {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let rate = units::rate(text).and_then(Self::new);
        rate.ok_or_else(|| refused(text))
    }
}

impl FromStr for Rate {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let Some(percent) = text.strip_suffix('%') else {
            return text.parse().map(Self::PerSecond);
        };
        let percent = percent.parse().ok().filter(|percent| (1..=1000).contains(percent));
        percent.map(Self::OfCapacity).ok_or_else(|| refused(text))
    }
}

impl FromStr for Arrivals {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let arrivals = match text.split_once(':') {
            None if text == "closed" => Some(Self::Closed),
            Some(("constant", rate)) => rate.parse().ok().map(|rate| Self::Constant { rate }),
            Some(("poisson", rate)) => rate.parse().ok().map(|rate| Self::Poisson { rate }),
            Some(("ramp", rest)) => ramp(rest),
            Some(("steps", rest)) => steps(rest),
            _ => None,
        };
        arrivals.ok_or_else(|| refused(text))
    }
}

fn ramp(text: &str) -> Option<Arrivals> {
    let (rates, over) = text.split_once('/')?;
    let (from, to) = rates.split_once("..")?;
    Some(Arrivals::Ramp { from: from.parse().ok()?, to: to.parse().ok()?, over_ms: millis(over)? })
}

fn steps(text: &str) -> Option<Arrivals> {
    let (rates, every) = text.split_once('/')?;
    let (from, rest) = rates.split_once("..")?;
    let (to, by) = rest.split_once('+')?;
    let (from, to, by): (PerSecond, PerSecond, PerSecond) =
        (from.parse().ok()?, to.parse().ok()?, by.parse().ok()?);
    (from < to).then_some(Arrivals::Steps { from, to, by, every_ms: millis(every)? })
}

fn millis(text: &str) -> Option<u64> {
    let length = units::duration(text).ok()?;
    u64::try_from(length.as_millis()).ok().filter(|ms| *ms > 0)
}

serialize_as_text!(Arrivals);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_round_trip_as_text() {
        for text in [
            "closed",
            "constant:1000",
            "constant:0.5",
            "poisson:40%",
            "poisson:20000",
            "ramp:100..1000/30s",
            "ramp:1000..10/1.5s",
            "steps:100..1000+100/5s",
        ] {
            let arrivals: Arrivals = text.parse().unwrap();
            assert_eq!(arrivals.to_string(), text);
            let json = serde_json::to_string(&arrivals).unwrap();
            assert_eq!(json, format!("\"{text}\""));
            assert_eq!(serde_json::from_str::<Arrivals>(&json).unwrap(), arrivals);
        }
        assert_eq!("ramp:1..2/1500ms".parse::<Arrivals>(), "ramp:1..2/1.5s".parse());
        assert_eq!("constant:20k".parse::<Arrivals>(), "constant:20000".parse());
        assert_eq!("constant:1.5M".parse::<Arrivals>(), "constant:1500000".parse());
    }

    #[test]
    fn arrival_process_takes_another_rate_where_it_has_one() {
        let arrivals = |text: &str| text.parse::<Arrivals>().unwrap();
        let at = |text: &str| arrivals(text).at_rate(Rate::OfCapacity(30));
        assert_eq!(at("poisson:10"), Some(arrivals("poisson:30%")));
        assert_eq!(at("constant:10%"), Some(arrivals("constant:30%")));
        for text in ["closed", "ramp:1..2/1s", "steps:1..2+1/1s"] {
            assert_eq!(at(text), None);
        }
    }

    #[test]
    fn arrivals_error_names_missing_part() {
        for (text, problem) in [
            ("ramp:0..50/30s", "has a rate of 0; give at least 0.001 calls/s"),
            (
                "ramp:0..50",
                "has a rate of 0; give at least 0.001 calls/s, and lacks the length of the ramp; add it, such as /30s",
            ),
            ("ramp:1..50", "lacks the length of the ramp; add it, such as /30s"),
            ("steps:1..50+5", "lacks the length of a step; add it, such as /5s"),
            ("steps:1..50+0/5s", "has a rate of 0; give at least 0.001 calls/s"),
            ("constant:0", "has a rate of 0; give at least 0.001 calls/s"),
            ("steps:50..1+5/5s", "must rise"),
        ] {
            let error = text.parse::<Arrivals>().unwrap_err().to_string();
            assert!(error.ends_with(problem), "{error}");
        }
    }

    #[test]
    fn arrivals_reject_other_text() {
        for text in [
            "",
            "open",
            "closed:1",
            "constant",
            "constant:",
            "constant:0",
            "constant:-1",
            "constant:inf",
            "constant:nan",
            "poisson:0%",
            "poisson:1001%",
            "ramp:10..20",
            "ramp:10..20/0s",
            "ramp:10%..20/1s",
            "steps:100..1000/5s",
            "steps:1000..100+100/5s",
            "steps:100..1000+0/5s",
        ] {
            assert!(text.parse::<Arrivals>().is_err(), "{text}");
        }
    }

    #[test]
    fn peak_is_highest_rate() {
        let peak = |text: &str| text.parse::<Arrivals>().unwrap().peak().map(PerSecond::get);
        assert_eq!(peak("constant:20k"), Some(20e3));
        assert_eq!(peak("ramp:1k..10/1s"), Some(1e3));
        assert_eq!(peak("steps:1..9+2/1s"), Some(9.0));
        assert_eq!([peak("closed"), peak("poisson:40%")], [None, None]);
    }

    #[test]
    fn capacity_share_resolves_to_rate() {
        let arrivals: Arrivals = "poisson:40%".parse().unwrap();
        assert!(arrivals.needs_capacity());
        assert_eq!(arrivals.resolve(2500.0), "poisson:1000".parse().ok());
        assert_eq!(arrivals.resolve(0.0), None);
        let closed = Arrivals::Closed;
        assert_eq!(closed.resolve(1.0), Some(closed));
    }
}
