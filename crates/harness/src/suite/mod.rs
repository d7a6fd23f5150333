//! Suites: named workloads and limits, one file each in `suites/`, and the plan made from a suite.
//!
//! Options of the command line replace a suite's values; see [`crate::spec`].

mod order;
mod resolve;
mod scale;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rpcbench_record::{
    Limits, LoadGeneratorKind, PlacementKind, Plan, PlannedServer, Price, Protocol, Published,
    Role, Stopping, WarmUp, Window, Workload, units,
};

pub use scale::fit;

use crate::config::{ConfigError, SourceFile, did_you_mean, unreadable};
use crate::load::client_problem;
use crate::manifest::Runtime;
use crate::spec::{RunSpec, SuiteSpec};
use resolve::Layers;

/// A named list of workloads, and the limits of the servers that run them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suite {
    /// The file's name without its ending.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Its purpose, one line.
    pub description: String,
    /// Processes of each entry. `None`: one, and more if they narrow the intervals more than further windows.
    pub processes: Option<u32>,
    /// Windows of each process under each workload. `None`: as many as fit into the time.
    pub rounds: Option<u32>,
    /// When a run may end early.
    pub stopping: Option<Stopping>,
    /// True if every measured call is logged.
    pub log_calls: bool,
    /// True if servers are asked for runtime statistics.
    pub runtime_statistics: bool,
    /// Price of servers' CPU time and memory.
    pub price: Option<Price>,
    /// Published figures of its workloads.
    pub published: Vec<Published>,
    /// Placement of the servers.
    pub placement: PlacementKind,
    /// The protocols of its entries. `None`: all.
    pub protocols: Option<Vec<Protocol>>,
    /// Limits of each server.
    pub limits: Limits,
    /// The workloads, in order. Never empty.
    pub workloads: Vec<Workload>,
    file: SourceFile,
    spec: SuiteSpec,
}

/// All suites of a folder.
#[derive(Debug)]
pub struct Suites {
    /// The valid suites, by name.
    pub all: Vec<Suite>,
    /// Files that are not valid suites: name and error. The error includes the path.
    pub left_out: Vec<(String, ConfigError)>,
}

impl Suites {
    /// Loads every `*.toml` in `root/suites`.
    pub fn load(root: &Path) -> Result<Self, ConfigError> {
        let mut found = Self { all: Vec::new(), left_out: Vec::new() };
        for path in files(root)? {
            match Suite::load(&path) {
                Ok(suite) => found.all.push(suite),
                Err(problem) => {
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    found.left_out.push((name.into_owned(), problem));
                }
            }
        }
        Ok(found)
    }
}

/// The files `*.toml` in `root/suites`, sorted; at least one.
fn files(root: &Path) -> Result<Vec<PathBuf>, ConfigError> {
    let folder = root.join("suites");
    let read = |source| unreadable(&folder, source);
    let mut paths = Vec::new();
    for entry in fs::read_dir(&folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    match paths.is_empty() {
        true => Err(ConfigError::value(
            folder.display(),
            "no suites found; a suite is a file NAME.toml in this folder",
        )),
        false => Ok(paths),
    }
}

impl Suite {
    /// The suite `name` in `root/suites`, or the file `name` if it ends in `.toml`. Reads no other suite.
    pub fn named(root: &Path, name: &str) -> Result<Self, ConfigError> {
        if name.ends_with(".toml") {
            return Self::load(Path::new(name));
        }
        let files = files(root)?;
        let named = |path: &Path| path.file_stem().is_some_and(|stem| stem == name);
        match files.iter().find(|path| named(path)) {
            Some(path) => Self::load(path),
            None => {
                let stems = files.iter().filter_map(|path| path.file_stem()?.to_str());
                let known: Vec<&str> = stems.collect();
                let hint = did_you_mean(name, known.iter().copied());
                Err(ConfigError(format!(
                    "unknown suite '{name}'{hint}; expected one of {}, or a file such as mine.toml",
                    known.join(", ")
                )))
            }
        }
    }

    /// Reads one file.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        Self::of(&SourceFile::read(path)?)
    }

    /// Parses the text of a file. `path` names the suite, and the file in errors.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        Self::of(&SourceFile::new(path, text))
    }

    fn of(file: &SourceFile) -> Result<Self, ConfigError> {
        Layers { file, spec: &file.parse()?, run: &RunSpec::default() }.resolve()
    }

    /// Replaces values of the suite by options of the command line.
    pub fn with(&self, run: &RunSpec) -> Result<Self, ConfigError> {
        Layers { file: &self.file, spec: &self.spec, run }.resolve()
    }

    /// Upper estimate of the time for one entry. A process takes a few seconds to start and check, and is steady soon after its
    /// minimum warm-up. A search takes a dozen windows. For windows with a number of calls, the server is assumed to be slow.
    pub fn length(&self, runtime: &Runtime) -> Duration {
        const START: Duration = Duration::from_secs(2);
        const FLAT: Duration = Duration::from_secs(5);
        const SEARCH: u32 = 12;
        const CALLS_PER_MS: u64 = 10;
        let ms = Duration::from_millis;
        let mut process = Duration::ZERO;
        for (at, w) in self.workloads.iter().enumerate() {
            if !self.workloads[..at].iter().any(|before| before.shares_process(w)) {
                process += START
                    + match w.warm_up {
                        WarmUp::Fixed { length_ms } => ms(length_ms),
                        WarmUp::UntilSteady { least_ms, .. } => {
                            runtime.warmup_min.max(ms(least_ms)) + FLAT
                        }
                        WarmUp::Calls { calls, .. } => ms(calls / CALLS_PER_MS),
                    };
            }
            let windows = if w.find_max.is_some() { SEARCH } else { 1 };
            let window = match w.window {
                Window::Duration { length_ms } => ms(length_ms),
                Window::Calls { calls } => ms(calls / CALLS_PER_MS),
            };
            process += (ms(w.settle_ms) + window) * windows * self.rounds.unwrap_or(MIN_ROUNDS);
        }
        process * self.first_processes()
    }

    /// True if entries of `protocol` take part.
    pub fn takes(&self, protocol: Protocol) -> bool {
        self.protocols.as_ref().is_none_or(|taken| taken.contains(&protocol))
    }
}

/// Minimum rounds under a time limit; fewer would not show noise.
const MIN_ROUNDS: u32 = Stopping::MIN_ROUNDS;
/// Maximum windows of a plan. Each takes memory and a line of the record, and this many of the shortest take 28 hours.
const MAX_TRIALS: u64 = 1_000_000;

/// All windows of a run, in order: workload by workload, in rounds that visit every process of every entry once, in random order.
/// The same seed gives the same order. Fails if values contradict each other or two entries have the same name.
pub fn plan(
    suite: &Suite,
    run: &RunSpec,
    entries: &[PlannedServer],
    seed: u64,
) -> Result<Plan, ConfigError> {
    planned(suite.with(run)?, run, entries, seed)
}

/// The plan of a load on an existing server: a window under each workload.
pub(crate) fn plan_load(
    workloads: Vec<Workload>,
    limits: Limits,
    server: PlannedServer,
    seed: u64,
) -> Result<Plan, ConfigError> {
    let suite = Suite {
        name: "load".to_owned(),
        processes: Some(1),
        rounds: Some(1),
        placement: PlacementKind::Unmanaged,
        limits,
        workloads,
        ..Suite::default()
    };
    planned(suite, &RunSpec::default(), &[server], seed)
}

fn planned(
    suite: Suite,
    run: &RunSpec,
    entries: &[PlannedServer],
    seed: u64,
) -> Result<Plan, ConfigError> {
    for (at, server) in entries.iter().enumerate() {
        if entries[..at].iter().any(|before| before.entry == server.entry) {
            let entry = &server.entry;
            return Err(ConfigError(format!(
                "'{entry}' is entered twice under one name; give every entry a different name"
            )));
        }
    }
    let taken = |server: &&PlannedServer| suite.takes(server.protocol);
    let servers: Vec<PlannedServer> = entries.iter().filter(taken).cloned().collect();
    if servers.is_empty() && !entries.is_empty() {
        let protocols = suite.protocols.unwrap_or_default();
        let names: Vec<String> = protocols.iter().map(ToString::to_string).collect();
        return Err(ConfigError(format!(
            "the suite takes only {}, which none of these servers speaks; name others, or another --suite (see `rpcbench list --matrix`)",
            names.join(" and ")
        )));
    }
    suite.check_protocols(&servers)?;
    let rounds = suite.rounds_for(servers.len());
    let processes = suite.most_processes(servers.len());
    suite.check_trials((processes, rounds), servers.len())?;
    let order = order::order(&suite, (processes, rounds), &servers, seed);
    let role = servers.first().map(|entry| entry.role).unwrap_or_default();
    Ok(Plan {
        suite: suite.name,
        seed,
        placement: suite.placement,
        load_generator: match role {
            Role::Server => LoadGeneratorKind::InProcess,
            Role::Client => LoadGeneratorKind::ClientPrograms,
        },
        log_calls: suite.log_calls,
        runtime_statistics: suite.runtime_statistics,
        scaled_from: run.scaled_from,
        price: suite.price,
        published: suite.published,
        stopping: suite.stopping,
        limits: suite.limits,
        workloads: suite.workloads,
        servers,
        order,
        ..Plan::default()
    })
}

impl Suite {
    /// Fails if the protocol of a server can't carry a workload.
    fn check_protocols(&self, servers: &[PlannedServer]) -> Result<(), ConfigError> {
        for server in servers {
            let problem = |load: &Workload| match server.role {
                Role::Server => load.problem_under(server.protocol),
                Role::Client => client_problem(load, server),
            };
            if let Some(problem) = self.workloads.iter().find_map(problem) {
                let given = format!("{} speaks {}", server.entry, server.protocol);
                return Err(ConfigError::value(given, problem));
            }
        }
        Ok(())
    }

    /// Initial processes of each entry.
    pub fn first_processes(&self) -> u32 {
        let first = self.stopping.and_then(|stopping| stopping.first_processes);
        self.processes.or(first).unwrap_or(1)
    }

    /// Maximum processes to plan for each of `entries` entries: as many as can be prepared in half of the time.
    fn most_processes(&self, entries: usize) -> u32 {
        const MAX: u64 = 8;
        const PREPARATION_MS: u64 = 3000;
        let time = self.stopping.and_then(|stopping| stopping.max_time_ms).unwrap_or(0);
        let fitting = (time / 2 / (PREPARATION_MS * entries.max(1) as u64)).min(MAX) as u32;
        self.processes.unwrap_or_else(|| fitting.max(self.first_processes()))
    }

    /// Rounds to plan for `entries` entries. Under a time limit, the most that could fit.
    fn rounds_for(&self, entries: usize) -> u32 {
        let time = self.stopping.and_then(|stopping| stopping.max_time_ms).unwrap_or(0);
        let length = |w: &Workload| w.window.length_ms().unwrap_or(1000);
        let trials = u64::from(self.first_processes()) * entries.max(1) as u64;
        let round = trials * self.workloads.iter().map(length).sum::<u64>();
        let planned = u64::from(self.most_processes(entries)) * entries.max(1) as u64;
        let most = MAX_TRIALS / (planned * self.workloads.len() as u64).max(1);
        let fitting = (time / round.max(1)).min(most);
        let fitting = u32::try_from(fitting).unwrap_or(u32::MAX);
        self.rounds.unwrap_or(fitting.max(MIN_ROUNDS))
    }

    /// Fails if the plan would have more than [`MAX_TRIALS`] windows.
    fn check_trials(
        &self,
        (processes, rounds): (u32, u32),
        entries: usize,
    ) -> Result<(), ConfigError> {
        let loads = self.workloads.len();
        let trials = u128::from(processes) * u128::from(rounds) * (loads * entries) as u128;
        if trials <= u128::from(MAX_TRIALS) {
            return Ok(());
        }
        let given = self.spec.larger_extent(&self.file, processes >= rounds);
        let problem = format!(
            "{processes} processes x {rounds} rounds x {entries} entries x {loads} workloads are more than the {} \
             windows that a plan may have; give fewer",
            units::count(MAX_TRIALS),
        );
        Err(ConfigError::value(given, problem))
    }
}
