//! Readings of a server and its machine.

use rpcbench_clock::Nanos;
use rpcbench_record::{MachineUsage, ServerUsage};

/// All counters of a server at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// When CPU time was read, on the machine's clock. The rest is read right after it.
    pub at: Nanos,
    /// CPU time since the start.
    pub cpu: CpuTime,
    /// CPU time of the compiler threads, nanoseconds.
    pub compiler_ns: u64,
    /// Memory in use.
    pub memory: MemoryUse,
    /// Peak memory without page cache since the start, or since `Running::reset_peak`, bytes: the sum over living processes of
    /// `VmHWM`, which the kernel keeps exactly, minus their current file pages, and minus what several processes currently share.
    /// At most the peak charged to the cgroup, where shared pages count once, and at least the anonymous memory at any reading.
    pub memory_peak: u64,
    /// Voluntary context switches of all threads, except those of ended threads since the previous reading.
    pub switches_voluntary: u64,
    /// Involuntary context switches, likewise.
    pub switches_involuntary: u64,
    /// Living threads.
    pub threads: u32,
    /// CPU time of the busiest thread since the previous reading, nanoseconds.
    pub busiest_thread_ns: u64,
    /// CPU time of all threads, each as reported by the thread, nanoseconds.
    pub threads_ns: u64,
    /// CPU time since the start, read again after that of the threads, nanoseconds.
    pub cpu_after_ns: u64,
}

impl Counters {
    /// The usage since `earlier`, the previous reading.
    pub fn since(&self, earlier: &Self) -> ServerUsage {
        let less = u64::saturating_sub;
        let throttled = self.cpu.throttled_ns.zip(earlier.cpu.throttled_ns);
        let (user, system) = divide(&self.cpu, &earlier.cpu);
        ServerUsage {
            interval_ns: self.at.since(earlier.at),
            cpu_user_ns: user,
            cpu_system_ns: system,
            compiler_cpu_ns: less(self.compiler_ns, earlier.compiler_ns),
            throttled_ns: throttled.map(|(now, then)| less(now, then)),
            memory_peak_bytes: self.memory_peak,
            memory_anon_bytes: self.memory.anon,
            memory_cache_bytes: self.memory.cache,
            switches_voluntary: less(self.switches_voluntary, earlier.switches_voluntary),
            switches_involuntary: less(self.switches_involuntary, earlier.switches_involuntary),
            threads: self.threads,
            busiest_thread_ns: self.busiest_thread_ns,
            outside_group_ns: less(
                less(self.threads_ns, earlier.threads_ns),
                less(self.cpu_after_ns, earlier.cpu.total_ns),
            ),
            rest_ns: 0,
            rest_cpu_ns: 0,
        }
    }
}

/// Splits the exact time between two readings into user and system time, in the proportion that the kernel estimates. Without an
/// estimate, all of it is user time.
fn divide(now: &CpuTime, then: &CpuTime) -> (u64, u64) {
    let total = now.total_ns.saturating_sub(then.total_ns);
    let user = u128::from(now.user_ns.saturating_sub(then.user_ns));
    let system = u128::from(now.system_ns.saturating_sub(then.system_ns));
    let in_kernel = (u128::from(total) * system).checked_div(user + system).unwrap_or(0);
    let in_kernel = u64::try_from(in_kernel).unwrap_or(total);
    (total - in_kernel, in_kernel)
}

/// CPU time of a server at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuReading {
    /// User and system since the start, nanoseconds.
    pub cpu_ns: u64,
    /// CPU time of the compiler threads, nanoseconds.
    pub compiler_ns: u64,
}

impl CpuReading {
    /// The usage since an earlier reading.
    pub fn since(self, before: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(before.cpu_ns),
            compiler_ns: self.compiler_ns.saturating_sub(before.compiler_ns),
        }
    }
}

/// CPU time that a server has used since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// User and system, nanoseconds: exact to the nanosecond (cgroup v1), microsecond (v2) or clock tick (no cgroup).
    pub total_ns: u64,
    /// CPU time in user mode, nanoseconds. A sampled estimate; with `system_ns` it need not add up to the total.
    pub user_ns: u64,
    /// CPU time in the kernel, nanoseconds, likewise.
    pub system_ns: u64,
    /// Time throttled by the CPU controller, nanoseconds. `None` if nothing counts it.
    pub throttled_ns: Option<u64>,
}

/// Memory that a server uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Anonymous and shared memory (a runtime may keep its heap there), bytes.
    pub anon: u64,
    /// Page cache charged to its cgroup, bytes. `None` without a cgroup.
    pub cache: Option<u64>,
    /// Peak charged to its cgroup, including page cache and kernel memory, bytes. `None` if nothing counts it.
    pub highest: Option<u64>,
}

/// Counters of a machine at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineReading {
    /// Time of the reading, on the machine's clock.
    pub at: Nanos,
    /// Time that a hypervisor took from the CPUs of server and client, nanoseconds.
    pub steal_ns: u64,
    /// Part of the stolen time that affected the client's CPUs, nanoseconds.
    pub client_steal_ns: u64,
    /// Part of the stolen time that affected the server's CPUs, nanoseconds. `None` if they are unknown.
    pub server_steal_ns: Option<u64>,
    /// Time in which a task ran on the server's CPUs, nanoseconds. `None` if they are unknown.
    pub server_busy_ns: Option<u64>,
    /// Time in which a task waited for a CPU, nanoseconds. `None` if the kernel does not count it.
    pub pressure_ns: Option<u64>,
    /// How long the reading thread waited for a CPU, nanoseconds. 0 if the kernel does not count it.
    pub reader_delay_ns: u64,
}

impl MachineReading {
    /// The usage since an earlier reading.
    pub fn since(&self, earlier: &Self) -> MachineUsage {
        let less =
            |now: Option<u64>, then| now.zip(then).map(|(n, t): (u64, u64)| n.saturating_sub(t));
        MachineUsage {
            steal_ns: self.steal_ns.saturating_sub(earlier.steal_ns),
            client_steal_ns: self.client_steal_ns.saturating_sub(earlier.client_steal_ns),
            server_steal_ns: less(self.server_steal_ns, earlier.server_steal_ns),
            server_cpus_busy_ns: less(self.server_busy_ns, earlier.server_busy_ns),
            cpu_pressure_ns: less(self.pressure_ns, earlier.pressure_ns),
            reference: None,
            rivals: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_the_difference_of_two_readings() {
        let earlier = MachineReading {
            at: Nanos(1),
            steal_ns: 5,
            client_steal_ns: 1,
            server_steal_ns: Some(4),
            server_busy_ns: Some(7),
            pressure_ns: Some(10),
            reader_delay_ns: 3,
        };
        let later = MachineReading {
            at: Nanos(2),
            steal_ns: 25,
            client_steal_ns: 15,
            server_steal_ns: Some(10),
            server_busy_ns: Some(9),
            pressure_ns: Some(11),
            reader_delay_ns: 5,
        };
        let expected = MachineUsage {
            steal_ns: 20,
            client_steal_ns: 14,
            server_steal_ns: Some(6),
            server_cpus_busy_ns: Some(2),
            cpu_pressure_ns: Some(1),
            reference: None,
            rivals: 0,
        };
        assert_eq!(later.since(&earlier), expected);
        let without = MachineReading {
            pressure_ns: None,
            server_busy_ns: None,
            server_steal_ns: None,
            ..later
        };
        let usage = without.since(&earlier);
        assert_eq!((usage.client_steal_ns, usage.server_steal_ns), (14, None));
        assert_eq!((usage.cpu_pressure_ns, usage.server_cpus_busy_ns), (None, None));
    }

    #[test]
    fn threads_that_used_more_than_their_group_were_outside_of_it() {
        let read = |before, threads_ns, cpu_after_ns| Counters {
            cpu: CpuTime { total_ns: before, ..CpuTime::default() },
            threads_ns,
            cpu_after_ns,
            ..Counters::default()
        };
        // The threads were read between the group's two readings, which therefore differ by more.
        let outside = |last: Counters| last.since(&read(100, 110, 120)).outside_group_ns;
        assert_eq!([outside(read(900, 920, 930)), outside(read(900, 1000, 930))], [0, 60]);
    }

    #[test]
    fn exact_total_is_split_as_estimated() {
        let time = |total_ns, user_ns, system_ns| CpuTime {
            total_ns,
            user_ns,
            system_ns,
            throttled_ns: None,
        };
        assert_eq!(divide(&time(1030, 40, 20), &time(30, 10, 10)), (750, 250));
        assert_eq!(divide(&time(1030, 10, 10), &time(30, 10, 10)), (1000, 0));
        let long = u64::MAX / 2;
        assert_eq!(divide(&time(long, 0, long), &time(0, 0, 0)), (0, long));
    }

    #[test]
    fn difference_has_the_later_state_and_the_used_time() {
        let cpu = |total_ns, throttled_ns| CpuTime {
            total_ns,
            user_ns: total_ns / 10,
            system_ns: total_ns / 10,
            throttled_ns,
        };
        let earlier =
            Counters { at: Nanos(100), cpu: cpu(1000, Some(7)), threads: 9, ..Counters::default() };
        let later = Counters {
            at: Nanos(350),
            cpu: cpu(1200, Some(9)),
            memory_peak: 77,
            threads: 3,
            switches_voluntary: 4,
            busiest_thread_ns: 180,
            ..earlier
        };
        let usage = later.since(&earlier);
        assert_eq!((usage.interval_ns, usage.cpu_user_ns, usage.cpu_system_ns), (250, 100, 100));
        assert_eq!((usage.throttled_ns, usage.memory_peak_bytes, usage.threads), (Some(2), 77, 3));
        assert_eq!((usage.switches_voluntary, usage.busiest_thread_ns), (4, 180));
        let uncounted = Counters { cpu: cpu(1200, None), ..later };
        assert_eq!(uncounted.since(&earlier).throttled_ns, None);
    }
}
