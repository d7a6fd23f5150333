//! Confidence intervals of means.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The default confidence of an interval.
const CONFIDENCE: f64 = 0.95;

/// A mean with its confidence interval. `low <= mean <= high`, same unit as the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Arithmetic mean of the samples.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The 95 % confidence interval of the mean of independent samples: `mean ± t x s / sqrt(n)` with the sample standard deviation
/// `s` and Student's t at `n - 1` degrees of freedom ("Student", *The Probable Error of a Mean*, Biometrika 6, 1908). `None` for
/// fewer than two samples, or if one is not finite.
pub fn mean_interval(samples: &[f64]) -> Option<Interval> {
    mean_interval_at(samples, CONFIDENCE)
}

/// The same with another confidence, between 0 and 1 (exclusive).
pub fn mean_interval_at(samples: &[f64], confidence: f64) -> Option<Interval> {
    if samples.len() < 2 || samples.iter().any(|sample| !sample.is_finite()) {
        return None;
    }
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let squares = samples.iter().map(|sample| (sample - mean).powi(2)).sum::<f64>();
    let error = (squares / (n - 1.0) / n).sqrt();
    let upper = (1.0 + confidence) / 2.0;
    let half = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(upper) * error;
    Some(Interval { mean, low: mean - half, high: mean + half })
}
