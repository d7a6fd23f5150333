//! Single calls of a window: counts by time and duration, and the slowest calls in full.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use serde::{Deserialize, Serialize};

use super::buckets::bucket;

/// Maximum number of columns. Pairs are merged when calls come due after the last column.
const COLUMNS: u64 = 1024;

/// Initial length of a column, nanoseconds.
const FIRST_NS: u64 = 1_000_000;

/// Number of slowest calls kept in full.
const SLOWEST: usize = 1000;

/// The calls of one trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrialCalls {
    /// The entry's name.
    pub entry: String,
    /// The workload's name.
    pub workload: String,
    /// Number of the trial.
    pub number: u32,
    /// The calls.
    #[serde(flatten)]
    pub calls: Calls,
}

/// Calls of a window in bounded memory. Every call is counted once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Calls {
    /// Length of a column, nanoseconds.
    column_ns: u64,
    /// Column, bucket of the response time (see `buckets`), ok calls, other calls.
    counts: Counts,
    /// Response time and due time, nanoseconds, and whether the call ended ok. Unordered.
    slowest: BinaryHeap<Reverse<(u64, u64, bool)>>,
}

/// Counts by column and bucket.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<(u64, u32, u64, u64)>", into = "Vec<(u64, u32, u64, u64)>")]
struct Counts(BTreeMap<(u64, u32), (u64, u64)>);

impl From<Vec<(u64, u32, u64, u64)>> for Counts {
    fn from(rows: Vec<(u64, u32, u64, u64)>) -> Self {
        Self(rows.into_iter().map(|(x, y, ok, failed)| ((x, y), (ok, failed))).collect())
    }
}

impl From<Counts> for Vec<(u64, u32, u64, u64)> {
    fn from(counts: Counts) -> Self {
        counts.0.into_iter().map(|((x, y), (ok, failed))| (x, y, ok, failed)).collect()
    }
}

impl Default for Calls {
    fn default() -> Self {
        Self { column_ns: FIRST_NS, counts: Counts::default(), slowest: BinaryHeap::new() }
    }
}

impl Calls {
    /// Counts a call. The due time is relative to the start of the window; times are nanoseconds.
    pub fn add(&mut self, due_ns: u64, response_ns: u64, ok: bool) {
        while due_ns / self.column_ns >= COLUMNS {
            self.halve();
        }
        let at = (due_ns / self.column_ns, bucket(response_ns));
        let (right, wrong) = self.counts.0.entry(at).or_default();
        *if ok { right } else { wrong } += 1;
        let call = Reverse((response_ns, due_ns, ok));
        if self.slowest.len() < SLOWEST {
            self.slowest.push(call);
        } else if let Some(mut least) = self.slowest.peek_mut()
            && call < *least
        {
            *least = call;
        }
    }

    /// Merges pairs of columns.
    fn halve(&mut self) {
        self.column_ns *= 2;
        for ((x, y), (ok, failed)) in std::mem::take(&mut self.counts.0) {
            let (right, wrong) = self.counts.0.entry((x / 2, y)).or_default();
            *right += ok;
            *wrong += failed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_once_in_long_windows() {
        let mut calls = Calls::default();
        for n in 0..100_000_u64 {
            calls.add(n * 100_000, 1_000 + n, n % 10 != 0);
        }
        let sum = |of: fn(&(u64, u64)) -> u64| calls.counts.0.values().map(of).sum::<u64>();
        assert_eq!((sum(|c| c.0), sum(|c| c.1)), (90_000, 10_000));
        let last = calls.counts.0.keys().map(|(x, _)| *x).max().unwrap();
        assert!((COLUMNS / 2..COLUMNS).contains(&last), "{last}");
        assert_eq!(last, 99_999 * 100_000 / calls.column_ns);
    }

    #[test]
    fn slowest_calls_are_kept() {
        let mut calls = Calls::default();
        (0..5000).for_each(|n| calls.add(n, n * 7919 % 5000, true));
        let mut times: Vec<u64> = calls.slowest.iter().map(|Reverse((ns, ..))| *ns).collect();
        times.sort_unstable();
        assert_eq!(times, (4000..5000).collect::<Vec<_>>());
    }

    #[test]
    fn calls_round_trip_as_json() {
        let mut calls = Calls::default();
        (0..100).for_each(|n| calls.add(n * 1_000_000, n * n, n % 2 == 0));
        let text = serde_json::to_string(&calls).unwrap();
        let read: Calls = serde_json::from_str(&text).unwrap();
        assert_eq!((read.counts.0, read.slowest.len()), (calls.counts.0, 100));
    }
}
