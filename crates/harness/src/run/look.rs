//! Looking at a run before its end: is the answer clear?

use rpcbench_record::{RankedBy, Run, observations};
use rpcbench_stats::{Question, compare, look_level};

/// Probability with which any look of a run finds a difference that is not there.
const ERROR: f64 = 0.05;

/// A look at a run, after a number of processes of each entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    /// Difference up to which two entries count as equal, as a fraction.
    pub precision: f64,
    /// Processes of each entry that were measured.
    pub done: u32,
    /// Processes of each entry that there may be in the end.
    pub most: u32,
    /// Processes after which the first look was taken.
    pub first: u32,
}

impl Look {
    /// Whether each two neighbours, under every load that is there for its own sake, are told apart, or known to be equal
    /// within the precision.
    pub fn is_clear(&self, run: &Run) -> bool {
        let plan = &run.header.plan;
        let question = Question {
            confidence: 1.0 - self.level(),
            precision: self.precision,
            ..Question::default()
        };
        plan.loads().all(|workload| {
            let observations = observations(run, workload, RankedBy::of(run, workload));
            compare(&observations, plan.servers.len(), &question).is_decided()
        })
    }

    /// The error level of this look alone.
    fn level(&self) -> f64 {
        let part = |processes: u32| f64::from(processes) / f64::from(self.most.max(1));
        let before = if self.done > self.first { part(self.done - 1) } else { 0.0 };
        look_level(ERROR, before, part(self.done))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_looks_together_err_as_often_as_one_would() {
        let level = |done| Look { precision: 0.05, done, most: 12, first: 2 }.level();
        let all: f64 = (2..=12).map(level).sum();
        assert!((all - ERROR).abs() < 1e-12, "{all}");
        assert!(level(12) > level(2));
    }
}
