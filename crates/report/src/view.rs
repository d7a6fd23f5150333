//! The flat form of a summary: one record a cell, one a trial. Its field names are the columns of CSV and
//! the keys of JSON; they carry their units and stay the same within a schema version.

use rpcbench_record::{Latency, LoadRecord, Measured, Protocol, Run, TrialResult};
use serde::Serialize;

use crate::cell::Row;
use crate::figures::{Estimate, Response, ServerFigures};
use crate::summary::Table;
use crate::warming::efficiency;

/// Version of the exported fields. A field renamed, removed or given another unit makes a new one.
pub const EXPORT_SCHEMA: u32 = 1;

#[derive(Default, Serialize)]
pub(crate) struct CellView<'a> {
    workload: &'a str,
    entry: &'a str,
    server: &'a str,
    protocol: Option<Protocol>,
    variant: Option<&'a str>,
    language: &'a str,
    library: &'a str,
    versions: String,
    rank: Option<u32>,
    tied: Option<bool>,
    verdict: &'static str,
    reason: Option<String>,
    trials_measured: u32,
    trials_planned: u32,
    calls_per_s: Option<f64>,
    calls_per_s_low: Option<f64>,
    calls_per_s_high: Option<f64>,
    min_ns: Option<u64>,
    mean_ns: Option<f64>,
    stddev_ns: Option<f64>,
    p50_ns: Option<u64>,
    p90_ns: Option<u64>,
    p95_ns: Option<u64>,
    p99_ns: Option<u64>,
    p999_ns: Option<u64>,
    max_ns: Option<u64>,
    calls: Option<u64>,
    ok: Option<u64>,
    wrong_answer: Option<u64>,
    status: Option<u64>,
    timeout: Option<u64>,
    transport: Option<u64>,
    not_sent: Option<u64>,
    error_share: Option<f64>,
    server_cpu_share: Option<f64>,
    server_cpu_user_s: Option<f64>,
    server_cpu_system_s: Option<f64>,
    calls_per_server_cpu_s: Option<f64>,
    calls_per_server_cpu_s_low: Option<f64>,
    calls_per_server_cpu_s_high: Option<f64>,
    memory_peak_bytes: Option<u64>,
    memory_anon_bytes: Option<u64>,
    throttled_share: Option<f64>,
    client_cpu_share: Option<f64>,
    client_busiest_share: Option<f64>,
    steal_ns: Option<u64>,
    steady_after_ms: Option<u64>,
    cold_calls_per_s: Option<f64>,
    arrivals: String,
    offered_per_s: Option<f64>,
    capacity_calls_per_s: Option<f64>,
    threshold: Option<String>,
    highest_per_s: Option<f64>,
    highest_per_s_low: Option<f64>,
    highest_per_s_high: Option<f64>,
}

impl<'a> CellView<'a> {
    pub(crate) fn of(table: &'a Table, row: &'a Row) -> Self {
        Self {
            arrivals: table.workload.arrivals.to_string(),
            offered_per_s: row.offered_per_s,
            capacity_calls_per_s: row.capacity_per_s,
            threshold: table.workload.find_max.map(|threshold| threshold.to_string()),
            highest_per_s: row.highest_rate.map(|e| e.mean),
            highest_per_s_low: row.highest_rate.and_then(low),
            highest_per_s_high: row.highest_rate.and_then(high),
            ..Self::of_trials(table, row)
        }
    }

    /// All but what the arrival process says.
    fn of_trials(table: &'a Table, row: &'a Row) -> Self {
        let figures = row.figures.as_ref();
        let outcomes = figures.map(|f| &f.outcomes);
        let response = |of: fn(&Response) -> u64| figures?.response.as_ref().map(of);
        let response_mean = |of: fn(&Response) -> f64| figures?.response.as_ref().map(of);
        let server = figures.and_then(|f| f.server.as_ref());
        let of_server = |of: fn(&ServerFigures) -> f64| server.map(of);
        let rate = figures.map(|f| f.calls_per_s);
        let price = server.and_then(|s| s.calls_per_cpu_s);
        Self {
            workload: &table.workload.name,
            entry: &row.server.entry,
            server: &row.server.server,
            protocol: Some(row.server.protocol),
            variant: row.server.variant.as_deref(),
            language: &row.server.language,
            library: &row.server.library,
            versions: versions(row),
            rank: row.rank.map(|r| r.place),
            tied: row.rank.map(|r| r.tied),
            verdict: row.verdict.name(),
            reason: row.verdict.reason(),
            trials_measured: row.measured,
            trials_planned: row.planned,
            calls_per_s: rate.map(|e| e.mean),
            calls_per_s_low: rate.and_then(low),
            calls_per_s_high: rate.and_then(high),
            min_ns: response(|r| r.min_ns),
            mean_ns: response_mean(|r| r.mean_ns),
            stddev_ns: response_mean(|r| r.stddev_ns),
            p50_ns: response(|r| r.p50_ns),
            p90_ns: response(|r| r.p90_ns),
            p95_ns: response(|r| r.p95_ns),
            p99_ns: response(|r| r.p99_ns),
            p999_ns: response(|r| r.p999_ns),
            max_ns: response(|r| r.max_ns),
            calls: outcomes.map(|o| o.total()),
            ok: outcomes.map(|o| o.ok),
            wrong_answer: outcomes.map(|o| o.wrong_answer),
            status: outcomes.map(|o| o.status.values().sum()),
            timeout: outcomes.map(|o| o.timeout),
            transport: outcomes.map(|o| o.transport),
            not_sent: outcomes.map(|o| o.not_sent),
            error_share: figures.map(|f| f.error_share()),
            server_cpu_share: of_server(|s| s.cpu_share),
            server_cpu_user_s: of_server(|s| s.cpu_user_s),
            server_cpu_system_s: of_server(|s| s.cpu_system_s),
            calls_per_server_cpu_s: price.map(|e| e.mean),
            calls_per_server_cpu_s_low: price.and_then(low),
            calls_per_server_cpu_s_high: price.and_then(high),
            memory_peak_bytes: server.map(|s| s.memory_peak_bytes),
            memory_anon_bytes: server.map(|s| s.memory_anon_bytes),
            throttled_share: server.and_then(|s| s.throttled_share),
            client_cpu_share: figures.map(|f| f.client.cpu_share),
            client_busiest_share: figures.map(|f| f.client.busiest_share),
            steal_ns: figures.map(|f| f.steal_ns),
            steady_after_ms: row.steady_after_ms,
            cold_calls_per_s: row.cold_calls_per_s,
            ..Self::default()
        }
    }
}

fn low(estimate: Estimate) -> Option<f64> {
    estimate.interval.map(|i| i.low)
}

fn high(estimate: Estimate) -> Option<f64> {
    estimate.interval.map(|i| i.high)
}

/// `grpc 1.80.0, protobuf 1.36.0`.
fn versions(row: &Row) -> String {
    let all: Vec<String> = row.versions.iter().map(|(name, v)| format!("{name} {v}")).collect();
    all.join(", ")
}

/// Which trial a row is of.
#[derive(Serialize)]
pub(crate) struct TrialView<'a> {
    workload: &'a str,
    entry: &'a str,
    trial: u32,
    started: String,
    failure: Option<&'a str>,
    arrivals: Option<String>,
    pacing_due: Option<u64>,
    pacing_late: Option<u64>,
    pacing_held_back: Option<u64>,
}

/// One window's figures.
#[derive(Default, Serialize)]
pub(crate) struct MeasuredView {
    window_ns: Option<u64>,
    calls_per_s: Option<f64>,
    min_ns: Option<u64>,
    mean_ns: Option<f64>,
    stddev_ns: Option<f64>,
    p50_ns: Option<u64>,
    p90_ns: Option<u64>,
    p95_ns: Option<u64>,
    p99_ns: Option<u64>,
    p999_ns: Option<u64>,
    max_ns: Option<u64>,
    calls: Option<u64>,
    ok: Option<u64>,
    wrong_answer: Option<u64>,
    status: Option<u64>,
    timeout: Option<u64>,
    transport: Option<u64>,
    not_sent: Option<u64>,
    server_cpu_user_ns: Option<u64>,
    server_cpu_system_ns: Option<u64>,
    compiler_cpu_ns: Option<u64>,
    calls_per_server_cpu_s: Option<f64>,
    throttled_ns: Option<u64>,
    memory_peak_bytes: Option<u64>,
    memory_anon_bytes: Option<u64>,
    memory_cache_bytes: Option<u64>,
    switches_voluntary: Option<u64>,
    switches_involuntary: Option<u64>,
    client_threads: Option<u32>,
    client_cpu_ns: Option<u64>,
    client_awake_ns: Option<u64>,
    client_run_delay_ns: Option<u64>,
    client_busiest_ns: Option<u64>,
    steal_ns: Option<u64>,
    cpu_pressure_ns: Option<u64>,
}

impl MeasuredView {
    pub(crate) fn of(trial: &Measured) -> Self {
        let latency = trial.latency.as_ref();
        let time = |of: fn(&Latency) -> u64| latency.map(of);
        let server = trial.server.as_ref();
        Self {
            window_ns: Some(trial.window_ns),
            calls_per_s: trial.ok_per_s(),
            min_ns: time(|l| l.min_ns),
            mean_ns: latency.map(|l| l.mean_ns),
            stddev_ns: latency.map(|l| l.stddev_ns),
            p50_ns: time(|l| l.p50_ns),
            p90_ns: time(|l| l.p90_ns),
            p95_ns: time(|l| l.p95_ns),
            p99_ns: time(|l| l.p99_ns),
            p999_ns: time(|l| l.p999_ns),
            max_ns: time(|l| l.max_ns),
            calls: Some(trial.outcomes.total()),
            ok: Some(trial.outcomes.ok),
            wrong_answer: Some(trial.outcomes.wrong_answer),
            status: Some(trial.outcomes.status.values().sum()),
            timeout: Some(trial.outcomes.timeout),
            transport: Some(trial.outcomes.transport),
            not_sent: Some(trial.outcomes.not_sent),
            server_cpu_user_ns: server.map(|s| s.cpu_user_ns),
            server_cpu_system_ns: server.map(|s| s.cpu_system_ns),
            compiler_cpu_ns: server.map(|s| s.compiler_cpu_ns),
            calls_per_server_cpu_s: efficiency(trial),
            throttled_ns: server.and_then(|s| s.throttled_ns),
            memory_peak_bytes: server.map(|s| s.memory_peak_bytes),
            memory_anon_bytes: server.map(|s| s.memory_anon_bytes),
            memory_cache_bytes: server.and_then(|s| s.memory_cache_bytes),
            switches_voluntary: server.map(|s| s.switches_voluntary),
            switches_involuntary: server.map(|s| s.switches_involuntary),
            client_threads: Some(trial.client.threads),
            client_cpu_ns: Some(trial.client.cpu_ns),
            client_awake_ns: Some(trial.client.awake_ns),
            client_run_delay_ns: trial.client.run_delay_ns,
            client_busiest_ns: Some(trial.client.busiest_ns),
            steal_ns: Some(trial.machine.steal_ns),
            cpu_pressure_ns: trial.machine.cpu_pressure_ns,
        }
    }
}

/// Every trial of a run that ended, in the order in which they ran.
pub(crate) fn trials(run: &Run) -> impl Iterator<Item = (TrialView<'_>, MeasuredView)> {
    run.trials.iter().map(|trial| {
        let (failure, measured, pacing) = match &trial.result {
            TrialResult::Measured(m) => (None, MeasuredView::of(m), m.pacing),
            TrialResult::Failed(f) => (Some(f.reason.as_str()), MeasuredView::default(), None),
        };
        let view = TrialView {
            workload: &trial.workload,
            entry: &trial.entry,
            trial: trial.number,
            started: trial.started.to_string(),
            failure,
            arrivals: trial.arrivals.map(|arrivals| arrivals.to_string()),
            pacing_due: pacing.map(|p| p.due),
            pacing_late: pacing.map(|p| p.late),
            pacing_held_back: pacing.map(|p| p.held_back),
        };
        (view, measured)
    })
}

/// Which load a row is of.
#[derive(Serialize)]
pub(crate) struct LoadView<'a> {
    address: &'a str,
    protocol: Protocol,
    shape: &'a str,
    connections: u32,
    in_flight: u32,
    verdict: &'static str,
}

impl<'a> LoadView<'a> {
    pub(crate) fn of(load: &'a LoadRecord, verdict: &'static str) -> Self {
        let workload = &load.workload;
        Self {
            address: &load.address,
            protocol: load.protocol,
            shape: &workload.shape,
            connections: workload.connections,
            in_flight: workload.in_flight,
            verdict,
        }
    }
}
