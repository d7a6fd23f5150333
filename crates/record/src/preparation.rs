//! What happened to a server before it was measured: build, start, check and warm-up.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::connections::is_zero;
use crate::machine::Toolchain;
use crate::tls::Tls;
use crate::trial::Failure;
use crate::unsteady::Unsteady;

/// The preparation of one process of an entry for one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Preparation {
    /// See [`crate::PlannedServer::entry`].
    pub entry: String,
    /// See [`crate::Workload::name`].
    pub workload: String,
    /// See [`crate::PlannedTrial::process`]. The same number twice: the process was restarted.
    pub process: u32,
    /// Library versions read from the lock file.
    pub versions: BTreeMap<String, String>,
    /// blake3 of the lock file, hex.
    pub lock_hash: String,
    /// blake3 of everything that it was built from, hex. Empty in older records.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source_hash: String,
    /// Compilers and runtimes that built and ran it.
    pub toolchains: Vec<Toolchain>,
    /// The build command as run.
    pub build: String,
    /// Names of the user's environment variables that the build saw, sorted.
    pub build_env: Vec<String>,
    /// The command line of the process.
    pub command: Vec<String>,
    /// Environment variables set in addition to those of the process contract.
    pub env: BTreeMap<String, String>,
    /// The server that a client called. `None`: the reference server, and of a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counterpart: Option<Counterpart>,
    /// What a client says that it checks of each reply, a sentence. `None` of a server, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_checks: Option<String>,
    /// Where it ran and under which limits.
    pub isolation: Isolation,
    /// What the load's connections agreed on for TLS. `None` without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// The result of the conformance cases. Empty if an earlier process of the entry has passed them.
    pub check: CheckResult,
    /// The warm-up. `None` if it failed before, or without a warm-up.
    pub warm: Option<WarmCurve>,
    /// What requests cost that it had never seen. Empty if that was not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<UnseenPair>,
    /// Time that only the first process of an entry takes: for checks that later ones are spared, and for the part of the
    /// warm-up that goes beyond what theirs need. Nanoseconds. Of a later process that warmed up in full, that part alone.
    /// Zero in older records.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first_only_ns: u64,
    /// Whether it can be measured.
    pub readiness: Readiness,
}

/// What a server under test was, which a client called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counterpart {
    /// Name and variant.
    pub server: String,
    /// Library versions read from the lock file.
    pub versions: BTreeMap<String, String>,
    /// blake3 of everything that it was built from, hex.
    pub source_hash: String,
    /// The command line of the process.
    pub command: Vec<String>,
}

/// Whether a server can be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Readiness {
    /// It is ready.
    Ready,
    /// It can't run on this machine: a toolchain is missing, for example.
    Skipped {
        /// What is missing and how to install it, one line.
        reason: String,
    },
    /// It failed while being prepared.
    Failed(Failure),
}

/// The result of the conformance cases of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// Cases that passed.
    pub passed: u32,
    /// One line for each case that failed.
    pub failed: Vec<String>,
}

/// How the server was isolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IsolationMode {
    /// In its own cgroup, version 2.
    CgroupV2,
    /// In its own cgroups, version 1.
    CgroupV1,
    /// By CPU affinity only; no memory limit is enforced.
    Affinity,
    /// Not at all: rpcbench did not start it.
    Unmanaged,
}

/// Where client and server ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Isolation {
    /// How.
    pub mode: IsolationMode,
    /// CPUs of the server. Empty if unknown: a server at an address.
    pub server_cpus: Vec<u32>,
    /// CPUs of the client, separate from the server's unless `notes` says otherwise.
    pub client_cpus: Vec<u32>,
    /// Memory limit enforced on the server, bytes.
    pub memory_bytes: Option<u64>,
    /// What else its placement says of it, by name: the `image` that it ran from.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, String>,
    /// What a reader must know about it: missing privileges, shared CPUs.
    pub notes: Vec<String>,
}

impl Isolation {
    /// CPUs of both server and client.
    pub fn shared_cpus(&self) -> Vec<u32> {
        let of_server = self.server_cpus.iter().copied();
        of_server.filter(|cpu| self.client_cpus.contains(cpu)).collect()
    }
}

/// The server's CPU time for as many calls with requests of the load, which it has seen before, as with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnseenPair {
    /// Calls of each kind.
    pub calls: u64,
    /// CPU time of those with requests of the load, nanoseconds.
    pub seen_cpu_ns: u64,
    /// CPU time of those with requests that it had never seen, nanoseconds.
    pub unseen_cpu_ns: u64,
}

/// The warm-up over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmCurve {
    /// Its slices, in order and without gaps.
    pub slices: Vec<WarmSlice>,
    /// Milliseconds until steady. `None` if the cap was reached first or the length was fixed.
    pub steady_after_ms: Option<u64>,
    /// Why the server was not steady at the end. `None` if it was.
    pub unsteady: Option<Unsteady>,
    /// True if it lasted as long as those of earlier processes of the entry, or longer as the server still warmed up then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_earlier: bool,
    /// Warm-up time for later processes of the entry that this one suggests, milliseconds. `None` if it suggests none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub later_ms: Option<u64>,
    /// Calls per second over the first second: the cold rate.
    pub cold_rate: f64,
}

impl WarmCurve {
    /// Length of the curve, milliseconds.
    pub fn length_ms(&self) -> u64 {
        self.slices.last().map_or(0, |slice| slice.at_ms)
    }

    /// The part of the curve that later processes can skip, milliseconds.
    pub fn spared_later_ms(&self) -> u64 {
        self.later_ms.map_or(0, |later| self.length_ms().saturating_sub(later))
    }

    /// True if nothing shows that the server was steady at the end.
    pub fn is_open(&self) -> bool {
        self.unsteady.is_some() || self.steady_after_ms.is_none() && !self.as_earlier
    }
}

/// One slice of a warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmSlice {
    /// End of the slice, milliseconds since the start of the load.
    pub at_ms: u64,
    /// Calls completed in the slice, of any outcome.
    pub calls: u64,
    /// Server CPU time used in the slice, nanoseconds.
    pub server_cpu_ns: u64,
    /// CPU time of the runtime's compiler threads in the slice, nanoseconds.
    pub compiler_cpu_ns: u64,
}
