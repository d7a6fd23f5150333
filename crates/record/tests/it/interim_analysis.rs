//! The analyses of a workload share its error probability.

use rpcbench_record::{Run, Stopping};
use rpcbench_stats::Question;

use crate::sample::{self, trial};

/// A run without trials.
fn new(precision: Option<f64>) -> Run {
    let mut run = Run::new(sample::run().header);
    run.header.plan.stopping = Some(Stopping { precision, ..Stopping::default() });
    run
}

/// Adds rounds of two trials, of which `most` fit the time. Returns those that were followed by an analysis.
fn add_rounds(run: &mut Run, rounds: u32, most: u32) -> Vec<u32> {
    let mut analyses = vec![0];
    for round in 1..=rounds {
        run.trials.extend([trial(2 * round - 1), trial(2 * round)]);
        let last = analyses[analyses.len() - 1];
        let elapsed = f64::from(round - last) / f64::from(most - last);
        if let Some(analysis) = run.due_analysis("quick", round, elapsed) {
            run.interim_analyses.push(analysis);
            analyses.push(round);
        }
    }
    analyses.split_off(1)
}

fn error(question: Question) -> f64 {
    1.0 - question.confidence
}

fn close(one: f64, other: f64) {
    assert!((one - other).abs() < 1e-12, "{one} {other}");
}

#[test]
fn analyses_become_rarer() {
    assert_eq!(add_rounds(&mut new(Some(0.03)), 50, 50), [4, 6, 8, 12, 16, 24, 32]);
    assert_eq!(add_rounds(&mut new(Some(0.03)), 10, 10), [4, 6]);
    assert!(add_rounds(&mut new(None), 50, 50).is_empty());
}

#[test]
fn interim_analyses_share_error_of_one() {
    let mut run = new(Some(0.03));
    add_rounds(&mut run, 20, 25);
    let spent: f64 = run.interim_analyses.iter().map(|it| error(run.question_of(it))).sum();
    close(spent, 0.05 * 0.64_f64.powi(3));
    close(spent + error(run.question("quick")), 0.05);
    close(error(run.question("other")), 0.05);
    assert_eq!(run.question("quick").precision, 0.03);
    assert_eq!(new(None).question("quick"), Question::default());
}

#[test]
fn clear_analysis_holds_until_more_trials() {
    let mut run = new(Some(0.03));
    add_rounds(&mut run, 8, 40);
    // The final analysis is of the same trials as the last interim one: it may replace it, but does not follow it.
    close(error(run.question("quick")), 0.05 * (1.0 - 0.15_f64.powi(3)));
    run.interim_analyses[2].is_clear = true;
    close(error(run.question("quick")), 0.05 * (0.2_f64.powi(3) - 0.15_f64.powi(3)));
    run.trials.push(trial(17));
    close(error(run.question("quick")), 0.05 * (1.0 - 0.2_f64.powi(3)));
}
