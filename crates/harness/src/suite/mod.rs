//! Suites: named workloads and limits, one file each in `suites/`, and the plan that is made from one.
//!
//! A value given on the command line replaces the suite's. Whatever contradicts something else is refused
//! with both places named, so that no setting is ever silently without effect.

mod check;
mod error;
mod file;
mod loads;
mod order;
mod overrides;
mod scale;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rpcbench_record::{
    Limits, PlacementKind, Plan, PlannedServer, Protocol, Published, Stopping, WarmUp, Window,
    Workload,
};

pub use error::SuiteError;
pub use overrides::{Loads, Overrides};
pub use scale::fit;

use crate::config;
use crate::manifest::Runtime;
use rpcbench_record::units::{self, UnitError};

/// A named list of workloads and the limits under which servers meet them.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// The file's name without its ending.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// What it is for, one line.
    pub description: String,
    /// Processes of each entry, one after another; where there is a precision, at most so many.
    pub processes: u32,
    /// Windows in which each process is measured, under each workload.
    pub rounds: u32,
    /// When a run may end before all that.
    pub stopping: Option<Stopping>,
    /// Whether every measured call is written down.
    pub log_calls: bool,
    /// Whether servers are asked for statistics of their runtimes.
    pub runtime_statistics: bool,
    /// Figures that somebody published for its workloads.
    pub published: Vec<Published>,
    /// The protocols that it takes. `None`: all that an entry speaks.
    pub protocols: Option<Vec<Protocol>>,
    /// What each server may use.
    pub limits: Limits,
    /// The loads, in order. Never empty.
    pub workloads: Vec<Workload>,
}

/// All suites of a folder.
#[derive(Debug)]
pub struct Suites {
    suites: Vec<Suite>,
    left_out: Vec<(PathBuf, SuiteError)>,
}

impl Suites {
    /// Loads every `*.toml` in `root/suites`.
    ///
    /// # Errors
    /// If there are none.
    pub fn load(root: &Path) -> Result<Self, SuiteError> {
        let mut all = Self { suites: Vec::new(), left_out: Vec::new() };
        for path in files(root)? {
            match Suite::load(&path) {
                Ok(suite) => all.suites.push(suite),
                Err(problem) => all.left_out.push((path, problem)),
            }
        }
        Ok(all)
    }

    /// Files that are no suites, with what is wrong: key, value and remedy.
    #[must_use]
    pub fn left_out(&self) -> &[(PathBuf, SuiteError)] {
        &self.left_out
    }

    /// All of them, by name.
    #[must_use]
    pub fn all(&self) -> &[Suite] {
        &self.suites
    }
}

/// The files `*.toml` in `root/suites`, sorted; at least one.
fn files(root: &Path) -> Result<Vec<PathBuf>, SuiteError> {
    let folder = root.join("suites");
    let read = |source| config::unreadable(&folder, source);
    let mut paths = Vec::new();
    for entry in fs::read_dir(&folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() { Err(SuiteError::None { folder }) } else { Ok(paths) }
}

impl Suite {
    /// The suite of that name in `root/suites`, or the one in a file: what ends in `.toml` is its path. Nothing else is
    /// read, so that no other suite can be in the way.
    ///
    /// # Errors
    /// If there is none: with the names that there are. What is wrong with it, with its key, value and remedy.
    pub fn named(root: &Path, name: &str) -> Result<Self, SuiteError> {
        if name.ends_with(".toml") {
            return Self::load(Path::new(name));
        }
        let files = files(root)?;
        let named = |path: &Path| path.file_stem().is_some_and(|stem| stem == name);
        match files.iter().find(|path| named(path)) {
            Some(path) => Self::load(path),
            None => {
                let stems = files.iter().filter_map(|path| path.file_stem()?.to_str());
                Err(error::unknown(name, stems))
            }
        }
    }

    /// Reads one file.
    ///
    /// # Errors
    /// What is wrong with it, with its key, value and remedy.
    pub fn load(path: &Path) -> Result<Self, SuiteError> {
        let text = fs::read_to_string(path).map_err(|source| config::unreadable(path, source))?;
        Self::parse(path, &text)
    }

    /// Reads the text of a file. `path` gives the suite its name and errors their place.
    ///
    /// # Errors
    /// As [`Suite::load`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, SuiteError> {
        let suite = file::read(path, text)?;
        check::suite(&suite, &Overrides::default())?;
        Ok(suite)
    }

    /// How long it takes for one entry at most, as far as that can be known before: start and check of a process are a few
    /// seconds, it is steady soon after its least warm-up, and a search takes a dozen windows. Calls that are counted are made by a
    /// server that is none of the fast ones.
    #[must_use]
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
                            runtime.least_warm_up.max(ms(least_ms)) + FLAT
                        }
                        WarmUp::Calls { calls, .. } => ms(calls / CALLS_PER_MS),
                    };
            }
            let windows = if w.find_max.is_some() { SEARCH } else { 1 };
            let window = match w.window {
                Window::Duration { length_ms } => ms(length_ms),
                Window::Calls { calls } => ms(calls / CALLS_PER_MS),
            };
            process += (ms(w.settle_ms) + window) * windows * self.rounds;
        }
        process * self.processes
    }

    /// Whether entries of that protocol take part.
    #[must_use]
    pub fn takes(&self, protocol: Protocol) -> bool {
        self.protocols.as_ref().is_none_or(|taken| taken.contains(&protocol))
    }

    /// The published figures that are of the same loads with values from the command line.
    fn published_of(&self, overrides: &Overrides) -> Vec<Published> {
        let given = overrides.apply(self);
        let shape = |w: &Workload| (w.shape.clone(), w.connections, w.in_flight, w.connection_life);
        let same = |figure: &&Published| {
            let of = |suite: &Self| {
                suite.workloads.iter().find(|w| w.name == figure.workload).map(shape)
            };
            of(self) == of(&given)
        };
        self.published.iter().filter(same).cloned().collect()
    }

    /// The suite with values from the command line in place of its own.
    ///
    /// # Errors
    /// Where they contradict each other or what remains of the suite.
    pub fn with(&self, overrides: &Overrides) -> Result<Self, SuiteError> {
        let suite = overrides.apply(self);
        check::overrides(self, overrides)?;
        check::suite(&suite, overrides)?;
        Ok(suite)
    }
}

/// Everything that a run will do, in order: a round is every entry once, in random order. The first process of every
/// entry goes through all rounds of all workloads, then the second. The same seed gives the same order.
///
/// # Errors
/// Where values contradict each other, or two entries have one name.
pub fn plan(
    suite: &Suite,
    overrides: &Overrides,
    entries: &[PlannedServer],
    seed: u64,
) -> Result<Plan, SuiteError> {
    let published = suite.published_of(overrides);
    let suite = suite.with(overrides)?;
    let twice = entries
        .iter()
        .enumerate()
        .find(|(at, server)| entries.iter().take(*at).any(|before| before.entry == server.entry));
    if let Some((_, server)) = twice {
        return Err(SuiteError::Twice { entry: server.entry.clone() });
    }
    let taken = |server: &&PlannedServer| suite.takes(server.protocol);
    let servers: Vec<PlannedServer> = entries.iter().filter(taken).cloned().collect();
    if servers.is_empty() && !entries.is_empty() {
        return Err(SuiteError::NoEntries { protocols: suite.protocols.unwrap_or_default() });
    }
    check::trials(&suite, overrides, servers.len())?;
    let order = order::order(&suite, &servers, seed);
    Ok(Plan {
        suite: suite.name,
        seed,
        placement: PlacementKind::Native,
        fail_if: Vec::new(),
        log_calls: suite.log_calls,
        runtime_statistics: suite.runtime_statistics,
        scaled_from: overrides.scaled_from,
        published,
        stopping: suite.stopping,
        limits: suite.limits,
        workloads: suite.workloads,
        servers,
        order,
    })
}

/// Reads a warm-up: `until-steady`, `none`, `calls:N/CLIENTS`, or a length of time.
///
/// # Errors
/// If `text` is neither.
pub fn warm_up(text: &str) -> Result<WarmUp, UnitError> {
    match text {
        "until-steady" => Ok(WarmUp::UntilSteady { least_ms: 0, cap_ms: None }),
        "none" => Ok(WarmUp::Fixed { length_ms: 0 }),
        _ if text.starts_with("calls:") => warm_up_calls(text),
        _ => milliseconds(text).map(|length_ms| WarmUp::Fixed { length_ms }),
    }
}

/// Reads `calls:2000/100`: so many calls by so many clients, one without the second number.
fn warm_up_calls(text: &str) -> Result<WarmUp, UnitError> {
    let given = text.trim_start_matches("calls:");
    let (calls, clients) = given.split_once('/').unwrap_or((given, "1"));
    let read = calls.parse().ok().zip(clients.parse().ok());
    match read.filter(|(calls, clients)| *calls >= u64::from(*clients) && *clients > 0) {
        Some((calls, clients)) => Ok(WarmUp::Calls { calls, clients }),
        None => Err(UnitError::WarmUpCalls(text.to_owned())),
    }
}

/// Reads a length of time in whole milliseconds.
fn milliseconds(text: &str) -> Result<u64, UnitError> {
    let duration = units::duration(text)?;
    u64::try_from(duration.as_millis()).map_err(|_| UnitError::Duration(text.to_owned()))
}
