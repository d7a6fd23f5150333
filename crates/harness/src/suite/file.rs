//! A suite as written.

use std::path::Path;
use std::time::Duration;

use rpcbench_contract::Shape;
use rpcbench_record::{
    Arrivals, ConnectionLife, Limits, Protocol, Published, Stopping, Threshold, WarmUp, Window,
    Workload,
};

use super::loads::{self, Load};
use super::{Suite, SuiteError, warm_up};
use crate::config::{self, At, ConfigError, Node, Value, table, texts};
use crate::search::Sweep;
use rpcbench_record::units;

/// Rounds where a suite does not say.
const ROUNDS: u32 = 1;
/// Client threads where a suite does not say: one thread has more calls to give than one core can answer.
const CLIENT_THREADS: u32 = 1;
/// Timeout where a suite does not say: far above any answer worth waiting for.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Grace where a suite does not say.
const GRACE: Duration = Duration::from_secs(5);

texts!(ConnectionLife, Shape, Sweep, Threshold);

table! {
    struct SuiteFile {
        description: String = "description = \"Few connections, large messages.\"",
        processes: u32 = "processes = 2",
        max_processes: Option<At<u32>> = "max_processes = 16",
        rounds: Option<u32> = "rounds = 16",
        precision: Option<At<Share>> = "precision = \"5%\"",
        agreement: Option<At<Share>> = "agreement = \"6%\"",
        max_time: Option<Duration> = "max_time = \"6m\"",
        log_calls: Option<bool> = "log_calls = true",
        runtime_statistics: Option<bool> = "runtime_statistics = true",
        protocols: Option<Vec<Protocol>> = "protocols = [\"grpc\"]",
        limits: LimitsFile = "[limits]",
        workload: Vec<WorkloadFile> = "[[workload]]",
        published: Option<Vec<PublishedFile>> = "[[published]]",
    }
}

table! {
    struct PublishedFile {
        workload: At<String> = "workload = \"clients-100\"",
        entry: String = "entry = \"go-grpc\"",
        calls_per_s: u32 = "calls_per_s = 13000",
    }
}

table! {
    struct LimitsFile {
        cpus: u32 = "cpus = 1",
        memory: Option<Memory> = "memory = \"512M\"",
    }
}

table! {
    /// One workload, or all those of a sweep.
    pub(super) struct WorkloadFile {
        name: Option<String> = "name = \"capacity\"",
        shape: Shape = "shape = \"text:100\"",
        connections: u32 = "connections = 50",
        connection_life: Option<ConnectionLife> = "connection_life = \"short\"",
        in_flight: u32 = "in_flight = 1000",
        arrivals: Option<At<String>> = "arrivals = \"poisson:40%\"",
        sweep: Option<At<Sweep>> = "sweep = \"10%..90%\"",
        find_max: Option<At<Threshold>> = "find_max = \"p99<10ms\"",
        warm_up: At<WarmUp> = "warm_up = \"until-steady\"",
        warm_up_least: Option<At<Duration>> = "warm_up_least = \"30s\"",
        warm_up_cap: Option<At<Duration>> = "warm_up_cap = \"2m\"",
        settle: Option<Duration> = "settle = \"500ms\"",
        duration: Option<At<Duration>> = "duration = \"3s\"",
        calls: Option<At<u32>> = "calls = 20000",
        timeout: Option<Duration> = "timeout = \"10s\"",
        grace: Option<Duration> = "grace = \"5s\"",
        client_threads: Option<u32> = "client_threads = 1",
        pipelining: Option<bool> = "pipelining = true",
    }
}

/// A share of a whole, as a fraction.
#[derive(Clone, Copy, Debug)]
struct Share(f64);

impl Value for Share {
    fn one() -> String {
        "a percentage in a string".to_owned()
    }

    fn many() -> String {
        "percentages in strings".to_owned()
    }

    fn read(node: &Node<'_>) -> Result<Self, ConfigError> {
        node.parsed(|text| units::share(text).map(Self))
    }
}

/// Bytes.
#[derive(Clone, Copy, Debug)]
struct Memory(u64);

impl Value for Memory {
    fn one() -> String {
        "a size of memory in a string".to_owned()
    }

    fn many() -> String {
        "sizes of memory in strings".to_owned()
    }

    fn read(node: &Node<'_>) -> Result<Self, ConfigError> {
        node.parsed(|text| units::memory(text).map(Self))
    }
}

impl Value for WarmUp {
    fn one() -> String {
        String::one()
    }

    fn many() -> String {
        String::many()
    }

    fn read(node: &Node<'_>) -> Result<Self, ConfigError> {
        node.parsed(|text| {
            warm_up(text).map_err(|error| format!("{error}; or \"until-steady\" or \"none\""))
        })
    }
}

pub(super) fn read(path: &Path, text: &str) -> Result<Suite, SuiteError> {
    let file: SuiteFile = config::parse(path, text)?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let workloads = file
        .workload
        .iter()
        .map(|workload| workload.loads(&name))
        .collect::<Result<Vec<_>, _>>()?;
    let stopping = file.stopping()?;
    let workloads = workloads.concat();
    let published = file.published(&workloads)?;
    Ok(Suite {
        name,
        path: path.to_owned(),
        description: file.description,
        processes: file.max_processes.as_ref().map_or(file.processes, |most| most.value),
        rounds: file.rounds.unwrap_or(ROUNDS),
        stopping,
        protocols: file.protocols,
        limits: Limits {
            cpus: file.limits.cpus,
            memory_bytes: file.limits.memory.map(|memory| memory.0),
        },
        workloads,
        log_calls: file.log_calls.unwrap_or_default(),
        runtime_statistics: file.runtime_statistics.unwrap_or_default(),
        published,
    })
}

impl SuiteFile {
    fn stopping(&self) -> Result<Option<Stopping>, SuiteError> {
        match (&self.max_processes, &self.precision) {
            (Some(_), Some(_)) | (None, None) => {}
            (Some(alone), None) => return Err(together(alone.to_string(), "precision")),
            (None, Some(alone)) => return Err(together(alone.to_string(), "max_processes")),
        }
        if let Some(agreement) =
            self.agreement.as_ref().filter(|_| self.rounds.unwrap_or(ROUNDS) < 2)
        {
            let problem = "two trials in a row are to agree; give rounds = 2 or more, the most that there are to be";
            return Err(agreement.bad(problem).into());
        }
        let stopping = Stopping {
            agreement: self.agreement.as_ref().map(|agreement| agreement.value.0),
            precision: self.precision.as_ref().map(|precision| precision.value.0),
            least_processes: self.processes,
            max_time_ms: self.max_time.map(milliseconds),
        };
        let is_any = stopping.precision.is_some()
            || stopping.agreement.is_some()
            || stopping.max_time_ms.is_some();
        Ok(is_any.then_some(stopping))
    }
}

impl SuiteFile {
    /// The published figures, each of a workload that there is.
    fn published(&self, workloads: &[Workload]) -> Result<Vec<Published>, SuiteError> {
        let figures = self.published.iter().flatten();
        let figure = |file: &PublishedFile| {
            let known = workloads.iter().any(|workload| workload.name == file.workload.value);
            if !known {
                let problem = "there is no such workload here; write the name of one of these";
                return Err(file.workload.bad(problem).into());
            }
            Ok(Published {
                workload: file.workload.value.clone(),
                entry: file.entry.clone(),
                calls_per_s: f64::from(file.calls_per_s),
            })
        };
        figures.map(figure).collect()
    }
}

fn together(given: String, other: &str) -> SuiteError {
    let problem = format!(
        "processes are added until the precision is reached, or there are max_processes; give {other} too"
    );
    SuiteError::Value { given, problem }
}

impl WorkloadFile {
    /// One for each load that the keys stand for.
    fn loads(&self, suite: &str) -> Result<Vec<Workload>, SuiteError> {
        let first = Workload {
            name: self.name.clone().unwrap_or_else(|| suite.to_owned()),
            shape: self.shape.to_string(),
            connections: self.connections,
            connection_life: self.connection_life.unwrap_or_default(),
            in_flight: self.in_flight,
            arrivals: Arrivals::Closed,
            find_max: None,
            warm_up: self.warm_up()?,
            settle_ms: self.settle.map_or(Workload::SETTLE_MS, milliseconds),
            window: self.window()?,
            timeout_ms: milliseconds(self.timeout.unwrap_or(TIMEOUT)),
            grace_ms: milliseconds(self.grace.unwrap_or(GRACE)),
            client_threads: self.client_threads.unwrap_or(CLIENT_THREADS),
            pipelining: self.pipelining.unwrap_or_default(),
        };
        let each = |load: Load| Workload {
            name: format!("{}{}", first.name, load.suffix),
            arrivals: load.arrivals,
            find_max: load.find_max,
            ..first.clone()
        };
        Ok(loads::loads(self)?.into_iter().map(each).collect())
    }

    /// A length, or a number of calls.
    fn window(&self) -> Result<Window, SuiteError> {
        match (&self.duration, &self.calls) {
            (Some(length), None) => Ok(Window::Duration { length_ms: milliseconds(length.value) }),
            (None, Some(calls)) => match &self.find_max {
                None => Ok(Window::Calls { calls: u64::from(calls.value) }),
                Some(find_max) => Err(SuiteError::Contradiction {
                    first: calls.to_string(),
                    second: find_max.to_string(),
                    remedy: "a search compares windows of one length; give a duration",
                }),
            },
            (Some(length), Some(calls)) => Err(SuiteError::Contradiction {
                first: calls.to_string(),
                second: length.to_string(),
                remedy: "a window has a length or a number of calls; remove one of them",
            }),
            (None, None) => Err(SuiteError::Value {
                given: format!("workload of shape '{}'", self.shape),
                problem:
                    "'duration' is missing; add a line such as duration = \"3s\" or calls = 20000"
                        .to_owned(),
            }),
        }
    }

    fn warm_up(&self) -> Result<WarmUp, SuiteError> {
        let (least, cap) = (self.warm_up_least.as_ref(), self.warm_up_cap.as_ref());
        match (self.warm_up.value, least.or(cap)) {
            (WarmUp::UntilSteady { .. }, _) => Ok(WarmUp::UntilSteady {
                least_ms: least.map_or(0, |least| milliseconds(least.value)),
                cap_ms: cap.map(|cap| milliseconds(cap.value)),
            }),
            (fixed @ (WarmUp::Fixed { .. } | WarmUp::Calls { .. }), None) => Ok(fixed),
            (WarmUp::Fixed { .. } | WarmUp::Calls { .. }, Some(bound)) => {
                Err(SuiteError::Contradiction {
                    first: bound.to_string(),
                    second: self.warm_up.to_string(),
                    remedy: "only \"until-steady\" has bounds; remove one of them",
                })
            }
        }
    }
}

/// At most as many as there are numbers for; a window of that length is refused anyway.
fn milliseconds(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}
