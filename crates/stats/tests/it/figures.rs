//! Intervals and Little's law.

use proptest::prelude::*;
use rpcbench_stats::{Interval, littles_law, mean_interval};

/// Two-sided 95 % points of Student's t as printed in every table (NIST/SEMATECH e-Handbook of
/// Statistical Methods, 1.3.6.7.2).
#[test]
fn half_widths_match_students_t() {
    let table = [
        (1, 12.706),
        (2, 4.303),
        (3, 3.182),
        (4, 2.776),
        (5, 2.571),
        (9, 2.262),
        (29, 2.045),
        (99, 1.984),
    ];
    for (freedom, t) in table {
        // +1 and -1 in turn, and a 0 where their number is odd: mean 0, known spread.
        let n = freedom + 1;
        let mut samples: Vec<f64> = (0..n / 2).flat_map(|_| [1.0, -1.0]).collect();
        samples.resize(n, 0.0);
        let spread = ((n / 2 * 2) as f64 / freedom as f64).sqrt();
        let found = mean_interval(&samples).unwrap();
        let got = (found.high - found.mean) * (n as f64).sqrt() / spread;
        assert!((got - t).abs() < 6e-4, "t({freedom}) is {t}, not {got}");
    }
}

#[test]
fn three_trials_by_hand() {
    // mean 102, s = 2, t(2) = 4.302653: 102 ± 4.302653 x 2 / sqrt(3)
    let found = mean_interval(&[100.0, 102.0, 104.0]).unwrap();
    assert_eq!(found.mean, 102.0);
    assert!((found.high - 106.968_275).abs() < 1e-5);
    assert!((found.low - 97.031_725).abs() < 1e-5);
}

#[test]
fn fewer_than_two_samples_or_an_infinite_one_have_no_interval() {
    assert_eq!(mean_interval(&[]), None);
    assert_eq!(mean_interval(&[1.0]), None);
    assert_eq!(mean_interval(&[1.0, f64::NAN, 2.0]), None);
    assert_eq!(mean_interval(&[1.0, f64::INFINITY]), None);
}

#[test]
fn equal_samples_have_zero_width() {
    assert_eq!(mean_interval(&[7.0; 3]), Some(Interval { mean: 7.0, low: 7.0, high: 7.0 }));
}

#[test]
fn littles_law_gives_signed_missing_share() {
    assert!(littles_law(1000, 200_000.0, 0.005).abs() < 1e-12);
    assert!((littles_law(1000, 180_000.0, 0.005) + 0.1).abs() < 1e-12);
    assert!((littles_law(50, 11_000.0, 0.005) - 0.1).abs() < 1e-12);
    assert_eq!(littles_law(0, 0.0, 0.0), 0.0);
    assert_eq!(littles_law(0, 1.0, 1.0), f64::INFINITY);
}

proptest! {
    #[test]
    fn mean_lies_within_interval(samples in prop::collection::vec(0.0_f64..1e9, 2..50)) {
        let found = mean_interval(&samples).unwrap();
        prop_assert!(found.low <= found.mean && found.mean <= found.high);
        let (low, high) = (samples.iter().copied().fold(f64::MAX, f64::min),
            samples.iter().copied().fold(0.0, f64::max));
        prop_assert!(found.mean >= low - 1e-3 && found.mean <= high + 1e-3);
    }
}
