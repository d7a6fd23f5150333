//! One measured window.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arrivals::Arrivals;
use crate::connections::Connections;
use crate::outcome::OutcomeKind;
use crate::plan::first;
use crate::protocol::Protocol;
use crate::runtime::RuntimeStatistics;
use crate::search::Search;

/// One trial of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// See [`crate::PlannedServer::entry`].
    pub entry: String,
    /// See [`crate::Workload::name`].
    pub workload: String,
    /// See [`crate::PlannedTrial::process`].
    #[serde(default = "first")]
    pub process: u32,
    /// 1-based number within the cell.
    pub number: u32,
    /// Wall-clock time at which the window began.
    pub started: Timestamp,
    /// The arrival process of the window, its rate known. `None` in a closed loop, and where it never came to a window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// The search that found the rate of the window: a window of the highest rate that met the threshold. `None`
    /// where the rate was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Box<Search>>,
    /// Calls outside of windows since the connections were opened: those before this window, and before others
    /// over the same connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmeasured: Option<Unmeasured>,
    /// What came of it.
    pub result: TrialResult,
}

impl Trial {
    /// What it measured. `None` where it failed.
    #[must_use]
    pub fn measured(&self) -> Option<&Measured> {
        match &self.result {
            TrialResult::Measured(measured) => Some(measured),
            TrialResult::Failed(_) => None,
        }
    }

    /// Why it failed, one line. `None` where it was measured to its end.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        match &self.result {
            TrialResult::Measured(_) => None,
            TrialResult::Failed(failure) => Some(&failure.reason),
        }
    }
}

/// Calls outside of measured windows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unmeasured {
    /// By outcome.
    pub outcomes: Outcomes,
    /// One example of each kind of error seen.
    pub error_examples: Vec<String>,
}

/// What came of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialResult {
    /// It was measured to its end.
    Measured(Box<Measured>),
    /// The server failed under it.
    Failed(Failure),
}

/// Why a server could not be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// One line: `out of memory (limit 512 MiB)`.
    pub reason: String,
    /// Last lines that the server wrote.
    pub log_tail: Vec<String>,
}

/// The figures of a measured trial. All of them are of one population: the calls that came due
/// within the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Length of the window, nanoseconds.
    pub window_ns: u64,
    /// Calls by outcome; their sum is the number of calls that came due.
    pub outcomes: Outcomes,
    /// Calls that ended `ok`, those that an edge of the window cuts by the part of their service time within it. `None` in
    /// records from before they were counted so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok_pro_rata: Option<f64>,
    /// One example of each kind of error seen, at most eight.
    pub error_examples: Vec<String>,
    /// Response time (from due) of calls that ended `ok`; `None` where none did.
    pub latency: Option<Latency>,
    /// Response time of calls that ended otherwise, where there are any.
    pub error_latency: Option<Latency>,
    /// Service time, from written to done, of calls that ended `ok`. `None` where none did, and in
    /// records made before it was kept.
    pub service: Option<Latency>,
    /// Send lag, from due to written, of calls that ended `ok`. `None` as above.
    pub send_lag: Option<Latency>,
    /// How well an open loop kept its schedule. `None` in a closed loop.
    pub pacing: Option<Pacing>,
    /// Time within the window of calls that came due before it, summed, nanoseconds.
    pub carried_in_ns: u64,
    /// Time after the window of calls that came due in it, summed, nanoseconds.
    pub carried_out_ns: u64,
    /// What the server used. `None` where nobody could see it: at an address, without a process id.
    pub server: Option<ServerUsage>,
    /// What the server's runtime tells of itself. `None` where it tells nothing, or was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<RuntimeStatistics>,
    /// What the client used.
    pub client: ClientUsage,
    /// What the machine suffered.
    pub machine: MachineUsage,
    /// Connect time of the connections that came to be open within the window, where they live for a number of calls. `None`
    /// where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect: Option<Latency>,
    /// What became of connections. `None` in records from before it was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<Connections>,
    /// Per 100 ms of the window, by time of completion; calls that completed in the grace period
    /// are in none.
    pub series: Vec<Slice>,
}

/// Calls by outcome. Every call that came due is in exactly one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcomes {
    /// Answered, and the answer was right.
    pub ok: u64,
    /// Answered with success, and the answer was wrong.
    pub wrong_answer: u64,
    /// Ended by the protocol's own status, by code.
    pub status: BTreeMap<u32, u64>,
    /// Not answered in time.
    pub timeout: u64,
    /// The connection broke, or the peer broke the protocol.
    pub transport: u64,
    /// Came due and never left the client.
    pub not_sent: u64,
}

impl Outcomes {
    /// Calls of every outcome.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.ok + self.errors()
    }

    /// Calls that did not end `ok`.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.wrong_answer
            + self.status.values().sum::<u64>()
            + self.timeout
            + self.transport
            + self.not_sent
    }

    /// The outcomes other than `ok` that occurred, in words: `timeout`, `status 13 INTERNAL`. Codes are the
    /// protocol's own; those that it doesn't have, as older records may hold them, are one kind.
    #[must_use]
    pub fn errors_by_kind(&self, protocol: Protocol) -> Vec<(String, u64)> {
        let is_known = |code: &u32| protocol.status_name(*code).is_some();
        let known = self.status.iter().filter(|(code, _)| is_known(code));
        let unknown = self.status.iter().filter(|(code, _)| !is_known(code)).map(|(_, n)| n).sum();
        let mut kinds = vec![(OutcomeKind::WrongAnswer.words(), self.wrong_answer)];
        kinds.extend(known.map(|(code, n)| (protocol.status(*code), *n)));
        kinds.push(("status without a name".to_owned(), unknown));
        kinds.push((OutcomeKind::Timeout.words(), self.timeout));
        kinds.push((OutcomeKind::Transport.words(), self.transport));
        kinds.push((OutcomeKind::NotSent.words(), self.not_sent));
        kinds.retain(|(_, n)| *n > 0);
        kinds
    }

    /// Adds another count to this one.
    pub fn add(&mut self, other: &Self) {
        self.ok += other.ok;
        self.wrong_answer += other.wrong_answer;
        for (code, n) in &other.status {
            *self.status.entry(*code).or_default() += n;
        }
        self.timeout += other.timeout;
        self.transport += other.transport;
        self.not_sent += other.not_sent;
    }
}

/// How well an open loop kept its schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pacing {
    /// Calls that the schedule made due in the window.
    pub due: u64,
    /// Those of them that it made due in the window's second half: see [`Slice::middle_ns`]. `None` in records from
    /// before it was counted.
    #[serde(default)]
    pub due_second_half: Option<u64>,
    /// Those of them after whose due time the client did not look for more than 1 ms, whether a connection had room or
    /// not: its own lateness, not the server's.
    pub late: u64,
    /// Those of the others that found no room on any connection when they came due: too many in flight, or the
    /// peer allows no more streams.
    pub held_back: u64,
}

/// A distribution of times, nanoseconds. Quantiles are read from the histogram.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Values in the histogram.
    pub count: u64,
    /// Smallest, exact.
    pub min_ns: u64,
    /// Arithmetic mean, exact.
    pub mean_ns: f64,
    /// Standard deviation of the population.
    pub stddev_ns: f64,
    /// Quantiles, to the histogram's resolution (0.1 %).
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 95th percentile.
    pub p95_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// Largest, exact.
    pub max_ns: u64,
    /// The whole histogram: HdrHistogram V2 + DEFLATE, base64.
    pub histogram: String,
}

/// Kernel counters of the server, differences over the window.
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
    /// Time for which the CPU controller held it back. `None` where nothing counts it.
    pub throttled_ns: Option<u64>,
    /// Largest memory use since the conformance check, or the start where there was none, page cache apart, bytes.
    pub memory_peak_bytes: u64,
    /// Anonymous and shared memory at the window's end, bytes.
    pub memory_anon_bytes: u64,
    /// Page cache charged to it at the window's end, bytes. `None` without a cgroup.
    pub memory_cache_bytes: Option<u64>,
    /// Voluntary context switches of all threads.
    pub switches_voluntary: u64,
    /// Involuntary context switches of all threads.
    pub switches_involuntary: u64,
    /// Threads at the window's end.
    pub threads: u32,
    /// CPU time of the busiest thread, nanoseconds: with that of a whole CPU a server may be at its limit, however many CPUs
    /// it is allowed. `None` in records from before it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_thread_ns: Option<u64>,
}

impl ServerUsage {
    /// CPU time, user and system, seconds.
    #[must_use]
    pub fn cpu_seconds(&self) -> f64 {
        (self.cpu_user_ns + self.cpu_system_ns) as f64 / 1e9
    }
}

/// What the load threads used over the window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClientUsage {
    /// Load threads.
    pub threads: u32,
    /// CPU time of them all, nanoseconds.
    pub cpu_ns: u64,
    /// The part of it that they spent waiting for calls to come due within microseconds, nanoseconds.
    #[serde(default)]
    pub awake_ns: u64,
    /// Time for which they were ready to run and had no CPU, nanoseconds. `None` where the kernel
    /// does not tell.
    pub run_delay_ns: Option<u64>,
    /// CPU time of the busiest one, its run delay included and what it spent waiting left out, nanoseconds.
    pub busiest_ns: u64,
}

/// What the machine suffered over the window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineUsage {
    /// Time stolen by the hypervisor from the CPUs of client and server together, one that they share counted
    /// once, nanoseconds.
    pub steal_ns: u64,
    /// Of it, from the client's CPUs, nanoseconds. `None` in records made before the two were kept apart.
    #[serde(default)]
    pub client_steal_ns: Option<u64>,
    /// From the server's CPUs, nanoseconds. `None` as above, and where nobody knows which those are.
    #[serde(default)]
    pub server_steal_ns: Option<u64>,
    /// Time for which the server's CPUs ran any task, to the clock tick, nanoseconds; with that of interrupts where the
    /// kernel is known to charge them to the task they interrupt. More than the server's own CPU time: other programs
    /// were there. `None` for a server that is not ours.
    pub server_cpus_busy_ns: Option<u64>,
    /// Other runs of rpcbench that had some of the same CPUs when the window ended.
    #[serde(default)]
    pub rivals: u32,
    /// Time for which some task on the machine waited for a CPU, nanoseconds. `None` without PSI.
    pub cpu_pressure_ns: Option<u64>,
    /// What the machine reference cost on the server's CPUs. `None` where it was not read: in an open loop, where it could
    /// touch a tail, beside a server that is not ours, and in records made before there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<ReferenceUsage>,
}

/// The machine reference within a window: a fixed piece of work, done again and again on the server's CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceUsage {
    /// How often it was done.
    pub pieces: u64,
    /// CPU time of its messages through a pair of sockets, summed, nanoseconds.
    pub syscalls_ns: u64,
    /// CPU time of its loads from memory, summed, nanoseconds.
    pub memory_ns: u64,
    /// CPU time of its arithmetic, summed, nanoseconds.
    pub arithmetic_ns: u64,
}

impl ReferenceUsage {
    /// CPU time in all, nanoseconds.
    #[must_use]
    pub fn cpu_ns(&self) -> u64 {
        self.syscalls_ns + self.memory_ns + self.arithmetic_ns
    }

    /// CPU time of a piece, nanoseconds. 0 without any.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        self.cpu_ns() as f64 / self.pieces.max(1) as f64
    }
}

/// 100 ms of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Slice {
    /// Calls that completed `ok`.
    pub ok: u64,
    /// Calls that completed otherwise.
    pub errors: u64,
    /// Sum of the response times of `ok` calls, nanoseconds.
    pub sum_ns: u64,
    /// Largest response time of `ok` calls, nanoseconds.
    pub max_ns: u64,
    /// Calls that completed `ok` and came due before the window: work of this time, and in none of the figures above. 0 in
    /// records from before they were counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub carried_in: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(calls: &u64) -> bool {
    *calls == 0
}

impl Slice {
    /// How long it is, nanoseconds; the last one of a window may be shorter.
    pub const LENGTH_NS: u64 = 100_000_000;

    /// Where the second half of a window of so many slices begins, nanoseconds; it has half of them or one less.
    #[must_use]
    pub fn middle_ns(slices: usize) -> u64 {
        (slices - slices / 2) as u64 * Self::LENGTH_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_a_protocol_does_not_have_are_one_kind() {
        let status = (10..1_000_000).map(|code| (code, 1)).collect();
        let outcomes = Outcomes { status, timeout: 2, ..Outcomes::default() };
        let kinds = outcomes.errors_by_kind(Protocol::Grpc);
        assert_eq!(kinds.len(), 7 + 2);
        assert_eq!(kinds[0], ("status 10 ABORTED".to_owned(), 1));
        assert_eq!(kinds[7], ("status without a name".to_owned(), 1_000_000 - 17));
        assert_eq!(kinds.iter().map(|(_, n)| n).sum::<u64>(), outcomes.errors());
    }
}
