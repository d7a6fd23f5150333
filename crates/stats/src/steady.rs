//! Judges whether a server has warmed up.

use crate::median;

/// When a server counts as steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyRule {
    /// Minimum slices since the start of the load; at least 1.
    pub min_slices: usize,
    /// Number of latest slices to judge; at least 2, better 9 or more.
    pub window: usize,
    /// Largest change of the efficiency over the window that counts as flat, as a fraction.
    pub tolerance: f64,
    /// Largest share of the server's CPU time that its compiler threads may use.
    pub compiler_share: f64,
}

/// One slice of a warm-up. All slices have the same length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarmSample {
    /// Calls completed, of any outcome.
    pub calls: u64,
    /// CPU time of the server including compiler threads, nanoseconds.
    pub server_cpu_ns: u64,
    /// CPU time of the runtime's compiler threads, nanoseconds.
    pub compiler_cpu_ns: u64,
}

/// The state of a warm-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Steadiness {
    /// Calls per server CPU-second are flat within noise, and the compiler is quiet.
    Steady,
    /// Calls per server CPU-second change by no more than noise explains; the compiler is quiet.
    Noisy {
        /// Change over the window as a fraction; negative is slower.
        change: f64,
    },
    /// The server is still getting faster.
    Climbing {
        /// Change over the window as a fraction: 0.1 is 10 % more calls per CPU-second.
        change: f64,
    },
    /// The server is getting slower.
    Falling {
        /// Change over the window as a fraction, negative.
        change: f64,
    },
    /// Compiler threads are still busy.
    Compiling {
        /// Their share of the server's CPU time.
        share: f64,
    },
    /// Too few slices to judge.
    TooShort,
    /// The server answered no calls or used no CPU time in most slices.
    Idle,
}

impl Steadiness {
    /// True if the server can be measured. A warm-up with time left continues while it is [`Noisy`](Self::Noisy), as the noise
    /// may change.
    pub fn is_warm(self) -> bool {
        matches!(self, Self::Steady | Self::Noisy { .. })
    }
}

/// Changes above this may be more than noise, in standard deviations of a slice. Two in ten steady windows exceed it if slices
/// are independent, and four in ten on a shared machine, where neighbouring slices are similar.
const DOUBT: f64 = 1.5;
/// Changes above this are more than noise, in the same unit. In simulations, 6 % of a steady server's windows on a shared machine
/// exceed it. As the warm-up then continues, 0.2 % of warm-ups end with one.
const CERTAIN: f64 = 4.5;
/// Standard deviation of a normal distribution divided by the median distance of two of its values.
const NORMAL: f64 = 1.0483;

/// Judges the latest [`SteadyRule::window`] slices of a warm-up, oldest first.
///
/// Fixed warm-ups and looking at the curve are both known to mislead (Barrett, Bolz-Tereick, Killick,
/// Mount and Tratt, *Virtual Machine Warmup Blows Hot and Cold*, OOPSLA 2017): runtimes climb late, in
/// steps, or get slower. The measure is calls per server CPU-second, which other load on the machine
/// disturbs far less than calls per second. Its change is the larger of two robust estimates, on logarithms:
///
/// * the medians of the window's first and last third, which detect a step anywhere except in the outermost slice, where a
///   step looks like an outlier until the next slice;
/// * the Theil-Sen slope times the window's length, which detects a slow drift better than the ends
///   (Sen, *Estimates of the Regression Coefficient Based on Kendall's Tau*, JASA 63, 1968).
///
/// Both ignore single disturbed slices. A change within the tolerance is flat. Above that, the noise of neighbouring slices
/// decides: a change that is small compared with the noise is flat, one that only the strongest noise explains is a climb or a
/// fall, and in between the window is noisy. Compiler threads are quiet if they stay within their share over the window and over
/// its last third, so that a burst that has just begun is noticed.
pub fn assess(samples: &[WarmSample], rule: &SteadyRule) -> Steadiness {
    let Some(samples) = latest(samples, rule) else { return Steadiness::TooShort };
    let curve = efficiencies(samples);
    if curve.len() * 2 <= samples.len() {
        return Steadiness::Idle;
    }
    let window = samples.len();
    let share = compiler_share(samples).max(compiler_share(&samples[window - third(window)..]));
    if share > rule.compiler_share {
        return Steadiness::Compiling { share };
    }
    let (ends, drift) = (ends(&curve), slope(&curve) * (window - 1) as f64);
    let log = if ends.abs() > drift.abs() { ends } else { drift };
    let (change, noise) = (log.exp_m1(), noise(&curve));
    if change.abs() <= rule.tolerance || log.abs() <= DOUBT * noise {
        Steadiness::Steady
    } else if log.abs() <= CERTAIN * noise {
        Steadiness::Noisy { change }
    } else if change > 0.0 {
        Steadiness::Climbing { change }
    } else {
        Steadiness::Falling { change }
    }
}

fn latest<'a>(samples: &'a [WarmSample], rule: &SteadyRule) -> Option<&'a [WarmSample]> {
    let window = rule.window.max(2);
    let enough = samples.len() >= window.max(rule.min_slices);
    enough.then(|| &samples[samples.len() - window..])
}

/// Numbers of slices with the logarithm of their calls per server CPU-second. Skips slices without calls.
fn efficiencies(samples: &[WarmSample]) -> Vec<(f64, f64)> {
    let used = samples.iter().enumerate().filter(|(_, s)| s.calls > 0 && s.server_cpu_ns > 0);
    used.map(|(at, s)| (at as f64, (s.calls as f64 * 1e9 / s.server_cpu_ns as f64).ln())).collect()
}

/// Share of the server's CPU time used by its compiler threads, 0..=1.
fn compiler_share(samples: &[WarmSample]) -> f64 {
    let all: u64 = samples.iter().map(|s| s.server_cpu_ns).sum();
    let compiler: u64 = samples.iter().map(|s| s.compiler_cpu_ns).sum();
    if all == 0 { 0.0 } else { compiler as f64 / all as f64 }
}

/// A third of `slices`. At least 3, if that is at most half of them, as the median of fewer is not robust.
fn third(slices: usize) -> usize {
    (slices / 3).max(3).min(slices / 2).max(1)
}

/// Change from the median of the first third to that of the last.
fn ends(curve: &[(f64, f64)]) -> f64 {
    let level = |part: &[(f64, f64)]| median(part.iter().map(|(_, y)| *y).collect()).unwrap_or(0.0);
    let third = third(curve.len());
    level(&curve[curve.len() - third..]) - level(&curve[..third])
}

/// Theil-Sen slope per slice.
fn slope(curve: &[(f64, f64)]) -> f64 {
    let slopes = curve.iter().enumerate().flat_map(|(at, (x0, y0))| {
        curve[at + 1..].iter().map(move |(x1, y1)| (y1 - y0) / (x1 - x0))
    });
    median(slopes.collect()).unwrap_or(0.0)
}

/// Standard deviation of a slice, from the distances of neighbours and of next neighbours. A step affects few of these distances,
/// so their median ignores it. A climb affects all, so they are also computed without the slope, and the smaller estimate counts.
fn noise(curve: &[(f64, f64)]) -> f64 {
    let typical = |slope: f64| {
        let distances = |lag: usize| {
            let later = curve.iter().skip(lag);
            let pairs = curve.iter().zip(later);
            pairs.map(move |((x0, y0), (x1, y1))| (y1 - y0 - slope * (x1 - x0)).abs())
        };
        median(distances(1).chain(distances(2)).collect()).unwrap_or(0.0)
    };
    NORMAL * typical(0.0).min(typical(slope(curve)))
}
