//! The error of an entry's mean, including the machine's effects on all entries of its run.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::windows::squares;

/// Probability below the upper end of an entry's own interval.
const UPPER: f64 = 0.975;
/// Maximum correlation of neighbouring batches.
const MAX_CORRELATION: f64 = 0.8;
/// Minimum rounds per batch, if that leaves `BATCHES` batches: neighbouring rounds are too similar to count separately.
const BATCH: usize = 4;
const BATCHES: usize = 8;

#[derive(Clone, Copy, Debug)]
pub(super) struct OwnError {
    pub variance: f64,
    pub freedom: f64,
}

impl OwnError {
    /// Half-width of the 95 % interval.
    pub fn half(self) -> Option<f64> {
        let students = StudentsT::new(0.0, 1.0, self.freedom).ok()?;
        Some(students.inverse_cdf(UPPER) * self.variance.sqrt())
    }

    /// The error of the sum or difference of two means, by F. E. Satterthwaite (*An Approximate Distribution of Estimates of
    /// Variance Components*, Biometrics Bulletin 2, 1946).
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
}

/// The windows of a round, summed up.
#[derive(Clone, Copy, Default)]
pub(super) struct Round {
    /// Sum of the windows' values.
    pub sum: f64,
    pub windows: f64,
}

impl Round {
    pub fn add(&mut self, value: f64) {
        self.sum += value;
        self.windows += 1.0;
    }
}

/// The error that all entries of a run share: that of the mean of its rounds, by the method of batch means (R. W. Conway, *Some
/// Tactical Problems in Digital Simulation*, Management Science 10, 1963). `rounds` is in time order. `None` with fewer than two
/// batches.
pub(super) fn shared(rounds: &[Round]) -> Option<OwnError> {
    let batches = means(rounds);
    let freedom = batches.len().checked_sub(1).filter(|freedom| *freedom > 0)? as f64;
    let correlation = neighbours(&batches).min(MAX_CORRELATION);
    let variance = squares(&batches) / freedom / batches.len() as f64;
    let square = correlation * correlation;
    let known = freedom * (1.0 - square) / (1.0 + square);
    Some(OwnError { variance: variance * inflation(correlation), freedom: known.max(1.0) })
}

/// Factor by which correlation of neighbours increases the variance of a mean (G. V. Bayley and J. M. Hammersley, *The
/// "Effective" Number of Independent Observations in an Autocorrelated Time Series*, Supplement to the Journal of the Royal
/// Statistical Society 8, 1946), if the correlation falls geometrically.
pub(super) fn inflation(correlation: f64) -> f64 {
    let correlation = correlation.clamp(0.0, MAX_CORRELATION);
    (1.0 + correlation) / (1.0 - correlation)
}

/// The number of batches into which rounds are combined.
pub(super) fn batches(rounds: usize) -> usize {
    (rounds / BATCH).max(rounds.min(BATCHES))
}

/// Means of neighbouring rounds, over about the same number of windows each: the mean of few windows is mostly their noise.
fn means(rounds: &[Round]) -> Vec<f64> {
    let all: f64 = rounds.iter().map(|round| round.windows).sum();
    let full = rounds.iter().map(|round| round.windows).fold(1.0, f64::max);
    let number = batches((all / full).round() as usize);
    let mut batches = vec![Round::default(); number];
    let mut before = 0.0;
    for round in rounds {
        let middle = before + round.windows / 2.0;
        let batch = &mut batches[(middle / all * number as f64) as usize];
        batch.sum += round.sum;
        batch.windows += round.windows;
        before += round.windows;
    }
    batches.iter().filter(|it| it.windows > 0.0).map(|it| it.sum / it.windows).collect()
}

/// Correlation of neighbours, at least 0. The estimate is 1 / n too low on average for n values, which is added back (M. G.
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

    fn rounds(levels: &[f64]) -> Vec<Round> {
        levels.iter().map(|level| Round { sum: *level, windows: 1.0 }).collect()
    }

    #[test]
    fn batches_have_four_rounds_or_more() {
        let of = |levels: &[f64]| means(&rounds(levels));
        assert_eq!(of(&[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
        let sixteen: Vec<f64> = (0..16).map(f64::from).collect();
        assert_eq!(of(&sixteen), [0.5, 2.5, 4.5, 6.5, 8.5, 10.5, 12.5, 14.5]);
        let many: Vec<f64> = (0..64).map(f64::from).collect();
        assert_eq!(of(&many).len(), 16);
        assert_eq!(of(&many)[1], 5.5);
    }

    #[test]
    fn rounds_are_weighted_by_windows() {
        let full = |level: f64| Round { sum: 12.0 * level, windows: 12.0 };
        let single = |level: f64| Round { sum: level, windows: 1.0 };
        let means = means(&[full(1.0), single(14.0), single(-12.0), full(3.0)]);
        assert_eq!(means, [26.0 / 13.0, 24.0 / 13.0]);
    }

    #[test]
    fn error_of_mean_follows_batches() {
        // Sum of squares 2, of products of neighbours -1 + 0 + 0.
        let OwnError { variance, freedom } = shared(&rounds(&[0.0, 2.0, 1.0, 1.0])).unwrap();
        assert!((variance - 2.0 / 3.0 / 4.0).abs() < 1e-12);
        assert!((freedom - 3.0).abs() < 1e-12);
        assert!(shared(&rounds(&[0.0])).is_none() && shared(&[]).is_none());
    }

    #[test]
    fn correlated_neighbours_count_as_fewer() {
        // Sum of squares 4, of products of neighbours 1 - 1 + 1, plus a quarter for the bias: 0.5, so three times the variance.
        let OwnError { variance, freedom } = shared(&rounds(&[1.0, 1.0, -1.0, -1.0])).unwrap();
        assert!((variance - 3.0 * 4.0 / 3.0 / 4.0).abs() < 1e-12);
        assert!((freedom - 1.8).abs() < 1e-12);
    }
}
