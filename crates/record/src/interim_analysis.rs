//! Interim analyses, which share a workload's error probability with its last analysis.

use rpcbench_stats::{Question, analysis_level};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plan::{Plan, Stopping};
use crate::run::Run;

/// Probability that any analysis of a workload finds a difference that does not exist.
const ERROR: f64 = 0.05;
/// Part of a workload after which it is not analyzed again before its end: ending it then saves little time, and each analysis
/// widens the intervals of the last one.
const LATEST: f64 = 2.0 / 3.0;

/// An interim analysis of a workload. It ends the workload if its result is clear.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InterimAnalysis {
    /// Name of the workload.
    pub workload: String,
    /// Number of the workload's trials that had ended.
    pub trials: usize,
    /// Share of the workload's time that was over, or of its rounds if the run has no time limit, 0 to 1.
    pub part: f64,
    /// True if every two neighbours in the table differed clearly or were equal within the precision. This ends the workload.
    pub is_clear: bool,
}

impl Run {
    /// The analysis that is due for a workload after this many rounds, before its result is known. `None` if none is due.
    /// `elapsed` is the completed part of what was left of the workload at its last analysis, or at its start.
    pub fn due_analysis(
        &self,
        workload: &str,
        rounds: u32,
        elapsed: f64,
    ) -> Option<InterimAnalysis> {
        self.header.plan.stopping?.precision?;
        let before = self.analyses_of(workload).last().map_or(0.0, |it| it.part);
        let part = before + (1.0 - before) * elapsed;
        let (workload, trials) = (workload.to_owned(), self.trials_of(workload));
        let analysis = InterimAnalysis { workload, trials, part, is_clear: false };
        (has_analysis_after(rounds) && part <= LATEST).then_some(analysis)
    }

    /// The question of an interim analysis.
    pub fn question_of(&self, analysis: &InterimAnalysis) -> Question {
        let before = self.part_before(&analysis.workload, analysis.trials);
        self.header.plan.question(analysis_level(ERROR, before, analysis.part))
    }

    /// The question for all trials of a workload: that of the interim analysis that ended it, or that of its last analysis, which
    /// gets the error left by earlier ones.
    pub fn question(&self, workload: &str) -> Question {
        let trials = self.trials_of(workload);
        let ended =
            self.analyses_of(workload).last().filter(|it| it.is_clear && it.trials == trials);
        match ended {
            Some(analysis) => self.question_of(analysis),
            None => {
                let before = self.part_before(workload, trials);
                self.header.plan.question(analysis_level(ERROR, before, 1.0))
            }
        }
    }

    fn analyses_of(&self, workload: &str) -> impl Iterator<Item = &InterimAnalysis> {
        self.interim_analyses.iter().filter(move |it| it.workload == workload)
    }

    /// Part of a workload that was over at the latest analysis of fewer trials.
    fn part_before(&self, workload: &str, trials: usize) -> f64 {
        let earlier = self.analyses_of(workload).filter(|it| it.trials < trials);
        earlier.last().map_or(0.0, |it| it.part)
    }

    fn trials_of(&self, workload: &str) -> usize {
        self.trials.iter().filter(|trial| trial.workload == workload).count()
    }
}

/// True after round 4, 6, 8, 12, 16, 24 and so on. Each analysis spends some of the error probability, and a single additional
/// round rarely decides.
fn has_analysis_after(rounds: u32) -> bool {
    let odd = rounds >> rounds.trailing_zeros().min(31);
    rounds >= Stopping::MIN_ROUNDS && (odd == 1 || odd == 3)
}

impl Plan {
    /// The question of an analysis with this error probability.
    fn question(&self, error: f64) -> Question {
        Question { confidence: 1.0 - error, precision: self.precision() }
    }
}
