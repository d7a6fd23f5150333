//! Warm-ups of every kind: which of them count as steady.

use proptest::prelude::*;
use rpcbench_stats::{Steadiness, SteadyRule, WarmSample, assess, change};

const RULE: SteadyRule =
    SteadyRule { min_slices: 10, window: 10, tolerance: 0.05, compiler_share: 0.05 };

/// A slice of one second on one CPU with that many calls per CPU-second.
fn slice(efficiency: f64) -> WarmSample {
    WarmSample { calls: efficiency as u64, server_cpu_ns: 1_000_000_000, compiler_cpu_ns: 0 }
}

fn curve(efficiencies: impl IntoIterator<Item = f64>) -> Vec<WarmSample> {
    efficiencies.into_iter().map(slice).collect()
}

/// Noise of about the given relative standard deviation: the sum of four uniform figures of a small
/// generator (Knuth's MMIX constants).
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    }

    fn factor(&mut self, deviation: f64) -> f64 {
        let sum: f64 = (0..4).map(|_| self.uniform()).sum();
        1.0 + sum * deviation * 3_f64.sqrt()
    }
}

fn noisy(shape: impl Fn(usize) -> f64, deviation: f64, seed: u64) -> Vec<WarmSample> {
    let mut noise = Noise(seed);
    curve((0..10).map(|at| 100_000.0 * shape(at) * noise.factor(deviation)))
}

#[test]
fn flat_is_steady_through_noise() {
    let steady = (0..200)
        .filter(|seed| assess(&noisy(|_| 1.0, 0.02, *seed), &RULE) == Steadiness::Steady)
        .count();
    assert!(steady >= 190, "{steady} of 200 flat curves with 2 % noise");
}

#[test]
fn a_climb_of_one_percent_a_second_is_not_steady() {
    assert!(matches!(
        assess(&noisy(|at| 1.01_f64.powi(at as i32), 0.0, 0), &RULE),
        Steadiness::Climbing { change } if (0.05..0.12).contains(&change)
    ));
    let caught = (0..200)
        .map(|seed| assess(&noisy(|at| 1.01_f64.powi(at as i32), 0.01, seed), &RULE))
        .filter(|found| matches!(found, Steadiness::Climbing { .. }))
        .count();
    assert!(caught >= 195, "{caught} of 200 climbs with 1 % noise");
}

#[test]
fn a_step_anywhere_but_in_the_outermost_slice_is_seen() {
    for at in 2..=8 {
        let up = noisy(|slice| if slice < at { 1.0 } else { 1.3 }, 0.01, 3);
        assert!(matches!(assess(&up, &RULE), Steadiness::Climbing { .. }), "up at {at}");
        let down = noisy(|slice| if slice < at { 1.3 } else { 1.0 }, 0.01, 3);
        assert!(matches!(assess(&down, &RULE), Steadiness::Falling { .. }), "down at {at}");
    }
}

#[test]
fn a_tripling_after_a_long_plateau_is_steady_only_once_it_fills_the_window() {
    let whole = curve((0..60).map(|at| if at < 25 { 60_000.0 } else { 190_000.0 }));
    for end in 27..=33 {
        assert!(matches!(assess(&whole[..end], &RULE), Steadiness::Climbing { .. }), "after {end}");
    }
    assert_eq!(assess(&whole[..35], &RULE), Steadiness::Steady);
}

#[test]
fn single_spoiled_slices_do_not_matter() {
    for at in 0..10 {
        for factor in [0.1, 0.5, 2.0] {
            let mut spoiled = noisy(|_| 1.0, 0.01, 5);
            spoiled[at].calls = (spoiled[at].calls as f64 * factor) as u64;
            assert_eq!(assess(&spoiled, &RULE), Steadiness::Steady, "{at} by {factor}");
        }
    }
    let mut two = noisy(|_| 1.0, 0.01, 5);
    (two[1].calls, two[8].calls) = (1_000, 300_000);
    assert_eq!(assess(&two, &RULE), Steadiness::Steady);
}

#[test]
fn a_slice_without_calls_is_left_out() {
    let mut stalled = noisy(|_| 1.0, 0.01, 5);
    stalled[4] = WarmSample::default();
    assert_eq!(assess(&stalled, &RULE), Steadiness::Steady);
}

#[test]
fn getting_slower_is_not_steady() {
    let falling = noisy(|at| 0.98_f64.powi(at as i32), 0.01, 1);
    assert!(matches!(assess(&falling, &RULE), Steadiness::Falling { change } if change < -0.05));
}

#[test]
fn no_calls_or_no_cpu_time_is_idle() {
    assert_eq!(assess(&[WarmSample::default(); 12], &RULE), Steadiness::Idle);
    assert_eq!(assess(&curve([0.0; 12]), &RULE), Steadiness::Idle);
    let remote = WarmSample { calls: 5_000, ..WarmSample::default() };
    assert_eq!(assess(&[remote; 12], &RULE), Steadiness::Idle);
    let mut half = curve([100_000.0; 10]);
    half[..5].fill(WarmSample::default());
    assert_eq!(assess(&half, &RULE), Steadiness::Idle);
}

#[test]
fn compilers_at_work_are_not_steady() {
    let mut busy = curve([100_000.0; 10]);
    busy.iter_mut().for_each(|slice| slice.compiler_cpu_ns = 60_000_000);
    assert!(
        matches!(assess(&busy, &RULE), Steadiness::Compiling { share } if (share - 0.06).abs() < 1e-9)
    );
    busy.iter_mut().for_each(|slice| slice.compiler_cpu_ns = 40_000_000);
    assert_eq!(assess(&busy, &RULE), Steadiness::Steady);
}

#[test]
fn a_burst_of_compiling_at_the_end_is_seen_and_one_at_the_start_passes() {
    let burst = WarmSample { compiler_cpu_ns: 300_000_000, ..slice(100_000.0) };
    let mut late = curve([100_000.0; 10]);
    late[9] = burst;
    assert!(matches!(assess(&late, &RULE), Steadiness::Compiling { share } if share > 0.09));
    let mut early = curve([100_000.0; 10]);
    early[0] = burst;
    assert_eq!(assess(&early, &RULE), Steadiness::Steady);
}

#[test]
fn too_few_slices_are_too_short() {
    let rule = SteadyRule { min_slices: 20, ..RULE };
    assert_eq!(assess(&[], &RULE), Steadiness::TooShort);
    assert_eq!(assess(&curve([1e5; 9]), &RULE), Steadiness::TooShort);
    assert_eq!(assess(&curve([1e5; 19]), &rule), Steadiness::TooShort);
    assert_eq!(assess(&curve([1e5; 20]), &rule), Steadiness::Steady);
    let tiny = SteadyRule { min_slices: 0, window: 0, ..RULE };
    assert_eq!(assess(&curve([1e5; 1]), &tiny), Steadiness::TooShort);
    assert_eq!(assess(&curve([1e5; 2]), &tiny), Steadiness::Steady);
}

#[test]
fn change_is_a_fraction_of_the_first() {
    assert_eq!(change(100.0, 110.0), 0.1);
    assert_eq!(change(100.0, 50.0), -0.5);
    assert_eq!(change(0.0, 0.0), 0.0);
    assert_eq!(change(0.0, 1.0), f64::INFINITY);
}

proptest! {
    #[test]
    fn the_unit_of_calls_does_not_matter(seed: u64, slope in -0.05_f64..0.05, scale in 2_u64..50) {
        let one = noisy(|at| 1.0 + slope * at as f64, 0.02, seed);
        let two: Vec<_> = one
            .iter()
            .map(|slice| WarmSample { calls: slice.calls * scale, ..*slice })
            .collect();
        let kind = |samples: &[WarmSample]| std::mem::discriminant(&assess(samples, &RULE));
        prop_assert_eq!(kind(&one), kind(&two));
    }

    #[test]
    fn only_the_window_counts(seed: u64, before in prop::collection::vec(0.0_f64..1e6, 0..20)) {
        let latest = noisy(|_| 1.0, 0.03, seed);
        let whole = [curve(before), latest.clone()].concat();
        prop_assert_eq!(assess(&whole, &RULE), assess(&latest, &RULE));
    }

    #[test]
    fn arbitrary_samples_do_no_harm(
        samples in prop::collection::vec((0_u64..1 << 40, 0_u64..1 << 40, 0_u64..1 << 40), 0..30),
        window in 0_usize..15,
    ) {
        let samples: Vec<_> = samples
            .into_iter()
            .map(|(calls, server_cpu_ns, compiler_cpu_ns)| WarmSample { calls, server_cpu_ns, compiler_cpu_ns })
            .collect();
        if let Steadiness::Climbing { change } | Steadiness::Falling { change } =
            assess(&samples, &SteadyRule { window, ..RULE })
        {
            prop_assert!(change.is_finite() && change.abs() > RULE.tolerance);
        }
    }
}
