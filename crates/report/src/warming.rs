//! Detects servers that were still warming up during measurement.

use std::collections::BTreeMap;

use rpcbench_record::{Measured, Preparation, ServerUsage, WarmUp};
use rpcbench_stats::{Drift, Observation};

use crate::figures::share;
use crate::format::{percent, percent_near};
use crate::row::Row;
use crate::speed_trend::{COLD, SpeedTrend};

/// Maximum share of the server's CPU time for compiler threads of its runtime within the windows: twice what a steady JVM spends
/// on occasional recompilation.
const COMPILER_SHARE: f64 = 0.05;

/// The first reason why a cell in a closed loop is still warming up. A server that is measured cold never is. The end of the
/// warm-up counts only if the windows show no trend.
pub(crate) fn warming(
    warm_up: WarmUp,
    trend: SpeedTrend,
    preparations: &[&Preparation],
    trials: &[&Measured],
) -> Option<String> {
    if warm_up == COLD {
        return None;
    }
    match trend {
        SpeedTrend::Drifting(drift) if drift.change > 0.0 => Some(drifted(drift)),
        SpeedTrend::Unknown => {
            unsteady(warm_up, preparations).or_else(|| compiling(servers(trials)))
        }
        SpeedTrend::Level | SpeedTrend::Drifting(_) | SpeedTrend::WarmedUpMidRun { .. } => None,
    }
}

/// A note on a cell that is not considered warming up.
pub(crate) fn remark(
    warm_up: WarmUp,
    trend: SpeedTrend,
    preparations: &[&Preparation],
    trials: &[&Measured],
) -> Option<String> {
    match trend {
        SpeedTrend::Drifting(drift) if drift.change < 0.0 => Some(drifted(drift)),
        SpeedTrend::Level if warm_up != COLD => {
            let why = unsteady(warm_up, preparations).or_else(|| compiling(servers(trials)))?;
            Some(format!("{why}; its windows show no change"))
        }
        SpeedTrend::WarmedUpMidRun { drift, from } => Some(format!(
            "a lower bound: {}; only its windows from round {from} on count, in which it no longer rose",
            drifted(drift)
        )),
        SpeedTrend::Level | SpeedTrend::Drifting(_) | SpeedTrend::Unknown => None,
    }
}

/// Removes windows before the first round that counts, by the entry's number.
pub(crate) fn counted(mut windows: Vec<Observation>, rows: &[Row]) -> Vec<Observation> {
    let from: BTreeMap<usize, u32> = rows.iter().map(|row| (row.number, row.counts_from)).collect();
    windows.retain(|window| from.get(&window.entry).is_none_or(|from| window.round >= *from));
    windows
}

fn drifted(Drift { change }: Drift) -> String {
    let how = if change > 0.0 { "faster" } else { "slower" };
    let by = percent(change.abs());
    format!("it became {by} {how} than before, compared with the others, while it was measured")
}

/// The first preparation that was not steady at its end. Below capacity there is no other evidence, since CPU time per call
/// depends on the load.
pub(crate) fn unsteady(warm_up: WarmUp, preparations: &[&Preparation]) -> Option<String> {
    let WarmUp::UntilSteady { .. } = warm_up else { return None };
    let mut curves = preparations.iter().filter_map(|p| p.warm.as_ref());
    let curve = curves.find(|curve| curve.is_open())?;
    let why = curve.unsteady.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    Some(format!("not steady when its warm-up ended{why}"))
}

fn servers<'a>(trials: &[&'a Measured]) -> impl Iterator<Item = &'a ServerUsage> {
    trials.iter().filter_map(|trial| trial.server.as_ref())
}

/// Over all windows: one late recompilation in a short window means little.
fn compiling<'a>(windows: impl Iterator<Item = &'a ServerUsage>) -> Option<String> {
    let (mut compilers, mut total) = (0, 0);
    for server in windows {
        compilers += server.compiler_cpu_ns;
        total += server.cpu_user_ns + server.cpu_system_ns;
    }
    let share = share(compilers as f64, total as f64);
    (share > COMPILER_SHARE).then(|| {
        let share = percent_near(share, &[COMPILER_SHARE]);
        format!("compiler threads used {share} of the server's CPU time while it was measured")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slower_server_is_not_warming() {
        let slower = SpeedTrend::Drifting(Drift { change: -0.3 });
        assert_eq!(warming(until_steady(), slower, &[], &[]), None);
        let remark = remark(until_steady(), slower, &[], &[]).expect("a remark");
        assert!(remark.contains("30 % slower than before"), "{remark}");
    }

    #[test]
    fn cold_server_is_never_warming() {
        let climbing = SpeedTrend::Drifting(Drift { change: 0.3 });
        let why =
            "it became 30 % faster than before, compared with the others, while it was measured";
        assert_eq!(warming(until_steady(), climbing, &[], &[]).as_deref(), Some(why));
        assert_eq!(warming(WarmUp::Fixed { length_ms: 0 }, climbing, &[], &[]), None);
    }

    fn until_steady() -> WarmUp {
        WarmUp::UntilSteady { least_ms: 0, cap_ms: None }
    }

    #[test]
    fn compiler_share_limit_is_5_percent() {
        let usage = |compiler_cpu_ns| ServerUsage {
            cpu_user_ns: 800,
            cpu_system_ns: 200,
            compiler_cpu_ns,
            ..ServerUsage::default()
        };
        let judged = |windows: &[u64]| {
            let windows: Vec<ServerUsage> = windows.iter().map(|ns| usage(*ns)).collect();
            compiling(windows.iter())
        };
        let why = "compiler threads used 5.1 % of the server's CPU time while it was measured";
        assert_eq!(judged(&[50]), None);
        assert_eq!(judged(&[51]), Some(why.to_owned()));
        assert_eq!(judged(&[100, 0]), None);
        assert_eq!(judged(&[102, 0]), Some(why.to_owned()));
        assert_eq!(judged(&[]), None);
    }
}
