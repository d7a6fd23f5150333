//! Tukey's studentized range: how far apart the largest and smallest of equal means are by chance.

use std::f64::consts::{PI, SQRT_2};
use std::sync::LazyLock;

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::erf::erfc;
use statrs::function::gamma::ln_gamma;

/// Step of the sum over the normal variable, in standard deviations. The trapezoidal rule converges
/// exponentially on integrands like these: at half of this step no digit below the tenth changes.
const STEP: f64 = 0.4;
/// Bounds of that sum; less than 1e-10 lies outside.
const REACH: f64 = 6.4;
/// Smallest weight in the sum over the standard deviation.
const NEGLIGIBLE: f64 = 1e-10;
/// Relative change of the quantile at which the search for it stops.
const CLOSE: f64 = 1e-7;
/// Maximum steps of that search. It usually takes four or five.
const STEPS: usize = 60;

/// The quantile that a studentized range exceeds with probability `tail`: the range of `means` independent
/// normal means of equal variance, over their standard deviation as estimated with `freedom` degrees of
/// freedom. (J. W. Tukey, *The Problem of Multiple Comparisons*, 1953.)
///
/// `tail` lies between 0 and 1. `None` for fewer than two means, or less than one degree of freedom.
pub fn studentized_range(tail: f64, means: usize, freedom: f64) -> Option<f64> {
    if means < 2 || freedom.is_nan() || freedom < 1.0 || tail <= 0.0 || tail >= 1.0 {
        return None;
    }
    let students = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let two_sided = |tail: f64| -SQRT_2 * students.inverse_cdf(tail / 2.0);
    // For two means this is Student's t. For more, Student's t and Bonferroni's inequality bound it.
    let low = two_sided(tail);
    if means == 2 {
        return Some(low);
    }
    let pairs = (means * (means - 1) / 2) as f64;
    let scale = Scale::new(freedom);
    let excess = |log_q: f64| (scale.beyond(log_q.exp(), means) / tail).ln();
    Some(root(excess, low.ln(), two_sided(tail / pairs).ln()).exp())
}

/// The root of a falling function between two arguments: regula falsi, Illinois variant (M. Dowell and
/// P. Jarratt, *A modified regula falsi method*, BIT 11, 1971).
fn root(f: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    let (mut a, mut fa, mut b, mut fb) = (low, f(low), high, f(high));
    for _ in 0..STEPS {
        if (b - a).abs() < CLOSE || fa == fb {
            break;
        }
        let c = b - fb * (b - a) / (fb - fa);
        let fc = f(c);
        if fc.signum() == fb.signum() {
            fa /= 2.0;
        } else {
            (a, fa) = (b, fb);
        }
        (b, fb) = (c, fc);
        if fc.abs() < CLOSE {
            break;
        }
    }
    b
}

/// The distribution of an estimated standard deviation divided by the true one: values and weights.
struct Scale(Vec<(f64, f64)>);

impl Scale {
    /// `s = sqrt(chi² / freedom)` on an even grid of `ln s`.
    fn new(freedom: f64) -> Self {
        let norm = 2_f64.ln() + freedom / 2.0 * (freedom / 2.0).ln() - ln_gamma(freedom / 2.0);
        let density = |log_s: f64| (norm + freedom * (log_s - (2.0 * log_s).exp() / 2.0)).exp();
        let step = (0.5 / freedom.sqrt()).min(0.2);
        let side = |towards: f64| {
            (1..)
                .map(move |n| f64::from(n) * step * towards)
                .map(move |log_s| (log_s.exp(), density(log_s) * step))
                .take_while(|(_, weight)| *weight > NEGLIGIBLE)
        };
        let middle = (1.0, density(0.0) * step);
        Self(side(-1.0).chain([middle]).chain(side(1.0)).collect())
    }

    /// Probability that the studentized range of `means` exceeds `q`.
    fn beyond(&self, q: f64, means: usize) -> f64 {
        self.0.iter().map(|(s, weight)| weight * range_beyond(q * s, means)).sum()
    }
}

/// A point of the sum over the normal variable `z`, with its density and the probability below it.
struct Point {
    z: f64,
    density: f64,
    below: f64,
}

/// The points, which are the same for all quantiles.
static POINTS: LazyLock<Vec<Point>> = LazyLock::new(|| {
    let last = (2.0 * REACH / STEP).round() as i32;
    let z = |n| REACH - f64::from(n) * STEP;
    let point = |z| Point { z, density: normal_density(z), below: normal_below(z) };
    (0..=last).map(z).map(point).collect()
});

/// Probability that the range of `means` standard normal values exceeds `width`:
/// `1 - k ∫ φ(z) (Φ(z) - Φ(z - width))^(k-1) dz`.
fn range_beyond(width: f64, means: usize) -> f64 {
    let others = i32::try_from(means - 1).unwrap_or(i32::MAX);
    let within =
        |point: &Point| point.density * (point.below - normal_below(point.z - width)).powi(others);
    let within: f64 = POINTS.iter().map(within).sum();
    (1.0 - within * STEP * means as f64).max(0.0)
}

fn normal_density(z: f64) -> f64 {
    (-z * z / 2.0).exp() / (2.0 * PI).sqrt()
}

fn normal_below(z: f64) -> f64 {
    erfc(-z / SQRT_2) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Upper 5 % and 1 % points as printed in every table (E. S. Pearson and H. O. Hartley, *Biometrika
    /// Tables for Statisticians* I, table 29).
    #[test]
    fn quantiles_match_published_tables() {
        let table = [
            (0.05, 2, 10.0, 3.15),
            (0.05, 3, 2.0, 8.33),
            (0.05, 3, 5.0, 4.60),
            (0.05, 3, 10.0, 3.88),
            (0.05, 3, 60.0, 3.40),
            (0.05, 4, 120.0, 3.68),
            (0.05, 5, 10.0, 4.65),
            (0.05, 6, 5.0, 6.03),
            (0.05, 6, 6.0, 5.63),
            (0.05, 6, 15.0, 4.59),
            (0.05, 10, 10.0, 5.60),
            (0.05, 10, 20.0, 5.01),
            (0.05, 20, 20.0, 5.71),
            (0.05, 3, 1e5, 3.31),
            (0.05, 10, 1e5, 4.47),
            (0.05, 20, 1e5, 5.01),
            (0.01, 3, 5.0, 6.98),
            (0.01, 3, 10.0, 5.27),
            (0.01, 10, 20.0, 6.09),
        ];
        for (tail, means, freedom, expected) in table {
            let found = studentized_range(tail, means, freedom).unwrap();
            assert!(
                (found - expected).abs() < 6e-3,
                "{tail} beyond for {means} means at {freedom} degrees: {expected}, not {found}"
            );
        }
    }

    #[test]
    fn one_degree_of_freedom_has_very_long_tails() {
        let found = studentized_range(0.05, 3, 1.0).unwrap();
        assert!((found - 26.98).abs() < 0.05, "{found}");
    }

    #[test]
    fn range_quantile_is_monotone() {
        let q = |tail, means, freedom| studentized_range(tail, means, freedom).unwrap();
        assert!(q(0.0001, 6, 10.0) > q(0.001, 6, 10.0));
        assert!(q(0.05, 7, 10.0) > q(0.05, 6, 10.0));
        assert!(q(0.05, 6, 10.0) > q(0.05, 6, 10.5));
    }

    #[test]
    fn one_mean_has_no_quantile() {
        assert_eq!(studentized_range(0.05, 1, 10.0), None);
        assert_eq!(studentized_range(0.05, 3, 0.0), None);
        assert_eq!(studentized_range(0.05, 3, f64::NAN), None);
        assert_eq!(studentized_range(0.0, 3, 5.0), None);
    }
}
