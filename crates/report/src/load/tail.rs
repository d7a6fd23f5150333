//! Response times over all calls that came due, including those without a correct answer.

use rpcbench_record::{Latency, Measured};
use rpcbench_stats::Histogram;

use crate::figures::merged;
use crate::format;

/// A response time over all calls. Calls that did not end `ok` count as infinitely slow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Exactly this time, nanoseconds.
    At(f64),
    /// More than this many nanoseconds: the rank falls on a call that did not end `ok`.
    Above(f64),
}

impl Bound {
    /// Formats the time next to limits in nanoseconds.
    pub(crate) fn near(self, limits: &[f64]) -> String {
        match self {
            Self::At(ns) => format::duration_near(ns, limits),
            Self::Above(ns) => format!("> {}", format::duration_near(ns, limits)),
        }
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.near(&[]))
    }
}

/// The distribution of response time over all calls that came due in a window. Calls that did not end `ok` rank above
/// all others.
#[derive(Clone, Debug)]
pub struct AllCalls {
    calls: u64,
    ok: Histogram,
    /// Response times of `ok` calls, and for the others the time until they ended, as a lower bound.
    least: Histogram,
    /// Exact maximum of `ok` calls, and of all calls. Histograms round theirs to slots.
    largest: [u64; 2],
    min: Bound,
    mean: Bound,
}

impl AllCalls {
    /// The distribution of one window. `None` if no call came due, or a histogram can't be read.
    pub fn of(window: &Measured) -> Option<Self> {
        Self::over(&[window])
    }

    /// The distribution of several windows together. `None` as in [`Self::of`].
    pub fn over(windows: &[&Measured]) -> Option<Self> {
        let calls: u64 = windows.iter().map(|window| window.outcomes.total()).sum();
        let errors: u64 = windows.iter().map(|window| window.outcomes.errors()).sum();
        let answered: Vec<&Latency> = windows.iter().filter_map(|w| w.latency.as_ref()).collect();
        let failed: Vec<&Latency> =
            windows.iter().filter_map(|w| w.error_latency.as_ref()).collect();
        let ok = merged(answered.iter().copied())?;
        let mut least = ok.clone();
        least.merge(&merged(failed.iter().copied())?);
        let all = [&answered[..], &failed[..]].concat();
        let max = |parts: &[&Latency]| parts.iter().map(|l| l.max_ns).max().unwrap_or_default();
        let min = |parts: &[&Latency]| parts.iter().map(|l| l.min_ns as f64).reduce(f64::min);
        let sum: f64 = all.iter().map(|l| l.mean_ns * l.count as f64).sum();
        let count: u64 = all.iter().map(|l| l.count).sum();
        let bound = if errors > 0 { Bound::Above } else { Bound::At };
        Some(Self {
            calls: Some(calls).filter(|calls| *calls > 0)?,
            ok,
            least,
            largest: [max(&answered), max(&all)],
            min: min(&answered)
                .map_or_else(|| Bound::Above(min(&failed).unwrap_or_default()), Bound::At),
            mean: bound(sum / count.max(1) as f64),
        })
    }

    /// The time of rank `ceil(q x calls)`; `q` in millionths.
    pub fn quantile(&self, millionths: u32) -> Bound {
        let rank = (u128::from(self.calls) * u128::from(millionths)).div_ceil(1_000_000).max(1);
        let rank = u64::try_from(rank).unwrap_or(u64::MAX);
        match rank <= self.ok.count() {
            true => Bound::At(at_rank(&self.ok, rank, self.largest[0])),
            false => {
                let least = at_rank(&self.least, rank, self.largest[1]);
                Bound::Above(least.max(self.largest[0] as f64))
            }
        }
    }

    /// Smallest.
    pub fn min(&self) -> Bound {
        self.min
    }

    /// Arithmetic mean.
    pub fn mean(&self) -> Bound {
        self.mean
    }

    /// Largest.
    pub fn max(&self) -> Bound {
        self.quantile(1_000_000)
    }
}

fn at_rank(histogram: &Histogram, rank: u64, largest: u64) -> f64 {
    histogram.at_rank(rank).unwrap_or_default().min(largest) as f64
}
