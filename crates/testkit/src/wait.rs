//! Waits for other processes.

use std::time::Duration;

use rpcbench_clock::{self as clock, Nanos};

/// Time after which a test gives up waiting. It only ends tests that hang: a busy machine takes minutes for what an idle one does in
/// seconds.
pub const GIVE_UP: Duration = Duration::from_secs(20 * 60);

/// Waits for what only the kernel or another process can make true.
///
/// # Panics
/// After [`GIVE_UP`].
#[track_caller]
pub fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let deadline = clock::now() + Nanos::from(GIVE_UP);
    while !is_true() {
        assert!(clock::now() < deadline, "not within {GIVE_UP:?}: {what}");
        clock::sleep_until(clock::now() + Nanos::from_millis(2));
    }
}
