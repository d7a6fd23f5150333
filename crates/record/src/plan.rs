//! What will run, in which order: fixed before anything is measured.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arrivals::Arrivals;
use crate::build::Build;
use crate::call_header::CallHeader;
use crate::connection_life::ConnectionLife;
use crate::protocol::{Protocol, Transport};
use crate::threshold::Threshold;
use crate::units;

/// How long a server is warmed before it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "mode")]
pub enum WarmUp {
    /// Until calls per server CPU-second are flat and compiler threads are quiet.
    UntilSteady {
        /// Not before this many milliseconds, nor before what the server's runtime needs at least.
        least_ms: u64,
        /// Give up after this many milliseconds; the cell is then `still warming`.
        /// `None`: the cap of the server's runtime.
        cap_ms: Option<u64>,
    },
    /// By this many calls, on separate connections that are closed afterwards.
    Calls {
        /// At least 1.
        calls: u64,
        /// Connections, with a call in flight on each; at least 1.
        clients: u32,
    },
    /// Exactly this many milliseconds.
    Fixed {
        /// Milliseconds.
        length_ms: u64,
    },
}

/// What ends a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "until")]
pub enum Window {
    /// A length of time.
    Duration {
        /// Milliseconds.
        length_ms: u64,
    },
    /// A number of calls: it ends when the last of them has ended.
    Calls {
        /// At least 1.
        calls: u64,
    },
}

impl Window {
    /// The length in milliseconds. `None` where it is a number of calls.
    #[must_use]
    pub fn length_ms(self) -> Option<u64> {
        match self {
            Self::Duration { length_ms } => Some(length_ms),
            Self::Calls { .. } => None,
        }
    }
}

impl fmt::Display for Window {
    /// `10 s`, `100,000 calls`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match *self {
            Self::Duration { length_ms } => units::length_ms(length_ms),
            Self::Calls { calls } => units::plural(calls, "call"),
        })
    }
}

/// The largest seed: a JSON number that JavaScript and jq read exactly.
pub const MAX_SEED: u64 = (1 << 53) - 1;

/// The load of one trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Workload {
    /// Name within the suite: the suite's own name where it has one workload.
    pub name: String,
    /// What a call carries, as written: `text:100`, `record`, `dto`, `tree`.
    pub shape: String,
    /// Connections over all client threads; at least 1.
    pub connections: u32,
    /// How many calls a connection carries before the client ends it and opens another in its place.
    #[serde(default, skip_serializing_if = "ConnectionLife::is_long")]
    pub connection_life: ConnectionLife,
    /// Calls in flight over all connections; at least one for each connection. In an open loop: an
    /// upper limit, and calls that come due beyond it wait.
    pub in_flight: u32,
    /// When calls come due. Where `find_max` is given: how the search begins.
    pub arrivals: Arrivals,
    /// What must hold at the highest rate that is searched for. `None`: the arrival process is kept as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub find_max: Option<Threshold>,
    /// How long a process is warmed by a closed loop, before it is measured for the first time.
    pub warm_up: WarmUp,
    /// How long calls come due by the window's own arrival process before each window opens. Milliseconds.
    pub settle_ms: u64,
    /// How long the measured window is.
    pub window: Window,
    /// A call unanswered for this long ends as `timeout`. Milliseconds.
    pub timeout_ms: u64,
    /// How long calls in flight at the window's end may still be answered. Milliseconds.
    pub grace_ms: u64,
    /// Client threads, each with its own CPU if there are enough.
    pub client_threads: u32,
    /// Whether calls follow one another on a connection before they are answered, under a protocol that otherwise takes
    /// one at a time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pipelining: bool,
    /// Header fields of every call: of HTTP, or gRPC metadata.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<CallHeader>,
}

impl Workload {
    /// Default load before a window, milliseconds: it brings caches, clock speeds and TCP windows back after a freeze.
    pub const SETTLE_MS: u64 = 500;

    /// Most calls a second of an open loop, for each client thread: several times what one can make. What came due beyond that
    /// would take longer to count than the window is long.
    pub const MOST_RATE: u64 = 10_000_000;

    /// Why its arrivals can't be, if they ask for more than [`Self::MOST_RATE`].
    #[must_use]
    pub fn rate_problem(&self) -> Option<String> {
        let most = Self::MOST_RATE * u64::from(self.client_threads);
        self.arrivals.peak().filter(|peak| peak.get() > most as f64).map(|_| {
            let threads = units::plural(self.client_threads.into(), "client thread");
            format!(
                "more than a client can make; with {threads}, give at most {} calls/s",
                units::si(most as f64)
            )
        })
    }

    /// Connections under a protocol: one for each call in flight, where it takes one call at a time and nothing is
    /// pipelined, so that as many calls are in flight under every protocol.
    #[must_use]
    pub fn connections_under(&self, protocol: Protocol) -> u32 {
        match protocol.takes_one_call_at_a_time() && !self.pipelining {
            true => self.in_flight,
            false => self.connections,
        }
    }

    /// Why calls of a protocol can't carry this load, if they can't.
    #[must_use]
    pub fn problem_under(&self, protocol: Protocol) -> Option<String> {
        let header = self.headers.first()?;
        let over_http = matches!(protocol.spec().transport, Transport::Http1 | Transport::Http2);
        (!over_http).then(|| {
            let name = header.name();
            format!("its calls have no headers; leave '{name}' out, or choose a protocol over HTTP")
        })
    }

    /// Whether a process made ready for one of the two can be measured under the other over the same
    /// connections: they differ in name, arrivals, window, what leads to it and what is searched for at the most.
    #[must_use]
    pub fn shares_process(&self, other: &Self) -> bool {
        let Self { name, arrivals, find_max, settle_ms, window, .. } = other.clone();
        Self { name, arrivals, find_max, settle_ms, window, ..self.clone() } == *other
    }

    /// The workload that measures the capacity of which this one takes a share: the last closed loop before it
    /// that shares its process.
    #[must_use]
    pub fn capacity_from<'a>(&self, workloads: &'a [Self]) -> Option<&'a Self> {
        let before = workloads.iter().take_while(|other| other.name != self.name);
        before.filter(|w| !w.arrivals.is_open() && w.shares_process(self)).last()
    }
}

/// What the server may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// Whole CPUs.
    pub cpus: u32,
    /// Bytes. `None`: the machine's.
    pub memory_bytes: Option<u64>,
}

/// One entry: a server under one of its protocols, in one of its variants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedServer {
    /// Unique in the run: `go-grpc`, `java-grpc@zgc`, and `go-connect:json` of a server that speaks several
    /// protocols; the second time the same is entered it is `go-grpc#2`, and of two builds `go-grpc#old`, `go-grpc#new`.
    pub entry: String,
    /// The server without protocol and variant: `java-grpc`.
    pub server: String,
    /// How calls travel to it.
    pub protocol: Protocol,
    /// The variant, where the server has variants.
    pub variant: Option<String>,
    /// `java`, `go`, ...
    pub language: String,
    /// What a reader knows it by: `grpc-java`.
    pub library: String,
    /// Which of two builds it is, where a run compares builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<Build>,
}

impl PlannedServer {
    /// The entry without what tells its build: `go-grpc@default` of `go-grpc@default#new`.
    #[must_use]
    pub fn without_build(&self) -> &str {
        let build = self
            .build
            .as_ref()
            .and_then(|build| self.entry.strip_suffix(&build.age.to_string())?.strip_suffix('#'));
        build.unwrap_or(&self.entry)
    }
}

/// Where servers run, and who starts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlacementKind {
    /// As processes of the harness's own machine. A server must keep the contract, and a call that fails is its
    /// fault.
    #[default]
    Native,
    /// Wherever someone else runs them. The outcome of their calls is the result.
    Unmanaged,
}

/// One trial to be: an entry under a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedTrial {
    /// See [`PlannedServer::entry`].
    pub entry: String,
    /// See [`Workload::name`].
    pub workload: String,
    /// 1-based number of the entry's process that serves it. Processes of the same number, one for each entry, are
    /// measured in the same rounds; workloads that can share a process do. Between its trials a process is frozen.
    pub process: u32,
    /// 1-based trial number within its cell. Trials of the same number, one for each entry, are a round.
    pub number: u32,
}

/// When a run ends before its order does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stopping {
    /// As soon as each two neighbours of a table differ clearly, or are known to be equal within this fraction. `None`:
    /// no such condition.
    pub precision: Option<f64>,
    /// Not before this many processes of each entry were measured; at least 1.
    pub least_processes: u32,
    /// A cell has no more trials after two in a row whose standard deviations of response time differ by at most this
    /// fraction of the smaller. `None`: no such condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<f64>,
    /// At the end of the round in which it has taken this long, and that time is divided among the least number of
    /// processes. `None`: however long it takes. Milliseconds.
    pub max_time_ms: Option<u64>,
}

/// A published figure, measured on another machine: only its ratio to others of the same workload can be compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// See [`Workload::name`].
    pub workload: String,
    /// The entry that comes nearest to what was measured, as in [`PlannedServer::entry`].
    pub entry: String,
    /// Correct answers per second.
    pub calls_per_s: f64,
    /// Who published it and where, as far as that is known.
    pub source: String,
}

impl Stopping {
    /// Whether two standard deviations of response time in a row, nanoseconds, end a cell.
    #[must_use]
    pub fn agree(&self, one: f64, other: f64) -> bool {
        let (small, large) = (one.min(other), one.max(other));
        self.agreement.is_some_and(|share| large - small <= small * share)
    }
}

/// The whole plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Name of the suite that the workloads came from.
    pub suite: String,
    /// Seed of the order of trials and of the payloads.
    pub seed: u64,
    /// Where the servers run.
    pub placement: PlacementKind,
    /// What must not become true of a window (`rpcbench load --fail-if`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fail_if: Vec<Threshold>,
    /// Whether every measured call is written to a file of its trial.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub log_calls: bool,
    /// Whether servers are asked for statistics of their runtimes: see [`crate::Measured::runtime`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub runtime_statistics: bool,
    /// The limits of the suite, where this machine is too small for them and the run was scaled to it. `None`: it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaled_from: Option<Limits>,
    /// Figures published elsewhere for these workloads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
    /// When the run may end before its order does. `None`: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<Stopping>,
    /// What each server may use. Of an unmanaged one: the CPUs of its process, or of this machine where no process
    /// is named.
    pub limits: Limits,
    /// The loads, in the suite's order.
    pub workloads: Vec<Workload>,
    /// The servers, in the order asked for.
    pub servers: Vec<PlannedServer>,
    /// Every trial, in the order in which it is to run.
    pub order: Vec<PlannedTrial>,
}

impl Plan {
    /// The headers of all workloads.
    pub fn headers(&self) -> impl Iterator<Item = &CallHeader> {
        self.workloads.iter().flat_map(|workload| &workload.headers)
    }

    /// An argument without the secrets of headers.
    pub(crate) fn redact(&self, argument: String) -> String {
        self.headers().fold(argument, |argument, header| header.redact(&argument))
    }

    /// Processes of each entry that there may be, at least 1.
    #[must_use]
    pub fn most_processes(&self) -> u32 {
        self.order.iter().map(|trial| trial.process).max().unwrap_or_default().max(1)
    }

    /// Whether a workload is there for others, which take a share of the capacity that it finds.
    #[must_use]
    pub fn finds_capacity(&self, workload: &Workload) -> bool {
        let takes = |other: &&Workload| other.arrivals.needs_capacity();
        let mut found = self.workloads.iter().filter(takes).filter_map(|other| {
            let from = other.capacity_from(&self.workloads)?;
            Some(&from.name)
        });
        found.any(|name| *name == workload.name)
    }

    /// The loads that are there for their own sake.
    pub fn loads(&self) -> impl Iterator<Item = &Workload> {
        self.workloads.iter().filter(|workload| !self.finds_capacity(workload))
    }

    /// The workload of that name.
    #[must_use]
    pub fn workload(&self, name: &str) -> Option<&Workload> {
        self.workloads.iter().find(|workload| workload.name == name)
    }
}
