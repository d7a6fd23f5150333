//! Which warm-ups count as steady.

#![allow(clippy::print_stderr, reason = "the rates are in docs/evidence.md")]

use proptest::prelude::*;
use rpcbench_stats::{Steadiness, SteadyRule, WarmSample, assess};

use crate::noise::{Machine, Random};

const RULE: SteadyRule =
    SteadyRule { min_slices: 10, window: 10, tolerance: 0.05, compiler_share: 0.05 };

/// A slice of one second on one CPU with this many calls per CPU-second.
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
fn flat_rate_is_steady_under_noise() {
    let steady = (0..200)
        .filter(|seed| assess(&noisy(|_| 1.0, 0.02, *seed), &RULE) == Steadiness::Steady)
        .count();
    assert!(steady >= 190, "{steady} of 200 flat curves with 2 % noise");
}

#[test]
fn climb_of_1_percent_a_second_is_unsteady() {
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
fn step_is_seen_except_in_outermost_slices() {
    for at in 2..=8 {
        let up = noisy(|slice| if slice < at { 1.0 } else { 1.3 }, 0.01, 3);
        assert!(matches!(assess(&up, &RULE), Steadiness::Climbing { .. }), "up at {at}");
        let down = noisy(|slice| if slice < at { 1.3 } else { 1.0 }, 0.01, 3);
        assert!(matches!(assess(&down, &RULE), Steadiness::Falling { .. }), "down at {at}");
    }
}

#[test]
fn tripling_is_steady_once_it_fills_window() {
    let whole = curve((0..60).map(|at| if at < 25 { 60_000.0 } else { 190_000.0 }));
    for end in 27..=33 {
        assert!(matches!(assess(&whole[..end], &RULE), Steadiness::Climbing { .. }), "after {end}");
    }
    assert_eq!(assess(&whole[..35], &RULE), Steadiness::Steady);
}

#[test]
fn single_bad_slices_are_tolerated() {
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
fn slice_without_calls_is_ignored() {
    let mut stalled = noisy(|_| 1.0, 0.01, 5);
    stalled[4] = WarmSample::default();
    assert_eq!(assess(&stalled, &RULE), Steadiness::Steady);
}

#[test]
fn slowing_down_is_unsteady() {
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
fn busy_compilers_are_unsteady() {
    let mut busy = curve([100_000.0; 10]);
    busy.iter_mut().for_each(|slice| slice.compiler_cpu_ns = 60_000_000);
    assert!(
        matches!(assess(&busy, &RULE), Steadiness::Compiling { share } if (share - 0.06).abs() < 1e-9)
    );
    busy.iter_mut().for_each(|slice| slice.compiler_cpu_ns = 40_000_000);
    assert_eq!(assess(&busy, &RULE), Steadiness::Steady);
}

#[test]
fn late_compiler_burst_is_unsteady() {
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

/// A warm-up on a noisy machine: slices of 0.5 s, with the speed that `shape` gives for each.
fn on_a_noisy_machine(shape: impl Fn(usize) -> f64, deviation: f64, seed: u64) -> Vec<WarmSample> {
    let mut machine = Machine::new(seed);
    curve((0..40).map(|at| 100_000.0 * shape(at) * (deviation * machine.round(5)).exp()))
}

/// Number of slices after which a warm-up ends, and its state then.
fn warmed(samples: &[WarmSample], cap: usize) -> (usize, Steadiness) {
    let assess_at = |end: usize| (end, assess(&samples[..end], &RULE));
    let steady = (1..cap).map(assess_at).find(|(_, found)| *found == Steadiness::Steady);
    steady.unwrap_or_else(|| assess_at(cap))
}

#[test]
fn steady_server_under_noise_warms_before_cap() {
    for deviation in [0.12, 0.18, 0.23] {
        let runs = 1000;
        let ends: Vec<_> = (0..runs)
            .map(|seed| warmed(&on_a_noisy_machine(|_| 1.0, deviation, seed), 20))
            .collect();
        let cold = ends.iter().filter(|(_, found)| !found.is_warm()).count();
        let slices: usize = ends.iter().map(|(end, _)| end).sum();
        let certain = (0..runs)
            .map(|seed| assess(&on_a_noisy_machine(|_| 1.0, deviation, seed)[..10], &RULE))
            .filter(|found| !found.is_warm())
            .count();
        eprintln!(
            "sd {deviation}: of {runs}, {cold} still warming at 20 slices, {certain} climb or fall at 10; \
             {:.1} slices on average",
            slices as f64 / runs as f64
        );
        assert!(cold <= 10);
        assert!(certain <= 80);
    }
}

#[test]
fn warm_up_waits_for_doubling_under_noise() {
    for (deviation, least) in [(0.12, 0.95), (0.18, 0.9), (0.23, 0.85)] {
        let step = 8;
        let doubling = |at| if at < step { 1.0 } else { 2.0 };
        let waited = (0..1000)
            .map(|seed| warmed(&on_a_noisy_machine(doubling, deviation, seed), 40).0)
            // The window's outermost slices may still be the slow ones.
            .filter(|end| *end >= step + 7)
            .count();
        eprintln!("sd {deviation}: a doubling waited for in {waited} of 1000");
        assert!(waited as f64 >= least * 1000.0);
    }
}

#[test]
fn warm_up_waits_for_2_percent_climb_under_3_percent_noise() {
    let climb = |at: usize| 1.01_f64.powi(at.min(20) as i32);
    let (mut steady, mut assessments, mut ended) = (0, 0, 0);
    for seed in 0..500 {
        let mut random = Random(seed);
        let samples =
            curve((0..40).map(|at| 100_000.0 * climb(at) * (0.03 * random.normal()).exp()));
        for end in 10..=20 {
            assessments += 1;
            steady += usize::from(assess(&samples[..end], &RULE) == Steadiness::Steady);
        }
        ended += usize::from(warmed(&samples, 40).1 == Steadiness::Steady);
    }
    eprintln!("{steady} of {assessments} miss the climb; {ended} of 500 are steady after it");
    assert!(steady as f64 <= 0.2 * assessments as f64);
    assert!(ended >= 495);
}

proptest! {
    #[test]
    fn steadiness_ignores_unit_of_calls(seed: u64, slope in -0.05_f64..0.05, scale in 2_u64..50) {
        let one = noisy(|at| 1.0 + slope * at as f64, 0.02, seed);
        let two: Vec<_> = one
            .iter()
            .map(|slice| WarmSample { calls: slice.calls * scale, ..*slice })
            .collect();
        let kind = |samples: &[WarmSample]| std::mem::discriminant(&assess(samples, &RULE));
        prop_assert_eq!(kind(&one), kind(&two));
    }

    #[test]
    fn steadiness_ignores_samples_outside_window(seed: u64, before in prop::collection::vec(0.0_f64..1e6, 0..20)) {
        let latest = noisy(|_| 1.0, 0.03, seed);
        let whole = [curve(before), latest.clone()].concat();
        prop_assert_eq!(assess(&whole, &RULE), assess(&latest, &RULE));
    }

    #[test]
    fn arbitrary_samples_are_safe(
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
