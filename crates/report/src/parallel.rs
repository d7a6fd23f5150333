//! Work on long lists, on all CPUs.

use std::panic::resume_unwind;
use std::thread;

/// Length from which starting threads is worth it.
const LONG: usize = 1000;

/// Applies `of` to parts of a list, at the same time if it is long. Returns the results in order.
pub(crate) fn in_parallel<T: Sync, R: Send>(items: &[T], of: impl Fn(&[T]) -> R + Sync) -> Vec<R> {
    if items.len() < LONG {
        return vec![of(items)];
    }
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let parts = items.chunks(items.len().div_ceil(threads));
        let started: Vec<_> = parts.map(|part| scope.spawn(|| of(part))).collect();
        let results = started.into_iter().map(thread::ScopedJoinHandle::join);
        results.map(|result| result.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_have_every_item_once() {
        for length in [0, 1, LONG - 1, LONG, 3 * LONG + 7] {
            let items: Vec<usize> = (0..length).collect();
            assert_eq!(in_parallel(&items, <[usize]>::to_vec).concat(), items);
        }
    }
}
