//! Conditions on the figures of a window: `p99<10ms`, `errors>0.1%`.

use std::fmt;
use std::str::FromStr;

use rpcbench_stats::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arrivals::PerSecond;
use crate::trial::Measured;
use crate::units::{self, ParseError};

/// A figure of a measured window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// A quantile of response time over all calls that came due, in millionths: 990,000 is p99. Calls that did not end `ok`
    /// rank above all others.
    Quantile(u32),
    /// Mean response time; infinite if a call did not end `ok`.
    Mean,
    /// Largest response time; infinite if a call did not end `ok`.
    Max,
    /// Share of the calls that came due and did not end `ok`.
    Errors,
    /// Calls per second that ended `ok`: see [`Measured::ok_per_s`].
    Rate,
}

/// The side of the limit on which a figure must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Below it.
    Below,
    /// Above it.
    Above,
}

/// A condition on a window: a figure, a comparison and a limit. `--find-max` requires it to be true, `--fail-if` to be false.
///
/// Written `p99<10ms`, `p99.9 < 1s`, `mean>500us`, `max<2s`, `errors>0.1%` or `rate<20k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct Threshold {
    figure: Figure,
    comparison: Comparison,
    limit: Limit,
}

/// A limit in the unit of its figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    /// Nanoseconds.
    Time(u64),
    /// Millionths.
    Share(u32),
    /// Calls per second.
    Rate(PerSecond),
}

impl Figure {
    /// The figure's value in a window: nanoseconds for times, a share from 0 to 1 for errors, calls per second for the rate. A
    /// time is infinite if it reaches into calls that did not end `ok`. `None` if no call came due or the histogram can't be
    /// read.
    pub fn of(self, window: &Measured) -> Option<f64> {
        let (calls, errors) = (window.outcomes.total(), window.outcomes.errors());
        if calls == 0 || window.window_ns == 0 {
            return None;
        }
        let bounded = |time: f64| if errors > 0 { f64::INFINITY } else { time };
        let latency = window.latency.as_ref();
        match self {
            Self::Quantile(millionths) => quantile(window, millionths),
            Self::Mean => Some(latency.map_or(f64::INFINITY, |l| bounded(l.mean_ns))),
            Self::Max => Some(latency.map_or(f64::INFINITY, |l| bounded(l.max_ns as f64))),
            Self::Errors => Some(errors as f64 / calls as f64),
            Self::Rate => window.ok_per_s(),
        }
    }

    /// True if the figure is a time.
    pub fn is_time(self) -> bool {
        matches!(self, Self::Quantile(_) | Self::Mean | Self::Max)
    }
}

/// The response time of rank `ceil(q x calls)` among all calls that came due, with those that did not end `ok` last.
fn quantile(window: &Measured, millionths: u32) -> Option<f64> {
    let calls = window.outcomes.total();
    let rank = (u128::from(calls) * u128::from(millionths)).div_ceil(1_000_000).max(1) as u64;
    if rank > window.outcomes.ok {
        return Some(f64::INFINITY);
    }
    let latency = window.latency.as_ref()?;
    let found = Histogram::from_base64(&latency.histogram).ok()?.at_rank(rank)?;
    Some(found.min(latency.max_ns) as f64)
}

impl Threshold {
    /// The figure it limits.
    pub fn figure(self) -> Figure {
        self.figure
    }

    /// The side of the limit on which the figure must be.
    pub fn comparison(self) -> Comparison {
        self.comparison
    }

    /// The limit in the unit of [`Figure::of`].
    pub fn limit(self) -> f64 {
        match self.limit {
            Limit::Time(ns) => ns as f64,
            Limit::Share(millionths) => f64::from(millionths) / 1e6,
            Limit::Rate(rate) => rate.get(),
        }
    }

    /// True if the threshold holds in a window. `None` as for [`Figure::of`].
    pub fn holds(self, window: &Measured) -> Option<bool> {
        self.figure.of(window).map(|value| self.admits(value))
    }

    /// True if a value of the figure is on the required side of the limit. The limit itself is not.
    pub fn admits(self, value: f64) -> bool {
        match self.comparison {
            Comparison::Below => value < self.limit(),
            Comparison::Above => value > self.limit(),
        }
    }

    /// True if more load can only break the threshold, so that there is a highest load at which it holds: a time or errors below
    /// a limit.
    pub fn bounds_load(self) -> bool {
        self.comparison == Comparison::Below && self.figure != Figure::Rate
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quantile(millionths) => f.pad(&format!("p{}", f64::from(*millionths) / 1e4)),
            Self::Mean => f.pad("mean"),
            Self::Max => f.pad("max"),
            Self::Errors => f.pad("errors"),
            Self::Rate => f.pad("rate"),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(ns) => f.write_str(&units::exact_ns(*ns)),
            Self::Share(millionths) => write!(f, "{}%", f64::from(*millionths) / 1e4),
            Self::Rate(rate) => rate.fmt(f),
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.comparison {
            Comparison::Below => '<',
            Comparison::Above => '>',
        };
        f.pad(&format!("{}{sign}{}", self.figure, self.limit))
    }
}

impl FromStr for Threshold {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let refused = |why: String| ParseError(format!("'{text}'{why}"));
        let form = || {
            refused(
                " is not a threshold; expected FIGURE<LIMIT or FIGURE>LIMIT, such as 'p99<10ms', 'errors>0.1%' or \
                 'rate<20k'"
                    .to_owned(),
            )
        };
        let at = text.find(['<', '>']).ok_or_else(form)?;
        let (figure, rest) = text.split_at(at);
        let (figure, sign, limit) = (figure.trim(), &rest[..1], rest[1..].trim());
        if figure.is_empty() || limit.is_empty() {
            return Err(form());
        }
        let comparison = if sign == "<" { Comparison::Below } else { Comparison::Above };
        let figure = parse_figure(figure).ok_or_else(|| {
            refused(format!(
                ": unknown figure '{figure}'; expected p50, p90, p99, p99.9 (any pN below 100, to four decimals), \
                 mean, max, errors or rate"
            ))
        })?;
        let limit = parse_limit(figure, limit).map_err(|expected| {
            refused(format!(": '{limit}' is not a limit for {figure}; expected {expected}"))
        })?;
        let parsed = Self { figure, comparison, limit };
        let possible = match comparison {
            Comparison::Below => parsed.limit() > 0.0,
            Comparison::Above => figure != Figure::Errors || parsed.limit() < 1.0,
        };
        let never = || refused(" can never be true; give another limit".to_owned());
        possible.then_some(parsed).ok_or_else(never)
    }
}

fn parse_figure(text: &str) -> Option<Figure> {
    match text {
        "mean" => Some(Figure::Mean),
        "max" => Some(Figure::Max),
        "errors" => Some(Figure::Errors),
        "rate" => Some(Figure::Rate),
        _ => {
            let millionths = millionths(units::decimal(text.strip_prefix('p')?)?)?;
            (1..1_000_000).contains(&millionths).then_some(Figure::Quantile(millionths))
        }
    }
}

/// The limit, or a description of what is expected.
fn parse_limit(figure: Figure, text: &str) -> Result<Limit, &'static str> {
    match figure {
        Figure::Errors => units::percentage(text)
            .and_then(millionths)
            .map(Limit::Share)
            .ok_or("a share of all calls from 0% to 100%, such as 0.1%"),
        Figure::Rate => {
            text.parse().map(Limit::Rate).map_err(|_| "calls a second, such as 500 or 20k")
        }
        Figure::Quantile(_) | Figure::Mean | Figure::Max => units::time_ns(text)
            .map(Limit::Time)
            .ok_or("a time with its unit, such as 500us, 10ms or 1.5s"),
    }
}

/// A percentage in millionths. `None` unless it is from 0 to 100 with at most four decimals.
fn millionths(percentage: f64) -> Option<u32> {
    let millionths = percentage * 1e4;
    let whole = millionths.round();
    ((millionths - whole).abs() < 1e-4 && whole <= 1e6).then_some(whole as u32)
}

serialize_as_text!(Threshold);

#[cfg(test)]
mod tests;
