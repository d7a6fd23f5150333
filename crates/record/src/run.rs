//! A run as read back from disk.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SCHEMA;
use crate::id::RunId;
use crate::machine::Machines;
use crate::plan::Plan;
use crate::preparation::Preparation;
use crate::trial::{Trial, TrialResult};

/// The program that made a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Version of rpcbench.
    pub version: String,
    /// Commit it was built from, `-dirty` behind it where the tree had changes. `None` outside git.
    pub commit: Option<String>,
    /// `release` or `debug`.
    pub profile: String,
}

/// What is known before anything is measured: the content of `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// See [`crate::SCHEMA`]; that of an older record is brought to it when it is read.
    pub schema: u32,
    /// Identifies the run.
    pub id: RunId,
    /// The program.
    pub tool: Tool,
    /// Arguments as typed.
    pub arguments: Vec<String>,
    /// When the run began.
    pub started: Timestamp,
    /// The machines.
    pub machines: Machines,
    /// The plan.
    pub plan: Plan,
}

impl Header {
    /// Of a run that begins now, with an id of its own.
    #[must_use]
    pub fn new(
        tool: Tool,
        arguments: Vec<String>,
        started: Timestamp,
        machines: Machines,
        plan: Plan,
    ) -> Self {
        let content = format!("{tool:?} {arguments:?} {machines:?} {plan:?}");
        let id = RunId::derive(started, content.as_bytes());
        Self { schema: SCHEMA, id, tool, arguments, started, machines, plan }
    }
}

/// A whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// What was planned, and on which machines.
    pub header: Header,
    /// Every preparation, in order.
    pub preparations: Vec<Preparation>,
    /// Every trial, in order.
    pub trials: Vec<Trial>,
    /// When it ended; `None` for a run that was interrupted.
    pub finished: Option<Timestamp>,
}

impl Run {
    /// The capacity of an entry of which a workload takes a share, calls a second: the mean rate of right
    /// answers over the trials measured so far of [`crate::Workload::capacity_from`]. `process`: of that one, or `None` for all.
    /// `None` without any, and where one failed.
    #[must_use]
    pub fn capacity(&self, entry: &str, workload: &str, process: Option<u32>) -> Option<f64> {
        let plan = &self.header.plan;
        let measured_by = &plan.workload(workload)?.capacity_from(&plan.workloads)?.name;
        let rates: Option<Vec<f64>> = self
            .trials
            .iter()
            .filter(|trial| trial.entry == entry && trial.workload == *measured_by)
            .filter(|trial| process.is_none_or(|process| process == trial.process))
            .map(|trial| match &trial.result {
                TrialResult::Measured(m) if m.window_ns > 0 => {
                    Some(m.outcomes.ok as f64 * 1e9 / m.window_ns as f64)
                }
                TrialResult::Measured(_) | TrialResult::Failed(_) => None,
            })
            .collect();
        rates.filter(|r| !r.is_empty()).map(|r| r.iter().sum::<f64>() / r.len() as f64)
    }
}
