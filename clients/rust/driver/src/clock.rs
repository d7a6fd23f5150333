use std::{thread, time::Duration};

use rustix::time::{ClockId, clock_gettime};

/// How long before an instant a sleeper stays awake.
const SPIN: Duration = Duration::from_millis(2);

/// `CLOCK_MONOTONIC` in nanoseconds.
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns at the instant, as exactly as it can.
pub fn sleep_until(instant: u64) {
    let rest = Duration::from_nanos(instant.saturating_sub(now()));
    thread::sleep(rest.saturating_sub(SPIN));
    while now() < instant {
        thread::yield_now();
    }
}
