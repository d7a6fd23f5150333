//! The bound on memory for incomplete messages, shared by all connections of a load thread.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rpcbench_record::units;

use crate::payload::{MAX_REPLY, Payload};

/// Maximum bytes of incomplete messages over all load threads, unless the calls in flight need more.
const MAX_HELD: usize = 256 << 20;
/// Bytes allowed for a reply per byte of its request, including buffers that grew by doubling.
const SLACK: usize = 4;

/// The problem with a reply of more than `most` bytes. A process has few limits, so their texts are kept.
#[cold]
pub(crate) fn too_long(most: usize) -> &'static str {
    static TEXTS: Mutex<BTreeMap<usize, &str>> = Mutex::new(BTreeMap::new());
    let text = || format!("a reply above {} (--max-message)", units::bytes(most as u64)).leak();
    TEXTS.lock().unwrap_or_else(PoisonError::into_inner).entry(most).or_insert_with(|| text())
}

/// Bytes that all connections of a load thread may hold.
#[derive(Debug)]
pub(crate) struct Allowance {
    most: usize,
    /// Longest message of a reply, bytes.
    pub max_message: usize,
    taken: AtomicUsize,
}

impl Allowance {
    pub fn new(most: usize) -> Self {
        Self { most, max_message: MAX_REPLY, taken: AtomicUsize::new(0) }
    }

    /// For one of `threads` threads, with `in_flight` calls of `payload`.
    pub fn of_thread(threads: u32, in_flight: u32, payload: &dyn Payload) -> Self {
        let longest = (0..payload.len()).map(|index| payload.request(index).len()).max();
        let needed = (in_flight as usize).saturating_mul(SLACK * longest.unwrap_or_default());
        let max_message = payload.max_reply();
        let of_one = Self::of_one_call(max_message);
        let most = needed.max(MAX_HELD / threads.max(1) as usize);
        let most = if max_message > MAX_REPLY { most.max(of_one.most) } else { most };
        Self { most, ..of_one }
    }

    /// For one call, whose reply has at most `max_message` bytes.
    pub fn of_one_call(max_message: usize) -> Self {
        // A buffer doubles, so the longest reply may need twice its length.
        Self { max_message, ..Self::new(2 * max_message) }
    }

    /// Takes `bytes`. If fewer are left, takes none and returns false.
    pub fn take(&self, bytes: usize) -> bool {
        // Only one thread uses it, so load and store need not be atomic together.
        let taken = self.taken.load(Ordering::Relaxed).saturating_add(bytes);
        let fits = taken <= self.most;
        if fits {
            self.taken.store(taken, Ordering::Relaxed);
        }
        fits
    }

    /// Returns `bytes` to the allowance.
    pub fn give(&self, bytes: usize) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Bytes taken.
    #[cfg(test)]
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }
}

impl Default for Allowance {
    fn default() -> Self {
        Self::new(MAX_HELD)
    }
}

/// A buffer's share of an allowance. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Holding {
    allowance: Arc<Allowance>,
    taken: usize,
}

impl Holding {
    pub fn new(allowance: &Arc<Allowance>) -> Self {
        Self { allowance: Arc::clone(allowance), taken: 0 }
    }

    /// Sets the buffer's size to `bytes`. If that exceeds the allowance, holds nothing and returns false.
    #[inline]
    pub fn resize(&mut self, bytes: usize) -> bool {
        if bytes == self.taken {
            return true;
        }
        self.allowance.give(std::mem::take(&mut self.taken));
        let fits = self.allowance.take(bytes);
        if fits {
            self.taken = bytes;
        }
        fits
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        self.allowance.give(self.taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Filler;

    #[test]
    fn bytes_given_back_can_be_taken_again() {
        let allowance = Allowance::new(10);
        assert!(allowance.take(6) && !allowance.take(5) && allowance.take(4) && !allowance.take(1));
        allowance.give(6);
        assert!(allowance.take(6) && allowance.taken() == 10);
    }

    #[test]
    fn holding_follows_the_buffers_size_and_is_released_on_drop() {
        let allowance = Arc::new(Allowance::new(10));
        let mut holding = Holding::new(&allowance);
        assert!(holding.resize(6) && holding.resize(9) && allowance.taken() == 9);
        assert!(!holding.resize(11) && allowance.taken() == 0);
        assert!(holding.resize(4) && allowance.taken() == 4);
        drop(holding);
        assert_eq!(allowance.taken(), 0);
    }

    #[test]
    fn allowance_is_split_by_thread_and_raised_for_large_calls() {
        let most = |threads, in_flight| {
            Allowance::of_thread(threads, in_flight, &Filler::of(&[5, 1 << 20])).most
        };
        assert_eq!((most(1, 1), most(4, 10)), (256 << 20, 64 << 20));
        assert_eq!(most(4, 1000), 4000 << 20);
    }
}
