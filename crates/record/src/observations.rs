//! What entries are compared by: one figure of each measured window.

use std::collections::BTreeMap;

use rpcbench_stats::Observation;

use crate::plan::Workload;
use crate::run::Run;
use crate::trial::{Measured, Trial, TrialResult};

/// The figure by which the entries of a workload are ranked; more of it is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankedBy {
    /// Right answers for each second of the server's CPU time.
    CallsPerCpuSecond,
    /// Right answers a second.
    CallsPerSecond,
    /// The highest rate that met the threshold, calls a second.
    HighestRate,
}

impl RankedBy {
    /// What ranks the entries of a workload: the highest rate where one is searched for, else calls for each second of
    /// the servers' CPU time, and calls a second where no window of the run has that.
    #[must_use]
    pub fn of(run: &Run, workload: &Workload) -> Self {
        if workload.find_max.is_some() {
            return Self::HighestRate;
        }
        let windows = windows(run, workload);
        let mut seen = windows.values().filter_map(|trial| measured(trial));
        match seen.any(|window| window.server.is_some()) {
            true => Self::CallsPerCpuSecond,
            false if windows.is_empty() => Self::CallsPerCpuSecond,
            false => Self::CallsPerSecond,
        }
    }

    /// Its value in a trial. `None` where the trial failed or does not have it.
    fn value(self, trial: &Trial) -> Option<f64> {
        match self {
            Self::CallsPerCpuSecond => measured(trial)?.ok_per_server_cpu_s(),
            Self::CallsPerSecond => measured(trial)?.ok_per_s(),
            Self::HighestRate => Some(trial.search.as_ref()?.met()?.rate.get()),
        }
    }
}

/// One figure of every window of a workload that has it, in the plan's order of entries. Of a trial that was repeated
/// on resume: the latest. `entry` is the place in [`crate::Plan::servers`].
#[must_use]
pub fn observations(run: &Run, workload: &Workload, by: RankedBy) -> Vec<Observation> {
    let of = |((entry, round), trial): ((usize, u32), &Trial)| {
        let value = by.value(trial).filter(|value| *value > 0.0)?;
        let reference = measured(trial).and_then(|window| window.machine.reference);
        let reference = reference.map(|reference| reference.mean_ns());
        Some(Observation { entry, process: trial.process, round, value, reference })
    };
    windows(run, workload).into_iter().filter_map(of).collect()
}

/// The latest trial of each number, by entry.
fn windows<'a>(run: &'a Run, workload: &Workload) -> BTreeMap<(usize, u32), &'a Trial> {
    let servers = &run.header.plan.servers;
    let place = |trial: &'a Trial| {
        let entry = servers.iter().position(|server| server.entry == trial.entry)?;
        Some(((entry, trial.number), trial))
    };
    let mine = run.trials.iter().filter(|trial| trial.workload == workload.name);
    mine.filter_map(place).collect()
}

fn measured(trial: &Trial) -> Option<&Measured> {
    match &trial.result {
        TrialResult::Measured(measured) => Some(measured),
        TrialResult::Failed(_) => None,
    }
}
