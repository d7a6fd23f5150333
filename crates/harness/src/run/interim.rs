//! Analyzes the windows so far, to decide whether the run continues.

use rpcbench_record::{InterimAnalysis, RankedBy, Run, observations};
use rpcbench_stats::{Spread, compare};

/// An analysis of the windows of a workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Interim {
    /// The analysis that was due, if any.
    pub analysis: Option<InterimAnalysis>,
    /// The components of the noise, if it is known.
    pub spread: Option<Spread>,
}

impl Interim {
    /// True if an analysis was due, and its answer is clear.
    pub fn is_clear(&self) -> bool {
        self.analysis.as_ref().is_some_and(|it| it.is_clear)
    }
}

/// Analyzes a workload after this many rounds. `elapsed`: see [`Run::due_analysis`]; `None`: no analysis is due.
pub(super) fn analyze(run: &Run, workload: &str, rounds: u32, elapsed: Option<f64>) -> Interim {
    let plan = &run.header.plan;
    let Some(workload) = plan.workload(workload) else { return Interim::default() };
    let observations = observations(run, workload, RankedBy::of(run, workload));
    let compared = |question| compare(&observations, plan.servers.len(), &question);
    let due = elapsed.and_then(|elapsed| run.due_analysis(&workload.name, rounds, elapsed));
    let analysis = due.map(|due| {
        let is_clear = compared(run.question_of(&due)).is_decided();
        InterimAnalysis { is_clear, ..due }
    });
    let comparison = compared(run.question(&workload.name));
    Interim { analysis, spread: comparison.spread() }
}
