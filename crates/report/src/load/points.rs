//! The figures of one rate, each listed once.

use rpcbench_record::{Measured, SATURATED};

use super::curve::LoadPoint;
use super::tail::{AllCalls, Bound};
use crate::catalog::{Unit, Value, Values};
use crate::figures::Figures;
use crate::format::NOTHING;

pub(crate) struct PointFigure {
    pub(crate) key: &'static str,
    pub(crate) title: &'static str,
    pub(crate) unit: Unit,
    pub(crate) meaning: &'static str,
    /// True if tables for people show the figure.
    pub(crate) listed: bool,
    of: Of,
}

enum Of {
    Point(fn(&LoadPoint) -> Value),
    Windows(fn(&Figures) -> Value),
    /// A quantile over all calls; in millionths.
    Quantile(u32),
}

const QUANTILE: &str =
    "Percentile of response time over all calls, where failed calls count as infinitely slow";

const fn figure(
    key: &'static str,
    title: &'static str,
    unit: Unit,
    meaning: &'static str,
    of: Of,
) -> PointFigure {
    PointFigure { key, title, unit, meaning, listed: true, of }
}

const fn quantile(key: &'static str, title: &'static str, millionths: u32) -> PointFigure {
    figure(key, title, Unit::Nanoseconds, QUANTILE, Of::Quantile(millionths))
}

const fn unlisted(key: &'static str, meaning: &'static str, of: Of) -> PointFigure {
    PointFigure { listed: false, ..figure(key, key, Unit::Count, meaning, of) }
}

/// Every figure of a point, in order. The first is the rate.
#[rustfmt::skip]
pub(crate) static POINT: [PointFigure; 11] = [
    figure("rate_per_s", "rate", Unit::PerSecond, "Calls due per second", Of::Point(|p| p.rate.get().into())),
    figure("windows", "windows", Unit::Count, "Windows at that rate", Of::Point(|p| (p.windows.len() as u64).into())),
    figure("calls_per_s", "calls/s", Unit::PerSecond, "Calls that ended ok, per second", Of::Windows(|f| f.calls_per_s.value.into())),
    quantile("p50_ns", "p50", 500_000),
    quantile("p99_ns", "p99", 990_000),
    quantile("p999_ns", "p99.9", 999_000),
    unlisted("calls", "Calls that came due", Of::Windows(|f| f.outcomes.total().into())),
    unlisted("ok", "Calls answered correctly", Of::Windows(|f| f.outcomes.ok.into())),
    figure("error_share", "errors", Unit::Share, "Share of calls that did not end ok", Of::Windows(|f| f.outcomes.error_share().into())),
    figure("client_busiest_share", "client busy", Unit::Share, "CPU time of the busiest load thread, as a share of a CPU: includes waiting for a CPU, excludes busy-waiting", Of::Windows(|f| f.client.busiest_share.into())),
    figure("verdict", "verdict", Unit::Word, "What the figures are worth", Of::Point(|p| p.verdict.to_string().into())),
];

/// A point with its windows merged into one.
pub(crate) struct PointFigures<'a> {
    point: &'a LoadPoint,
    figures: Option<Figures>,
    all: Option<AllCalls>,
}

impl<'a> PointFigures<'a> {
    pub(crate) fn of(point: &'a LoadPoint) -> Self {
        let windows: Vec<&Measured> = point.windows.iter().collect();
        Self { point, figures: Figures::of(&windows, None), all: AllCalls::over(&windows) }
    }
}

impl PointFigure {
    pub(crate) fn value(&self, of: &PointFigures) -> Option<Value> {
        match &self.of {
            Of::Point(value) => Some(value(of.point)),
            Of::Windows(value) => of.figures.as_ref().map(value),
            Of::Quantile(millionths) => match of.all.as_ref()?.quantile(*millionths) {
                Bound::At(ns) => Some(ns.into()),
                Bound::Above(_) => None,
            },
        }
    }

    /// The value formatted for people.
    pub(crate) fn text(&self, of: &PointFigures) -> String {
        let text = match &self.of {
            Of::Quantile(q) => of.all.as_ref().map(|all| all.quantile(*q).to_string()),
            // Among shares, only the client's CPU use has a limit.
            Of::Point(_) | Of::Windows(_) => {
                self.value(of).map(|value| self.unit.show_near(&value, &[SATURATED]))
            }
        };
        text.unwrap_or_else(|| NOTHING.to_owned())
    }
}

/// One value per figure of [`POINT`].
pub(crate) fn values(point: &LoadPoint) -> Values {
    let figures = PointFigures::of(point);
    Values(POINT.iter().map(|figure| (figure.key, figure.value(&figures))).collect())
}

impl LoadPoint {
    /// One line for people: `12.3k: 12.3k calls/s, p50 1.20 ms, p99 3.40 ms, p99.9 5.00 ms, 0 % errors: ok`.
    pub fn line(&self) -> String {
        let figures = PointFigures::of(self);
        let [rate, _, calls, p50, p99, p999, _, _, errors, _, verdict] =
            POINT.each_ref().map(|figure| figure.text(&figures));
        format!(
            "{rate}: {calls} calls/s, p50 {p50}, p99 {p99}, p99.9 {p999}, {errors} errors: {verdict}"
        )
    }
}
