//! A whole run in memory.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SCHEMA;
use crate::id::RunId;
use crate::interim_analysis::InterimAnalysis;
use crate::machine::Machines;
use crate::plan::Plan;
use crate::preparation::Preparation;
use crate::trial::{Measured, Trial};

/// The program that wrote a record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Version of rpcbench.
    pub version: String,
    /// Commit that rpcbench was built from, with the suffix `-dirty` if the tree had changes. `null` outside git.
    pub commit: Option<String>,
    /// Build profile: `release`, `first` (what `make bench` builds on a new machine) or `debug`.
    pub profile: String,
}

impl fmt::Display for Tool {
    /// `0.1.0 (4f2a9c1)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commit = self.commit.as_deref().map(|it| format!(" ({it})")).unwrap_or_default();
        f.pad(&format!("{}{commit}", self.version))
    }
}

/// Content of `run.json`: everything known before the first measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// Version of the record's format.
    pub schema: u32,
    /// Id of the run.
    pub id: RunId,
    /// The rpcbench that made the run.
    pub tool: Tool,
    /// Command-line arguments as typed, without the values of headers that may be secrets.
    pub arguments: Vec<String>,
    /// Start of the run.
    pub started: Timestamp,
    /// The machines of the run.
    pub machines: Machines,
    /// The plan of the run.
    pub plan: Plan,
}

impl Header {
    /// The header of a new run. Derives the run's id from the other fields.
    pub fn new(
        tool: Tool,
        arguments: Vec<String>,
        started: Timestamp,
        machines: Machines,
        plan: Plan,
    ) -> Self {
        let arguments: Vec<String> =
            arguments.into_iter().map(|argument| plan.redact(argument)).collect();
        let content = format!("{tool:?} {arguments:?} {machines:?} {plan:?}");
        let id = RunId::derive(started, content.as_bytes());
        Self { schema: SCHEMA, id, tool, arguments, started, machines, plan }
    }
}

/// A whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// The plan and the machines.
    pub header: Header,
    /// Every preparation, in order.
    pub preparations: Vec<Preparation>,
    /// Every trial, in order.
    pub trials: Vec<Trial>,
    /// Every interim analysis, in order.
    pub interim_analyses: Vec<InterimAnalysis>,
    /// When the run ended. `None` if it was interrupted.
    pub finished: Option<Timestamp>,
}

impl Run {
    /// A run without measurements.
    pub fn new(header: Header) -> Self {
        let (preparations, trials, interim_analyses) = Default::default();
        Self { header, preparations, trials, interim_analyses, finished: None }
    }

    /// The capacity of an entry of which the workload uses a share, in calls per second: the mean rate of correct answers over
    /// the trials of [`crate::Workload::capacity_from`] so far. `process` limits this to one process. `None` if there are no such
    /// trials or one of them failed.
    pub fn capacity(&self, entry: &str, workload: &str, process: Option<u32>) -> Option<f64> {
        let rates: Option<Vec<f64>> = self
            .capacity_trials(entry, workload)
            .filter(|trial| process.is_none_or(|process| process == trial.process))
            .map(|trial| {
                let measured = trial.measured().filter(|measured| measured.window_ns > 0)?;
                Some(measured.outcomes.ok as f64 * 1e9 / measured.window_ns as f64)
            })
            .collect();
        rates.filter(|r| !r.is_empty()).map(|r| r.iter().sum::<f64>() / r.len() as f64)
    }

    /// A window that shows that [`Self::capacity`] is the client's limit, not the server's. `None` if there is no such window.
    pub fn client_bound_capacity<'a>(
        &'a self,
        entry: &'a str,
        workload: &str,
    ) -> Option<&'a Measured> {
        let cpus = self.header.plan.limits.cpus;
        let mut windows = self.capacity_trials(entry, workload).filter_map(Trial::measured);
        windows.find(|measured| measured.client_bound(cpus))
    }

    fn capacity_trials<'a>(
        &'a self,
        entry: &'a str,
        workload: &str,
    ) -> impl Iterator<Item = &'a Trial> {
        let plan = &self.header.plan;
        let share = plan.workload(workload);
        let from = share.and_then(|share| share.capacity_from(&plan.workloads));
        let from = from.map(|from| &from.name);
        self.trials.iter().filter(move |t| t.entry == entry && from == Some(&t.workload))
    }
}
