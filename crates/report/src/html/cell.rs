//! What the page draws of a cell: its distribution, its windows, and its warm-up.

use std::ops::Range;

use jiff::Timestamp;
use rpcbench_record::{Measured, Preparation, Run, Slice, Trial, WarmCurve};
use serde::Serialize;

use super::buckets::{Distribution, buckets};
use super::table::window_figures;
use crate::catalog::{Subject, Value};
use crate::cell::latest;
use crate::figures::{Response, merged, share};
use crate::row::Row;

/// Maximum columns of a heat map. Neighbours are merged to stay below it.
const HEAT_COLUMNS: usize = 64;

/// Maximum points of a series. Neighbours are merged to stay below it.
const SERIES_POINTS: usize = 600;

/// A cell, or another set of windows.
#[derive(Default, Serialize)]
pub(super) struct CellView {
    /// Response times of ok calls.
    pub(super) response: Option<Distribution>,
    /// Connect times. `None` for long connections.
    pub(super) connect: Option<Distribution>,
    pub(super) windows: Vec<WindowView>,
    pub(super) heat: Vec<HeatColumn>,
    /// Empty if the record has no slices.
    pub(super) series: Vec<Point>,
    pub(super) warm: Vec<WarmView>,
}

#[derive(Serialize)]
pub(super) struct WindowView {
    process: u32,
    number: u32,
    /// Its begin, seconds after that of the run.
    at_s: f64,
    /// Its length, seconds.
    length_s: f64,
    /// One per figure of [`window_figures`].
    values: Vec<Option<Value>>,
}

/// Response times of ok calls in one or several consecutive windows.
#[derive(Serialize)]
pub(super) struct HeatColumn {
    /// Numbers of the first and the last window.
    windows: (u32, u32),
    buckets: Vec<(u32, u64)>,
}

/// One or several slices of a window.
#[derive(Serialize)]
pub(super) struct Point {
    /// Its begin, seconds of measured time: windows are joined, gaps are left out.
    at_s: f64,
    /// Calls per second that ended ok.
    ok_per_s: f64,
    /// Other calls per second.
    errors_per_s: f64,
    /// Mean response time of ok calls, nanoseconds.
    mean_ns: Option<f64>,
    /// Longest response time of an ok call, nanoseconds.
    max_ns: Option<u64>,
    /// Share of time in pauses for garbage collection. `None` without statistics of the runtime.
    paused_share: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct WarmView {
    process: u32,
    steady_after_ms: Option<u64>,
    points: Vec<WarmPoint>,
}

#[derive(Serialize)]
struct WarmPoint {
    /// End of the slice, milliseconds since load began.
    at_ms: u64,
    calls_per_s: f64,
    /// `None` if the server used no CPU time.
    calls_per_cpu_s: Option<f64>,
    /// Share of the server's CPU time in compiler threads.
    compiler_share: Option<f64>,
}

impl CellView {
    /// A row's trials in the order of the record.
    pub(super) fn of(run: &Run, workload: &str, row: &Row) -> Self {
        let entry = &row.server.entry;
        let trials = latest(run, entry, workload);
        let own = |p: &&Preparation| &p.entry == entry && p.workload == workload;
        let warm =
            run.preparations.iter().filter(own).filter_map(|p| warm(p.process, p.warm.as_ref()?));
        let figures = row.figures.as_ref();
        let response = figures.and_then(|figures| figures.response.as_ref());
        let connect = figures.and_then(|figures| Some(&figures.lives.as_ref()?.connect));
        let distribution = |times: &Response| Distribution::of(times.histogram());
        Self {
            response: response.and_then(distribution),
            connect: connect.and_then(distribution),
            warm: warm.collect(),
            ..Self::of_trials(run, &trials)
        }
    }

    /// Only windows.
    pub(super) fn of_trials(run: &Run, trials: &[&Trial]) -> Self {
        let measured: Vec<(&Trial, &Measured)> =
            trials.iter().filter_map(|trial| Some((*trial, trial.measured()?))).collect();
        Self {
            windows: measured.iter().map(|(trial, m)| window(run, trial, m)).collect(),
            heat: heat(&measured),
            series: series(&measured),
            ..Self::default()
        }
    }
}

fn window(run: &Run, trial: &Trial, measured: &Measured) -> WindowView {
    let subject = Subject::trial(run, trial);
    WindowView {
        process: trial.process,
        number: trial.number,
        at_s: seconds_since(run.header.started, trial.started),
        length_s: measured.window_ns as f64 / 1e9,
        values: window_figures().iter().map(|figure| figure.value(&subject)).collect(),
    }
}

fn seconds_since(begin: Timestamp, at: Timestamp) -> f64 {
    at.duration_since(begin).as_millis() as f64 / 1e3
}

fn heat(trials: &[(&Trial, &Measured)]) -> Vec<HeatColumn> {
    let together = trials.len().div_ceil(HEAT_COLUMNS).max(1);
    let columns = trials.chunks(together).filter_map(|chunk| {
        let all = merged(chunk.iter().filter_map(|(_, measured)| measured.latency.as_ref()))?;
        let windows = (chunk.first()?.0.number, chunk.last()?.0.number);
        (all.count() > 0).then(|| HeatColumn { windows, buckets: buckets(&all) })
    });
    columns.collect()
}

fn series(trials: &[(&Trial, &Measured)]) -> Vec<Point> {
    let slices: usize = trials.iter().map(|(_, measured)| measured.series.len()).sum();
    let together = slices.div_ceil(SERIES_POINTS).max(1);
    let mut before_ns = 0;
    let mut points = Vec::new();
    for (_, measured) in trials {
        for (number, chunk) in measured.series.chunks(together).enumerate() {
            let from_ns = (number * together) as u64 * Slice::LENGTH_NS;
            let to_ns = (from_ns + chunk.len() as u64 * Slice::LENGTH_NS).min(measured.window_ns);
            let length_ns = to_ns.saturating_sub(from_ns);
            let paused_share =
                paused_share(measured, number * together..(number + 1) * together, length_ns);
            let point = point(chunk, before_ns + from_ns, length_ns);
            points.extend(point.map(|point| Point { paused_share, ..point }));
        }
        before_ns += measured.window_ns;
    }
    points
}

/// Consecutive slices. `None` beyond the window.
fn point(slices: &[Slice], from_ns: u64, length_ns: u64) -> Option<Point> {
    let sum = |of: fn(&Slice) -> u64| slices.iter().map(of).sum::<u64>();
    let (ok, errors, times_ns) = (sum(|s| s.ok), sum(|s| s.errors), sum(|s| s.sum_ns));
    let ended = ok + sum(|s| s.carried_in);
    let seconds = length_ns as f64 / 1e9;
    (length_ns > 0).then(|| Point {
        at_s: from_ns as f64 / 1e9,
        ok_per_s: ended as f64 / seconds,
        errors_per_s: errors as f64 / seconds,
        mean_ns: (ok > 0).then(|| times_ns as f64 / ok as f64),
        max_ns: slices.iter().filter(|slice| slice.ok > 0).map(|slice| slice.max_ns).max(),
        paused_share: None,
    })
}

/// Share of some slices for which the program was paused.
fn paused_share(measured: &Measured, slices: Range<usize>, length_ns: u64) -> Option<f64> {
    let runtime = measured.runtime.as_ref()?;
    let paused: u64 = runtime.paused_ns.iter().skip(slices.start).take(slices.len()).sum();
    Some(share(paused as f64, length_ns as f64))
}

fn warm(process: u32, curve: &WarmCurve) -> Option<WarmView> {
    let mut before_ms = 0;
    let mut points = Vec::with_capacity(curve.slices.len());
    for slice in &curve.slices {
        let length_ms = slice.at_ms.saturating_sub(before_ms);
        before_ms = slice.at_ms;
        let of_cpu =
            |part: f64| (slice.server_cpu_ns > 0).then(|| part / slice.server_cpu_ns as f64);
        points.extend((length_ms > 0).then(|| WarmPoint {
            at_ms: slice.at_ms,
            calls_per_s: slice.calls as f64 * 1e3 / length_ms as f64,
            calls_per_cpu_s: of_cpu(slice.calls as f64 * 1e9),
            compiler_share: of_cpu(slice.compiler_cpu_ns as f64),
        }));
    }
    let steady_after_ms = curve.steady_after_ms;
    (!points.is_empty()).then_some(WarmView { process, steady_after_ms, points })
}
