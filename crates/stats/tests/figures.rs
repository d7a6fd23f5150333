//! Intervals, ranks and Little's law.

use proptest::prelude::*;
use rpcbench_stats::{Interval, Rank, littles_law, mean_interval, ranks};

fn interval(low: f64, high: f64) -> Interval {
    Interval { mean: f64::midpoint(low, high), low, high }
}

fn places(intervals: &[Interval]) -> Vec<(u32, bool)> {
    ranks(intervals).iter().map(|Rank { place, tied }| (*place, *tied)).collect()
}

/// Two-sided 95 % points of Student's t as printed in every table (NIST/SEMATECH e-Handbook of
/// Statistical Methods, 1.3.6.7.2).
#[test]
fn half_widths_follow_the_table_of_students_t() {
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
fn equal_samples_have_an_interval_of_no_width() {
    assert_eq!(mean_interval(&[7.0; 3]), Some(Interval { mean: 7.0, low: 7.0, high: 7.0 }));
}

#[test]
fn separate_intervals_are_ranked_from_the_highest() {
    assert_eq!(
        places(&[interval(1.0, 2.0), interval(5.0, 6.0), interval(3.0, 4.0)]),
        [(3, false), (1, false), (2, false)]
    );
}

#[test]
fn equal_intervals_tie() {
    assert_eq!(places(&[interval(1.0, 2.0); 3]), [(1, true); 3]);
    assert_eq!(places(&[interval(2.0, 2.0); 2]), [(1, true); 2]);
}

#[test]
fn intervals_that_touch_tie() {
    assert_eq!(places(&[interval(1.0, 2.0), interval(2.0, 3.0)]), [(1, true); 2]);
}

#[test]
fn overlap_does_not_carry_over_a_chain() {
    let chain = [interval(9.0, 12.0), interval(7.0, 10.0), interval(5.0, 8.0), interval(3.0, 6.0)];
    assert_eq!(places(&chain), [(1, true), (1, true), (2, true), (3, true)]);
}

#[test]
fn a_tie_below_leaves_the_best_alone() {
    let table = [interval(1.0, 3.0), interval(2.0, 4.0), interval(8.0, 9.0)];
    assert_eq!(places(&table), [(2, true), (2, true), (1, false)]);
}

#[test]
fn nothing_to_rank_and_one_to_rank() {
    assert_eq!(ranks(&[]), []);
    assert_eq!(places(&[interval(0.0, 1.0)]), [(1, false)]);
}

#[test]
fn littles_law_is_the_signed_share_that_is_missing() {
    assert!(littles_law(1000, 200_000.0, 0.005).abs() < 1e-12);
    assert!((littles_law(1000, 180_000.0, 0.005) + 0.1).abs() < 1e-12);
    assert!((littles_law(50, 11_000.0, 0.005) - 0.1).abs() < 1e-12);
    assert_eq!(littles_law(0, 0.0, 0.0), 0.0);
    assert_eq!(littles_law(0, 1.0, 1.0), f64::INFINITY);
}

fn intervals() -> impl Strategy<Value = Vec<Interval>> {
    let one = (0.0_f64..100.0, 0.0_f64..20.0).prop_map(|(low, width)| interval(low, low + width));
    prop::collection::vec(one, 1..12)
}

proptest! {
    #[test]
    fn the_mean_lies_within_the_interval(samples in prop::collection::vec(0.0_f64..1e9, 2..50)) {
        let found = mean_interval(&samples).unwrap();
        prop_assert!(found.low <= found.mean && found.mean <= found.high);
        let (low, high) = (samples.iter().copied().fold(f64::MAX, f64::min),
            samples.iter().copied().fold(0.0, f64::max));
        prop_assert!(found.mean >= low - 1e-3 && found.mean <= high + 1e-3);
    }

    #[test]
    fn whoever_lies_wholly_above_has_a_better_place(table in intervals()) {
        let ranks = ranks(&table);
        prop_assert!(ranks.iter().any(|rank| rank.place == 1));
        for (one, first) in table.iter().zip(&ranks) {
            for (two, second) in table.iter().zip(&ranks) {
                prop_assert!(!one.is_above(two) || first.place < second.place);
                prop_assert!(first.place == second.place || one.overlaps(two)
                    || (first.place < second.place) == one.is_above(two));
            }
        }
    }

    #[test]
    fn ranks_do_not_depend_on_the_order(table in intervals()) {
        let reversed: Vec<_> = table.iter().rev().copied().collect();
        let mut back = ranks(&reversed);
        back.reverse();
        prop_assert_eq!(back, ranks(&table));
    }
}
