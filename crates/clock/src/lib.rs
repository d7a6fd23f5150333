//! The only place in the workspace that reads time.
//!
//! Everything with logic takes the time as an argument, so that tests run in virtual time.

mod own;
mod span;

use std::ops::{Add, Sub};
use std::time::Duration;

use rustix::thread::{ClockId, clock_nanosleep_absolute};
use rustix::time::{ClockId as Clock, Timespec, clock_gettime};

pub use own::OwnClock;
pub use span::Span;

/// A point on the monotonic clock, or a distance between two; nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// Infinitely far in the future.
    pub const NEVER: Self = Self(u64::MAX);

    /// From milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// The distance from `earlier`; 0 if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add for Nanos {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Nanos {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.since(other))
    }
}

impl From<Duration> for Nanos {
    #[inline]
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for Duration {
    #[inline]
    fn from(nanos: Nanos) -> Self {
        Self::from_nanos(nanos.0)
    }
}

#[inline]
fn read(clock: Clock) -> Nanos {
    let time = clock_gettime(clock);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Now, on the monotonic clock.
#[inline]
pub fn now() -> Nanos {
    read(Clock::Monotonic)
}

/// CPU time that the calling thread has used.
#[inline]
pub fn thread_cpu() -> Nanos {
    read(Clock::ThreadCPUTime)
}

/// Now, in calendar time.
pub fn wall() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

/// Waits until `deadline`, to the timer's precision.
pub fn sleep_until(deadline: Nanos) {
    let at = Timespec {
        tv_sec: (deadline.0 / 1_000_000_000) as i64,
        tv_nsec: (deadline.0 % 1_000_000_000) as _,
    };
    // A signal may end it early.
    while now() < deadline && clock_nanosleep_absolute(ClockId::Monotonic, &at).is_err() {}
}
