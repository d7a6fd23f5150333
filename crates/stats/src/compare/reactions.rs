//! How differently the machine affects entries: how an entry's windows correlate with each other and with those of the others.

use super::noise::Noise;
use super::own::{batches, inflation};
use super::windows::Windows;

/// Minimum standard deviation of reactions to shared effects, around their mean of 1. Reactions of real servers to the machine's
/// speed range from 0.6 to 1.4.
const UNLIKE: f64 = 0.5;

/// An estimate and its variance.
#[derive(Clone, Copy)]
pub(super) struct Uncertain {
    pub value: f64,
    pub variance: f64,
}

impl Uncertain {
    /// The expected squared difference of two values.
    pub fn unlike(self, other: Self) -> f64 {
        (self.value - other.value).powi(2) + self.variance + other.variance
    }
}

/// Factor by which dependence between windows increases the variance of a mean. If the machine affects entries differently,
/// windows of an entry at about the same time are alike. Estimated from batches of neighbouring rounds, pooled over the entries.
/// Residuals of a process add up to 0, so even independent windows seem unlike their neighbours; the estimate corrects for that.
pub(super) fn variance_inflation(windows: &Windows, noise: &Noise) -> f64 {
    let batches = batches(windows.rounds);
    let mut sums = vec![vec![None; batches]; windows.entries()];
    let mut counts = vec![vec![0.0; batches]; windows.processes.len()];
    let mut squares = 0.0;
    for (window, rest) in windows.list.iter().zip(&noise.rest) {
        let scaled = rest / noise.entries[window.entry].variance.sqrt();
        squares += scaled * scaled;
        let batch = window.round * batches / windows.rounds;
        *sums[window.entry][batch].get_or_insert(0.0) += scaled;
        counts[window.process][batch] += 1.0;
    }
    let (mut within, mut next) = (0.0, 0.0);
    for entry in &sums {
        let own: Vec<f64> = entry.iter().flatten().copied().collect();
        within += own.iter().map(|sum| sum * sum).sum::<f64>();
        next += own.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
    }
    let independent = Independent::of(windows, &sums, &counts);
    let correlation = next / within - independent.next / independent.within;
    let alike = within / squares * independent.squares / independent.within;
    let factor = alike * inflation(correlation);
    if factor.is_finite() { factor.max(1.0) } else { 1.0 }
}

/// Expected sums for independent windows of variance 1, as residuals from the means of their processes.
struct Independent {
    /// Sum of the squares.
    squares: f64,
    /// Sum of the squares of the entries' sums in each batch.
    within: f64,
    /// Sum of the products of neighbouring batches' sums.
    next: f64,
}

impl Independent {
    /// `sums` is `None` for batches in which an entry was not measured; `counts` has the windows of each process in each batch.
    fn of(windows: &Windows, sums: &[Vec<Option<f64>>], counts: &[Vec<f64>]) -> Self {
        let mut expected = Self { squares: 0.0, within: 0.0, next: 0.0 };
        for (process, counts) in windows.processes.iter().zip(counts) {
            let all: f64 = counts.iter().sum();
            expected.squares += all - 1.0;
            let measured = sums[process.entry].iter().zip(counts).filter(|(sum, _)| sum.is_some());
            let own: Vec<f64> = measured.map(|(_, count)| *count).collect();
            expected.within += own.iter().map(|count| count * (1.0 - count / all)).sum::<f64>();
            expected.next -= own.windows(2).map(|pair| pair[0] * pair[1] / all).sum::<f64>();
        }
        expected
    }
}

/// How much more than the others each entry reacts to effects shared by a round: the slope of its residuals over the rounds'
/// effects, shrunk by what chance explains (B. Efron and C. Morris, *Data Analysis Using Stein's Estimator and Its
/// Generalizations*, Journal of the American Statistical Association 70, 1975). The variance is what remains unknown.
pub(super) fn reactions(windows: &Windows, noise: &Noise) -> Vec<Uncertain> {
    let mut centres = vec![(0.0, 0.0); windows.processes.len()];
    for window in &windows.list {
        let (sum, count) = &mut centres[window.process];
        *sum += noise.rounds[window.round];
        *count += 1.0;
    }
    let mut sums = vec![(0.0, 0.0); windows.entries()];
    for (window, rest) in windows.list.iter().zip(&noise.rest) {
        let (sum, count) = centres[window.process];
        let round = noise.rounds[window.round] - sum / count;
        let (squares, products) = &mut sums[window.entry];
        *squares += round * round;
        *products += round * rest;
    }
    let slopes = sums.iter().zip(&noise.entries).map(|((squares, products), own)| {
        let squares = squares.max(f64::MIN_POSITIVE);
        (products / squares, own.variance / squares)
    });
    let slopes: Vec<(f64, f64)> = slopes.collect();
    let excess = slopes.iter().map(|(slope, chance)| slope * slope - chance).sum::<f64>();
    let unlike = (excess / slopes.len() as f64).max(UNLIKE * UNLIKE);
    let shrunk = |(slope, chance): (f64, f64)| {
        let kept = unlike / (unlike + chance);
        Uncertain {
            value: if kept > 0.0 { slope * kept } else { 0.0 },
            variance: unlike * (1.0 - kept),
        }
    };
    slopes.into_iter().map(shrunk).collect()
}
