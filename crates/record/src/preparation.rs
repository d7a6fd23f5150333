//! What happened to a server before it was measured: build, start, check, warm-up.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::machine::Toolchain;
use crate::trial::Failure;
use crate::unsteady::Unsteady;

/// One process of one entry, made ready for one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Preparation {
    /// See [`crate::PlannedServer::entry`].
    pub entry: String,
    /// See [`crate::Workload::name`].
    pub workload: String,
    /// See [`crate::PlannedTrial::process`]. The same number twice: it had to be started anew.
    pub process: u32,
    /// Library versions read from the lock file.
    pub versions: BTreeMap<String, String>,
    /// blake3 of the lock file, hex.
    pub lock_hash: String,
    /// Compilers and runtimes that built and run it.
    pub toolchains: Vec<Toolchain>,
    /// The build command as run.
    pub build: String,
    /// Names of the user's environment variables that the build saw, sorted. Empty in records that don't say.
    #[serde(default)]
    pub build_env: Vec<String>,
    /// The command line of the process.
    pub command: Vec<String>,
    /// Environment given to it on top of the process contract.
    pub env: BTreeMap<String, String>,
    /// Where it ran.
    pub isolation: Isolation,
    /// The conformance cases.
    pub check: CheckResult,
    /// How it became warm. `None` where it never got that far, and where no warm-up was asked for.
    pub warm: Option<WarmCurve>,
    /// Whether it can be measured.
    pub readiness: Readiness,
}

/// Whether a server can be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Readiness {
    /// It can.
    Ready,
    /// It can't be run on this machine: a toolchain is missing, say.
    Skipped {
        /// What is missing and what to install, one line.
        reason: String,
    },
    /// It was to be measured, and failed.
    Failed(Failure),
}

/// The conformance cases of one server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// Cases that passed.
    pub passed: u32,
    /// One line for each case that failed.
    pub failed: Vec<String>,
}

/// How the server was kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IsolationMode {
    /// Own cgroup, version 2.
    CgroupV2,
    /// Own cgroups, version 1.
    CgroupV1,
    /// CPU affinity only; no memory limit is enforced.
    Affinity,
    /// Not at all: rpcbench did not start it.
    Unmanaged,
}

/// Where client and server ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Isolation {
    /// How.
    pub mode: IsolationMode,
    /// CPUs of the server. Empty where nobody knows: of one at an address.
    pub server_cpus: Vec<u32>,
    /// CPUs of the client; disjoint from the server's unless `notes` says otherwise.
    pub client_cpus: Vec<u32>,
    /// Memory limit enforced on the server, bytes.
    pub memory_bytes: Option<u64>,
    /// Everything about it that a reader must know: missing rights, shared CPUs.
    pub notes: Vec<String>,
}

/// The warm-up, second by second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmCurve {
    /// The slices, in order, without gaps.
    pub slices: Vec<WarmSlice>,
    /// Milliseconds until steady. `None`: the cap was reached before it was, or the length was fixed.
    pub steady_after_ms: Option<u64>,
    /// Why it is not steady, where it is not.
    pub unsteady: Option<Unsteady>,
    /// Whether earlier processes of the entry had told how long it takes: then only that was waited for, and nothing was
    /// judged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_earlier: bool,
    /// Milliseconds for which later processes of the entry need be warmed, as far as this one tells. `None`: it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub later_ms: Option<u64>,
    /// Calls a second over the first second: the *cold* rate.
    pub cold_rate: f64,
}

/// One slice of a warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmSlice {
    /// End of the slice, milliseconds since load began.
    pub at_ms: u64,
    /// Calls completed in the slice, of whatever outcome.
    pub calls: u64,
    /// Server CPU time used in the slice, nanoseconds.
    pub server_cpu_ns: u64,
    /// CPU time of the runtime's compiler threads in the slice, nanoseconds.
    pub compiler_cpu_ns: u64,
}
