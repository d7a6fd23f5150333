//! The noise of each entry's windows: stalls bounded, variances moderated by those of the other entries.

use statrs::function::gamma::digamma;

use super::own::OwnError;
use super::two_way::{Cell, TwoWay};
use super::windows::Windows;
use crate::{DEVIATION_PER_MAD, median};

/// Distance from the fit, in standard deviations, beyond which a window's influence stops growing. For independent normal values
/// this costs 1 % of the information.
const INFLUENCE_BOUND: f64 = 2.0;
/// Steps of the fit. It hardly changes after the third.
const STEPS: usize = 6;
/// Minimum variance of noise: a tenth of a percent, squared.
const MIN: f64 = 1e-6;
/// Maximum degrees of freedom of the prior from the other entries.
const MAX_PRIOR: f64 = 100.0;

/// A robust fit of processes and rounds.
pub(super) struct Noise {
    /// Level of each process.
    pub levels: Vec<f64>,
    /// Covariance of the levels if windows are independent.
    pub covariance: Vec<Vec<f64>>,
    /// Values of the windows, without the excess of stalls.
    pub values: Vec<f64>,
    /// Effect of each round.
    pub rounds: Vec<f64>,
    /// Bounded residuals.
    pub rest: Vec<f64>,
    /// Variance of a window of each entry, with its degrees of freedom.
    pub entries: Vec<OwnError>,
    /// Variance of a window, pooled over the entries.
    pub pooled: OwnError,
}

impl Noise {
    /// Fits by M-estimation (P. J. Huber, *Robust Regression: Asymptotics, Conjectures and Monte Carlo*, Annals of Statistics 1,
    /// 1973) with weights by entry.
    pub fn fit(windows: &Windows) -> Self {
        let values = windows.values();
        let entries = windows.entries();
        let mut weights = vec![1.0 / MIN.sqrt(); entries];
        let mut bounds = vec![f64::INFINITY; entries];
        let mut bounded = values.clone();
        let mut step = 0;
        loop {
            let cells = windows.cells(|entry| weights[entry]);
            let table = TwoWay::new(&cells, windows.processes.len(), windows.rounds);
            let freedom = freedom(windows, &table, &cells);
            let mut fit = table.fit(&bounded);
            for _ in 0..STEPS {
                let rest = bounded.iter().zip(&fit.rest).map(|(value, rest)| value - rest);
                bounded = (rest.zip(&values).zip(&windows.list))
                    .map(|((fit, value), w)| {
                        fit + (value - fit).clamp(-bounds[w.entry], bounds[w.entry])
                    })
                    .collect();
                fit = table.fit(&bounded);
            }
            let variances = variances(windows, &fit.rest, &freedom, |at| {
                (bounded[at] - values[at]).abs() < MIN
            });
            let (noise, pooled) = moderated(&variances, &freedom);
            step += 1;
            if step == STEPS / 2 {
                return Self {
                    levels: fit.rows,
                    covariance: table.covariance,
                    values: bounded,
                    rounds: fit.columns,
                    rest: fit.rest,
                    entries: noise,
                    pooled,
                };
            }
            let centre: Vec<f64> =
                bounded.iter().zip(&fit.rest).map(|(v, rest)| v - rest).collect();
            let far: Vec<f64> = values.iter().zip(&centre).map(|(v, fit)| v - fit).collect();
            for (entry, own) in noise.iter().enumerate() {
                weights[entry] = 1.0 / own.variance;
                bounds[entry] = bound(windows, &far, entry, freedom[entry]);
            }
        }
    }
}

/// The distance beyond which residuals of an entry are bounded. Residuals below the minimum noise come from rounding, and must
/// not decide what counts as a stall.
fn bound(windows: &Windows, rest: &[f64], entry: usize, freedom: f64) -> f64 {
    let own = windows.list.iter().zip(rest).filter(|(w, _)| w.entry == entry);
    let own: Vec<f64> = own.map(|(_, rest)| rest.abs()).collect();
    let spent = own.len() as f64 / freedom.max(1.0);
    let scale = median(own).unwrap_or_default() * DEVIATION_PER_MAD * spent.sqrt();
    INFLUENCE_BOUND * scale.max(MIN.sqrt())
}

/// Degrees of freedom of each entry's residuals: its windows minus their share in the processes and rounds.
fn freedom(windows: &Windows, table: &TwoWay<'_>, cells: &[Cell]) -> Vec<f64> {
    let mut sizes = vec![0.0; windows.processes.len()];
    windows.list.iter().for_each(|w| sizes[w.process] += 1.0);
    let mut freedom = vec![0.0; windows.entries()];
    for (window, cell) in windows.list.iter().zip(cells) {
        freedom[window.entry] += (1.0 - 1.0 / sizes[window.process]) * (1.0 - table.share(cell));
    }
    freedom.iter().map(|own| if *own < 1e-3 { 0.0 } else { *own }).collect()
}

/// Variance of a window of each entry, plus what bounding removed (Huber).
fn variances(
    windows: &Windows,
    rest: &[f64],
    freedom: &[f64],
    is_inside: impl Fn(usize) -> bool,
) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0, 0.0); freedom.len()];
    for (at, (window, rest)) in windows.list.iter().zip(rest).enumerate() {
        let (squares, count, inside) = &mut sums[window.entry];
        *squares += rest * rest;
        *count += 1.0;
        *inside += f64::from(is_inside(at));
    }
    let own = sums.iter().zip(freedom).map(|((squares, count, inside), freedom)| {
        let bounding = (count / inside.max(1.0)).powi(2);
        squares / freedom.max(1e-3) * bounding
    });
    own.map(|variance| variance.max(MIN)).collect()
}

/// Variances moderated by those of the other entries (G. K. Smyth, *Linear Models and Empirical Bayes Methods for Assessing
/// Differential Expression in Microarray Experiments*, Statistical Applications in Genetics and Molecular Biology 3, 2004), and
/// the pooled one.
fn moderated(variances: &[f64], freedom: &[f64]) -> (Vec<OwnError>, OwnError) {
    let all: f64 = freedom.iter().sum();
    if all == 0.0 {
        let unknown = OwnError { variance: 1.0, freedom: 0.0 };
        return (vec![unknown; freedom.len()], unknown);
    }
    let pooled = variances.iter().zip(freedom).map(|(s, d)| s * d).sum::<f64>() / all;
    let known: Vec<(f64, f64)> = variances
        .iter()
        .zip(freedom)
        .filter(|(_, d)| **d > 0.0)
        .map(|(s, d)| (s.ln() - digamma(d / 2.0) + (d / 2.0).ln(), trigamma(d / 2.0)))
        .collect();
    let count = known.len() as f64;
    let mean = known.iter().map(|(log, _)| log).sum::<f64>() / count;
    let chance = known.iter().map(|(_, chance)| chance).sum::<f64>() / count;
    let seen = known.iter().map(|(log, _)| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let (usual, prior) = match seen - chance {
        apart if apart > trigamma(MAX_PRIOR / 2.0) => {
            let prior = inverse_trigamma(apart);
            ((mean + digamma(prior / 2.0) - (prior / 2.0).ln()).exp(), prior)
        }
        _ => (pooled, MAX_PRIOR.min(all)),
    };
    let of = |(own, freedom): (&f64, &f64)| OwnError {
        variance: (prior * usual + freedom * own) / (prior + freedom),
        freedom: (prior + freedom).min(all),
    };
    let entries = variances.iter().zip(freedom).map(of).collect();
    (entries, OwnError { variance: pooled, freedom: all })
}

/// The derivative of digamma, by its recurrence and its asymptotic series.
fn trigamma(x: f64) -> f64 {
    if x < 6.0 {
        return trigamma(x + 1.0) + 1.0 / (x * x);
    }
    let y = 1.0 / (x * x);
    1.0 / x + y / 2.0 + y / x * (1.0 / 6.0 - y * (1.0 / 30.0 - y / 42.0))
}

/// Twice the argument at which trigamma is `value`.
fn inverse_trigamma(value: f64) -> f64 {
    let (mut low, mut high) = (1e-3_f64, MAX_PRIOR / 2.0);
    for _ in 0..40 {
        let middle = (low * high).sqrt();
        if trigamma(middle) > value { low = middle } else { high = middle }
    }
    2.0 * low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigamma_matches_tables() {
        let half = std::f64::consts::PI.powi(2) / 2.0;
        assert!((trigamma(0.5) - half).abs() < 1e-8);
        assert!((trigamma(1.0) - half / 3.0).abs() < 1e-8);
        assert!((inverse_trigamma(half / 3.0) - 2.0).abs() < 1e-6);
    }

    #[test]
    fn similar_variances_are_pooled() {
        let (same, pooled) = moderated(&[0.9, 1.1, 1.0], &[10.0; 3]);
        assert!(same.iter().all(|own| (own.variance - 1.0).abs() < 0.03), "{same:?}");
        assert!((pooled.variance - 1.0).abs() < 1e-9);
        let (apart, _) = moderated(&[0.01, 1.0, 100.0], &[10.0; 3]);
        assert!(apart[0].variance < 0.02 && apart[2].variance > 60.0, "{apart:?}");
        assert!(apart.iter().all(|own| own.freedom < 12.0), "{apart:?}");
    }
}
