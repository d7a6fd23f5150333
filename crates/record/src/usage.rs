//! What server, client and machine used over a window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kernel counters of the server: differences between start and end of the window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerUsage {
    /// Time between the two readings of the counters, nanoseconds.
    pub interval_ns: u64,
    /// CPU time in user mode, nanoseconds.
    pub cpu_user_ns: u64,
    /// CPU time in the kernel, nanoseconds.
    pub cpu_system_ns: u64,
    /// CPU time of the runtime's compiler threads, nanoseconds.
    pub compiler_cpu_ns: u64,
    /// Time for which the kernel's CPU controller throttled the server, nanoseconds. `null` without such a controller.
    pub throttled_ns: Option<u64>,
    /// Peak memory since the conformance check, excluding page cache, bytes. Without a check, since the start of the server.
    pub memory_peak_bytes: u64,
    /// Anonymous and shared memory at the window's end, bytes.
    pub memory_anon_bytes: u64,
    /// Page cache charged to the server at the window's end, bytes. `null` without a cgroup.
    pub memory_cache_bytes: Option<u64>,
    /// Voluntary context switches of all threads.
    pub switches_voluntary: u64,
    /// Involuntary context switches of all threads.
    pub switches_involuntary: u64,
    /// Number of threads at the window's end.
    pub threads: u32,
    /// CPU time of the busiest thread, nanoseconds. A thread that fills a CPU may be the server's limit, no matter how many CPUs
    /// the server has.
    pub busiest_thread_ns: u64,
    /// CPU time that the server's threads report beyond that of their cgroup, nanoseconds. They were outside of the cgroup for a
    /// while. Absent if 0.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub outside_group_ns: u64,
    /// Total time at rest before the window, without calls and not frozen, nanoseconds. Absent if 0.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub rest_ns: u64,
    /// CPU time that the server used at rest, nanoseconds. Absent if 0.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub rest_cpu_ns: u64,
}

impl ServerUsage {
    /// Minimum time at rest before CPU use at rest is judged: what a runtime does right after a load is soon over.
    pub const REST_JUDGED_NS: u64 = 10_000_000_000;
    /// Minimum CPU use at rest that is reported, as a share of a CPU.
    pub const RESTLESS_SHARE: f64 = 0.02;

    /// CPU use at rest as a share of a CPU. `None` if it is low.
    pub fn restless_share(&self) -> Option<f64> {
        let share = self.rest_cpu_ns as f64 / self.rest_ns.max(1) as f64;
        (self.rest_ns >= Self::REST_JUDGED_NS && share >= Self::RESTLESS_SHARE).then_some(share)
    }

    /// CPU time, user and system, seconds.
    pub fn cpu_seconds(&self) -> f64 {
        (self.cpu_user_ns + self.cpu_system_ns) as f64 / 1e9
    }
}

/// What the load threads used over the window. For a client under test: what its counterpart used, which is the reference
/// server's threads or the server under test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientUsage {
    /// Number of load threads. For a server under test as counterpart: number of its CPUs.
    pub threads: u32,
    /// CPU time of all threads, nanoseconds.
    pub cpu_ns: u64,
    /// Part of `cpu_ns` spent busy-waiting for calls due within microseconds, nanoseconds.
    pub awake_ns: u64,
    /// Time for which threads were runnable but had no CPU, nanoseconds. `null` if the kernel does not report it.
    pub run_delay_ns: Option<u64>,
    /// CPU time of the busiest thread, including its run delay and excluding busy-waiting, nanoseconds.
    pub busiest_ns: u64,
    /// Longest time for which a thread did not run while calls were in flight, nanoseconds. The first 50 ms don't count if the
    /// thread was waiting for replies. Absent below 1 ms.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub longest_absence_ns: u64,
    /// TLS records that the threads received. Absent if 0.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub tls_records: u64,
}

impl ClientUsage {
    /// Converts the usage, over a window, of a server on this many CPUs that a client under test calls.
    pub fn of_server(server: &ServerUsage, window_ns: u64, cpus: u32) -> Self {
        let share = window_ns as f64 / server.interval_ns.max(1) as f64;
        let scale = |ns: u64| (ns as f64 * share).round() as u64;
        let cpu_ns = scale(server.cpu_user_ns + server.cpu_system_ns);
        let busiest_ns = scale(server.busiest_thread_ns).max(cpu_ns / u64::from(cpus.max(1)));
        Self { threads: cpus, cpu_ns, busiest_ns, ..Self::default() }
    }
}

/// Stolen time, CPU pressure and other programs on the machine over the window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineUsage {
    /// Time stolen by the hypervisor from the CPUs of client and server, nanoseconds. A shared CPU counts once.
    pub steal_ns: u64,
    /// Time stolen from the client's CPUs, nanoseconds.
    pub client_steal_ns: u64,
    /// Time stolen from the server's CPUs, nanoseconds. `null` if these CPUs are unknown.
    pub server_steal_ns: Option<u64>,
    /// Time for which the server's CPUs ran any task, to the clock tick, nanoseconds. Includes interrupts if the kernel is known
    /// to charge them to the interrupted task. If it exceeds the server's own CPU time, other programs ran there. `null` for a
    /// server that rpcbench did not start.
    pub server_cpus_busy_ns: Option<u64>,
    /// Number of other rpcbench runs that used some of the same CPUs at the window's end.
    pub rivals: u32,
    /// Time for which at least one task on the machine waited for a CPU, nanoseconds. `null` if the kernel has no PSI.
    pub cpu_pressure_ns: Option<u64>,
    /// Cost of the machine reference on the server's CPUs. Absent if it did not run: in an open loop, where it could disturb the
    /// tail, and next to a server that rpcbench did not start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<ReferenceUsage>,
}

impl MachineUsage {
    /// Share of the time of the server's CPUs that other programs or the hypervisor took: of their busy time, or of `length_ns`
    /// if that is longer, as others need not be busy next to an idle server. `None` if unknown.
    pub fn share_of_others(&self, server_cpu_ns: u64, length_ns: u64) -> Option<f64> {
        let busy = self.server_cpus_busy_ns? + self.server_steal_ns.unwrap_or(0);
        Some(busy.saturating_sub(server_cpu_ns) as f64 / busy.max(length_ns).max(1) as f64)
    }

    /// Adds the usage in a later slice of the same window.
    pub fn add(&mut self, slice: &Self) {
        let sum = |one: Option<u64>, more: Option<u64>| one.zip(more).map(|(a, b)| a + b);
        self.steal_ns += slice.steal_ns;
        self.client_steal_ns += slice.client_steal_ns;
        self.server_steal_ns = sum(self.server_steal_ns, slice.server_steal_ns);
        self.server_cpus_busy_ns = sum(self.server_cpus_busy_ns, slice.server_cpus_busy_ns);
        self.cpu_pressure_ns = sum(self.cpu_pressure_ns, slice.cpu_pressure_ns);
        self.rivals = self.rivals.max(slice.rivals);
    }
}

/// The machine reference within a window: a fixed piece of work that is repeated on the server's CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceUsage {
    /// Number of repetitions.
    pub pieces: u64,
    /// Total CPU time for sending messages through a pair of sockets, nanoseconds.
    pub syscalls_ns: u64,
    /// Total CPU time for loads from memory, nanoseconds.
    pub memory_ns: u64,
    /// Total CPU time for arithmetic, nanoseconds.
    pub arithmetic_ns: u64,
}

impl ReferenceUsage {
    /// Total CPU time, nanoseconds.
    pub fn cpu_ns(&self) -> u64 {
        self.syscalls_ns + self.memory_ns + self.arithmetic_ns
    }

    /// CPU time per repetition, nanoseconds. 0 without repetitions.
    pub fn mean_ns(&self) -> f64 {
        self.cpu_ns() as f64 / self.pieces.max(1) as f64
    }
}
