//! A load as pages have it: in blocks, before they are laid out.

use super::curve::LoadCurve;
use super::{Lines, Load, LoadPoint, PointVerdict};
use crate::catalog::Value;
use crate::format::{self, NOTHING};
use crate::verdict::Verdict;
use rpcbench_record::StepVerdict;

pub(crate) use super::curve::{POINT, title as curve_title, values as point_values};

/// Everything that a load's text has.
pub(crate) struct Page {
    pub(crate) title: String,
    /// What came of it, one sentence.
    pub(crate) headline: String,
    /// Names and values under a title.
    pub(crate) blocks: Vec<(&'static str, Lines)>,
    /// A header, and a row for each figure.
    pub(crate) times: Vec<Vec<String>>,
    /// What the columns of times are.
    pub(crate) legend: String,
    pub(crate) remarks: Vec<String>,
    /// Examples of errors.
    pub(crate) errors: Vec<String>,
}

/// The page of a load.
pub(crate) fn of(load: &Load) -> Page {
    Page {
        title: super::title(load),
        headline: headline(load),
        blocks: vec![("Summary", super::summary(load)), ("Outcomes", super::outcomes(load))],
        times: super::times(load),
        legend: super::legend(load).join("; "),
        remarks: super::remarks(load),
        errors: load.measured.error_examples.clone(),
    }
}

/// `20.0k calls/s, p50 90.7 us, p99 1.18 ms, no call failed: ok`.
fn headline(load: &Load) -> String {
    let figures = load.figures();
    let rate = figures.as_ref().map_or(0.0, |figures| figures.calls_per_s.value);
    let times = load.measured.latency.as_ref().map(|latency| {
        let [p50, p99] = [latency.p50_ns, latency.p99_ns].map(|ns| format::duration_ns(ns as f64));
        format!(", p50 {p50}, p99 {p99}")
    });
    let failed = match load.measured.outcomes.errors() {
        0 => "no call failed".to_owned(),
        failed => format!("{} failed", format::plural(failed, "call")),
    };
    let (rate, times) = (format::si(rate), times.unwrap_or_default());
    format!("{rate} calls/s{times}, {failed}: {}", load.verdict())
}

/// One for each of [`POINT`], as people read it.
pub(crate) fn point_texts(point: &LoadPoint) -> Vec<Option<String>> {
    let [rate, windows, calls_per_s, p50, p99, p999, errors, client, verdict] = point.cells();
    let count = |value: Option<Value>| match value {
        Some(Value::Whole(whole)) => format::count(whole),
        _ => NOTHING.to_owned(),
    };
    let [calls, ok] = ["calls", "ok"].map(|key| {
        let values = point_values(point).0.into_iter();
        count(values.filter(|(of, _)| *of == key).find_map(|(_, value)| value))
    });
    let texts = [rate, windows, calls_per_s, p50, p99, p999, calls, ok, errors, client, verdict];
    texts.map(Some).to_vec()
}

/// What a sweep came to, one sentence. `None` for a search, which has found something.
pub(crate) fn swept(curve: &LoadCurve) -> Option<String> {
    if curve.search.is_some() {
        return None;
    }
    let kept = curve.points.iter().filter(|point| point.is_kept()).map(|point| point.rate).max();
    let most = curve.points.iter().map(|point| point.rate).max()?;
    let si = |rate: rpcbench_record::PerSecond| format::si(rate.get());
    Some(match kept {
        Some(kept) if kept == most => {
            format!("ok up to {} calls/s, the highest rate tried", si(kept))
        }
        Some(kept) => format!("ok up to {} calls/s", si(kept)),
        None => format!("ok at none of {} rates", curve.points.len()),
    })
}

impl LoadPoint {
    /// Whether the server kept up, or the threshold held.
    pub(crate) fn is_kept(&self) -> bool {
        matches!(
            self.verdict,
            PointVerdict::Swept(Verdict::Ok) | PointVerdict::Searched(StepVerdict::Met)
        )
    }
}
