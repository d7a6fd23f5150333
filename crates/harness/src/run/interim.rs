//! Analyzes the windows so far: whether the run continues, and with which entries.

use std::collections::BTreeMap;
use std::f64::consts::SQRT_2;

use rpcbench_record::{InterimAnalysis, RankedBy, Run, observations};
use rpcbench_stats::{DEVIATION_PER_MAD, Observation, Spread, compare, median};

/// Smallest share of the rounds that an entry takes part in: it stays comparable with those measured next to it.
const MIN_SHARE: f64 = 0.5;
/// Weight of an entry whose neighbours are decided, relative to an open one's.
const DECIDED_WEIGHT: f64 = 0.5;

/// An analysis of the windows of a workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Interim {
    /// The look that was due, if any.
    pub look: Option<InterimAnalysis>,
    /// The share of further rounds that each entry takes part in, by name: 1 if it is missing.
    pub shares: BTreeMap<String, f64>,
    /// The components of the noise, if it is known.
    pub spread: Option<Spread>,
}

impl Interim {
    /// True if a look was due, and its answer is clear.
    pub fn is_clear(&self) -> bool {
        self.look.as_ref().is_some_and(|look| look.is_clear)
    }
}

/// Analyzes a workload after this many rounds. `elapsed`: see [`Run::due_analysis`]; `None`: no look is due. The number of windows of
/// an entry should be in proportion to their standard deviation (J. Neyman, Journal of the Royal Statistical Society 97, 1934),
/// and decided entries need fewer.
pub(super) fn analyze(run: &Run, workload: &str, rounds: u32, elapsed: Option<f64>) -> Interim {
    let plan = &run.header.plan;
    let Some(workload) = plan.workload(workload) else { return Interim::default() };
    let observations = observations(run, workload, RankedBy::of(run, workload));
    let compared = |question| compare(&observations, plan.servers.len(), &question);
    let look = elapsed.and_then(|elapsed| run.due_analysis(&workload.name, rounds, elapsed));
    let look = look.map(|look| {
        let is_clear = compared(run.question_of(&look)).is_decided();
        InterimAnalysis { is_clear, ..look }
    });
    let comparison = compared(run.question(&workload.name));
    let names = plan.servers.iter().map(|server| server.entry.clone());
    let noise: Vec<f64> = (0..names.len()).map(|entry| noise(&observations, entry)).collect();
    let shares = names.zip(shares(&noise, &comparison.open_neighbours()));
    // Without a limit, no other entry would get the time.
    let is_limited = plan.stopping.is_some_and(|stopping| stopping.max_time_ms.is_some());
    Interim { look, shares: shares.filter(|_| is_limited).collect(), spread: comparison.spread() }
}

/// Shares of the rounds for entries whose windows are this noisy, with pairs of neighbours that are undecided.
fn shares(noise: &[f64], open: &[(usize, usize)]) -> Vec<f64> {
    let is_open = |entry: usize| open.iter().any(|(a, b)| *a == entry || *b == entry);
    let weight = |entry: usize| if is_open(entry) { 1.0 } else { DECIDED_WEIGHT };
    let needs: Vec<f64> = noise.iter().enumerate().map(|(at, noise)| noise * weight(at)).collect();
    let most = needs.iter().copied().fold(0.0, f64::max);
    let share = |need: f64| if most > 0.0 { (need / most).max(MIN_SHARE) } else { 1.0 };
    needs.into_iter().map(share).collect()
}

/// Standard deviation of the logarithm of an entry's windows, from neighbours of one process: what drifts slowly cancels. By
/// the median, as the comparison bounds stalls: more windows would not make them fewer.
fn noise(observations: &[Observation], entry: usize) -> f64 {
    let mut last: BTreeMap<u32, f64> = BTreeMap::new();
    let own = observations.iter().filter(|window| window.entry == entry);
    let steps = own.filter_map(|window| {
        let value = window.value.ln();
        Some((value - last.insert(window.process, value)?).abs())
    });
    median(steps.collect()).unwrap_or_default() * DEVIATION_PER_MAD / SQRT_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noisy_and_open_entries_take_part_in_more_rounds() {
        let open = [(0, 1)];
        assert_eq!(shares(&[0.2, 0.1, 0.2, 0.01], &open), [1.0, 0.5, 0.5, MIN_SHARE]);
        // Of decided ones the noisiest takes part in all.
        assert_eq!(shares(&[0.1, 0.05], &[]), [1.0, 0.5]);
        assert_eq!(shares(&[0.1], &[]), [1.0]);
        assert_eq!(shares(&[0.0, 0.0], &[]), [1.0, 1.0]);
    }

    #[test]
    fn noise_is_that_of_neighbouring_windows_of_a_process() {
        let window = |process, round: u32, value: f64| Observation {
            entry: 0,
            process,
            round,
            value: value.exp(),
            reference: None,
        };
        // Two processes far apart, both rising slowly, with a distance of 0.2 from one window to the next.
        let windows = (0..20).flat_map(|round| {
            let swing = if round % 2 == 0 { 0.1 } else { -0.1 };
            let drift = f64::from(round) * 0.001;
            [window(1, round, 10.0 + swing + drift), window(2, round, 12.0 + swing + drift)]
        });
        let mut windows: Vec<Observation> = windows.collect();
        let expected = 0.2 * DEVIATION_PER_MAD / SQRT_2;
        let found = noise(&windows, 0);
        assert!((found - expected).abs() < 0.002, "{found}");
        // A stall, and a first window before the server was warm.
        (windows[0].value, windows[21].value) = (1.0, 1.0);
        let found = noise(&windows, 0);
        assert!((found - expected).abs() < 0.002, "{found}");
        assert_eq!(noise(&[], 0), 0.0);
    }
}
