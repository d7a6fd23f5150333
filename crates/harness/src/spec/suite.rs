//! The keys of a suite, and the options that replace them.

use clap::Args;
use rpcbench_record::{ContractProtocol, Limits, PlacementKind, Price, Stopping};
use serde::Deserialize;
use toml::Spanned;

use super::or;
use super::workload::{TlsOption, WarmUpOptions, WorkloadSpec};
use crate::config::{
    ConfigError, Count, FileKind, Given, Memory, NonZeroLength, Share, SourceFile, keys,
};

/// Rounds that `--precision` allows in a suite without rounds or a time limit.
const MAX_ROUNDS: u32 = 16;

/// A suite as written, and as options of `run` and `compare`.
#[derive(Args, Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
#[command(next_help_heading = "Precision and limits")]
pub struct SuiteSpec {
    /// Its purpose, one line.
    #[arg(skip)]
    pub description: String,
    /// Processes of each server, all running side by side; one each leaves open how much they differ
    /// [default if --max-time limits the run: 1, and up to 8 if more of them narrow the intervals more than further windows]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub processes: Option<Given<Count>>,
    /// Windows of each process at most; only one server at a time has load [default: as many as fit --max-time]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub rounds: Option<Given<Count>>,
    /// Continue until servers differ clearly, or are known to be equal within this [quick: 5%]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub precision: Option<Given<Share>>,
    /// See [`Stopping::agreement`].
    #[arg(skip)]
    pub agreement: Option<Given<Share>>,
    /// Stop after this time, such as 10m [quick: 6m]
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    pub max_time: Option<Given<NonZeroLength>>,
    /// Write every call of each window as Parquet to calls/ in the run's folder, and draw each server's last window
    #[arg(long, num_args = 0, default_missing_value = "true")]
    pub log_calls: Option<Given<bool>>,
    /// Ask servers for runtime statistics: garbage collections, pauses, allocation; empty if the runtime has none
    #[arg(long, num_args = 0, default_missing_value = "true")]
    pub runtime_statistics: Option<Given<bool>>,
    /// Show what a million calls cost at these prices: 0.04/cpu-hour, 0.005/GiB-hour or both, separated by a comma; a
    /// currency may precede each, as in '$0.04/cpu-hour' [default: no cost is shown]
    #[arg(long, value_name = "PRICES", allow_hyphen_values = true)]
    pub price: Option<Given<Price>>,
    /// Where servers and clients run.
    #[serde(rename = "in")]
    #[arg(long = "in", value_name = "PLACEMENT", help = format!("Where servers and clients run: {} [default: native]", PlacementKind::HELP))]
    pub placement: Option<Given<PlacementKind>>,
    /// Only entries of these protocols; of all, if it is missing.
    #[arg(skip)]
    pub protocols: Option<Vec<Given<ContractProtocol>>>,
    /// What each server may use.
    #[arg(skip)]
    pub limits: LimitsSpec,
    /// The workloads.
    #[arg(skip)]
    pub workload: Vec<Spanned<WorkloadSpec>>,
    /// Published figures.
    #[arg(skip)]
    #[serde(default)]
    pub(crate) published: Vec<PublishedSpec>,
}

/// What each server may use.
#[derive(Args, Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct LimitsSpec {
    /// Maximum CPUs of each server
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub cpus: Option<Given<Count>>,
    /// Maximum memory of each server, such as 512M or 2G (M means MiB)
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub memory: Option<Given<Memory>>,
}

/// See [`rpcbench_record::Published`].
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishedSpec {
    pub workload: Spanned<String>,
    pub entry: String,
    pub calls_per_s: u32,
    pub source: String,
}

impl FileKind for SuiteSpec {
    const EXAMPLES: &'static [&'static str] = &[
        "description = \"Few connections, large messages.\"",
        "processes = 2, or max_time = \"6m\"",
        "rounds = 16",
        "precision = \"5%\"",
        "agreement = \"6%\"",
        "max_time = \"6m\"",
        "in = \"native\"",
        "price = \"0.04/cpu-hour\"",
        "protocols = [\"grpc\"]",
        "[limits]",
        "cpus = 1",
        "memory = \"512M\"",
        "[[workload]]",
        "shape = \"text:100\"",
        "connections = 50",
        "in_flight_per_connection = 20",
        "warmup = \"until-steady\"",
        "duration = \"3s\", or calls = 20000",
        "[[published]]",
        "entry = \"go-grpc\"",
        "calls_per_s = 13000",
        "source = \"A. Author, https://example.org/benchmark\"",
    ];
    const RENAMED: &'static [(&'static str, &'static str)] = &[
        ("in_flight", "'in_flight_per_connection' now, and counts calls on each connection"),
        ("warm_up", "'warmup' now"),
        ("warm_up_least", "'warmup_min' now"),
        ("warm_up_cap", "'warmup_max' now"),
        ("headers", "'header' now"),
        ("placement", "'in' now"),
    ];

    fn tables() -> Vec<(&'static str, Vec<String>)> {
        vec![
            ("at the top of the file", keys::<Self>()),
            ("in [limits]", keys::<LimitsSpec>()),
            ("in [[workload]]", keys::<WorkloadSpec>()),
            ("in [[published]]", keys::<PublishedSpec>()),
        ]
    }
}

/// A valid line for a key.
pub(super) fn example_of(key: &str) -> &'static str {
    let is = |line: &&&str| line.split(' ').next() == Some(key);
    SuiteSpec::EXAMPLES.iter().find(is).copied().unwrap_or_default()
}

/// All options of `run` and `compare` that replace a suite's values.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub struct RunSpec {
    /// Those of the suite.
    #[command(flatten)]
    pub suite: SuiteSpec,
    /// Those of its limits.
    #[command(flatten)]
    pub limits: LimitsSpec,
    /// Those of each of its workloads.
    #[command(flatten)]
    pub workload: WorkloadSpec,
    /// How servers are warmed.
    #[command(flatten)]
    pub warm_up: WarmUpOptions,
    /// Whether connections have TLS.
    #[command(flatten)]
    pub tls: TlsOption,
    /// The suite's limits, if `--scale-to-machine` lowered them.
    #[arg(skip)]
    pub scaled_from: Option<Limits>,
}

impl RunSpec {
    /// Options for exactly this many processes of each server.
    pub fn with_processes(processes: u32) -> Self {
        let given = Given::by_default(Count(processes), &format!("--processes {processes}"));
        let suite = SuiteSpec { processes: Some(given), ..SuiteSpec::default() };
        Self { suite, ..Self::default() }
    }

    /// The layer on top of the suite's keys.
    pub(crate) fn suite(&self) -> SuiteSpec {
        SuiteSpec { limits: self.limits.clone(), ..self.suite.clone() }
    }

    /// The layer on top of each workload of the suite.
    pub(crate) fn workload(&self) -> WorkloadSpec {
        let WarmUpOptions { warmup, warmup_min, warmup_max, settle } = self.warm_up.clone();
        let tls = self.tls.tls.clone();
        WorkloadSpec { warmup, warmup_min, warmup_max, settle, tls, ..self.workload.clone() }
    }
}

/// Initial processes of each entry by default. Processes of real servers hardly differ, so more are added only where they cost
/// few windows (docs/evidence.md).
const FIRST_PROCESSES: u32 = 1;

/// The number of processes and windows, and when a run may stop early.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// `None`: as many as are useful.
    pub processes: Option<u32>,
    /// `None`: as many as the time allows.
    pub rounds: Option<u32>,
    pub stopping: Option<Stopping>,
}

impl SuiteSpec {
    /// The extent of a run of this suite.
    pub(crate) fn extent(&self, file: &SourceFile) -> Result<Extent, ConfigError> {
        let processes = self.processes.as_ref().map(|given| given.value.0);
        let max_time = self.max_time.as_ref();
        if processes.is_none() && max_time.is_none() {
            return Err(file.missing::<Self>(None, "processes"));
        }
        let share = |of: &Option<Given<Share>>| of.as_ref().map(|share| share.value.0);
        let stopping = Stopping {
            first_processes: processes.is_none().then_some(FIRST_PROCESSES),
            precision: share(&self.precision),
            agreement: share(&self.agreement),
            max_time_ms: max_time.map(|time| time.value.ms()),
        };
        let rounds = match (&self.rounds, max_time, stopping.precision) {
            (Some(given), ..) => Some(given.value.0),
            (None, Some(_), _) => None,
            (None, None, Some(_)) => Some(MAX_ROUNDS),
            (None, None, None) => Some(1),
        };
        if let Some(agreement) = self.agreement.as_ref().filter(|_| rounds.is_some_and(|r| r < 2)) {
            let problem =
                "two windows in a row must agree; give rounds = 2 or more, as an upper limit";
            return Err(ConfigError::value(agreement.shown(Some(file)), problem));
        }
        let is_any = stopping != Stopping::default();
        Ok(Extent { processes, rounds, stopping: is_any.then_some(stopping) })
    }

    /// Processes or rounds as given, for an error about their product.
    pub(crate) fn larger_extent(&self, file: &SourceFile, processes: bool) -> String {
        let given = if processes { &self.processes } else { &self.rounds };
        given.as_ref().map_or_else(String::new, |given| given.shown(Some(file)))
    }

    /// Merges this spec over `below`. Keys that only a file can have come from `below`.
    pub(crate) fn layered_on(&self, below: &Self) -> Self {
        Self {
            description: below.description.clone(),
            processes: or(&self.processes, &below.processes),
            rounds: or(&self.rounds, &below.rounds),
            precision: or(&self.precision, &below.precision),
            agreement: or(&self.agreement, &below.agreement),
            max_time: or(&self.max_time, &below.max_time),
            log_calls: or(&self.log_calls, &below.log_calls),
            runtime_statistics: or(&self.runtime_statistics, &below.runtime_statistics),
            price: or(&self.price, &below.price),
            placement: or(&self.placement, &below.placement),
            protocols: or(&self.protocols, &below.protocols),
            limits: LimitsSpec {
                cpus: or(&self.limits.cpus, &below.limits.cpus),
                memory: or(&self.limits.memory, &below.limits.memory),
            },
            workload: below.workload.clone(),
            published: below.published.clone(),
        }
    }
}
