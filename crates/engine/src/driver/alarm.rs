//! Ends waits at distant deadlines, which rarely change from one wait to the next.
//!
//! A wait with a timeout starts and stops a kernel timer each time. That is costly if most waits end early, and more so on
//! virtual machines. The alarm is a single timer that keeps running over many waits.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::Timespec;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use super::timespec;
use rpcbench_clock::Nanos;

/// Deadlines nearer than this, nanoseconds, change with nearly every wait: setting the alarm would add a system call.
const NEAR: u64 = 2_000_000;

/// Deadlines nearer than this, nanoseconds, are polled for: sleeping and waking takes as long, and as much CPU time.
const AWAKE: u64 = 10_000;

#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    /// By polling.
    Awake { since: Nanos },
    /// With this timeout. The alarm may end the wait earlier.
    Asleep(Option<Timespec>),
}

/// A timer in the driver's epoll set.
pub(super) struct Alarm {
    timer: OwnedFd,
    rings_at: Nanos,
}

impl Alarm {
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self { timer, rings_at: Nanos::NEVER })
    }

    /// How to wait until `until`. Reads the clock only if needed.
    pub fn wait(&mut self, until: Nanos, now: impl FnOnce() -> Nanos) -> io::Result<Wait> {
        if until >= self.rings_at {
            return Ok(Wait::Asleep(None));
        }
        let now = now();
        let left = until.since(now);
        if (1..AWAKE).contains(&left) {
            return Ok(Wait::Awake { since: now });
        }
        if left < NEAR {
            return Ok(Wait::Asleep(Some(timespec(left))));
        }
        let times = Itimerspec { it_interval: timespec(0), it_value: timespec(until.0) };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &times)?;
        self.rings_at = until;
        Ok(Wait::Asleep(None))
    }

    /// Resets the alarm after it rang.
    pub fn clear(&mut self) {
        self.rings_at = Nanos::NEVER;
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}
