//! The drawings of a cell on the page: its distribution, its windows, and its warm-up.

use jiff::Timestamp;
use rpcbench_record::{Measured, Preparation, Run, Slice, Trial, WarmCurve, in_parallel};
use rpcbench_stats::Histogram;
use serde::Serialize;

use super::buckets::{Distribution, buckets};
use super::table::window_figures;
use crate::catalog::{Subject, Value};
use crate::cell::latest;
use crate::figures::{Response, share};
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
    /// Start, seconds after that of the run.
    at_s: f64,
    /// Length, seconds.
    length_s: f64,
    /// One per figure of [`window_figures`].
    values: Vec<Option<Value>>,
}

/// Response times of ok calls in one or more consecutive windows.
#[derive(Serialize)]
pub(super) struct HeatColumn {
    /// Numbers of the first and the last window.
    windows: (u32, u32),
    buckets: Vec<(u32, u64)>,
}

/// Several slices of a window, or several windows.
#[derive(Serialize)]
pub(super) struct Point {
    /// Start, seconds of measured time: windows are joined, gaps are left out.
    at_s: f64,
    /// Ok calls per second.
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
        let connect = figures.and_then(|figures| Some(&figures.churn.as_ref()?.connect));
        let distribution = |times: &Response| Distribution::of(times.histogram());
        Self {
            response: response.and_then(distribution),
            connect: connect.and_then(distribution),
            warm: warm.collect(),
            ..Self::of_trials(run, &trials)
        }
    }

    /// The windows of trials, without their warm-up.
    pub(super) fn of_trials(run: &Run, trials: &[&Trial]) -> Self {
        let measured: Vec<(&Trial, &Measured)> =
            trials.iter().filter_map(|trial| Some((*trial, trial.measured()?))).collect();
        let together = measured.len().div_ceil(HEAT_COLUMNS).max(1);
        let neighbours: Vec<_> = measured.chunks(together).collect();
        let drawn = in_parallel(&neighbours, measured.len(), |part| {
            part.iter().map(|trials| windows(run, trials)).collect::<Vec<_>>()
        });
        let (windows, heat): (Vec<_>, Vec<_>) = drawn.into_iter().flatten().unzip();
        Self {
            windows: windows.into_iter().flatten().collect(),
            heat: heat.into_iter().flatten().collect(),
            series: series(&measured),
            ..Self::default()
        }
    }
}

/// Consecutive windows, and their shared column of the heat map. `None` if a histogram can't be read.
fn windows(run: &Run, trials: &[(&Trial, &Measured)]) -> (Vec<WindowView>, Option<HeatColumn>) {
    let figures = window_figures();
    let (mut views, mut all, mut is_whole) = (Vec::new(), Histogram::new(), true);
    for (trial, measured) in trials {
        let subject = Subject::trial(run, trial);
        match subject.figures.as_ref().and_then(|figures| figures.response.as_ref()) {
            Some(response) => all.merge(response.histogram()),
            None => is_whole &= measured.latency.is_none(),
        }
        views.push(WindowView {
            process: trial.process,
            number: trial.number,
            at_s: seconds_since(run.header.started, trial.started),
            length_s: measured.window_ns as f64 / 1e9,
            values: figures.iter().map(|figure| figure.value(&subject)).collect(),
        });
    }
    let numbers = trials.first().zip(trials.last());
    let heat = numbers.filter(|_| is_whole && all.count() > 0).map(|(first, last)| HeatColumn {
        windows: (first.0.number, last.0.number),
        buckets: buckets(&all),
    });
    (views, heat)
}

fn seconds_since(begin: Timestamp, at: Timestamp) -> f64 {
    at.duration_since(begin).as_millis() as f64 / 1e3
}

/// The sum of consecutive slices of a window.
struct Stretch {
    /// Start, nanoseconds of measured time.
    from_ns: u64,
    length_ns: u64,
    ok: u64,
    errors: u64,
    carried_in: u64,
    /// Sum of the response times of ok calls.
    times_ns: u64,
    max_ns: Option<u64>,
    paused_ns: Option<u64>,
}

fn series(trials: &[(&Trial, &Measured)]) -> Vec<Point> {
    let slices: usize = trials.iter().map(|(_, measured)| measured.series.len()).sum();
    let together = slices.div_ceil(SERIES_POINTS).max(1);
    let mut before_ns = 0;
    let mut stretches = Vec::new();
    for (_, measured) in trials {
        let slices = measured.series.chunks(together).enumerate();
        let of = |(at, slices)| Stretch::of(measured, before_ns, at * together, slices);
        stretches.extend(slices.map(of).filter(|stretch| stretch.length_ns > 0));
        before_ns += measured.window_ns;
    }
    // With many short windows, a point covers several stretches.
    let together = stretches.len().div_ceil(SERIES_POINTS).max(1);
    stretches.chunks(together).filter_map(point).collect()
}

impl Stretch {
    /// The slices of a window from `first` on, with the window starting after `before_ns`. Has no length beyond the window.
    fn of(measured: &Measured, before_ns: u64, first: usize, slices: &[Slice]) -> Self {
        let sum = |of: fn(&Slice) -> u64| slices.iter().map(of).sum::<u64>();
        let from_ns = first as u64 * Slice::LENGTH_NS;
        let to_ns = (from_ns + slices.len() as u64 * Slice::LENGTH_NS).min(measured.window_ns);
        let paused = |ns: &Vec<u64>| ns.iter().skip(first).take(slices.len()).sum();
        Self {
            from_ns: before_ns + from_ns,
            length_ns: to_ns.saturating_sub(from_ns),
            ok: sum(|s| s.ok),
            errors: sum(|s| s.errors),
            carried_in: sum(|s| s.carried_in),
            times_ns: sum(|s| s.sum_ns),
            max_ns: slices.iter().filter(|slice| slice.ok > 0).map(|slice| slice.max_ns).max(),
            paused_ns: measured.runtime.as_ref().map(|runtime| paused(&runtime.paused_ns)),
        }
    }
}

/// A point of the series from consecutive stretches.
fn point(stretches: &[Stretch]) -> Option<Point> {
    let sum = |of: fn(&Stretch) -> u64| stretches.iter().map(of).sum::<u64>();
    let (ok, length_ns) = (sum(|s| s.ok), sum(|s| s.length_ns) as f64);
    let paused_ns: Option<u64> = stretches.iter().map(|s| s.paused_ns).sum();
    let per_s = |calls: u64| calls as f64 / (length_ns / 1e9);
    Some(Point {
        at_s: stretches.first()?.from_ns as f64 / 1e9,
        ok_per_s: per_s(ok + sum(|s| s.carried_in)),
        errors_per_s: per_s(sum(|s| s.errors)),
        mean_ns: (ok > 0).then(|| sum(|s| s.times_ns) as f64 / ok as f64),
        max_ns: stretches.iter().filter_map(|s| s.max_ns).max(),
        paused_share: paused_ns.map(|ns| share(ns as f64, length_ns)),
    })
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
