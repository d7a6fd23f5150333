//! Kernel clocks and CPU accounting.

use std::time::Duration;

/// CPU time from `getrusage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTime {
    /// Time in user mode.
    pub user: Duration,
    /// Time in the kernel.
    pub system: Duration,
}

impl CpuTime {
    /// Both together.
    pub fn total(self) -> Duration {
        self.user + self.system
    }
}

/// CPU time of all threads of this process so far.
pub fn process_cpu() -> CpuTime {
    usage(libc::RUSAGE_SELF)
}

/// CPU time of the child processes that have ended and were waited for.
pub fn children_cpu() -> CpuTime {
    usage(libc::RUSAGE_CHILDREN)
}

fn usage(of: libc::c_int) -> CpuTime {
    // SAFETY: rusage is plain old data, for which all zeroes is a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid rusage that outlives the call.
    unsafe { libc::getrusage(of, &mut usage) };
    CpuTime { user: from_timeval(usage.ru_utime), system: from_timeval(usage.ru_stime) }
}

fn from_timeval(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec.unsigned_abs())
        + Duration::from_micros(time.tv_usec.unsigned_abs())
}

/// Monotonic time since an arbitrary start.
pub(crate) fn monotonic() -> Duration {
    read(libc::CLOCK_MONOTONIC)
}

/// CPU time of this process since it started, to the nanosecond.
pub(crate) fn this_process() -> Duration {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Uses `cost` of CPU time on the calling thread.
pub(crate) fn burn(cost: Duration) {
    let end = read(libc::CLOCK_THREAD_CPUTIME_ID) + cost;
    while read(libc::CLOCK_THREAD_CPUTIME_ID) < end {
        std::hint::spin_loop();
    }
}

fn read(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec that outlives the call; all of them exist on every Linux.
    unsafe { libc::clock_gettime(clock, &mut time) };
    Duration::from_secs(time.tv_sec.unsigned_abs())
        + Duration::from_nanos(time.tv_nsec.unsigned_abs())
}
