//! Ends waits at deadlines that are far off and stay where they are over many waits.
//!
//! A wait with its own timeout starts and stops a kernel timer each time: costly where most waits end early, and
//! more so on virtual machines. The alarm is a single timer that keeps running across all of them.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::Timespec;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use super::timespec;
use crate::clock::Nanos;

/// Deadlines nearer than this change with nearly every wait: setting the alarm would be one system call more.
const NEAR: u64 = 2_000_000;

/// Deadlines nearer than this are waited for awake: to fall asleep and to be woken takes as long, and as much CPU time.
const AWAKE: u64 = 10_000;

/// How to wait for a deadline.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    /// By looking again and again.
    Awake { since: Nanos },
    /// With this timeout. The wait may end before it, when the alarm rings.
    Asleep(Option<Timespec>),
}

/// A timer to be watched with everything else.
pub(super) struct Alarm {
    timer: OwnedFd,
    /// When it rings next.
    rings_at: Nanos,
}

impl Alarm {
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self { timer, rings_at: Nanos::NEVER })
    }

    /// How to wait until `until`; `now` is asked only if it matters.
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

    /// Takes note that it rang.
    pub fn clear(&mut self) {
        self.rings_at = Nanos::NEVER;
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}
