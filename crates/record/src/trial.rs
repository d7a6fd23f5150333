//! One measured window.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use rpcbench_stats::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arrivals::Arrivals;
use crate::connections::Connections;
use crate::failures::{Checks, FailureKind};
use crate::opening::Opening;
use crate::outcome::OutcomeKind;
use crate::protocol::Protocol;
use crate::runtime::RuntimeStatistics;
use crate::search::Search;
use crate::slicing::Slicing;
use crate::usage::{ClientUsage, MachineUsage, ServerUsage};

/// One trial of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// Name of the entry, as in the plan's `servers`.
    pub entry: String,
    /// Name of the workload.
    pub workload: String,
    /// Number of the entry's process, from 1.
    pub process: u32,
    /// Number of the trial within its cell, from 1.
    pub number: u32,
    /// Wall-clock time at the start of the window.
    pub started: Timestamp,
    /// Arrival process of the window, with its rate in calls per second. Absent in a closed loop, and if no window was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// The search that found the rate of the window, which is one of those at the highest rate that met the threshold. Absent if
    /// the rate was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Box<Search>>,
    /// Calls outside of windows since the connections were opened: before this window, and before earlier ones on the same
    /// connections. Absent if no window was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmeasured: Option<Unmeasured>,
    /// What was measured, or why it failed.
    pub result: TrialResult,
}

impl Trial {
    /// The measurements. `None` if the trial failed.
    pub fn measured(&self) -> Option<&Measured> {
        match &self.result {
            TrialResult::Measured(measured) => Some(measured),
            TrialResult::Failed(_) => None,
        }
    }

    /// Why the trial failed, in one line. `None` if it was measured to the end.
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
    /// The calls by outcome.
    pub outcomes: Outcomes,
    /// One example of each kind of error.
    pub error_examples: Vec<String>,
}

impl Unmeasured {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Self) {
        self.outcomes.add(&other.outcomes);
        for example in &other.error_examples {
            if !self.error_examples.contains(example) {
                self.error_examples.push(example.clone());
            }
        }
    }
}

/// Result of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialResult {
    // Copies of a run share it.
    /// The trial was measured to its end.
    Measured(Arc<Measured>),
    /// The server failed.
    Failed(Failure),
}

impl From<Measured> for TrialResult {
    fn from(measured: Measured) -> Self {
        Self::Measured(Arc::new(measured))
    }
}

/// Why a server could not be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// Reason in one line, such as `out of memory (limit 512 MiB)`.
    pub reason: String,
    /// The last lines of the server's log.
    pub log_tail: Vec<String>,
}

/// Figures of a measured trial. All describe the same calls: those that came due within the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Length of the window, nanoseconds.
    pub window_ns: u64,
    /// Slices that make up the window. Absent if it was measured in one piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slicing: Option<Slicing>,
    /// True if the window had a set number of calls, in a closed loop, and ended with the last of them. Absent if false, and in
    /// older records.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_calls: bool,
    /// Calls by outcome. They add up to the number of calls that came due.
    pub outcomes: Outcomes,
    /// Calls that ended `ok`. A call that crosses an edge of the window counts by the share of its service time inside.
    pub ok_pro_rata: f64,
    /// Examples of errors, one line each, at most eight.
    pub error_examples: Vec<String>,
    /// Failed calls by kind, most frequent first. Absent if empty, and in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureKind>,
    /// Replies that were checked beyond their status. Absent if none were.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub checks: Checks,
    /// Response time (from due to done) of calls that ended `ok`. `null` without such calls.
    pub latency: Option<Latency>,
    /// Response time of all other calls. `null` without such calls.
    pub error_latency: Option<Latency>,
    /// Service time (from written to done) of calls that ended `ok`. `null` without such calls.
    pub service: Option<Latency>,
    /// Send lag (from due to written) of calls that ended `ok`. `null` without such calls.
    pub send_lag: Option<Latency>,
    /// How well an open loop kept its schedule. `null` in a closed loop.
    pub pacing: Option<Pacing>,
    /// Bytes received within the window on all connections, including all that the protocol adds to messages. Absent if 0.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub bytes_in: u64,
    /// Bytes sent within the window, likewise. Absent if 0.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub bytes_out: u64,
    /// Replies received within the window, including those to calls that came due before it. Absent if 0, and in older records.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub replies_in: u64,
    /// Requests sent within the window, likewise. Absent if 0, and in older records.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub requests_out: u64,
    /// Total time within the window of calls that came due outside of it, nanoseconds.
    pub carried_in_ns: u64,
    /// Total time outside of the window of calls that came due in it, after its end or between its slices, nanoseconds.
    pub carried_out_ns: u64,
    /// What the server used. `null` if unknown, as for a server at an address without a process id.
    pub server: Option<ServerUsage>,
    /// Statistics of the server's runtime. Absent if it reports none or was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<RuntimeStatistics>,
    /// Runtime statistics of the server that a client calls, likewise. Absent for a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counterpart_runtime: Option<RuntimeStatistics>,
    /// What the load threads used, or a client's counterpart.
    pub client: ClientUsage,
    /// Stolen time, CPU pressure and other programs on the machine.
    pub machine: MachineUsage,
    /// Connect time of the connections opened within the window. Absent if there were none, and unless connections have a call
    /// limit (`connection_life`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect: Option<Latency>,
    /// Times of the steps of connecting, including TLS handshakes. Absent if no step was timed.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub opening: Opening,
    /// Connections that ended or could not be opened, and refused calls.
    pub connections: Connections,
    /// Figures by address of the server. Absent if all calls go to one address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<AddressFigures>,
    /// Completed calls per 100 ms of the window. Calls that completed in the grace period are in no slice.
    pub series: Vec<Slice>,
}

/// Calls on the connections to one of several addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddressFigures {
    /// IP address and port.
    pub address: String,
    /// Number of calls.
    pub calls: u64,
    /// Number of calls that did not end `ok`.
    pub failed: u64,
    /// Median response time of calls that ended `ok`, nanoseconds. `null` without such calls.
    pub p50_ns: Option<u64>,
    /// 99th percentile of these response times, nanoseconds. `null` without such calls.
    pub p99_ns: Option<u64>,
    /// Longest of these response times, nanoseconds. `null` without such calls.
    pub max_ns: Option<u64>,
}

/// Number of calls by outcome. Every call that came due has exactly one outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcomes {
    /// Calls answered correctly.
    pub ok: u64,
    /// Calls answered with success but wrong content.
    pub wrong_answer: u64,
    /// Calls that ended with an error status of the protocol, by status code.
    pub status: BTreeMap<u32, u64>,
    /// Calls not answered in time.
    pub timeout: u64,
    /// Calls whose connection broke, or whose peer broke the protocol.
    pub transport: u64,
    /// Calls that came due but were never sent.
    pub not_sent: u64,
}

impl Outcomes {
    /// Calls with any outcome.
    pub fn total(&self) -> u64 {
        self.ok + self.errors()
    }

    /// Calls that did not end `ok`.
    pub fn errors(&self) -> u64 {
        self.wrong_answer
            + self.status.values().sum::<u64>()
            + self.timeout
            + self.transport
            + self.not_sent
    }

    /// Share of calls that did not end `ok`; 0 without calls.
    pub fn error_share(&self) -> f64 {
        self.errors() as f64 / self.total().max(1) as f64
    }

    /// True if every failed call only lacked time: it was not answered, or not sent. Any other failure is the server's.
    pub fn is_only_late(&self) -> bool {
        self.errors() == self.timeout + self.not_sent
    }

    /// The counts since an earlier state.
    pub fn since(&self, earlier: &Self) -> Self {
        let before = |code| earlier.status.get(code).copied().unwrap_or(0);
        let status = self.status.iter().map(|(code, n)| (*code, n.saturating_sub(before(code))));
        Self {
            ok: self.ok.saturating_sub(earlier.ok),
            wrong_answer: self.wrong_answer.saturating_sub(earlier.wrong_answer),
            status: status.filter(|(_, n)| *n > 0).collect(),
            timeout: self.timeout.saturating_sub(earlier.timeout),
            transport: self.transport.saturating_sub(earlier.transport),
            not_sent: self.not_sent.saturating_sub(earlier.not_sent),
        }
    }

    /// The outcomes other than `ok` that occurred, by name: `timeout`, `status 13 INTERNAL`. Codes that the protocol
    /// does not define count as one kind.
    pub fn errors_by_kind(&self, protocol: Protocol) -> Vec<(String, u64)> {
        let known = protocol
            .statuses()
            .filter_map(|(code, _)| Some((protocol.status(code), *self.status.get(&code)?)));
        let known: Vec<(String, u64)> = known.collect();
        let named: u64 = known.iter().map(|(_, n)| n).sum();
        let unnamed = self.status.values().sum::<u64>() - named;
        let mut kinds = vec![(OutcomeKind::WrongAnswer.words(), self.wrong_answer)];
        kinds.extend(known);
        kinds.push(("status without a name".to_owned(), unnamed));
        kinds.push((OutcomeKind::Timeout.words(), self.timeout));
        kinds.push((OutcomeKind::Transport.words(), self.transport));
        kinds.push((OutcomeKind::NotSent.words(), self.not_sent));
        kinds.retain(|(_, n)| *n > 0);
        kinds
    }

    /// Adds the counts of `other`.
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
    /// Calls that came due within the window.
    pub due: u64,
    /// Calls that came due in the second half of the window: half of its 100 ms slices, rounded down.
    pub due_second_half: u64,
    /// Calls that the client noticed more than 1 ms after their due time, whether or not a connection had room. The client was
    /// late, not the server.
    pub late: u64,
    /// Other calls for which no connection had room when they came due: too many calls in flight, or more streams than the peer
    /// allows.
    pub held_back: u64,
}

/// A distribution of times in nanoseconds. Quantiles are read from the histogram.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Number of values in the histogram.
    pub count: u64,
    /// Smallest value, exact.
    pub min_ns: u64,
    /// Arithmetic mean, exact.
    pub mean_ns: f64,
    /// Population standard deviation.
    pub stddev_ns: f64,
    /// Median. It and the other percentiles have the histogram's resolution (0.1 %).
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 95th percentile.
    pub p95_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// Largest value, exact.
    pub max_ns: u64,
    /// The whole histogram: HdrHistogram V2 with DEFLATE, base64.
    pub histogram: String,
}

impl Latency {
    /// Summarizes a histogram of nanoseconds. `None` if it is empty.
    pub fn of(histogram: &Histogram) -> Option<Self> {
        let quantile = |q| histogram.quantile(q);
        Some(Self {
            count: histogram.count(),
            min_ns: histogram.min()?,
            mean_ns: histogram.mean()?,
            stddev_ns: histogram.stddev()?,
            p50_ns: quantile(0.5)?,
            p90_ns: quantile(0.9)?,
            p95_ns: quantile(0.95)?,
            p99_ns: quantile(0.99)?,
            p999_ns: quantile(0.999)?,
            max_ns: histogram.max()?,
            histogram: histogram.to_base64(),
        })
    }
}

/// Calls that completed in 100 ms of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Slice {
    /// Calls that completed `ok`.
    pub ok: u64,
    /// Calls that completed with another outcome.
    pub errors: u64,
    /// Sum of the response times of `ok` calls, nanoseconds.
    pub sum_ns: u64,
    /// Largest response time of `ok` calls, nanoseconds.
    pub max_ns: u64,
    /// Calls that completed `ok` in this slice but came due before the window or between its slices. The other fields exclude
    /// them. Absent if 0.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub carried_in: u64,
}

impl Slice {
    /// Length of a slice, nanoseconds. The last slice of a window may be shorter.
    pub const LENGTH_NS: u64 = 100_000_000;

    /// Start of the second half of a window with this many slices, nanoseconds. The second half has half of them, rounded
    /// down.
    pub fn middle_ns(slices: usize) -> u64 {
        (slices - slices / 2) as u64 * Self::LENGTH_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_status_codes_are_one_kind() {
        let status = (10..1_000_000).map(|code| (code, 1)).collect();
        let outcomes = Outcomes { status, timeout: 2, ..Outcomes::default() };
        let kinds = outcomes.errors_by_kind(Protocol::Grpc);
        assert_eq!(kinds.len(), 7 + 2);
        assert_eq!(kinds[0], ("status 10 ABORTED".to_owned(), 1));
        assert_eq!(kinds[7], ("status without a name".to_owned(), 1_000_000 - 17));
        assert_eq!(kinds.iter().map(|(_, n)| n).sum::<u64>(), outcomes.errors());
    }
}
