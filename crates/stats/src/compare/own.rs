//! The error of an entry's mean, including the machine's effects on all entries of its run.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::windows::squares;

/// Probability in the upper tail of an entry's own interval.
const UPPER: f64 = 0.975;
/// Minimum rounds of a batch, if a generation has that many: neighbouring rounds are too similar to count separately.
const BATCH: usize = 4;

/// The error of a mean.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnError {
    pub variance: f64,
    pub freedom: f64,
}

impl OwnError {
    /// Half of the 95 % interval.
    pub fn half(self) -> Option<f64> {
        let students = StudentsT::new(0.0, 1.0, self.freedom).ok()?;
        Some(students.inverse_cdf(UPPER) * self.variance.sqrt())
    }

    /// Of the sum or the difference of two, by F. E. Satterthwaite (*An Approximate Distribution of Estimates of Variance
    /// Components*, Biometrics Bulletin 2, 1946).
    pub fn with(self, other: Self) -> Self {
        let variance = self.variance + other.variance;
        let unknown = self.variance.powi(2) / self.freedom + other.variance.powi(2) / other.freedom;
        let freedom =
            if unknown > 0.0 { variance.powi(2) / unknown } else { self.freedom + other.freedom };
        Self { variance, freedom }
    }

    pub fn times(self, part: f64) -> Self {
        Self { variance: self.variance * part, ..self }
    }

    /// With additional known variance.
    pub fn plus(self, variance: f64) -> Self {
        Self { variance: self.variance + variance, ..self }
    }
}

/// The error of the mean of a run's rounds, which all its entries share: the method of batch means (R. W. Conway, *Some
/// Tactical Problems in Digital Simulation*, Management Science 10, 1963). `rounds` has the effects of each generation's
/// rounds, in order. `None` with fewer than two batches.
pub(super) fn shared(rounds: &[Vec<f64>]) -> Option<OwnError> {
    let batches: Vec<f64> = rounds.iter().flat_map(|rounds| batches(rounds)).collect();
    let freedom = batches.len().checked_sub(1).filter(|freedom| *freedom > 0)? as f64;
    let correlation = neighbours(&batches);
    let longer = 1.0 + 2.0 * correlation;
    let variance = squares(&batches) / freedom / batches.len() as f64;
    Some(OwnError { variance: variance * longer, freedom: (freedom / longer).max(1.0) })
}

/// Means of neighbouring rounds.
fn batches(rounds: &[f64]) -> impl Iterator<Item = f64> {
    let number = (rounds.len() / BATCH).max(1);
    let ends = move |at: usize| at * rounds.len() / number;
    (0..number).map(move |at| {
        let own = &rounds[ends(at)..ends(at + 1)];
        own.iter().sum::<f64>() / own.len() as f64
    })
}

/// Correlation of neighbours, at least 0. The estimate is too low by 1 / their number on average, which is added (M. G.
/// Kendall, *Note on Bias in the Estimation of Autocorrelation*, Biometrika 41, 1954).
fn neighbours(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let products = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean));
    let correlation = products.sum::<f64>() / squares(values) + 1.0 / values.len() as f64;
    if correlation.is_finite() { correlation.max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_of_four_rounds_at_least() {
        let of = |rounds: &[f64]| batches(rounds).collect::<Vec<f64>>();
        assert_eq!(of(&[1.0, 2.0, 3.0]), [2.0]);
        assert_eq!(of(&[1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0]), [10.0 / 7.0]);
        assert_eq!(of(&[1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]), [1.0, 2.0]);
        let nine = [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0];
        assert_eq!(of(&nine), [1.0, 2.0]);
    }

    #[test]
    fn the_error_of_a_mean_is_that_of_its_batches() {
        // Batches 0 2 1 1: squares 2, products of neighbours -1 + 0 + 0.
        let rounds = [vec![0.0; 4], vec![2.0; 4], vec![1.0; 8]];
        let OwnError { variance, freedom } = shared(&rounds).unwrap();
        assert!((variance - 2.0 / 3.0 / 4.0).abs() < 1e-12);
        assert!((freedom - 3.0).abs() < 1e-12);
        assert!(shared(&[vec![0.0; 7]]).is_none());
    }

    #[test]
    fn neighbours_that_are_alike_count_as_fewer() {
        // Squares 4, products of neighbours 1 - 1 + 1, and a quarter for the bias: 0.5, so twice the variance.
        let rounds = [vec![1.0; 8], vec![-1.0; 8]];
        let OwnError { variance, freedom } = shared(&rounds).unwrap();
        assert!((variance - 2.0 * 4.0 / 3.0 / 4.0).abs() < 1e-12);
        assert!((freedom - 1.5).abs() < 1e-12);
    }
}
