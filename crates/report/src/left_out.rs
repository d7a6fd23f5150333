//! Notes on resources that a server used but its figures leave out.

use rpcbench_record::{Measured, ServerUsage};

use crate::format;

/// A note for each resource with large use.
pub(crate) fn notes(trials: &[&Measured]) -> impl Iterator<Item = String> {
    [page_cache(trials), restless(trials)].into_iter().flatten()
}

/// A note on page cache, if it is more than the memory shown. `None` if it is small.
fn page_cache(trials: &[&Measured]) -> Option<String> {
    const LITTLE: u64 = 64 << 20;
    let servers = || trials.iter().filter_map(|trial| trial.server.as_ref());
    let cache = servers().filter_map(|it| it.memory_cache_bytes).max()?;
    let memory = servers().map(|it| it.memory_peak_bytes).max()?;
    (cache >= LITTLE && cache > memory).then(|| {
        let cache = format::bytes(cache);
        format!(
            "{cache} of page cache, such as files that it has mapped, are not counted as memory"
        )
    })
}

/// A note on CPU time that a server used at rest. `None` if it is little.
fn restless(trials: &[&Measured]) -> Option<String> {
    let servers = trials.iter().filter_map(|trial| trial.server.as_ref());
    let share = servers.filter_map(ServerUsage::restless_share).max_by(f64::total_cmp)?;
    let share = format::percent(share);
    Some(format!("it used {share} of a CPU while it had no calls, until it was frozen for that"))
}
