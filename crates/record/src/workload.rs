//! A workload: one load, with all its keys.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arrivals::Arrivals;
use crate::call_header::{CallHeader, not_over_http};
use crate::concurrency::{Concurrency, Contradiction};
use crate::connection_life::ConnectionLife;
use crate::content::Content;
use crate::keepalive::KeepAlive;
use crate::protocol::Protocol;
use crate::threshold::Threshold;
use crate::tls::TlsMode;
use crate::units;

/// How long a server is warmed up before it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "mode")]
pub enum WarmUp {
    /// Until calls per server CPU-second are flat and compiler threads are quiet.
    UntilSteady {
        /// Minimum length, milliseconds. Longer if the server's runtime needs more.
        least_ms: u64,
        /// Maximum length, milliseconds; a cell that reaches it is `still warming`. `null` for the maximum of the server's
        /// runtime.
        cap_ms: Option<u64>,
    },
    /// For a number of calls, on separate connections that are closed afterwards.
    Calls {
        /// Number of calls; at least 1.
        calls: u64,
        /// Number of connections, with one call in flight on each; at least 1.
        clients: u32,
    },
    /// For a fixed time.
    Fixed {
        /// Length, milliseconds.
        length_ms: u64,
    },
}

impl fmt::Display for WarmUp {
    /// `until steady, at least 2s, at most 30s`, `10s`, `500 calls by 5 clients`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match *self {
            Self::UntilSteady { least_ms, cap_ms } => {
                let least = Some(least_ms).filter(|least| *least > 0);
                let least = least.map(|least| format!(", at least {}", units::length_ms(least)));
                let cap = cap_ms.map(|cap| format!(", at most {}", units::length_ms(cap)));
                format!("until steady{}{}", least.unwrap_or_default(), cap.unwrap_or_default())
            }
            Self::Fixed { length_ms: 0 } => "none: servers are cold".to_owned(),
            Self::Fixed { length_ms } => units::length_ms(length_ms),
            Self::Calls { calls, clients } => {
                let clients = units::plural(clients.into(), "client");
                format!("{} by {clients}", units::plural(calls, "call"))
            }
        })
    }
}

/// What ends a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "until")]
pub enum Window {
    /// A length of time.
    Duration {
        /// Length, milliseconds.
        length_ms: u64,
    },
    /// A number of calls: the window ends when the last of them has ended.
    Calls {
        /// Number of calls; at least 1.
        calls: u64,
    },
}

impl Window {
    /// Length in milliseconds. `None` if the window is a number of calls.
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

/// The load of one trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Workload {
    /// Name within the suite; the suite's own name if it has one workload.
    pub name: String,
    /// What a call carries.
    #[serde(flatten)]
    pub content: Content,
    /// Number of connections over all client threads; at least 1.
    pub connections: u32,
    /// Calls that a connection carries before the client closes it and opens another. Absent if `long`.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub connection_life: ConnectionLife,
    /// Calls in flight over all connections; at least one for each connection. In an open loop, an upper limit: calls that come
    /// due beyond it wait.
    pub in_flight: u32,
    /// When calls come due. With `find_max`: how the search begins.
    pub arrivals: Arrivals,
    /// Condition that must hold at the highest rate, which the run searches for. Absent without a search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub find_max: Option<Threshold>,
    /// How long a closed loop warms up a process before it is first measured.
    pub warm_up: WarmUp,
    /// Time for which calls come due by the window's arrival process before each window opens, milliseconds.
    pub settle_ms: u64,
    /// What ends the measured window.
    pub window: Window,
    /// Time after which an unanswered call ends as `timeout`, milliseconds.
    pub timeout_ms: u64,
    /// Time after the window's end in which calls in flight may still be answered, milliseconds.
    pub grace_ms: u64,
    /// Maximum time for opening all connections, milliseconds.
    #[serde(default = "Workload::default_connect_timeout_ms")]
    pub connect_timeout_ms: u64,
    /// Number of client threads, each with its own CPU if there are enough.
    pub client_threads: u32,
    /// True if a connection carries calls before earlier ones are answered, under a protocol that otherwise takes one at a time.
    /// Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pipelining: bool,
    /// Header fields of every call: HTTP headers, or gRPC metadata. Absent if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<CallHeader>,
    /// Host that calls name: `:authority` of HTTP/2, `Host` of HTTP/1.1. Absent if it is the server's address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Authority>,
    /// Whether connections use TLS. Absent if they don't.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub tls: TlsMode,
    /// Pings on connections. Absent if none are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keepalive: Option<KeepAlive>,
}

impl Workload {
    /// Default length of the load before a window, milliseconds. It restores caches, clock speeds and TCP windows after a freeze.
    pub const SETTLE_MS: u64 = 500;

    /// Maximum calls per second of an open loop for each client thread, several times what a thread can make. Counting the calls
    /// that come due beyond this rate would take longer than the window.
    pub const MAX_RATE: u64 = 10_000_000;

    /// Default limit for opening all connections, milliseconds.
    pub const CONNECT_TIMEOUT_MS: u64 = 10_000;

    const fn default_connect_timeout_ms() -> u64 {
        Self::CONNECT_TIMEOUT_MS
    }

    /// All keys except the name, in words, with their exact values. Workloads with equal settings are the same load.
    pub fn settings(&self) -> [(&'static str, String); 18] {
        // Destructured without `..`, so that no new key is forgotten.
        let Self {
            name: _,
            content,
            connections,
            connection_life,
            in_flight,
            arrivals,
            find_max,
            warm_up,
            settle_ms,
            window,
            timeout_ms,
            grace_ms,
            connect_timeout_ms,
            client_threads,
            pipelining,
            headers,
            authority,
            tls,
            keepalive,
        } = self;
        let or_none = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
        let all = headers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        [
            ("content of a call", content.exact()),
            ("connections", connections.to_string()),
            ("calls per connection", connection_life.to_string()),
            ("calls in flight", in_flight.to_string()),
            ("arrivals", arrivals.to_string()),
            ("searched limit", or_none(find_max.as_ref().map(ToString::to_string))),
            ("warm-up", warm_up.to_string()),
            ("load before a window", units::length_ms(*settle_ms)),
            ("window", window.to_string()),
            ("timeout", units::length_ms(*timeout_ms)),
            ("wait after a window", units::length_ms(*grace_ms)),
            ("time to connect", units::length_ms(*connect_timeout_ms)),
            ("client threads", client_threads.to_string()),
            ("pipelining", if *pipelining { "yes" } else { "no" }.to_owned()),
            ("headers", or_none(Some(all).filter(|all| !all.is_empty()))),
            ("host", or_none(authority.as_ref().map(|host| host.as_str().to_owned()))),
            ("TLS", tls.to_string()),
            ("keepalive", or_none(keepalive.as_ref().map(ToString::to_string))),
        ]
    }

    /// Explains why the arrivals are impossible. `None` unless they exceed [`Self::MAX_RATE`].
    pub fn rate_problem(&self) -> Option<String> {
        let most = Self::MAX_RATE * u64::from(self.client_threads);
        self.arrivals.peak().filter(|peak| peak.get() > most as f64).map(|_| {
            let threads = units::plural(self.client_threads.into(), "client thread");
            format!(
                "more than a client can make; with {threads}, give at most {} calls/s",
                units::si(most as f64)
            )
        })
    }

    /// Connections under a protocol. If it takes one call at a time and nothing is pipelined, one for each call in flight, so
    /// that the number of calls in flight is the same under every protocol.
    pub fn connections_under(&self, protocol: Protocol) -> u32 {
        match protocol.takes_one_call_at_a_time() && !self.pipelining {
            true => self.in_flight,
            false => self.connections,
        }
    }

    /// Explains why calls of a protocol can't carry this load. `None` if they can.
    pub fn problem_under(&self, protocol: Protocol) -> Option<String> {
        let host = || self.authority.as_ref().filter(|_| !protocol.is_http());
        CallHeader::problem_under(&self.headers, protocol)
            .or_else(|| host().map(|host| not_over_http("host name", host.as_str())))
    }

    /// Connections, calls in flight and threads that contradict each other.
    pub fn contradiction(&self, protocol: Option<Protocol>) -> Option<Contradiction> {
        let &Self { connections, in_flight, client_threads, connection_life, pipelining, .. } =
            self;
        Concurrency { connections, in_flight, client_threads, connection_life, pipelining }
            .contradiction(protocol)
    }

    /// True if a process prepared for one workload can be measured under the other over the same connections: they may differ
    /// only in name, arrivals, window, settling, and search.
    pub fn shares_process(&self, other: &Self) -> bool {
        let Self { name, arrivals, find_max, settle_ms, window, .. } = other.clone();
        Self { name, arrivals, find_max, settle_ms, window, ..self.clone() } == *other
    }

    /// The workload that measures the capacity of which this one takes a share: the last closed loop before it that shares its
    /// process.
    pub fn capacity_from<'a>(&self, workloads: &'a [Self]) -> Option<&'a Self> {
        let before = workloads.iter().take_while(|other| other.name != self.name);
        before.filter(|w| !w.arrivals.is_open() && w.shares_process(self)).last()
    }
}

/// A host, with or without a port, as requests name it: `api.example.org`, `[::1]:8443`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub struct Authority(String);

impl Authority {
    /// Maximum bytes: the longest DNS name with a port.
    const MAX_LEN: usize = 259;

    /// The text as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Authority {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%:[]".contains(&byte);
        match (1..=Self::MAX_LEN).contains(&text.len()) && text.bytes().all(is_allowed) {
            true => Ok(Self(text.to_owned())),
            false => Err("write HOST or HOST:PORT, such as api.example.org"),
        }
    }
}

impl TryFrom<String> for Authority {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}
