//! The figure by which entries are compared, taken from each window.

use std::collections::BTreeMap;

use rpcbench_stats::{Observation, Question, look_level};

use crate::plan::{Plan, Stopping};
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
    /// The figure that ranks the entries of a workload: the highest rate if one is searched for, else calls per second of
    /// the servers' CPU time, or calls per second if no window has that.
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

    /// Its value in a trial. `None` if the trial failed or lacks the figure.
    fn value(self, trial: &Trial) -> Option<f64> {
        match self {
            Self::CallsPerCpuSecond => trial.measured()?.ok_per_server_cpu_s(),
            Self::CallsPerSecond => trial.measured()?.ok_per_s(),
            Self::HighestRate => Some(trial.search.as_ref()?.met()?.rate.get()),
        }
    }
}

/// Probability that any of a run's analyses finds a difference that does not exist.
const ERROR: f64 = 0.05;

/// An analysis of a run after this many rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Analysis {
    /// One that ends the run if its answer is clear.
    Interim(u32),
    /// The last one, of a run that no interim analysis ended.
    Final(u32),
}

impl Plan {
    /// True if a run that continues until its answer is clear is analyzed after this many rounds: 4, 6, 8, 12, 16, 24 and so
    /// on. Each analysis uses up some of the error probability, and a single additional round rarely decides.
    pub fn is_analyzed_after(&self, rounds: u32) -> bool {
        let odd = rounds >> rounds.trailing_zeros().min(31);
        rounds >= Stopping::LEAST_ROUNDS && (odd == 1 || odd == 3)
    }

    /// The question an analysis asks. A run that continues until its answer is clear is analyzed several times: each interim
    /// analysis spends part of the error probability, and the final one what is left.
    pub fn question(&self, analysis: Analysis) -> Question {
        let Some(stopping) = self.stopping.filter(|stopping| stopping.precision.is_some()) else {
            return Question::default();
        };
        let most = self.most_rounds();
        let (done, until) = match analysis {
            Analysis::Interim(done) => (done, done),
            Analysis::Final(done) => (done, most),
        };
        let part = |rounds: u32| f64::from(rounds) / f64::from(most);
        let before =
            (1..done).rev().find(|before| self.is_analyzed_after(*before)).map_or(0.0, part);
        Question {
            confidence: 1.0 - look_level(ERROR, before, part(until)),
            precision: stopping.precision.unwrap_or(Question::default().precision),
        }
    }
}

/// The ranking figure of every window of a workload that has it, in the plan's order of entries. If a resume repeated a
/// trial, the latest counts. `entry` is the index in [`crate::Plan::servers`].
pub fn observations(run: &Run, workload: &Workload, by: RankedBy) -> Vec<Observation> {
    observe(run, workload, |trial| by.value(trial))
}

/// The same for another figure. Values that are not above 0 are left out.
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
        Some(Observation { entry, process: trial.process, round, value, reference })
    };
    windows(run, workload).into_iter().filter_map(of).collect()
}

/// The latest trial of each number by entry.
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
    use crate::plan::{PlannedTrial, Stopping};

    /// 24 rounds of two processes.
    fn plan(precision: Option<f64>) -> Plan {
        let trial = |number| PlannedTrial {
            entry: "go-grpc".to_owned(),
            workload: "quick".to_owned(),
            process: 2 - number % 2,
            number,
        };
        let workload = Workload {
            name: "quick".into(),
            shape: "text:100".into(),
            connections: 1,
            connection_life: crate::ConnectionLife::Long,
            in_flight: 1,
            arrivals: crate::Arrivals::Closed,
            find_max: None,
            warm_up: crate::WarmUp::Fixed { length_ms: 0 },
            settle_ms: 0,
            window: crate::Window::Duration { length_ms: 1 },
            timeout_ms: 1,
            grace_ms: 1,
            connect_timeout_ms: Workload::CONNECT_TIMEOUT_MS,
            client_threads: 1,
            pipelining: false,
            headers: Vec::new(),
            authority: None,
        };
        Plan {
            stopping: Some(Stopping { precision, ..Stopping::default() }),
            workloads: vec![workload],
            order: (1..=48).map(trial).collect(),
            ..Plan::default()
        }
    }

    #[test]
    fn a_round_has_a_trial_of_each_process() {
        let plan = plan(None);
        let rounds = plan.rounds("quick");
        assert_eq!([1, 2, 3, 48].map(|number| rounds[&number]), [1, 1, 2, 24]);
        assert_eq!(plan.most_rounds(), 24);
    }

    #[test]
    fn all_analyses_together_err_as_often_as_one_would() {
        let plan = plan(Some(0.03));
        let level = |analysis| 1.0 - plan.question(analysis).confidence;
        let until = |last| {
            let analyses = (1..=last).filter(|done| plan.is_analyzed_after(*done));
            analyses.map(|done| level(Analysis::Interim(done))).sum::<f64>()
        };
        assert!((until(24) - ERROR).abs() < 1e-12, "{}", until(24));
        assert!((until(4) + level(Analysis::Final(5)) - ERROR).abs() < 1e-12);
        assert!((until(4) + level(Analysis::Final(6)) - ERROR).abs() < 1e-12);
        assert_eq!(plan.question(Analysis::Final(5)).precision, 0.03);
    }

    #[test]
    fn analyses_become_rarer() {
        let plan = plan(Some(0.03));
        let analyses: Vec<u32> = (1..=32).filter(|done| plan.is_analyzed_after(*done)).collect();
        assert_eq!(analyses, [4, 6, 8, 12, 16, 24, 32]);
    }

    #[test]
    fn a_run_without_interim_analyses_has_all_the_error_for_its_last() {
        assert_eq!(plan(None).question(Analysis::Interim(3)), Question::default());
    }
}
