//! Compares a server's work in slices with that at the end of its warm-up, which has no breaks.

use rpcbench_record::{Measured, Preparation, WarmSlice};

/// The end of a warm-up that is compared, milliseconds.
const WARM_END_MS: u64 = 2000;
/// Maximum share of compiler threads in the CPU time of that end: while a runtime compiles, it says little.
const MAX_COMPILING: f64 = 0.05;
/// Ratio of calls per CPU-second beyond which either is named: 46 entries of 8 runs on a noisy machine had 0.73 to 1.28.
const MAX_RATIO: f64 = 1.6;

/// The reason to doubt a server that needs less CPU time for its calls when it is frozen and thawed. `None` if it does not.
pub(crate) fn doubt(ratio: f64) -> Option<String> {
    (ratio > MAX_RATIO).then(|| {
        format!(
            "frozen and thawed, it answered {ratio:.1} times as many calls per CPU-second as at the end of its warm-up: it \
             behaves differently when it is measured"
        )
    })
}

/// A note on a server that needs more CPU time for its calls then: its figures are too low. `None` if it does not.
pub(crate) fn note(ratio: f64) -> Option<String> {
    (ratio < 1.0 / MAX_RATIO).then(|| {
        format!(
            "frozen and thawed, it answered only {ratio:.2} times as many calls per CPU-second as at the end of its warm-up: \
             breaks slow it down; alone, it runs without them"
        )
    })
}

/// Calls per CPU-second in slices, divided by those at the end of the warm-ups. `None` if there are no slices, or a warm-up was
/// not steady.
pub(crate) fn ratio<'a>(
    preparations: impl IntoIterator<Item = &'a Preparation>,
    trials: &[&Measured],
) -> Option<f64> {
    let (mut calls, mut cpu_ns) = (0.0, 0.0);
    for curve in preparations.into_iter().filter_map(|preparation| preparation.warm.as_ref()) {
        let from = curve.length_ms().saturating_sub(WARM_END_MS);
        let sum = |of: fn(&WarmSlice) -> u64| {
            curve.slices.iter().filter(|slice| slice.at_ms > from).map(of).sum::<u64>() as f64
        };
        if curve.is_open()
            || sum(|it| it.compiler_cpu_ns) > MAX_COMPILING * sum(|it| it.server_cpu_ns)
        {
            return None;
        }
        calls += sum(|it| it.calls);
        cpu_ns += sum(|it| it.server_cpu_ns);
    }
    let (mut sliced, mut sliced_ns) = (0.0, 0.0);
    for trial in trials {
        trial.slicing?;
        sliced += trial.ok_pro_rata;
        sliced_ns += trial.server_cpu_s()? * 1e9;
    }
    Some((sliced / sliced_ns) / (calls / cpu_ns)).filter(|ratio| ratio.is_finite() && *ratio > 0.0)
}
