//! Checks that a trial's figures are consistent. Figures that contradict each other are not ranked.

use rpcbench_record::{
    Disturbance, Latency, Measured, Preparation, Protocol, Slice, UnseenPair, Window, Workload,
};
use rpcbench_stats::{Histogram, mean_interval_at};

use crate::format::{count, duration_ns, plural, si};

/// Maximum deviation from `N = X * R`. Little's law is exact over a window if calls cut by its edges count for the part within.
/// Rounding errors stay well below this.
const LITTLE_TOLERANCE: f64 = 0.02;

/// All contradictions in a trial, as phrases.
pub fn doubts(trial: &Measured, workload: &Workload) -> Vec<String> {
    doubts_if(trial, workload, false)
}

/// The same. With `is_whole`, the histogram of ok calls is known to be complete and is not read again.
pub(crate) fn doubts_if(trial: &Measured, workload: &Workload, is_whole: bool) -> Vec<String> {
    if trial.window_ns == 0 {
        return vec!["its window has no length".to_owned()];
    }
    let errors = trial.outcomes.errors();
    // Calls that were never sent have no response time, so an engine may leave them out.
    let timed = errors - trial.outcomes.not_sent..=errors;
    let error_count = trial.error_latency.as_ref().map_or(0, |l| l.count);
    let error_counted = if timed.contains(&error_count) { error_count } else { errors };
    let found = [
        histogram(trial.latency.as_ref(), "ok", trial.outcomes.ok, is_whole),
        histogram(trial.error_latency.as_ref(), "error", error_counted, false),
        series_length(trial.series.len() as u64, trial.window_ns),
        series_sums(trial, workload),
        series_longest(trial),
        littles_law(trial, workload),
        due(trial),
    ];
    found.into_iter().flatten().collect()
}

/// Minimum CPU time of a server as a share of the client's: both read and write the same bytes, and no client is known to do so
/// at lower cost. The fastest known server that decodes calls takes as much as the client.
const MIN_SHARE: f64 = 0.1;
const MIN_SHARE_DECODED: f64 = 0.5;

/// The reason to doubt a server that used less CPU time over its windows than reading and writing its calls takes. `None` if it
/// used enough, or its CPU time is unknown.
pub fn too_little_cpu(
    trials: &[&Measured],
    workload: &Workload,
    protocol: Protocol,
) -> Option<String> {
    let (mut server_s, mut client_ns, mut calls) = (0.0, 0, 0);
    for trial in trials {
        server_s += trial.server_cpu_s()?;
        client_ns += trial.client.cpu_ns.saturating_sub(trial.client.awake_ns);
        calls += trial.outcomes.ok;
    }
    let decodes = protocol.spec().carries_contract && protocol != Protocol::TcpEcho;
    let share = if decodes { MIN_SHARE_DECODED } else { MIN_SHARE };
    let least_ns = (client_ns as f64 * share).min(calls as f64 * max_floor_ns(workload));
    (server_s * 1e9 < least_ns).then(|| {
        let (cpu, calls) = (duration_ns(server_s * 1e9), plural(calls, "call"));
        format!(
            "its processes used {cpu} of CPU time for {calls}, less than reading and writing them costs: something \
             else did the work"
        )
    })
}

/// Upper limit of this minimum, nanoseconds of CPU time per call: at a low rate, the client mostly wakes and waits. The fastest
/// known servers take 7 us for a text of 100 bytes.
fn max_floor_ns(workload: &Workload) -> f64 {
    match workload.content.shape() {
        Some("record" | "dto") => 3000.0,
        Some("tree") => 4000.0,
        _ => 2000.0,
    }
}

/// Confidence of the interval used to detect that a server remembers replies, and the ratio that the interval must exceed.
const SURE: f64 = 0.999;
const MAX_UNSEEN_RATIO: f64 = 1.1;

/// The reason to doubt a server for which requests that it has never seen cost more CPU time than those of the load. `None` if
/// they cost the same, or that is unknown.
pub fn remembers_replies<'a>(
    preparations: impl IntoIterator<Item = &'a Preparation>,
) -> Option<String> {
    let pairs = preparations.into_iter().flat_map(|preparation| &preparation.unseen);
    let ratio = |pair: &UnseenPair| (pair.unseen_cpu_ns as f64 / pair.seen_cpu_ns as f64).ln();
    let ratios: Vec<f64> = pairs.map(ratio).collect();
    let more = mean_interval_at(&ratios, SURE)?;
    (more.low > MAX_UNSEEN_RATIO.ln()).then(|| {
        let [mean, low, high] =
            [more.mean, more.low, more.high].map(|it| format!("{:.0}", (it.exp() - 1.0) * 100.0));
        format!(
            "requests that it had never seen took {mean} % more CPU time than those of the load ({low} to {high} %): it \
             remembers replies"
        )
    })
}

/// CPU time that a server's threads may report beyond their cgroup, as a share of its CPU time and in nanoseconds: processes that
/// join the cgroup bring what they used before.
const OUTSIDE_SHARE: f64 = 0.02;
const OUTSIDE_NS: u64 = 2_000_000;

/// The reason to doubt a server whose threads used CPU time outside of their cgroup in a window. `None` if they did not.
pub fn outside_group(trials: &[&Measured]) -> Option<String> {
    let outside = trials.iter().filter_map(|trial| {
        let server = trial.server.as_ref()?;
        let least = OUTSIDE_NS.max((server.cpu_seconds() * 1e9 * OUTSIDE_SHARE) as u64);
        (server.outside_group_ns > least).then_some(server.outside_group_ns)
    });
    let (windows, ns) = outside.fold((0, 0), |(windows, sum), ns| (windows + 1, sum + ns));
    (windows > 0).then(|| {
        format!(
            "its threads used {} of CPU time outside of its cgroup in {} of {}: it left the cgroup for a while",
            duration_ns(ns as f64),
            windows,
            plural(trials.len() as u64, "window")
        )
    })
}

fn histogram(latency: Option<&Latency>, of: &str, counted: u64, is_whole: bool) -> Option<String> {
    let held = |it: &Latency| match is_whole && it.count > 0 {
        true => Ok(it.count),
        false => Histogram::count_in_base64(&it.histogram),
    };
    let held = match latency.map(|it| (it, held(it))) {
        None => 0,
        Some((_, Err(error))) => return Some(format!("its histogram can't be read: {error}")),
        Some((latency, Ok(count))) if count == counted => latency.count,
        Some((_, Ok(count))) => count,
    };
    (held != counted).then(|| {
        format!("its histogram holds {} {of} calls, its counters {}", count(held), count(counted))
    })
}

fn series_length(slices: u64, window_ns: u64) -> Option<String> {
    let expected = window_ns.div_ceil(Slice::LENGTH_NS);
    // A window that ends a few microseconds late has no extra slice.
    (slices.abs_diff(expected) > 1)
        .then(|| format!("its series has {slices} slices, its window {expected}"))
}

fn series_sums(trial: &Measured, workload: &Workload) -> Option<String> {
    let outcomes = &trial.outcomes;
    let ok: u64 = trial.series.iter().map(|s| s.ok).sum();
    let errors: u64 = trial.series.iter().map(|s| s.errors).sum();
    for (of, sliced, counted) in [("ok", ok, outcomes.ok), ("error", errors, outcomes.errors())] {
        if sliced > counted {
            let (sliced, counted) = (count(sliced), count(counted));
            return Some(format!("its series holds {sliced} {of} calls, its counters {counted}"));
        }
    }
    let missing = (outcomes.total() - ok - errors).saturating_sub(outcomes.not_sent);
    // Each slice ends with calls in flight.
    let ends = trial.slicing.map_or(1, |slicing| slicing.slices);
    let in_flight = u64::from(workload.in_flight) * u64::from(ends);
    // In an open loop calls also wait in the client, so any number may be pending at the end.
    (!workload.arrivals.is_open() && missing > in_flight).then(|| {
        let (missing, in_flight) = (plural(missing, "call"), count(in_flight));
        format!("its series lacks {missing}, with {in_flight} in flight at most")
    })
}

fn series_longest(trial: &Measured) -> Option<String> {
    let longest_ns = trial.latency.as_ref().map_or(0, |latency| latency.max_ns);
    let sliced_ns = trial.series.iter().map(|s| s.max_ns).max()?;
    (sliced_ns > longest_ns).then(|| {
        let [sliced, longest] = [sliced_ns, longest_ns].map(|ns| duration_ns(ns as f64));
        format!("its series has a response of {sliced}, its longest is {longest}")
    })
}

fn due(trial: &Measured) -> Option<String> {
    let (due, counted) = (trial.pacing?.due, trial.outcomes.total());
    (due != counted).then(|| {
        let (due, counted) = (plural(due, "call"), count(counted));
        format!("its schedule made {due} due, its counters hold {counted}")
    })
}

fn littles_law(trial: &Measured, workload: &Workload) -> Option<String> {
    // If a window is a number of calls, fewer are in flight towards its end.
    if workload.arrivals.is_open() || matches!(workload.window, Window::Calls { .. }) {
        return None;
    }
    let calls = trial.outcomes.total() as f64;
    let edges_ns = trial.carried_in_ns as f64 - trial.carried_out_ns as f64;
    let rate = calls / (trial.window_ns as f64 / 1e9);
    let mean_s = (mean_response_ns(trial)? + edges_ns / calls) / 1e9;
    let deviation = rpcbench_stats::littles_law(workload.in_flight, rate, mean_s);
    // A client that did not run for a while kept fewer calls in flight.
    if deviation < 0.0 && matches!(trial.disturbance(), Some(Disturbance::ClientAbsent(_))) {
        return None;
    }
    (deviation.abs() > LITTLE_TOLERANCE).then(|| {
        let (in_flight, product) = (count(workload.in_flight.into()), si(rate * mean_s));
        format!("{in_flight} calls were in flight, but rate x mean response time gives {product}")
    })
}

/// Mean response time over calls with any outcome, nanoseconds. `None` without calls.
fn mean_response_ns(trial: &Measured) -> Option<f64> {
    let parts = [trial.latency.as_ref(), trial.error_latency.as_ref()];
    let (calls, sum) = parts
        .into_iter()
        .flatten()
        .filter(|l| l.count > 0)
        .fold((0, 0.0), |(n, sum), l| (n + l.count, sum + l.mean_ns * l.count as f64));
    (calls > 0).then(|| sum / calls as f64)
}
