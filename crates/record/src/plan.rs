//! What will run, in which order. Fixed before anything is measured.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use rpcbench_stats::{Observation, Question};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::build::Build;
use crate::call_header::CallHeader;
use crate::labels::Labels;
use crate::price::Price;
use crate::protocol::Protocol;
use crate::role::Role;
use crate::threshold::Threshold;
use crate::units::ParseError;
use crate::workload::Workload;

/// The largest seed: a JSON number that JavaScript and jq read exactly.
pub const MAX_SEED: u64 = (1 << 53) - 1;

/// CPUs and memory that each server may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// Number of whole CPUs.
    pub cpus: u32,
    /// Memory limit, bytes. `null` if the machine's memory is the limit.
    pub memory_bytes: Option<u64>,
}

/// One entry: a server or a client with one protocol and one variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedServer {
    /// Name, unique in the run: `go-grpc`, `java-grpc@zgc`, or `go-connect:json` for a server that speaks several protocols. The
    /// second of two equal entries is `go-grpc#2`; two builds are `go-grpc#old` and `go-grpc#new`. A client that calls a server
    /// under test is `go-grpc+java-grpc@zgc`.
    pub entry: String,
    /// Name without protocol and variant: `java-grpc`.
    pub server: String,
    /// Protocol of the calls.
    pub protocol: Protocol,
    /// Name of the variant. `null` if the server has no variants.
    pub variant: Option<String>,
    /// Programming language, such as `java` or `go`.
    pub language: String,
    /// Name by which readers know the library: `grpc-java`.
    pub library: String,
    /// Whether the entry is a server or a client. Absent for a server.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub role: Role,
    /// The server that a client calls: name and variant. Absent for a server, and if the client calls the reference server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counterpart: Option<String>,
    /// Build of the entry. Absent unless the run compares two builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<Build>,
}

impl PlannedServer {
    /// The entry without its build: `go-grpc@default` of `go-grpc@default#new`.
    pub fn without_build(&self) -> &str {
        let build = self
            .build
            .as_ref()
            .and_then(|build| self.entry.strip_suffix(&build.age.to_string())?.strip_suffix('#'));
        build.unwrap_or(&self.entry)
    }

    /// The assumed [`Observation::spread`] of a ranking figure. Sixteen processes each of servers in five languages differed by
    /// 0.9 % (docs/evidence.md); a third more is assumed.
    pub fn assumed_spread(&self) -> f64 {
        let is_compiled_ahead = self.variant.as_deref() == Some("native-aot");
        match self.language.as_str() {
            _ if self.role == Role::Client => Observation::MAX_SPREAD,
            "go" | "php" | "python" | "rust" => 0.012,
            "dotnet" if is_compiled_ahead => 0.012,
            "node" => 0.024,
            _ => Observation::MAX_SPREAD,
        }
    }
}

/// Where servers run, and who starts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlacementKind {
    /// As processes on rpcbench's own machine. A server must implement the contract, and a failed call is its fault.
    #[default]
    Native,
    /// In containers on rpcbench's own machine, started by the `docker` command. Otherwise like `native`.
    Docker,
    /// The same with the `podman` command.
    Podman,
    /// Anywhere, started by the user. A failed call is a result, not a fault.
    Unmanaged,
}

impl PlacementKind {
    /// The kinds that a run can choose.
    const CHOICES: [Self; 3] = [Self::Native, Self::Docker, Self::Podman];
    /// Describes the kinds, for the help of options.
    pub const HELP: &str =
        "native, as processes of this machine; docker or podman, in containers of that engine";

    /// The name in suites, options and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::Unmanaged => "unmanaged",
        }
    }

    /// True if rpcbench starts the servers, so that a run can choose it.
    pub fn starts_servers(self) -> bool {
        self != Self::Unmanaged
    }
}

impl fmt::Display for PlacementKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for PlacementKind {
    type Err = ParseError;

    /// Parses only kinds that start servers.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::CHOICES.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
            let names = Self::CHOICES.map(Self::name).join(", ");
            ParseError(format!("unknown placement '{text}'; expected one of {names}"))
        })
    }
}

/// What generates the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadGeneratorKind {
    /// Threads of the rpcbench process.
    #[default]
    InProcess,
    /// Client libraries under test, each in a program that calls the reference server or a server under test.
    ClientPrograms,
}

/// A planned trial of an entry under a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedTrial {
    /// Name of the entry, as in `servers`.
    pub entry: String,
    /// Name of the workload.
    pub workload: String,
    /// Number of the entry's process that is measured, from 1. Workloads share a process if they can.
    pub process: u32,
    /// Number of the trial within its cell, from 1. The n-th trials of all processes of all entries are round n.
    pub number: u32,
}

/// Conditions that end a run before its `order` is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stopping {
    /// A workload ends as soon as every two neighbours in its table differ clearly or are equal within this share. `null` without
    /// this condition.
    pub precision: Option<f64>,
    /// A cell ends after two trials in a row whose standard deviations of response time differ by at most this share of the
    /// smaller one. Absent without this condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<f64>,
    /// The run ends before a trial that would exceed this time, milliseconds. Workloads share the time. `null` without a limit.
    pub max_time_ms: Option<u64>,
    /// Processes of each entry that run from the start. The others start later, if they narrow the intervals more than further
    /// windows would. Absent if all run from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_processes: Option<u32>,
}

/// A published figure. It was measured on another machine, so only its ratio to others of the same workload can be compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// Name of the workload.
    pub workload: String,
    /// Name of the entry that is closest to what was measured, as in `servers`.
    pub entry: String,
    /// Correct answers per second.
    pub calls_per_s: f64,
    /// Who published the figure, and where if known.
    pub source: String,
}

impl Stopping {
    /// Minimum rounds before a run is analyzed: fewer do not show noise.
    pub const MIN_ROUNDS: u32 = 4;

    /// True if two consecutive standard deviations of response time, nanoseconds, are close enough to end a cell.
    pub fn agree(&self, one: f64, other: f64) -> bool {
        let (small, large) = (one.min(other), one.max(other));
        self.agreement.is_some_and(|share| large - small <= small * share)
    }
}

/// The plan of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Name of the suite that the workloads came from.
    pub suite: String,
    /// Seed for the order of trials and for the payloads.
    pub seed: u64,
    /// Where the servers run.
    pub placement: PlacementKind,
    /// What generates the load.
    pub load_generator: LoadGeneratorKind,
    /// Conditions that make the load fail if they are true for a window (`rpcbench load --fail-if`). Absent if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fail_if: Vec<Threshold>,
    /// Conditions that end the load as soon as they are true in a window (`rpcbench load --stop-if`). Absent if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop_if: Vec<Threshold>,
    /// Name and tags that the user gave the run. Absent if none were given.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub labels: Labels,
    /// Warnings about the plan, one sentence each (`rpcbench load`). Absent if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// True if every measured call is written to a file of its trial. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub log_calls: bool,
    /// True if servers are asked for statistics of their runtimes. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub runtime_statistics: bool,
    /// Limits of the suite, if this machine is too small for them and the run was scaled to it. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaled_from: Option<Limits>,
    /// Price of the servers' CPU time and memory. Absent if no cost is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Figures published elsewhere for these workloads. Absent if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
    /// Conditions under which the run may end early. Absent if it never ends early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<Stopping>,
    /// CPUs and memory that each server may use. For an unmanaged server: the CPUs of its process, or of this machine if no
    /// process is named.
    pub limits: Limits,
    /// The workloads, in the suite's order.
    pub workloads: Vec<Workload>,
    /// The entries, in the order given by the user.
    pub servers: Vec<PlannedServer>,
    /// Every trial, in planned order.
    pub order: Vec<PlannedTrial>,
}

impl Plan {
    /// The role of the entries: servers or clients.
    pub fn role(&self) -> Role {
        self.servers.first().map(|entry| entry.role).unwrap_or_default()
    }

    /// True if each entry is a client with a server under test, as in a matrix.
    pub fn has_pairs(&self) -> bool {
        self.servers.first().is_some_and(|entry| entry.counterpart.is_some())
    }

    fn headers(&self) -> impl Iterator<Item = &CallHeader> {
        self.workloads.iter().flat_map(|workload| &workload.headers)
    }

    /// What a plan from a record lacks because records keep no secrets: `value of header 'authorization'`. `None` if nothing is
    /// missing.
    pub fn withheld(&self) -> Option<String> {
        let header = self.headers().find(|header| header.is_redacted())?;
        Some(format!("value of header '{}'", header.name()))
    }

    /// An argument with the secrets of headers redacted.
    pub(crate) fn redact(&self, argument: String) -> String {
        self.headers().fold(argument, |argument, header| header.redact(&argument))
    }

    /// Processes of each entry to start with, at least 1.
    pub fn first_processes(&self) -> u32 {
        let first = self.stopping.and_then(|stopping| stopping.first_processes);
        first.unwrap_or(u32::MAX).min(self.most_processes())
    }

    /// Maximum processes of each entry, at least 1.
    pub fn most_processes(&self) -> u32 {
        self.order.iter().map(|trial| trial.process).max().unwrap_or_default().max(1)
    }

    /// The round, from 1, of each trial number of a workload. A process has at most one trial of an entry in a round.
    pub fn rounds(&self, workload: &str) -> BTreeMap<u32, u32> {
        let mut numbers: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for trial in self.order.iter().filter(|trial| trial.workload == workload) {
            numbers.entry(trial.process).or_default().insert(trial.number);
        }
        numbers.into_values().flat_map(|of_process| of_process.into_iter().zip(1..)).collect()
    }

    /// Difference up to which two entries count as equal, as a fraction.
    pub fn precision(&self) -> f64 {
        let given = self.stopping.and_then(|stopping| stopping.precision);
        given.unwrap_or(Question::default().precision)
    }

    /// True if a workload only measures the capacity of which other workloads take a share.
    pub fn finds_capacity(&self, workload: &Workload) -> bool {
        let takes = |other: &&Workload| other.arrivals.needs_capacity();
        let mut found = self.workloads.iter().filter(takes).filter_map(|other| {
            let from = other.capacity_from(&self.workloads)?;
            Some(&from.name)
        });
        found.any(|name| *name == workload.name)
    }

    /// The workloads other than those that only measure a capacity.
    pub fn loads(&self) -> impl Iterator<Item = &Workload> {
        self.workloads.iter().filter(|workload| !self.finds_capacity(workload))
    }

    /// The workload with this name.
    pub fn workload(&self, name: &str) -> Option<&Workload> {
        self.workloads.iter().find(|workload| workload.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_has_one_trial_per_process() {
        let trial = |number| PlannedTrial {
            entry: "go-grpc".to_owned(),
            workload: "quick".to_owned(),
            process: 2 - number % 2,
            number,
        };
        let plan = Plan { order: (1..=48).map(trial).collect(), ..Plan::default() };
        let rounds = plan.rounds("quick");
        assert_eq!([1, 2, 3, 48].map(|number| rounds[&number]), [1, 1, 2, 24]);
    }

    #[test]
    fn placement_parses_from_name() {
        for kind in PlacementKind::CHOICES.into_iter().chain([PlacementKind::Unmanaged]) {
            let parsed = kind.name().parse::<PlacementKind>();
            assert_eq!(parsed.ok(), kind.starts_servers().then_some(kind));
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
        }
        let refused = "nowhere".parse::<PlacementKind>().unwrap_err().to_string();
        assert_eq!(refused, "unknown placement 'nowhere'; expected one of native, docker, podman");
    }
}
