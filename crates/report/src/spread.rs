//! How much equal servers differ, measured by entering one server twice.

use rpcbench_record::{Measured, Run, Trial};

use crate::figures::mean;

/// How much a figure differs between equal entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The figure: `calls/s`.
    pub figure: &'static str,
    /// Range of the entries' means, as a share of the overall mean.
    pub between: f64,
    /// Range of all trials, as a share of the overall mean.
    pub trials: f64,
}

/// Reads a figure from a trial.
type Figure = fn(&Measured) -> Option<f64>;

const FIGURES: [(&str, Figure); 3] = [
    ("calls/s", |trial| Some(trial.outcomes.ok as f64 * 1e9 / trial.window_ns as f64)),
    ("calls per server CPU-second", |trial| {
        let seconds = trial.server.as_ref()?.cpu_seconds();
        (seconds > 0.0).then(|| trial.outcomes.ok as f64 / seconds)
    }),
    ("p99", |trial| trial.latency.as_ref().map(|latency| latency.p99_ns as f64)),
];

/// Compares the entries of a run as if they were one server. Figures that a trial lacks are left out. A run needs two trials.
pub fn spreads(run: &Run) -> Vec<Spread> {
    FIGURES.iter().filter_map(|(figure, of)| spread(run, figure, of)).collect()
}

fn spread(run: &Run, figure: &'static str, of: &Figure) -> Option<Spread> {
    let entries: Vec<Vec<f64>> = run
        .header
        .plan
        .servers
        .iter()
        .map(|server| values(run, &server.entry, of))
        .collect::<Option<_>>()?;
    let trials = entries.concat();
    let overall = mean(&trials)?;
    let means: Vec<f64> = entries.iter().filter_map(|entry| mean(entry)).collect();
    let share = |values: &[f64]| range(values) / overall;
    (trials.len() > 1 && overall > 0.0).then(|| Spread {
        figure,
        between: share(&means),
        trials: share(&trials),
    })
}

/// The figure in every measured trial of an entry. `None` if a trial lacks it.
fn values(run: &Run, entry: &str, of: &Figure) -> Option<Vec<f64>> {
    run.trials
        .iter()
        .filter(|trial| trial.entry == entry)
        .filter_map(Trial::measured)
        .map(of)
        .collect()
}

fn range(values: &[f64]) -> f64 {
    let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
    (highest - lowest).max(0.0)
}
