//! A histogram of durations in constant memory.

use std::fmt;
use std::ops::Range;

/// Bits of a value that choose the slot within a bucket.
const SUB_BUCKET_BITS: u32 = 11;
/// Slots of the first bucket, each one nanosecond wide: the power of two at or above 2 x 10^3.
const SUB_BUCKETS: u64 = 1 << SUB_BUCKET_BITS;
/// Slots added by each further bucket: the lower half of its range is covered by the buckets before it.
const HALF: usize = (SUB_BUCKETS / 2) as usize;
/// Buckets needed for [`Histogram::HIGHEST`].
const BUCKETS: usize = 32;
/// Total slots: 270,336 bytes of counts.
pub(crate) const SLOTS: usize = (BUCKETS + 1) * HALF;

/// Slots that a search for a rank skips at once.
const BLOCK: usize = 64;

/// Counts durations to three significant digits, with exact count, sum, minimum and maximum.
///
/// Slots are laid out as in `HdrHistogram(1, 3_600_000_000_000, 3)` (Gil Tene,
/// <https://hdrhistogram.org>), so that [`Histogram::to_base64`] loses no count: values up to 2,047 ns
/// have a slot each, and above that a slot is less than 0.1 % of its values wide.
///
/// Values are nanoseconds. Anything from 0 to `u64::MAX` can be recorded. Values above the last slot (73 minutes) are counted in
/// it, while [`max`](Self::max) and [`mean`](Self::mean) use the exact value.
#[derive(PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64; SLOTS]>,
    count: u64,
    /// Exact: 2^64 values of 2^64 - 1 fit.
    sum: u128,
    /// `u64::MAX` while empty.
    min: u64,
    /// 0 while empty.
    max: u64,
}

impl Histogram {
    /// Smallest value distinguished from 0, nanoseconds.
    pub const LOWEST: u64 = 1;
    /// Largest value with guaranteed resolution, nanoseconds: one hour.
    pub const HIGHEST: u64 = 3_600_000_000_000;
    /// Significant decimal digits.
    pub const DIGITS: u8 = 3;

    /// An empty histogram. Allocates all its memory.
    pub fn new() -> Self {
        // The kernel zeroes fresh pages on first use.
        let counts =
            vec![0; SLOTS].into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!());
        Self { counts, count: 0, sum: 0, min: u64::MAX, max: 0 }
    }

    /// Counts `value`, nanoseconds. Never allocates, never fails.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.record_times(value, 1);
    }

    /// Counts `value`, nanoseconds, `times` times; at least once.
    #[inline]
    pub fn record_times(&mut self, value: u64, times: u64) {
        self.counts[slot(value)] += times;
        self.count += times;
        self.sum += u128::from(value) * u128::from(times);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds all values of `other`, exactly.
    pub fn merge(&mut self, other: &Self) {
        let used = other.used_slots();
        for (mine, theirs) in self.counts[used.clone()].iter_mut().zip(&other.counts[used]) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The values counted since `earlier`, an earlier state of this histogram, to its resolution.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut new = Self::new();
        for slot in self.used_slots() {
            let times = self.counts[slot].saturating_sub(earlier.counts[slot]);
            if times > 0 {
                new.record_times(self.shown(slot), times);
            }
        }
        new
    }

    /// Removes all values and keeps the memory.
    pub fn clear(&mut self) {
        let used = self.used_slots();
        self.counts[used].fill(0);
        self.count = 0;
        self.sum = 0;
        self.min = u64::MAX;
        self.max = 0;
    }

    /// Slots from the smallest to the largest value.
    fn used_slots(&self) -> Range<usize> {
        if self.count == 0 { 0..0 } else { slot(self.min)..slot(self.max) + 1 }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Smallest value, exact. `None` while empty.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Largest value, exact. `None` while empty.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Arithmetic mean, from the exact sum of the values. `None` while empty.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Standard deviation of the population. `None` while empty.
    ///
    /// Values count as the middle of their slot, and deviations are summed in a second pass around the mean of those middles.
    /// The result is within 0.1 % of the mean of the exact figure, equals HdrHistogram's, and is the same for an exported
    /// histogram. A running sum of squares would subtract two numbers that agree in most digits if the spread is small
    /// compared with the mean (Chan, Golub and LeVeque, *The American Statistician* 37, 1983), and
    /// would cost each call a wide multiplication.
    pub fn stddev(&self) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let n = self.count as f64;
        let mean = self.middles().map(|(middle, times)| middle * (times / n)).sum::<f64>();
        let squares =
            self.middles().map(|(middle, times)| (middle - mean).powi(2) * times).sum::<f64>();
        Some((squares / n).sqrt())
    }

    /// The smallest recorded value that at least the fraction `q` of all values do not exceed, to the
    /// histogram's resolution. `None` while empty.
    ///
    /// Follows HdrHistogram: the value of rank `ceil(q x count)`, at least 1, or rather the highest value that shares its slot,
    /// but never above [`max`](Self::max). A `q` outside 0..=1 is clamped, and not-a-number counts as 0; `quantile(0.0)` is
    /// [`min`](Self::min).
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        if q.is_nan() || q <= 0.0 {
            return Some(self.min);
        }
        self.at_rank((q.min(1.0) * self.count as f64).ceil() as u64)
    }

    /// The value of a rank, as [`quantile`](Self::quantile) returns it. Ranks start at 1; others are clamped. `None` while empty.
    pub fn at_rank(&self, rank: u64) -> Option<u64> {
        let rank = rank.clamp(1, self.count.max(1));
        let used = self.used_slots();
        let (mut seen, mut from) = (0, used.start);
        for block in self.counts[used.clone()].chunks(BLOCK) {
            let within: u64 = block.iter().sum();
            if seen + within >= rank {
                break;
            }
            (seen, from) = (seen + within, from + block.len());
        }
        let found = (from..used.end).find(|slot| {
            seen += self.counts[*slot];
            seen >= rank
        });
        found.map(|slot| self.shown(slot))
    }

    /// Number of values up to `limit`, to the histogram's resolution.
    pub fn count_up_to(&self, limit: u64) -> u64 {
        let within = self.used_slots().take_while(|slot| self.shown(*slot) <= limit);
        within.map(|slot| self.counts[slot]).sum()
    }

    /// The value that represents a slot.
    fn shown(&self, slot: usize) -> u64 {
        // The last slot also counts values above it, so only the maximum bounds it.
        if slot == SLOTS - 1 { self.max } else { highest(slot).min(self.max) }
    }

    /// The used slots in ascending order: the lowest value of each, nanoseconds, and its count.
    pub fn slots(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let used = self.used_slots().map(|slot| (slot, self.counts[slot]));
        used.filter(|(_, times)| *times > 0).map(|(slot, times)| (lowest(slot), times))
    }

    /// Adds the counts of ascending slots; smallest, largest and sum become those of the slots. `None` if the counts exceed 64
    /// bits; the counts before that point are added.
    pub(crate) fn add_slots(
        &mut self,
        mut slots: impl Iterator<Item = (usize, u64)>,
    ) -> Option<()> {
        // Kept in locals: for all the compiler knows, a write to a count could change the fields of `self`.
        let (mut count, mut sum) = (self.count, self.sum);
        let (mut first, mut last) = (SLOTS, 0);
        let ended = slots.try_for_each(|(slot, times)| {
            count = count.checked_add(times)?;
            sum += u128::from(middle(slot)) * u128::from(times);
            self.counts[slot] += times;
            if times > 0 {
                (first, last) = (first.min(slot), slot);
            }
            Some(())
        });
        (self.count, self.sum) = (count, sum);
        if first < SLOTS {
            self.min = self.min.min(lowest(first));
            self.max = self.max.max(highest(last));
        }
        ended
    }

    /// The used slots as floating point: the middle of each and its count.
    fn middles(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.slots().map(|(value, times)| (middle(slot(value)) as f64, times as f64))
    }
}

impl Clone for Histogram {
    /// Touches only the memory in use.
    fn clone(&self) -> Self {
        let mut copy = Self::new();
        copy.merge(self);
        copy
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count)
            .field("min", &self.min())
            .field("max", &self.max())
            .field("mean", &self.mean())
            .finish_non_exhaustive()
    }
}

/// The slot of `value`. The bucket is the number of bits by which the value is longer than [`SUB_BUCKET_BITS`]; after dropping
/// that many low bits, the rest choose the slot.
#[inline]
fn slot(value: u64) -> usize {
    let bucket = (u64::BITS - SUB_BUCKET_BITS) - (value | (SUB_BUCKETS - 1)).leading_zeros();
    let slot = bucket as usize * HALF + (value >> bucket) as usize;
    slot.min(SLOTS - 1)
}

/// Number of low bits in which the values of `slot` differ.
fn shift(slot: usize) -> u32 {
    (slot / HALF).saturating_sub(1) as u32
}

/// Lowest value of `slot`.
fn lowest(slot: usize) -> u64 {
    ((slot - shift(slot) as usize * HALF) as u64) << shift(slot)
}

/// Highest value of `slot`.
fn highest(slot: usize) -> u64 {
    lowest(slot) + (1 << shift(slot)) - 1
}

/// The value in the middle of `slot`.
fn middle(slot: usize) -> u64 {
    lowest(slot) + (1 << shift(slot) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_contiguous_and_in_order() {
        assert_eq!(lowest(0), 0);
        for slot in 1..SLOTS {
            assert_eq!(lowest(slot), highest(slot - 1) + 1, "slot {slot}");
        }
        assert!(highest(SLOTS - 1) >= Histogram::HIGHEST);
    }

    #[test]
    fn ends_of_each_slot_map_back_to_it() {
        for at in 0..SLOTS {
            assert_eq!(slot(lowest(at)), at);
            assert_eq!(slot(middle(at)), at);
            assert_eq!(slot(highest(at)), at);
        }
    }

    #[test]
    fn slots_are_narrower_than_a_thousandth() {
        for at in 0..SLOTS {
            let width = highest(at) - lowest(at);
            assert!(width * 1000 < lowest(at).max(1), "slot {at}");
        }
    }

    #[test]
    fn values_above_the_last_slot_are_counted_in_it() {
        assert_eq!(slot(highest(SLOTS - 1)), SLOTS - 1);
        assert_eq!(slot(highest(SLOTS - 1) + 1), SLOTS - 1);
        assert_eq!(slot(u64::MAX), SLOTS - 1);
    }
}
