//! Distributions for the page.

use rpcbench_stats::Histogram;
use serde::Serialize;

/// Buckets per octave: each is 9 % wider than the previous one.
const IN_AN_OCTAVE: f64 = 8.0;

/// Points of a percentile curve per decade of remaining calls.
const IN_A_DECADE: u32 = 20;

/// Calls left after the last point of a percentile curve. A point with fewer would not be reproducible.
const LEFT: u64 = 10;

#[derive(Serialize)]
pub(super) struct Distribution {
    /// Number of calls.
    count: u64,
    /// Quantiles, nanoseconds. Ends when ten calls are left.
    curve: Vec<(f64, u64)>,
    /// Calls by duration: see [`buckets`].
    buckets: Vec<(u32, u64)>,
}

impl Distribution {
    pub(super) fn of(histogram: &Histogram) -> Option<Self> {
        (histogram.count() > 0).then(|| Self {
            count: histogram.count(),
            curve: curve(histogram),
            buckets: buckets(histogram),
        })
    }
}

/// Quantiles, evenly spaced on a logarithmic scale of remaining calls.
fn curve(histogram: &Histogram) -> Vec<(f64, u64)> {
    let calls = histogram.count() as f64;
    let steps = (0..).map(|step| f64::from(step) / f64::from(IN_A_DECADE));
    let left = steps.map(|decades| 10_f64.powf(-decades));
    let left = left.take_while(|left| left * calls >= LEFT as f64);
    let point = |left: f64| Some((1.0 - left, histogram.quantile(1.0 - left)?));
    left.filter_map(point).collect()
}

/// The bucket of a time in nanoseconds.
pub(super) fn bucket(ns: u64) -> u32 {
    ((ns.max(1) as f64).log2() * IN_AN_OCTAVE).floor() as u32
}

/// Counts by bucket, ascending, without empty buckets. Bucket `b` covers times from 2^(b/8) ns up to 2^((b+1)/8) ns.
pub(super) fn buckets(histogram: &Histogram) -> Vec<(u32, u64)> {
    let mut buckets: Vec<(u32, u64)> = Vec::new();
    for (value, times) in histogram.slots() {
        let bucket = bucket(value);
        match buckets.last_mut() {
            Some((last, count)) if *last == bucket => *count += times,
            _ => buckets.push((bucket, times)),
        }
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::new();
        values.into_iter().for_each(|value| histogram.record(value));
        histogram
    }

    #[test]
    fn buckets_hold_every_call_once() {
        let histogram = histogram((0..100_000).map(|n| n * n));
        let buckets = buckets(&histogram);
        assert_eq!(buckets.iter().map(|(_, n)| n).sum::<u64>(), 100_000);
        assert!(buckets.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn bucket_begins_at_power_of_two() {
        assert_eq!(buckets(&histogram([1024, 1025])), [(80, 2)]);
        assert_eq!(buckets(&histogram([1023])), [(79, 1)]);
    }

    #[test]
    fn curve_ends_at_ten_remaining_calls() {
        let curve = curve(&histogram(1..=1000));
        assert_eq!(curve.first(), Some(&(0.0, 1)));
        let (q, ns) = *curve.last().unwrap();
        assert!((q - 0.99).abs() < 1e-9);
        assert_eq!(ns, 990);
        assert!(super::curve(&histogram(1..10)).is_empty());
    }
}
