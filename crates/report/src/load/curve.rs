//! Loads at several rates on one address: a search, or a sweep.

use std::fmt;

use rpcbench_record::{
    Arrivals, Header, Measured, NotMet, PerSecond, Protocol, Search, SearchStep, StepVerdict,
    Workload,
};
use serde::Serialize;

use super::tail::{AllCalls, Bound};
use super::verdict::late;
use super::{grid, headline, note, notes, section};
use crate::catalog::{Value, Values, run_values};
use crate::cell::errors;
use crate::doubt::doubts;
use crate::export::{EXPORT_SCHEMA, ExportError, to_csv, to_json};
use crate::figures::Figures;
use crate::format::{self, NOTHING};
use crate::open::client_bound;
use crate::text::Style;
use crate::verdict::Verdict;
use crate::words;

/// What the columns are.
const HOW_TO_READ: &str = "rate: calls due a second; p50 to p99.9: response time over all calls, a failed call being one without end";

/// Loads at several rates.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadCurve {
    /// Of its run.
    pub header: Header,
    /// As typed.
    pub address: String,
    /// How calls travelled.
    pub protocol: Protocol,
    /// What all of them have in common; its arrival process is that of the first.
    pub workload: Workload,
    /// Calls a second of a closed loop, where one was made.
    pub capacity: Option<f64>,
    /// Whether that is the client's limit, and not the server's.
    pub client_bound_capacity: bool,
    /// The rates, in the order in which they were made.
    pub points: Vec<LoadPoint>,
    /// What they were made for; `None` for a sweep.
    pub search: Option<Search>,
}

impl LoadCurve {
    /// Why the loads as a whole are a verdict against. `None` where they are not.
    #[must_use]
    pub fn complaint(&self) -> Option<String> {
        if let Some(clients) = self.clients_limit() {
            return Some(format!("{clients}; take more --threads, or free CPUs"));
        }
        if self.search.as_ref().is_some_and(|search| search.met().is_none()) {
            return found(self);
        }
        let suspect = |point: &LoadPoint| {
            matches!(point.verdict, PointVerdict::Swept(Verdict::Suspect { .. }))
        };
        let suspect = self.points.iter().any(suspect);
        suspect.then(|| "the figures of a load contradict each other".to_owned())
    }
}

impl LoadCurve {
    /// Why the loads show the client's limit. `None` where they do not.
    fn clients_limit(&self) -> Option<&'static str> {
        const LATE: &str = "generator late: the client fell behind its own schedule, so its limit is shown and not the \
                            server's";
        const BOUND: &str = "client-bound: the client had no CPU left to give, so its limit is shown and not the server's";
        const CAPACITY: &str = "client-bound: the capacity is the client's, so the rates are no shares of the server's";
        let unmet = self.search.as_ref().and_then(Search::unmet).map(|step| step.verdict);
        let swept = |is: fn(&Verdict) -> bool| {
            self.points.iter().any(|p| matches!(&p.verdict, PointVerdict::Swept(v) if is(v)))
        };
        if unmet == Some(StepVerdict::NotMet(NotMet::GeneratorLate))
            || swept(|verdict| matches!(verdict, Verdict::GeneratorLate { .. }))
        {
            return Some(LATE);
        }
        if unmet == Some(StepVerdict::NotMet(NotMet::ClientBound))
            || swept(|verdict| matches!(verdict, Verdict::ClientBound { .. }))
        {
            return Some(BOUND);
        }
        (self.search.is_none() && self.client_bound_capacity).then_some(CAPACITY)
    }
}

/// A load at one rate.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadPoint {
    /// Calls due a second.
    pub rate: PerSecond,
    /// At least one.
    pub windows: Vec<Measured>,
    /// What its figures are worth.
    pub verdict: PointVerdict,
}

/// What the figures of one rate are worth.
#[derive(Clone, Debug, PartialEq)]
pub enum PointVerdict {
    /// Of a sweep.
    Swept(Verdict),
    /// Of a search: whether the threshold held.
    Searched(StepVerdict),
}

impl fmt::Display for PointVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Swept(verdict) => verdict.fmt(f),
            Self::Searched(verdict) => verdict.fmt(f),
        }
    }
}

impl LoadPoint {
    /// A point of a sweep; its verdict follows from its window: `suspect`, `generator late`, `overloaded` (the
    /// server ended fewer calls than came due, and the client had CPU to give), `failed`, `client-bound` or `ok`.
    #[must_use]
    pub fn swept(rate: PerSecond, window: Measured, workload: &Workload, of: Protocol) -> Self {
        let verdict = match doubts(&window, workload).into_iter().next() {
            Some(doubt) => Verdict::Suspect { trial: 1, doubt },
            None => late(&window).unwrap_or_else(|| {
                if !window.client_saturated() && window.kept_up() == Some(false) {
                    Verdict::Overloaded { trial: 1 }
                } else if window.outcomes.errors() > 0 {
                    Verdict::Failed { reason: errors(&window.outcomes, of) }
                } else if window.client_saturated() {
                    client_bound(&window)
                } else {
                    Verdict::Ok
                }
            }),
        };
        Self { rate, windows: vec![window], verdict: PointVerdict::Swept(verdict) }
    }

    /// A point of a search.
    #[must_use]
    pub fn searched(step: &SearchStep) -> Self {
        let (windows, verdict) = (step.windows.clone(), PointVerdict::Searched(step.verdict));
        Self { rate: step.rate, windows, verdict }
    }

    /// One line for a reader: `12.3k: 12.3k calls/s, p50 1.20 ms, p99 3.40 ms, p99.9 5.00 ms, 0 % errors: ok`.
    #[must_use]
    pub fn line(&self) -> String {
        let cells = self.cells();
        let [rate, _, calls, p50, p99, p999, errors, _, verdict] = &cells;
        format!(
            "{rate}: {calls} calls/s, p50 {p50}, p99 {p99}, p99.9 {p999}, {errors} errors: {verdict}"
        )
    }

    /// Its columns, as people read them.
    pub(super) fn cells(&self) -> [String; 9] {
        let windows: Vec<&Measured> = self.windows.iter().collect();
        let figures = Figures::of(&windows, None);
        let all = AllCalls::over(&windows);
        let time = |millionths| {
            all.as_ref().map_or(NOTHING.to_owned(), |all| all.quantile(millionths).to_string())
        };
        let figure = |of: fn(&Figures) -> String| figures.as_ref().map_or(NOTHING.to_owned(), of);
        [
            format::si(self.rate.get()),
            self.windows.len().to_string(),
            figure(|f| format::si(f.calls_per_s.value)),
            time(500_000),
            time(990_000),
            time(999_000),
            figure(|f| format::percent(f.error_share())),
            figure(|f| format::percent(f.client.busiest_share)),
            self.verdict.to_string(),
        ]
    }
}

fn table(curve: &LoadCurve) -> Vec<Vec<String>> {
    let titles =
        ["rate", "windows", "calls/s", "p50", "p99", "p99.9", "errors", "client CPU", "verdict"];
    let header = titles.map(str::to_owned).to_vec();
    let mut points: Vec<&LoadPoint> = curve.points.iter().collect();
    points.sort_by_key(|point| point.rate);
    std::iter::once(header).chain(points.iter().map(|point| point.cells().to_vec())).collect()
}

/// What was found. `None` for a sweep.
#[must_use]
pub fn found(curve: &LoadCurve) -> Option<String> {
    let search = curve.search.as_ref()?;
    let si = |rate: PerSecond| format::si(rate.get());
    Some(match (search.met(), search.unmet()) {
        (Some(met), Some(unmet)) => format!(
            "{}: holds up to {} calls/s; at {} it does not ({})",
            search.threshold,
            si(met.rate),
            si(unmet.rate),
            unmet.verdict
        ),
        (Some(met), None) => format!(
            "{}: still holds at {} calls/s, the highest rate tried",
            search.threshold,
            si(met.rate)
        ),
        (None, Some(unmet)) => format!(
            "{}: does not hold at {} calls/s, the lowest rate tried ({})",
            search.threshold,
            si(unmet.rate),
            unmet.verdict
        ),
        (None, None) => format!("{}: no rate was tried to the end", search.threshold),
    })
}

/// A curve for a terminal, ending in a line feed.
#[must_use]
pub fn curve_text(curve: &LoadCurve, style: Style) -> String {
    let mut out = headline(&title(curve), style);
    out.push_str(&section("Latency over load", &grid(&table(curve)), style));
    note(&mut out, HOW_TO_READ, style);
    let found: Vec<String> = found(curve).into_iter().collect();
    out.push_str(&notes("Highest rate", &found, style));
    out
}

/// A curve as Markdown, ending in a line feed.
#[must_use]
pub fn curve_markdown(curve: &LoadCurve) -> String {
    let mut out = format!("# {}\n\n", title(curve));
    for (line, cells) in table(curve).iter().enumerate() {
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
        if line == 0 {
            out.push_str(&format!("|{}---|\n", "---:|".repeat(cells.len() - 1)));
        }
    }
    out.push_str(&format!("\n{HOW_TO_READ}.\n"));
    if let Some(found) = found(curve) {
        out.push_str(&format!("\n**{found}**\n"));
    }
    out
}

/// What was asked for.
pub(crate) fn title(curve: &LoadCurve) -> String {
    let w = &curve.workload;
    let arrivals = match w.arrivals {
        Arrivals::Constant { .. } => "constant",
        _ => "Poisson",
    };
    let what = match &curve.search {
        Some(search) => format!("highest rate with {}", search.threshold),
        None => format::plural(curve.points.len() as u64, "rate"),
    };
    let capacity =
        curve.capacity.map(|capacity| format!(", capacity {} calls/s", format::si(capacity)));
    format!(
        "{}: {} {}, {}, {} in flight at most, {arrivals} arrivals, {what}, {}{}",
        curve.address,
        curve.protocol,
        w.shape,
        words::connections(w, &[curve.protocol].into()),
        format::plural(u64::from(w.in_flight), "call"),
        format::plural(u64::from(w.client_threads), "client thread"),
        capacity.unwrap_or_default()
    )
}

/// The fields of a point.
pub(crate) const POINT: [&str; 11] = [
    "rate_per_s",
    "windows",
    "calls_per_s",
    "p50_ns",
    "p99_ns",
    "p999_ns",
    "calls",
    "ok",
    "error_share",
    "client_busiest_share",
    "verdict",
];

/// One for each of [`POINT`].
pub(crate) fn values(point: &LoadPoint) -> Values {
    let windows: Vec<&Measured> = point.windows.iter().collect();
    let (figures, all) = (Figures::of(&windows, None), AllCalls::over(&windows));
    let figures = figures.as_ref();
    let time = |millionths| match all.as_ref()?.quantile(millionths) {
        Bound::At(ns) => Some(Value::Number(ns)),
        Bound::Above(_) => None,
    };
    let values = [
        Some(point.rate.get().into()),
        Some((windows.len() as u64).into()),
        figures.map(|f| f.calls_per_s.value.into()),
        time(500_000),
        time(990_000),
        time(999_000),
        figures.map(|f| f.outcomes.total().into()),
        figures.map(|f| f.outcomes.ok.into()),
        figures.map(|f| f.error_share().into()),
        figures.map(|f| f.client.busiest_share.into()),
        Some(point.verdict.to_string().as_str().into()),
    ];
    Values(POINT.into_iter().zip(values).collect())
}

/// The points, each with what it tells of its run.
fn rows(curve: &LoadCurve) -> impl Iterator<Item = Values> {
    let run = run_values(&curve.header).0;
    curve.points.iter().map(move |point| {
        let mut row = values(point);
        row.0.extend(run.iter().cloned());
        row
    })
}

/// A curve as JSON: what was found, and the points in the order in which they were made.
///
/// # Errors
/// If a value can't be written; see [`ExportError`].
pub fn curve_json(curve: &LoadCurve) -> Result<String, ExportError> {
    #[derive(Serialize)]
    struct View<'a> {
        schema: u32,
        address: &'a str,
        workload: &'a Workload,
        capacity_calls_per_s: Option<f64>,
        threshold: Option<String>,
        highest_rate_per_s: Option<f64>,
        lowest_unmet_rate_per_s: Option<f64>,
        points: Vec<Values>,
    }
    let rate = |step: Option<&SearchStep>| step.map(|step| step.rate.get());
    to_json(&View {
        schema: EXPORT_SCHEMA,
        address: &curve.address,
        workload: &curve.workload,
        capacity_calls_per_s: curve.capacity,
        threshold: curve.search.as_ref().map(|search| search.threshold.to_string()),
        highest_rate_per_s: rate(curve.search.as_ref().and_then(Search::met)),
        lowest_unmet_rate_per_s: rate(curve.search.as_ref().and_then(Search::unmet)),
        points: rows(curve).collect(),
    })
}

/// A curve as CSV: a header, and a row for each point in the order in which they were made.
///
/// # Errors
/// If a row can't be written; see [`ExportError`].
pub fn curve_csv(curve: &LoadCurve) -> Result<String, ExportError> {
    let run = run_values(&curve.header).0;
    let keys: Vec<&str> = POINT.into_iter().chain(run.iter().map(|(key, _)| *key)).collect();
    to_csv(&keys, rows(curve))
}
