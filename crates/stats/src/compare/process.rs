//! How processes of one entry differ.

use super::own::OwnError;
use super::two_way::{dot, inverse};
use super::windows::Process;

/// Median of the prior for the standard deviation between processes of an entry. Three recorded runs of real servers show 0, 1.1
/// and 4.3 % beyond windows in one piece; the root mean square is 2.5 %, rounded up here.
pub(super) const USUAL: f64 = 0.03;
/// Degrees of freedom of an assumed variance: how well sixteen processes determine it.
const ASSUMED_FREEDOM: f64 = 8.0;
/// Grid of standard deviations: from 0.2 % to 33 %, in steps of this factor.
const FACTOR: f64 = 1.35;
const NUMBER: i32 = 18;

/// Entries' means, by generalized least squares on the levels of their processes.
pub(super) struct Means {
    /// Mean of each entry.
    pub list: Vec<f64>,
    /// Share of each process in the mean of each entry.
    pub shares: Vec<Vec<f64>>,
    /// Logarithm of the restricted likelihood.
    likelihood: f64,
}

impl Means {
    /// `covariance` is that of the levels; `between` is the variance between processes.
    pub fn fit(
        levels: &[f64],
        covariance: &[Vec<f64>],
        processes: &[Process],
        between: f64,
    ) -> Self {
        let entries = processes.last().map_or(0, |last| last.entry + 1);
        let mut total = covariance.to_vec();
        for (at, process) in processes.iter().enumerate() {
            total[at][at] += between * process.part;
        }
        let (inverted, log_total) = inverse(total);
        let mut by_entry = vec![vec![0.0; levels.len()]; entries];
        for (line, process) in inverted.iter().zip(processes) {
            by_entry[process.entry].iter_mut().zip(line).for_each(|(sum, value)| *sum += value);
        }
        let information = by_entry.iter().map(|line| {
            let mut sums = vec![0.0; entries];
            line.iter().zip(processes).for_each(|(value, own)| sums[own.entry] += value);
            sums
        });
        let (covariance, log_information) = inverse(information.collect());
        let shares: Vec<Vec<f64>> = covariance
            .iter()
            .map(|line| {
                let of = |process: usize| {
                    line.iter().zip(&by_entry).map(|(value, sums)| value * sums[process]).sum()
                };
                (0..levels.len()).map(of).collect()
            })
            .collect();
        let list: Vec<f64> = shares.iter().map(|shares| dot(shares, levels)).collect();
        let rest: Vec<f64> =
            levels.iter().zip(processes).map(|(level, own)| level - list[own.entry]).collect();
        let squares: f64 =
            inverted.iter().zip(&rest).map(|(line, own)| own * dot(line, &rest)).sum();
        let likelihood = -(log_total + log_information + squares) / 2.0;
        Self { list, shares, likelihood }
    }
}

/// The posterior mean of the variance between processes: restricted likelihood over all entries, times a prior. The prior is flat
/// in the variance up to the usual one, so a few processes that happen to be alike don't make it 0 (Y. Chung, S. Rabe-Hesketh, V.
/// Dorie, A. Gelman and J. Liu, *A Nondegenerate Penalized Likelihood Estimator for Variance Parameters in Multilevel Models*,
/// Psychometrika 78, 2013). The degrees of freedom are those of the t distribution that processes then follow, matched by
/// kurtosis. `assumed`: see [`super::windows::Windows::assumed`].
pub(super) fn variance(
    levels: &[f64],
    covariance: &[Vec<f64>],
    processes: &[Process],
    assumed: Option<f64>,
) -> OwnError {
    if let Some(variance) = assumed {
        return OwnError { variance, freedom: ASSUMED_FREEDOM };
    }
    let deviations = (0..NUMBER).map(|at| 0.002 * FACTOR.powi(at));
    let weighed: Vec<(f64, f64)> = deviations
        .map(|deviation| {
            let square = deviation * deviation;
            let prior = -2.0 * (square / (USUAL * USUAL)).ln_1p();
            let likelihood = Means::fit(levels, covariance, processes, square).likelihood;
            // Steps of the grid grow with the variance, hence its logarithm.
            (square, likelihood + prior + square.ln())
        })
        .collect();
    let most = weighed.iter().map(|(_, log)| *log).fold(f64::NEG_INFINITY, f64::max);
    let (mut all, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for (square, log) in weighed {
        let weight = (log - most).exp();
        all += weight;
        mean += weight * square;
        squares += weight * square * square;
    }
    let mean = mean / all;
    let freedom = 4.0 + 2.0 / (squares / all / (mean * mean) - 1.0).max(1e-6);
    OwnError { variance: mean, freedom }
}
