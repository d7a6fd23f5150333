//! A load as JSON and CSV.

use rpcbench_record::{Latency, LoadRecord};
use serde::Serialize;

use super::tail::{AllCalls, Bound};
use super::verdict::{LoadVerdict, exceeded};
use crate::export::{ExportError, to_csv, to_json};
use crate::view::{EXPORT_SCHEMA, LoadView, MeasuredView};

/// What a load has beyond the fields of a trial.
#[derive(Serialize)]
struct OnlyLoad {
    arrivals: String,
    seed: u64,
    capacity_calls_per_s: Option<f64>,
    limits_exceeded: String,
    pacing_due: Option<u64>,
    pacing_late: Option<u64>,
    pacing_held_back: Option<u64>,
    service_min_ns: Option<u64>,
    service_mean_ns: Option<f64>,
    service_stddev_ns: Option<f64>,
    service_p50_ns: Option<u64>,
    service_p90_ns: Option<u64>,
    service_p95_ns: Option<u64>,
    service_p99_ns: Option<u64>,
    service_p999_ns: Option<u64>,
    service_max_ns: Option<u64>,
    send_lag_min_ns: Option<u64>,
    send_lag_mean_ns: Option<f64>,
    send_lag_stddev_ns: Option<f64>,
    send_lag_p50_ns: Option<u64>,
    send_lag_p90_ns: Option<u64>,
    send_lag_p95_ns: Option<u64>,
    send_lag_p99_ns: Option<u64>,
    send_lag_p999_ns: Option<u64>,
    send_lag_max_ns: Option<u64>,
    all_calls_p50_ns: Option<f64>,
    all_calls_p90_ns: Option<f64>,
    all_calls_p95_ns: Option<f64>,
    all_calls_p99_ns: Option<f64>,
    all_calls_p999_ns: Option<f64>,
}

impl OnlyLoad {
    fn of(load: &LoadRecord) -> Self {
        let measured = &load.measured;
        let (service, send_lag) = (measured.service.as_ref(), measured.send_lag.as_ref());
        let time = |part: Option<&Latency>, of: fn(&Latency) -> u64| part.map(of);
        let mean = |part: Option<&Latency>, of: fn(&Latency) -> f64| part.map(of);
        let all = AllCalls::of(measured);
        let of_all = |millionths| match all.as_ref()?.quantile(millionths) {
            Bound::At(ns) => Some(ns),
            Bound::Above(_) => None,
        };
        Self {
            arrivals: load.workload.arrivals.to_string(),
            seed: load.seed,
            capacity_calls_per_s: load.capacity.map(|capacity| capacity.calls_per_s),
            limits_exceeded: exceeded(load).join("; "),
            pacing_due: measured.pacing.map(|pacing| pacing.due),
            pacing_late: measured.pacing.map(|pacing| pacing.late),
            pacing_held_back: measured.pacing.map(|pacing| pacing.held_back),
            service_min_ns: time(service, |l| l.min_ns),
            service_mean_ns: mean(service, |l| l.mean_ns),
            service_stddev_ns: mean(service, |l| l.stddev_ns),
            service_p50_ns: time(service, |l| l.p50_ns),
            service_p90_ns: time(service, |l| l.p90_ns),
            service_p95_ns: time(service, |l| l.p95_ns),
            service_p99_ns: time(service, |l| l.p99_ns),
            service_p999_ns: time(service, |l| l.p999_ns),
            service_max_ns: time(service, |l| l.max_ns),
            send_lag_min_ns: time(send_lag, |l| l.min_ns),
            send_lag_mean_ns: mean(send_lag, |l| l.mean_ns),
            send_lag_stddev_ns: mean(send_lag, |l| l.stddev_ns),
            send_lag_p50_ns: time(send_lag, |l| l.p50_ns),
            send_lag_p90_ns: time(send_lag, |l| l.p90_ns),
            send_lag_p95_ns: time(send_lag, |l| l.p95_ns),
            send_lag_p99_ns: time(send_lag, |l| l.p99_ns),
            send_lag_p999_ns: time(send_lag, |l| l.p999_ns),
            send_lag_max_ns: time(send_lag, |l| l.max_ns),
            all_calls_p50_ns: of_all(500_000),
            all_calls_p90_ns: of_all(900_000),
            all_calls_p95_ns: of_all(950_000),
            all_calls_p99_ns: of_all(990_000),
            all_calls_p999_ns: of_all(999_000),
        }
    }
}

fn view(load: &LoadRecord) -> (LoadView<'_>, MeasuredView, OnlyLoad) {
    let view = LoadView::of(load, LoadVerdict::of(load).name());
    (view, MeasuredView::of(&load.measured), OnlyLoad::of(load))
}

/// A load as JSON. Its fields are those of a trial, with the load's own around them.
///
/// # Errors
/// If a value can't be written; see [`ExportError`].
pub fn load_json(load: &LoadRecord) -> Result<String, ExportError> {
    #[derive(Serialize)]
    struct Versioned<'a> {
        schema: u32,
        #[serde(flatten)]
        load: LoadView<'a>,
        #[serde(flatten)]
        measured: MeasuredView,
        #[serde(flatten)]
        only: OnlyLoad,
    }
    let (load, measured, only) = view(load);
    to_json(&Versioned { schema: EXPORT_SCHEMA, load, measured, only })
}

/// A load as CSV: a header and a row.
///
/// # Errors
/// If the row can't be written; see [`ExportError`].
pub fn load_csv(load: &LoadRecord) -> Result<String, ExportError> {
    to_csv(std::iter::once(view(load)))
}
