//! What entries are compared by: one figure of each measured window.

use std::collections::BTreeMap;

use rpcbench_stats::{Observation, Question, look_level};

use crate::plan::{Plan, Workload};
use crate::run::Run;
use crate::trial::Trial;

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
        let mut seen = windows.values().filter_map(|trial| trial.measured());
        match seen.any(|window| window.server.is_some()) {
            true => Self::CallsPerCpuSecond,
            false if windows.is_empty() => Self::CallsPerCpuSecond,
            false => Self::CallsPerSecond,
        }
    }

    /// Its value in a trial. `None` where the trial failed or does not have it.
    fn value(self, trial: &Trial) -> Option<f64> {
        match self {
            Self::CallsPerCpuSecond => trial.measured()?.ok_per_server_cpu_s(),
            Self::CallsPerSecond => trial.measured()?.ok_per_s(),
            Self::HighestRate => Some(trial.search.as_ref()?.met()?.rate.get()),
        }
    }
}

/// Probability with which any look at a run finds a difference that is not there.
const ERROR: f64 = 0.05;

/// A look at a run, after so many processes of each entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// After which the run goes on, unless its answer is clear.
    OnTheWay(u32),
    /// At a run that was not ended by what it found.
    Last(u32),
}

impl Plan {
    /// Whether a run that goes on until its answer is clear is looked at after so many processes of each entry: after the least
    /// of them, and after 2, 3, 4, 6, 8, 12, 16 and so on. Each look costs some of the error, and a single process more
    /// seldom decides.
    #[must_use]
    pub fn is_looked_at(&self, processes: u32) -> bool {
        let least = self.stopping.map_or(1, |stopping| stopping.least_processes);
        let odd = processes >> processes.trailing_zeros().min(31);
        processes == least || processes > least && (odd == 1 || odd == 3)
    }

    /// What a look asks of the observations. A run that goes on until its answer is clear is looked at several times; each
    /// look has its part of the error that all may make together, and the last one what is left of it.
    #[must_use]
    pub fn question(&self, look: Look) -> Question {
        let Some(stopping) = self.stopping.filter(|stopping| stopping.precision.is_some()) else {
            return Question::default();
        };
        let most = self.most_processes();
        let (done, until) = match look {
            Look::OnTheWay(done) => (done, done),
            Look::Last(done) => (done, most),
        };
        let part = |processes: u32| f64::from(processes) / f64::from(most);
        let before = (1..done).rev().find(|before| self.is_looked_at(*before)).map_or(0.0, part);
        Question {
            confidence: 1.0 - look_level(ERROR, before, part(until)),
            precision: stopping.precision.unwrap_or(Question::default().precision),
            ..Question::default()
        }
    }
}

/// What entries are ranked by, of every window of a workload that has it, in the plan's order of entries. Of a trial that
/// was repeated on resume: the latest. `entry` is the place in [`crate::Plan::servers`].
#[must_use]
pub fn observations(run: &Run, workload: &Workload, by: RankedBy) -> Vec<Observation> {
    observe(run, workload, |trial| by.value(trial))
}

/// The same of another figure, above 0 where it is known.
#[must_use]
pub fn observe(
    run: &Run,
    workload: &Workload,
    figure: impl Fn(&Trial) -> Option<f64>,
) -> Vec<Observation> {
    let of = |((entry, round), trial): ((usize, u32), &Trial)| {
        let value = figure(trial).filter(|value| *value > 0.0)?;
        let reference = trial.measured().and_then(|window| window.machine.reference);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Limits, PlacementKind, PlannedTrial, Stopping};

    fn plan(precision: Option<f64>) -> Plan {
        let trial = |process| PlannedTrial {
            entry: "go-grpc".to_owned(),
            workload: "quick".to_owned(),
            process,
            number: process,
        };
        let stopping =
            Stopping { precision, agreement: None, least_processes: 2, max_time_ms: None };
        Plan {
            suite: "quick".to_owned(),
            seed: 1,
            placement: PlacementKind::Native,
            fail_if: Vec::new(),
            log_calls: false,
            runtime_statistics: false,
            scaled_from: None,
            published: Vec::new(),
            stopping: Some(stopping),
            limits: Limits { cpus: 1, memory_bytes: None },
            workloads: Vec::new(),
            servers: Vec::new(),
            order: (1..=12).map(trial).collect(),
        }
    }

    #[test]
    fn all_looks_together_err_as_often_as_one_would() {
        let plan = plan(Some(0.03));
        let level = |look| 1.0 - plan.question(look).confidence;
        let until = |last| {
            let looks = (1..=last).filter(|done| plan.is_looked_at(*done));
            looks.map(|done| level(Look::OnTheWay(done))).sum::<f64>()
        };
        assert!((until(12) - ERROR).abs() < 1e-12, "{}", until(12));
        assert!((until(4) + level(Look::Last(5)) - ERROR).abs() < 1e-12);
        assert!((until(4) + level(Look::Last(6)) - ERROR).abs() < 1e-12);
        assert_eq!(plan.question(Look::Last(5)).precision, 0.03);
    }

    #[test]
    fn looks_are_ever_farther_apart() {
        let looks = |least_processes| {
            let mut plan = plan(Some(0.03));
            plan.stopping = plan.stopping.map(|rule| Stopping { least_processes, ..rule });
            (1..=32).filter(|done| plan.is_looked_at(*done)).collect::<Vec<u32>>()
        };
        assert_eq!(looks(2), [2, 3, 4, 6, 8, 12, 16, 24, 32]);
        assert_eq!(looks(5), [5, 6, 8, 12, 16, 24, 32]);
    }

    #[test]
    fn a_run_that_is_not_looked_at_before_its_end_has_all_the_error_for_it() {
        assert_eq!(plan(None).question(Look::OnTheWay(3)), Question::default());
    }
}
