//! The figure by which entries are compared, taken from each window.

use std::collections::BTreeMap;

use rpcbench_stats::Observation;

use crate::run::Run;
use crate::trial::Trial;
use crate::workload::Workload;

/// The figure by which the entries of a workload are ranked. Higher is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankedBy {
    /// Correct answers per second of the server's CPU time.
    CallsPerCpuSecond,
    /// Correct answers per second.
    CallsPerSecond,
    /// The highest rate that met the threshold, calls per second.
    HighestRate,
}

impl RankedBy {
    /// The figure that ranks the entries of a workload: the highest rate if the workload searches for it, else calls per second
    /// of server CPU time, or calls per second if no window has CPU time.
    pub fn of(run: &Run, workload: &Workload) -> Self {
        if workload.find_max.is_some() {
            return Self::HighestRate;
        }
        let windows = windows(run, workload);
        let mut seen = windows.values().filter_map(|trial| trial.measured());
        match seen.any(|window| window.server.is_some()) {
            true => Self::CallsPerCpuSecond,
            false if windows.is_empty() => Self::CallsPerCpuSecond,
            false => Self::CallsPerSecond,
        }
    }

    /// The figure's value in a trial. `None` if the trial failed or lacks the figure.
    fn value(self, trial: &Trial) -> Option<f64> {
        match self {
            Self::CallsPerCpuSecond => trial.measured()?.ok_per_server_cpu_s(),
            Self::CallsPerSecond => trial.measured()?.ok_per_s(),
            Self::HighestRate => Some(trial.search.as_ref()?.met()?.rate.get()),
        }
    }
}

/// The ranking figure of every window of a workload that has it, in the plan's order of entries. If a resume repeated a trial,
/// the latest counts. `entry` is the index in [`crate::Plan::servers`].
pub fn observations(run: &Run, workload: &Workload, by: RankedBy) -> Vec<Observation> {
    let mut list = observe(run, workload, |trial| by.value(trial));
    for observation in &mut list {
        observation.spread = run.header.plan.servers[observation.entry].assumed_spread();
    }
    list
}

/// The same for another figure. Values that are not positive are left out.
pub fn observe(
    run: &Run,
    workload: &Workload,
    figure: impl Fn(&Trial) -> Option<f64>,
) -> Vec<Observation> {
    let rounds = run.header.plan.rounds(&workload.name);
    let of = |((entry, number), trial): ((usize, u32), &Trial)| {
        let value = figure(trial).filter(|value| *value > 0.0)?;
        let reference = trial.measured().and_then(|window| window.machine.reference);
        let reference = reference.map(|reference| reference.mean_ns());
        let round = rounds.get(&number).copied().unwrap_or(number);
        Some(Observation { reference, ..Observation::new(entry, trial.process, round, value) })
    };
    windows(run, workload).into_iter().filter_map(of).collect()
}

/// The latest trial of each number by entry. Windows in slices can't be compared with windows in one piece: only the kind that
/// came first counts.
fn windows<'a>(run: &'a Run, workload: &Workload) -> BTreeMap<(usize, u32), &'a Trial> {
    let is_sliced = |trial: &Trial| Some(trial.measured()?.slicing.is_some());
    let mut of_workload = run.trials.iter().filter(|trial| trial.workload == workload.name);
    let kind = of_workload.find_map(is_sliced);
    let servers = &run.header.plan.servers;
    let place = |trial: &'a Trial| {
        let entry = servers.iter().position(|server| server.entry == trial.entry)?;
        Some(((entry, trial.number), trial))
    };
    let mine = run.trials.iter().filter(|trial| trial.workload == workload.name);
    mine.filter(|trial| is_sliced(trial).is_none_or(|own| Some(own) == kind))
        .filter_map(place)
        .collect()
}
