//! The trend of an entry's speed during measurement.

use std::collections::BTreeMap;

use rpcbench_record::{WarmUp, Workload};
use rpcbench_stats::{DEVIATION_PER_MAD, Drift, Observation, drift, median};

/// Warm-up of suites that measure cold servers.
pub(crate) const COLD: WarmUp = WarmUp::Fixed { length_ms: 0 };

/// The trend of an entry's speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SpeedTrend {
    /// Unknown, with too few windows per process or no other entry to compare with.
    Unknown,
    /// No change beyond noise.
    Level,
    /// The entry became faster or slower within its processes.
    Drifting(Drift),
    /// The entry became faster, but not in the last half of the rounds, which starts at round `from`.
    WarmedUpMidRun { drift: Drift, from: u32 },
}

impl SpeedTrend {
    /// The trend under a workload. All windows of a cold server count, and all windows of an open loop, where CPU time per call
    /// depends on the load.
    pub(crate) fn under(self, workload: &Workload) -> Self {
        match self {
            Self::WarmedUpMidRun { drift, .. }
                if workload.warm_up == COLD || workload.arrivals.is_open() =>
            {
                Self::Drifting(drift)
            }
            trend => trend,
        }
    }

    /// The first round that counts, from 1. The entry was slower in earlier rounds.
    pub(crate) fn counts_from(self) -> u32 {
        match self {
            Self::WarmedUpMidRun { from, .. } => from,
            Self::Unknown | Self::Level | Self::Drifting(_) => 1,
        }
    }
}

/// Minimum windows per process that show a trend: two before a step and two after it.
const MIN_WINDOWS: usize = 4;
/// Minimum rounds in the last half, so that it is more than a stall. At least five rounds in total.
const MIN_HALF: u32 = 3;

/// The trend of each of the plan's entries.
pub(crate) fn trends(
    observations: &[Observation],
    entries: usize,
    precision: f64,
) -> Vec<SpeedTrend> {
    let found = drift(observations, entries, precision);
    let unchanged = unchanged(observations, entries);
    let rounds = observations.iter().map(|window| window.round).max().unwrap_or_default();
    let from = rounds / 2 + 1;
    let trend = |(entry, (found, unchanged)): (usize, (Option<Drift>, SpeedTrend))| {
        let Some(found) = found else { return unchanged };
        let is_warm = || !still_climbs(&series(observations, entry), from, precision);
        match found.change > 0.0 && rounds + 1 - from >= MIN_HALF && is_warm() {
            true => SpeedTrend::WarmedUpMidRun { drift: found, from },
            false => SpeedTrend::Drifting(found),
        }
    };
    found.into_iter().zip(unchanged).enumerate().map(trend).collect()
}

/// The trend of entries without a change.
fn unchanged(observations: &[Observation], entries: usize) -> Vec<SpeedTrend> {
    let mut windows: BTreeMap<(usize, u32), usize> = BTreeMap::new();
    for observation in observations {
        *windows.entry((observation.entry, observation.process)).or_default() += 1;
    }
    let long = |entry| windows.iter().any(|(of, n)| of.0 == entry && *n >= MIN_WINDOWS);
    let compared = |entry| windows.keys().any(|(other, _)| *other != entry);
    let trend = |entry| match long(entry) && compared(entry) {
        true => SpeedTrend::Level,
        false => SpeedTrend::Unknown,
    };
    (0..entries).map(trend).collect()
}

/// Windows of the processes of an entry: round, and the logarithm of the figure relative to the other entries in that round.
type Series = Vec<Vec<(u32, f64)>>;

/// The windows of an entry. Effects that all entries share in a round cancel.
fn series(observations: &[Observation], entry: usize) -> Series {
    let mut levels: BTreeMap<(usize, u32), (f64, f64)> = BTreeMap::new();
    for window in observations {
        let (sum, count) = levels.entry((window.entry, window.process)).or_default();
        (*sum, *count) = (*sum + window.value.ln(), *count + 1.0);
    }
    let mut others: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for window in observations.iter().filter(|window| window.entry != entry) {
        let (sum, count) = levels[&(window.entry, window.process)];
        others.entry(window.round).or_default().push(window.value.ln() - sum / count);
    }
    let shared: BTreeMap<u32, f64> =
        others.into_iter().filter_map(|(round, values)| Some((round, median(values)?))).collect();
    let mut processes: BTreeMap<u32, Vec<(u32, f64)>> = BTreeMap::new();
    for window in observations.iter().filter(|window| window.entry == entry) {
        if let Some(shared) = shared.get(&window.round) {
            let value = window.value.ln() - shared;
            processes.entry(window.process).or_default().push((window.round, value));
        }
    }
    processes.into_values().collect()
}

/// True if an entry that climbed still does in the rounds starting at `from`: from the first to the second half of these rounds,
/// it grows by more than the precision and by more than two standard errors, estimated from neighbouring windows.
fn still_climbs(series: &Series, from: u32, precision: f64) -> bool {
    let steps = || series.iter().flat_map(|it| it.windows(2).map(|pair| pair[1].1 - pair[0].1));
    let Some(step) = median(steps().collect()) else { return true };
    let spread = median(steps().map(|it| (it - step).abs()).collect()).unwrap_or_default();
    let noise = DEVIATION_PER_MAD * spread / f64::sqrt(2.0);
    let (mut rise, mut variance, mut processes) = (0.0, 0.0, 0.0);
    for windows in series {
        let late = &windows[windows.partition_point(|(round, _)| *round < from)..];
        let (first, second) = late.split_at(late.len() / 2);
        if let (Some(before), Some(after)) = (mean(first), mean(second)) {
            rise += after - before;
            variance += 1.0 / first.len() as f64 + 1.0 / second.len() as f64;
            processes += 1.0;
        }
    }
    let error = noise * f64::sqrt(variance) / processes;
    processes == 0.0 || rise / processes > precision.ln_1p().max(2.0 * error)
}

fn mean(windows: &[(u32, f64)]) -> Option<f64> {
    let sum: f64 = windows.iter().map(|(_, value)| value).sum();
    (!windows.is_empty()).then(|| sum / windows.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of three entries with one process each. The first entry grows after this many rounds.
    fn grown(windows: u32, after: u32, growth: f64) -> Vec<Observation> {
        let noise = [0.0, 0.011, -0.008, 0.004, -0.012, 0.007, -0.003, 0.009];
        let window = |entry: usize, round: u32| {
            let noise = noise[(round as usize * 3 + entry * 5) % 8];
            let growth = if entry == 0 && round > after { growth } else { 0.0 };
            let value = 1000.0 * (1.0 + noise + growth);
            Observation::new(entry, 1, round, value)
        };
        (1..=windows).flat_map(|round| (0..3).map(move |entry| window(entry, round))).collect()
    }

    #[test]
    fn growth_is_attributed_to_entry_that_grew() {
        let found = trends(&grown(16, 12, 0.3), 3, 0.05);
        assert!(
            matches!(found[0], SpeedTrend::Drifting(Drift { change }) if (0.25..0.35).contains(&change)),
            "{found:?}"
        );
        assert_eq!(found[1..], [SpeedTrend::Level; 2]);
        let slower = trends(&grown(16, 8, -0.3), 3, 0.05);
        assert_eq!(slower[1..], [SpeedTrend::Level; 2]);
        assert!(matches!(slower[0], SpeedTrend::Drifting(Drift { change }) if change < -0.25));
    }

    #[test]
    fn last_half_counts_after_warm_up() {
        let found = trends(&grown(16, 8, 0.3), 3, 0.05);
        assert!(
            matches!(found[0], SpeedTrend::WarmedUpMidRun { drift: Drift { change }, from: 9 } if change > 0.25),
            "{found:?}"
        );
        assert_eq!(found[1..], [SpeedTrend::Level; 2]);
        // With four rounds, the last two are too few.
        assert!(matches!(trends(&grown(4, 2, 0.9), 3, 0.05)[0], SpeedTrend::Drifting(_)));
    }

    #[test]
    fn faster_entry_of_two_is_the_one_that_changed() {
        let mut two = grown(16, 12, 0.3);
        two.retain(|observation| observation.entry < 2);
        let found = trends(&two, 2, 0.05);
        assert!(
            matches!(found[0], SpeedTrend::Drifting(Drift { change }) if change > 0.2),
            "{found:?}"
        );
        assert_eq!(found[1], SpeedTrend::Level);
    }

    #[test]
    fn noise_is_not_warming() {
        assert_eq!(trends(&grown(16, 8, 0.0), 3, 0.05), [SpeedTrend::Level; 3]);
    }

    #[test]
    fn few_windows_or_single_entry_show_no_trend() {
        assert_eq!(trends(&grown(3, 1, 0.3), 3, 0.05), [SpeedTrend::Unknown; 3]);
        let mut alone = grown(16, 8, 0.3);
        alone.retain(|observation| observation.entry == 0);
        assert_eq!(trends(&alone, 3, 0.05), [SpeedTrend::Unknown; 3]);
    }
}
