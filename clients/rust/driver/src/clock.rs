use std::{thread, time::Duration};

use rustix::time::{ClockId, clock_gettime};

/// How long [`sleep_until`] polls the clock before its instant.
const SPIN: Duration = Duration::from_millis(2);

/// `CLOCK_MONOTONIC` in nanoseconds.
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Sleeps until shortly before the instant, then polls the clock.
pub fn sleep_until(instant: u64) {
    let rest = Duration::from_nanos(instant.saturating_sub(now()));
    thread::sleep(rest.saturating_sub(SPIN));
    while now() < instant {
        thread::yield_now();
    }
}
