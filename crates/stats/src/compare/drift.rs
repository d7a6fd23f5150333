//! Detects entries that change during the run relative to the others.

use std::cmp::Ordering;

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::Observation;
use super::windows::Windows;
use crate::median;

/// Probability that any steady entry of a run is reported as drifting.
const FALSE: f64 = 0.01;
/// Rounds required on either side of a step: fewer may be a stall.
const SIDE: usize = 2;
/// Maximum positions at which a step is tested: more locate it better, but need stronger evidence.
const PLACES: usize = 8;

/// A change of an entry within its processes, beyond noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// From the first round to the last, or across a step, as a fraction: 0.1 for 10 % faster.
    pub change: f64,
}

/// Finds entries that certainly changed by more than `precision`, a fraction, within their processes.
///
/// Each entry is compared with the median of the others in the same round, after subtracting the mean of each process. That
/// removes the machine's effects on all entries, and the rest does not depend on the previous round, so ordinary least squares
/// apply. Processes of an entry are pooled by round. Two kinds of change are tested: a slope over the rounds, and a step between
/// two of them. At most 1 % of runs report a drift by chance (Bonferroni's inequality).
///
/// Entries are compared with each other, so one that changes makes the others seem to change the other way. The one that changes
/// most is removed and the rest is tested again. If two change equally, the one that became faster is reported, as servers tend
/// to become faster.
///
/// `None` for an entry that does not drift, and for a single entry.
pub fn drift(observations: &[Observation], entries: usize, precision: f64) -> Vec<Option<Drift>> {
    let mut drifts = vec![None; entries];
    let mut rest = observations.to_vec();
    while let Some((entry, found)) = largest(&seen(&rest, entries, precision)) {
        drifts[entry] = Some(found);
        rest.retain(|observation| observation.entry != entry);
    }
    drifts
}

fn largest(drifts: &[Option<Drift>]) -> Option<(usize, Drift)> {
    let found = drifts.iter().enumerate().filter_map(|(entry, drift)| Some((entry, (*drift)?)));
    // Rounded to a millionth, as rounding errors make the mirrored changes of two entries differ.
    let size = |drift: &Drift| ((drift.change.ln_1p().abs() * 1e6).round(), drift.change);
    found.max_by(|(_, a), (_, b)| size(a).partial_cmp(&size(b)).unwrap_or(Ordering::Equal))
}

/// The change of each entry relative to all others, which may change as well.
fn seen(observations: &[Observation], entries: usize, precision: f64) -> Vec<Option<Drift>> {
    let windows = Windows::new(observations, entries, false);
    let series = series(&windows, &windows.values());
    let mut found = vec![None; entries];
    for (at, points) in series.iter().enumerate() {
        let change = largest_change(points, FALSE / series.len() as f64);
        let change = change.map(f64::exp_m1).filter(|change| change.abs() > precision);
        found[windows.present[at]] = change.map(|change| Drift { change });
    }
    found
}

/// A window of an entry compared with those of the others.
#[derive(Clone, Copy)]
struct Point {
    process: usize,
    /// Rounds since the first of the process.
    round: usize,
    value: f64,
}

/// The distance of each entry from the others in each round.
fn series(windows: &Windows, values: &[f64]) -> Vec<Vec<Point>> {
    let mut processes = vec![(0.0, 0.0, windows.rounds); windows.processes.len()];
    for (window, value) in windows.list.iter().zip(values) {
        let (sum, count, first) = &mut processes[window.process];
        *sum += value;
        *count += 1.0;
        *first = window.round.min(*first);
    }
    let mut rounds = vec![Vec::new(); windows.rounds];
    for (window, value) in windows.list.iter().zip(values) {
        let (sum, count, _) = processes[window.process];
        rounds[window.round].push((window, value - sum / count));
    }
    let mut series = vec![Vec::new(); windows.entries()];
    for (own, value) in rounds.iter().flatten() {
        let others = rounds[own.round].iter().filter(|(other, _)| other.entry != own.entry);
        if let Some(others) = median(others.map(|(_, value)| *value).collect()) {
            let (process, (_, _, first)) = (own.process, processes[own.process]);
            let (round, value) = (own.round - first, value - others);
            series[own.entry].push(Point { process, round, value });
        }
    }
    series
}

/// The most significant change, as a logarithm, if its probability by chance is at most `tail`. The slope gets half of `tail`,
/// the steps the other half.
fn largest_change(points: &[Point], tail: f64) -> Option<f64> {
    let last = points.iter().map(|point| point.round).max()?;
    let slope = contrast(points, |round| round as f64 / last.max(1) as f64, tail / 2.0);
    let places = SIDE..=(last + 1).saturating_sub(SIDE);
    let places = places.clone().step_by(places.count().div_ceil(PLACES).max(1));
    let each = tail / 2.0 / places.clone().count().max(1) as f64;
    let steps = places.filter_map(|at| contrast(points, |round| f64::from(round >= at), each));
    let surest = slope.into_iter().chain(steps).max_by(|a, b| a.excess.total_cmp(&b.excess));
    surest.filter(|change| change.excess > 1.0).map(|change| change.size)
}

struct Change {
    size: f64,
    /// Student's t divided by its critical value.
    excess: f64,
}

/// Least-squares slope of the points over `figure` of their round, within processes.
fn contrast(points: &[Point], figure: impl Fn(usize) -> f64, tail: f64) -> Option<Change> {
    let processes = points.iter().map(|point| point.process).max()? + 1;
    let mut sums = vec![(0.0, 0.0, 0.0); processes];
    for point in points {
        let (count, x, y) = &mut sums[point.process];
        *count += 1.0;
        *x += figure(point.round);
        *y += point.value;
    }
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for point in points {
        let (count, x, y) = sums[point.process];
        let (x, y) = (figure(point.round) - x / count, point.value - y / count);
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    let used = sums.iter().filter(|(count, ..)| *count > 0.0).count();
    let freedom = points.len().checked_sub(used + 1).filter(|freedom| *freedom > 0)? as f64;
    let size = xy / xx;
    let deviation = ((yy - size * xy).max(0.0) / freedom / xx).sqrt();
    let chance = -StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(tail / 2.0);
    let excess = size.abs() / (deviation * chance);
    excess.is_finite().then_some(Change { size, excess })
}
