//! A suite as written.

use std::path::Path;

use rpcbench_contract::Shape;
use rpcbench_record::{Arrivals, Fresh, Limits, Protocol, WarmUp, Window, Workload};
use serde::Deserialize;

use super::loads::{self, Keys, Load};
use super::{Suite, SuiteError, milliseconds, warm_up};
use crate::units;

/// Trials where a suite does not say: the fewest that give an interval worth having.
const TRIALS: u32 = 3;
/// Client threads where a suite does not say: one thread has more calls to give than one core can answer.
const CLIENT_THREADS: u32 = 1;
/// Timeout where a suite does not say, milliseconds: far above any answer worth waiting for.
const TIMEOUT_MS: u64 = 10_000;
/// Grace where a suite does not say, milliseconds.
const GRACE_MS: u64 = 5000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteFile {
    description: String,
    trials: Option<u32>,
    fresh: Option<bool>,
    protocols: Option<Vec<Protocol>>,
    limits: LimitsFile,
    workload: Vec<WorkloadFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsFile {
    cpus: u32,
    memory: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkloadFile {
    name: Option<String>,
    shape: String,
    connections: u32,
    in_flight: u32,
    arrivals: Option<String>,
    sweep: Option<String>,
    find_max: Option<String>,
    warm_up: String,
    warm_up_least: Option<String>,
    warm_up_cap: Option<String>,
    duration: String,
    timeout: Option<String>,
    grace: Option<String>,
    client_threads: Option<u32>,
}

/// A file, for errors.
pub(super) struct Source<'a> {
    path: &'a Path,
}

pub(super) fn read(path: &Path, text: &str) -> Result<Suite, SuiteError> {
    let source = Source { path };
    let file: SuiteFile = toml::from_str(text).map_err(|error| SuiteError::Syntax {
        path: path.to_owned(),
        message: error.to_string().trim_end().to_owned(),
    })?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let memory = file.limits.memory.as_deref();
    let memory_bytes =
        memory.map(|text| source.value("limits.memory", text, units::memory(text))).transpose()?;
    let workloads = file
        .workload
        .into_iter()
        .map(|workload| source.workloads(&name, workload))
        .collect::<Result<Vec<_>, _>>()?
        .concat();
    Ok(Suite {
        name,
        path: path.to_owned(),
        description: file.description,
        trials: file.trials.unwrap_or(TRIALS),
        fresh: if file.fresh.unwrap_or(false) { Fresh::EachTrial } else { Fresh::Kept },
        protocols: file.protocols,
        limits: Limits { cpus: file.limits.cpus, memory_bytes },
        workloads,
    })
}

impl Source<'_> {
    /// One for each load that the keys of a workload stand for.
    fn workloads(&self, suite: &str, file: WorkloadFile) -> Result<Vec<Workload>, SuiteError> {
        let time = |key: &str, text: &str| self.value(key, text, milliseconds(text));
        let or = |key: &str, text: Option<String>, default| {
            text.map_or(Ok(default), |text| time(key, &text))
        };
        let shape: Shape = self.value("shape", &file.shape, file.shape.parse())?;
        let warm_up = self.warm_up(&file)?;
        let keys = Keys {
            arrivals: file.arrivals.as_deref(),
            sweep: file.sweep.as_deref(),
            find_max: file.find_max.as_deref(),
        };
        let loads = loads::loads(self, keys)?;
        let first = Workload {
            name: file.name.unwrap_or_else(|| suite.to_owned()),
            shape: shape.to_string(),
            connections: file.connections,
            in_flight: file.in_flight,
            arrivals: Arrivals::Closed,
            find_max: None,
            warm_up,
            window: Window::Duration { length_ms: time("duration", &file.duration)? },
            timeout_ms: or("timeout", file.timeout, TIMEOUT_MS)?,
            grace_ms: or("grace", file.grace, GRACE_MS)?,
            client_threads: file.client_threads.unwrap_or(CLIENT_THREADS),
        };
        let each = |load: Load| Workload {
            name: format!("{}{}", first.name, load.suffix),
            arrivals: load.arrivals,
            find_max: load.find_max,
            ..first.clone()
        };
        Ok(loads.into_iter().map(each).collect())
    }

    fn warm_up(&self, file: &WorkloadFile) -> Result<WarmUp, SuiteError> {
        let text = &file.warm_up;
        let read =
            warm_up(text).map_err(|error| format!("{error}; or \"until-steady\" or \"none\""));
        let bounds = [("warm_up_least", &file.warm_up_least), ("warm_up_cap", &file.warm_up_cap)];
        let WarmUp::UntilSteady { .. } = self.value("warm_up", text, read.clone())? else {
            let given = bounds.iter().find_map(|(key, value)| Some((key, value.as_ref()?)));
            let Some((key, value)) = given else { return self.value("warm_up", text, read) };
            return Err(SuiteError::Contradiction {
                first: format!("{}: {key} = \"{value}\"", self.path.display()),
                second: format!("warm_up = \"{text}\""),
                remedy: "only \"until-steady\" has bounds; remove one of them",
            });
        };
        let [least, cap] = bounds.map(|(key, value)| {
            value.as_ref().map(|value| self.value(key, value, milliseconds(value))).transpose()
        });
        Ok(WarmUp::UntilSteady { least_ms: least?.unwrap_or(0), cap_ms: cap? })
    }

    /// A key and its value, with the file.
    pub fn place(&self, key: &str, value: &str) -> String {
        format!("{}: {key} = \"{value}\"", self.path.display())
    }

    pub fn value<T, E: ToString>(
        &self,
        key: &str,
        value: &str,
        read: Result<T, E>,
    ) -> Result<T, SuiteError> {
        read.map_err(|error| SuiteError::Value {
            given: self.place(key, value),
            problem: error.to_string(),
        })
    }
}
