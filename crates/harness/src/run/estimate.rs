//! Estimates the remaining time of a run from the parts so far.

use std::collections::{BTreeMap, BTreeSet};

use rpcbench_clock::Nanos;
use rpcbench_record::{Plan, PlannedTrial, Preparation, Readiness};

/// The rest of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Remaining time.
    pub length: Nanos,
    /// True if it may be shorter: the run ends once the answer is clear.
    pub at_most: bool,
}

/// Learns how long preparations and trials take.
#[derive(Clone, Debug)]
pub struct Estimate<'a> {
    plan: &'a Plan,
    began: Nanos,
    /// Lengths of each entry's preparations, without the part that only the first one needs.
    preparations: BTreeMap<String, Mean>,
    /// Prepared processes.
    prepared: BTreeSet<(String, u32)>,
    /// Entries without further trials.
    out: BTreeSet<String>,
    /// Length of a trial beyond its settling time and its window.
    overhead: Mean,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: u64,
    number: u64,
}

impl Mean {
    fn add(&mut self, length: u64) {
        self.sum += length;
        self.number += 1;
    }

    fn get(self) -> Option<u64> {
        self.sum.checked_div(self.number)
    }
}

impl<'a> Estimate<'a> {
    /// The estimate of a run that begins now.
    pub fn new(plan: &'a Plan, began: Nanos) -> Self {
        Self {
            plan,
            began,
            preparations: BTreeMap::new(),
            prepared: BTreeSet::new(),
            out: BTreeSet::new(),
            overhead: Mean::default(),
        }
    }

    /// Records that a process is ready, or has failed.
    pub fn prepared(&mut self, preparation: &Preparation, took: Nanos) {
        let entry = &preparation.entry;
        self.prepared.insert((entry.clone(), preparation.process));
        if preparation.readiness == Readiness::Ready {
            let later = took.0.saturating_sub(preparation.first_only_ns);
            self.preparations.entry(entry.clone()).or_default().add(later);
        } else {
            self.out.insert(entry.clone());
        }
    }

    /// Records how long a trial took.
    pub fn trial(&mut self, workload: &str, took: Nanos) {
        self.overhead.add(took.0.saturating_sub(self.window(workload)));
    }

    /// The rest when `done` trials of the plan are over or skipped. `None` until the first process is ready.
    pub fn left(&self, done: usize, now: Nanos) -> Option<Left> {
        let rest = self.plan.order.get(done..).unwrap_or_default();
        let rest: Vec<&PlannedTrial> =
            rest.iter().filter(|trial| !self.out.contains(&trial.entry)).collect();
        let all = self.preparations.values().fold(Mean::default(), |all, mean| Mean {
            sum: all.sum + mean.sum,
            number: all.number + mean.number,
        });
        let usual = all.get()?;
        let processes: BTreeSet<(String, u32)> =
            rest.iter().map(|trial| (trial.entry.clone(), trial.process)).collect();
        let preparations = processes.difference(&self.prepared).map(|(entry, _)| {
            self.preparations.get(entry).and_then(|mean| mean.get()).unwrap_or(usual)
        });
        let overhead = self.overhead.get().unwrap_or(0);
        let trials = rest.iter().map(|trial| self.window(&trial.workload) + overhead);
        let length = Nanos(preparations.sum::<u64>() + trials.sum::<u64>());
        let stopping = self.plan.stopping;
        let time = stopping.and_then(|rule| rule.max_time_ms).map(Nanos::from_millis);
        let time = time.map_or(Nanos::NEVER, |time| self.began + time - now);
        let precision = stopping.is_some_and(|rule| rule.precision.is_some());
        Some(Left { length: length.min(time), at_most: precision })
    }

    /// Planned length of a trial.
    fn window(&self, workload: &str) -> u64 {
        let workload = self.plan.workload(workload);
        let length = workload.map(|w| w.settle_ms + w.window.length_ms().unwrap_or(0));
        Nanos::from_millis(length.unwrap_or(0)).0
    }
}

#[cfg(test)]
mod tests {
    use rpcbench_record::{Limits, Stopping, Window, Workload};

    use super::super::resume::tests::prepared;
    use super::*;

    const SECOND: Nanos = Nanos::from_millis(1000);

    fn plan(stopping: Option<Stopping>) -> Plan {
        let window = Window::Duration { length_ms: 1500 };
        let workload = Workload { settle_ms: 500, window, ..rpcbench_testkit::workload() };
        let trial = |process, entry: &str, number| PlannedTrial {
            entry: entry.into(),
            workload: "w".into(),
            process,
            number,
        };
        let order = (1..=2).flat_map(|process| {
            (1..=2).flat_map(move |round| {
                ["a", "b"].map(|e| trial(process, e, (process - 1) * 2 + round))
            })
        });
        Plan {
            suite: "s".into(),
            seed: 1,
            stopping,
            limits: Limits { cpus: 1, memory_bytes: None },
            workloads: vec![workload],
            order: order.collect(),
            ..Plan::default()
        }
    }

    fn ready(entry: &str, process: u32) -> Preparation {
        Preparation { process, ..prepared(entry, Readiness::Ready) }
    }

    fn seconds(left: Option<Left>) -> Option<u64> {
        left.map(|left| left.length.0 / SECOND.0)
    }

    #[test]
    fn rest_is_estimated_from_the_first_round() {
        let plan = plan(None);
        let mut estimate = Estimate::new(&plan, Nanos(0));
        assert_eq!(estimate.left(0, Nanos(0)), None);
        estimate.prepared(&ready("a", 1), Nanos(10 * SECOND.0));
        // The other entry is assumed to take as long: 3 more preparations and 8 trials of 2 s.
        assert_eq!(seconds(estimate.left(0, Nanos(0))), Some(46));
        estimate.prepared(&ready("b", 1), Nanos(4 * SECOND.0));
        estimate.trial("w", Nanos(3 * SECOND.0));
        estimate.trial("w", Nanos(3 * SECOND.0));
        // 10 s and 4 s for the second processes, 6 trials of 3 s.
        assert_eq!(seconds(estimate.left(2, Nanos(0))), Some(32));
        let missing = Readiness::Skipped { reason: String::new() };
        estimate.prepared(&Preparation { readiness: missing, ..ready("b", 2) }, Nanos(0));
        assert_eq!(seconds(estimate.left(4, Nanos(0))), Some(16));
        assert_eq!(seconds(estimate.left(8, Nanos(0))), Some(0));
    }

    #[test]
    fn one_time_work_of_the_first_process_is_not_expected_of_later_ones() {
        let plan = plan(None);
        let mut estimate = Estimate::new(&plan, Nanos(0));
        for entry in ["a", "b"] {
            let preparation = Preparation { first_only_ns: 4 * SECOND.0, ..ready(entry, 1) };
            estimate.prepared(&preparation, Nanos(7 * SECOND.0));
        }
        // 3 s for each of the second processes, 8 trials of 2 s.
        assert_eq!(seconds(estimate.left(0, Nanos(0))), Some(22));
    }

    #[test]
    fn time_limit_limits_the_estimate() {
        let plan = plan(Some(Stopping {
            precision: Some(0.05),
            max_time_ms: Some(20_000),
            ..Stopping::default()
        }));
        let mut estimate = Estimate::new(&plan, SECOND);
        estimate.prepared(&ready("a", 1), Nanos(10 * SECOND.0));
        let left = estimate.left(0, Nanos(11 * SECOND.0)).unwrap();
        assert_eq!((left.length.0 / SECOND.0, left.at_most), (10, true));
    }
}
