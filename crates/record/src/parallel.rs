//! Processes long lists on all CPUs.

use std::panic::resume_unwind;
use std::thread;

/// Minimum windows for which starting threads is worthwhile.
const MANY: usize = 1000;

/// Applies `of` to the items of a list, in parallel if they represent many `windows`. Returns the results in order.
pub fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    windows: usize,
    of: impl Fn(&[T]) -> R + Sync,
) -> Vec<R> {
    if windows < MANY {
        return vec![of(items)];
    }
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let (own, others) = items.split_at(items.len().div_ceil(threads));
        let parts = others.chunks(own.len().max(1));
        let started: Vec<_> = parts.map(|part| scope.spawn(|| of(part))).collect();
        let mut results = vec![of(own)];
        let joined = started.into_iter().map(thread::ScopedJoinHandle::join);
        results.extend(joined.map(|part| part.unwrap_or_else(|panic| resume_unwind(panic))));
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_results_keep_order_and_every_item() {
        for length in [0, 1, 2, 3 * MANY + 7] {
            let items: Vec<usize> = (0..length).collect();
            for windows in [length, MANY] {
                assert_eq!(in_parallel(&items, windows, <[usize]>::to_vec).concat(), items);
            }
        }
    }
}
