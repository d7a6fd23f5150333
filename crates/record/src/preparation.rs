//! What happened to a server before it was measured: build, start, check and warm-up.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::machine::Toolchain;
use crate::tls::Tls;
use crate::trial::Failure;
use crate::unsteady::Unsteady;

/// How one process of an entry was prepared for one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Preparation {
    /// Name of the entry, as in the plan's `servers`.
    pub entry: String,
    /// Name of the workload.
    pub workload: String,
    /// Number of the entry's process, from 1. If a number repeats, the process was restarted.
    pub process: u32,
    /// Versions of the libraries, from the lock file.
    pub versions: BTreeMap<String, String>,
    /// BLAKE3 hash of the lock file, hex.
    pub lock_hash: String,
    /// BLAKE3 hash of everything that the entry was built from, hex. Absent in older records.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source_hash: String,
    /// Compilers and runtimes that built and ran the entry.
    pub toolchains: Vec<Toolchain>,
    /// The build command.
    pub build: String,
    /// Names of the user's environment variables that the build saw, sorted.
    pub build_env: Vec<String>,
    /// Command line of the process.
    pub command: Vec<String>,
    /// Environment variables of the process, in addition to those of the process contract.
    pub env: BTreeMap<String, String>,
    /// The server under test that a client called. Absent for a server, and if the client called the reference server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counterpart: Option<Counterpart>,
    /// What a client says it checks in each reply, one sentence. Absent for a server, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_checks: Option<String>,
    /// Where the process ran, and under which limits.
    pub isolation: Isolation,
    /// TLS as negotiated by the load's connections. Absent without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Result of the conformance check. Empty if an earlier process of the entry passed it.
    pub check: CheckResult,
    /// The warm-up. `null` without a warm-up, and if the preparation failed before it.
    pub warm: Option<WarmCurve>,
    /// Cost of requests that the server had never seen, compared with those of the load. Absent if it was not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<UnseenPair>,
    /// Time that only the first process of an entry needs, nanoseconds: for checks that later processes skip, and for the part of
    /// its warm-up that they can skip. For a later process with a full warm-up, the latter only. Absent if 0, and in older
    /// records.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub first_only_ns: u64,
    /// Whether the process can be measured.
    pub readiness: Readiness,
}

/// A server under test that a client called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counterpart {
    /// Name and variant of the server.
    pub server: String,
    /// Versions of the libraries, from the lock file.
    pub versions: BTreeMap<String, String>,
    /// BLAKE3 hash of everything that the server was built from, hex.
    pub source_hash: String,
    /// Command line of the process.
    pub command: Vec<String>,
}

/// Whether a process can be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Readiness {
    /// Ready to be measured.
    Ready,
    /// Can't run on this machine, for example because a toolchain is missing.
    Skipped {
        /// What is missing and how to install it, in one line.
        reason: String,
    },
    /// Failed while it was prepared.
    Failed(Failure),
}

/// Result of the conformance check of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// Number of cases that passed.
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
    /// Not isolated: rpcbench did not start the server.
    Unmanaged,
}

/// Where client and server ran, and under which limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Isolation {
    /// How the server was isolated.
    pub mode: IsolationMode,
    /// Numbers of the server's CPUs. Empty if unknown, as for a server at an address.
    pub server_cpus: Vec<u32>,
    /// Numbers of the client's CPUs. None of them is the server's, unless `notes` says so.
    pub client_cpus: Vec<u32>,
    /// Memory limit enforced on the server, bytes. `null` if none was enforced.
    pub memory_bytes: Option<u64>,
    /// Further details of the placement, by name, such as the `image` of a container. Absent if empty.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, String>,
    /// What limits the isolation, such as missing privileges or shared CPUs.
    pub notes: Vec<String>,
}

impl Isolation {
    /// CPUs of both server and client.
    pub fn shared_cpus(&self) -> Vec<u32> {
        let of_server = self.server_cpus.iter().copied();
        of_server.filter(|cpu| self.client_cpus.contains(cpu)).collect()
    }
}

/// The server's CPU time for requests that it had never seen, and for as many calls with requests of the load, which repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnseenPair {
    /// Number of calls of each kind.
    pub calls: u64,
    /// CPU time of calls with requests of the load, nanoseconds.
    pub seen_cpu_ns: u64,
    /// CPU time of calls with requests that the server had never seen, nanoseconds.
    pub unseen_cpu_ns: u64,
}

/// A warm-up over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmCurve {
    /// Slices of the warm-up, in order and without gaps.
    pub slices: Vec<WarmSlice>,
    /// Time until the server was steady, milliseconds. `null` if the cap was reached first, or if the length was fixed or that of
    /// earlier processes.
    pub steady_after_ms: Option<u64>,
    /// Why the server was not steady at the end. `null` if it was.
    pub unsteady: Option<Unsteady>,
    /// True if the warm-up was as long as those of earlier processes of the entry, or longer because the server was not warm by
    /// then. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_earlier: bool,
    /// Warm-up time that this warm-up suggests for later processes of the entry, milliseconds. Absent if it suggests none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub later_ms: Option<u64>,
    /// The cold rate: calls per second over the first second.
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
    /// End of the slice, milliseconds from the start of the load.
    pub at_ms: u64,
    /// Calls completed in the slice, of any outcome.
    pub calls: u64,
    /// Server CPU time used in the slice, nanoseconds.
    pub server_cpu_ns: u64,
    /// CPU time of the runtime's compiler threads in the slice, nanoseconds.
    pub compiler_cpu_ns: u64,
}
