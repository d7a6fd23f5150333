//! Kernel clocks and CPU accounting.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike as _};
use rustix::time::{ClockId, clock_gettime};

/// CPU time from `getrusage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTime {
    /// Time in user mode.
    pub user: Duration,
    /// Time in the kernel.
    pub system: Duration,
}

/// CPU time of all threads of this process so far.
pub fn process_cpu() -> CpuTime {
    let duration = |time: TimeVal| Duration::from_micros(time.num_microseconds().unsigned_abs());
    let usage =
        getrusage(UsageWho::RUSAGE_SELF).expect("getrusage fails only for an unknown argument");
    CpuTime { user: duration(usage.user_time()), system: duration(usage.system_time()) }
}

/// Monotonic time since an arbitrary start.
pub(crate) fn monotonic() -> Duration {
    read(ClockId::Monotonic)
}

/// CPU time of this process since it started, to the nanosecond.
pub(crate) fn this_process() -> Duration {
    read(ClockId::ProcessCPUTime)
}

/// Time for which the calling thread was runnable but had no CPU. 0 if the kernel does not count it.
pub(crate) fn run_delay() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let delay = text.split(' ').nth(1).and_then(|field| field.parse().ok());
    Duration::from_nanos(delay.unwrap_or(0))
}

/// Uses `cost` of CPU time on the calling thread.
pub(crate) fn burn(cost: Duration) {
    let end = read(ClockId::ThreadCPUTime) + cost;
    while read(ClockId::ThreadCPUTime) < end {
        std::hint::spin_loop();
    }
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}
