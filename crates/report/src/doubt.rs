//! Checks of a trial's own arithmetic. Figures that contradict each other are not ranked.

use rpcbench_record::{Latency, Measured, Outcomes, Slice, Window, Workload};
use rpcbench_stats::Histogram;

use crate::format::{count, duration_ns, plural, si};

/// Largest accepted deviation from `N = X * R`. Little's law is exact over a window once the calls that its edges cut are
/// counted for the part within; rounding stays well below this.
pub const LITTLE_TOLERANCE: f64 = 0.02;

/// A contradiction within one trial.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Doubt {
    /// Calls in flight are not rate times mean response.
    #[error("{} calls were in flight, but rate x mean response time gives {}", count(u64::from(*.in_flight)), si(*.product))]
    LittlesLaw {
        /// `N`, as planned.
        in_flight: u32,
        /// `X * R`, as measured.
        product: f64,
    },
    /// The histogram can't be read.
    #[error("its histogram can't be read: {error}")]
    Unreadable {
        /// The reader's error.
        error: String,
    },
    /// Histogram and counters differ.
    #[error("its histogram holds {} {of} calls, its counters {}", count(*.histogram), count(*.counted))]
    HistogramCount {
        /// `ok` or `error`.
        of: &'static str,
        /// Values in the histogram, or its stated count if that differs.
        histogram: u64,
        /// Calls counted.
        counted: u64,
    },
    /// The series per 100 ms does not add up to the window.
    #[error(transparent)]
    Series(SeriesFault),
    /// Schedule and counters differ.
    #[error("its schedule made {} due, its counters hold {}", plural(*.due, "call"), count(*.counted))]
    Due {
        /// By the arrival process.
        due: u64,
        /// Over all outcomes.
        counted: u64,
    },
    /// A window of no length.
    #[error("its window has no length")]
    EmptyWindow,
}

/// How a series contradicts its window.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SeriesFault {
    /// The number of slices does not match the window's length.
    #[error("its series has {slices} slices, its window {expected}")]
    Length {
        /// In the series.
        slices: u64,
        /// In the window.
        expected: u64,
    },
    /// More calls in the slices than in the counters.
    #[error("its series holds {} {of} calls, its counters {}", count(*.sliced), count(*.counted))]
    TooMany {
        /// `ok` or `error`.
        of: &'static str,
        /// Calls in the slices.
        sliced: u64,
        /// Calls counted.
        counted: u64,
    },
    /// More calls are missing from the slices than were in flight at the end.
    #[error("its series lacks {}, with {} in flight at most", plural(*.missing, "call"), count(u64::from(*.in_flight)))]
    TooFew {
        /// Calls missing.
        missing: u64,
        /// Calls in flight at most.
        in_flight: u32,
    },
    /// A slice holds a longer response than the window.
    #[error("its series has a response of {}, its longest is {}", duration_ns(*.sliced_ns as f64), duration_ns(*.counted_ns as f64))]
    Longest {
        /// In the slices, nanoseconds.
        sliced_ns: u64,
        /// In the window, nanoseconds.
        counted_ns: u64,
    },
}

/// All contradictions in a trial.
#[must_use]
pub fn doubts(trial: &Measured, workload: &Workload) -> Vec<Doubt> {
    if trial.window_ns == 0 {
        return vec![Doubt::EmptyWindow];
    }
    let errors = trial.outcomes.errors();
    // Calls that were never sent have no response time, so an engine can leave them out.
    let timed = errors - trial.outcomes.not_sent..=errors;
    let error_count = trial.error_latency.as_ref().map_or(0, |l| l.count);
    let error_counted = if timed.contains(&error_count) { error_count } else { errors };
    let mut found = Vec::new();
    found.extend(histogram(trial.latency.as_ref(), "ok", trial.outcomes.ok));
    found.extend(histogram(trial.error_latency.as_ref(), "error", error_counted));
    found.extend(series_length(trial.series.len() as u64, trial.window_ns).map(Doubt::Series));
    // In an open loop calls also wait in the client, so any number can be pending at the end.
    let at_end = if workload.arrivals.is_open() { None } else { Some(workload.in_flight) };
    found.extend(series_sums(&trial.series, &trial.outcomes, at_end).map(Doubt::Series));
    let longest_ns = trial.latency.as_ref().map_or(0, |latency| latency.max_ns);
    found.extend(series_longest(&trial.series, longest_ns).map(Doubt::Series));
    found.extend(littles_law(trial, workload));
    found.extend(due(trial));
    found
}

fn histogram(latency: Option<&Latency>, of: &'static str, counted: u64) -> Option<Doubt> {
    let Some(latency) = latency else {
        return (counted > 0).then_some(Doubt::HistogramCount { of, histogram: 0, counted });
    };
    let held = match Histogram::from_base64(&latency.histogram) {
        Ok(histogram) => histogram.count(),
        Err(error) => return Some(Doubt::Unreadable { error: error.to_string() }),
    };
    let histogram = if held == counted { latency.count } else { held };
    (histogram != counted).then_some(Doubt::HistogramCount { of, histogram, counted })
}

fn series_length(slices: u64, window_ns: u64) -> Option<SeriesFault> {
    let expected = window_ns.div_ceil(Slice::LENGTH_NS);
    // A window that ends a few microseconds late has no extra slice.
    (slices.abs_diff(expected) > 1).then_some(SeriesFault::Length { slices, expected })
}

fn series_sums(series: &[Slice], outcomes: &Outcomes, at_end: Option<u32>) -> Option<SeriesFault> {
    let ok: u64 = series.iter().map(|s| s.ok).sum();
    let errors: u64 = series.iter().map(|s| s.errors).sum();
    if ok > outcomes.ok {
        return Some(SeriesFault::TooMany { of: "ok", sliced: ok, counted: outcomes.ok });
    }
    if errors > outcomes.errors() {
        let counted = outcomes.errors();
        return Some(SeriesFault::TooMany { of: "error", sliced: errors, counted });
    }
    let missing = (outcomes.total() - ok - errors).saturating_sub(outcomes.not_sent);
    let in_flight = at_end?;
    (missing > u64::from(in_flight)).then_some(SeriesFault::TooFew { missing, in_flight })
}

fn series_longest(series: &[Slice], counted_ns: u64) -> Option<SeriesFault> {
    let sliced_ns = series.iter().map(|s| s.max_ns).max()?;
    (sliced_ns > counted_ns).then_some(SeriesFault::Longest { sliced_ns, counted_ns })
}

fn due(trial: &Measured) -> Option<Doubt> {
    let (due, counted) = (trial.pacing?.due, trial.outcomes.total());
    (due != counted).then_some(Doubt::Due { due, counted })
}

fn littles_law(trial: &Measured, workload: &Workload) -> Option<Doubt> {
    // In a window of a fixed number of calls, fewer are in flight towards the end.
    if workload.arrivals.is_open() || matches!(workload.window, Window::Calls { .. }) {
        return None;
    }
    let calls = trial.outcomes.total() as f64;
    let edges_ns = trial.carried_in_ns as f64 - trial.carried_out_ns as f64;
    let rate = calls / (trial.window_ns as f64 / 1e9);
    let mean_s = (mean_response_ns(trial)? + edges_ns / calls) / 1e9;
    let deviation = rpcbench_stats::littles_law(workload.in_flight, rate, mean_s).abs();
    (deviation > LITTLE_TOLERANCE)
        .then_some(Doubt::LittlesLaw { in_flight: workload.in_flight, product: rate * mean_s })
}

/// Mean response time over calls of every outcome, nanoseconds. `None` without calls.
fn mean_response_ns(trial: &Measured) -> Option<f64> {
    let parts = [trial.latency.as_ref(), trial.error_latency.as_ref()];
    let (calls, sum) = parts
        .into_iter()
        .flatten()
        .filter(|l| l.count > 0)
        .fold((0, 0.0), |(n, sum), l| (n + l.count, sum + l.mean_ns * l.count as f64));
    (calls > 0).then(|| sum / calls as f64)
}
