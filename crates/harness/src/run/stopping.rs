//! When a run ends before its last planned trial.
//!
//! ```text
//! process 1: round 1, round 2, ... | process 2: round 1, ... | process 3: ...
//!            ^ its share of the time is used: next process
//!                                                              ^ the answer is clear, or no time for four rounds: the end
//! ```

use rpcbench_engine::clock::Nanos;
use rpcbench_record::{PlannedTrial, Stopping as Rule};

/// A process with fewer rounds is not worth its preparation.
const LEAST_ROUNDS: u32 = 4;
/// Total time of a process over the time of its preparation, to which it is cut if that leaves time for another one. More
/// processes tell more than more rounds of one, as long as preparations take at most half of the time.
const WORTH: u64 = 2;

/// What to do with a planned trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Make it.
    Made,
    /// Skip it, and the rest of its process.
    Skipped,
    /// Skip it, and all that follow.
    End,
}

/// Follows a run through its planned trials. Times count from the start of the run.
pub(super) struct Stopping {
    rule: Rule,
    /// Upper limit of processes of each entry.
    most_processes: u32,
    /// The current round: process, workload, number.
    round: Option<(u32, String, u32)>,
    /// The current process.
    process: Process,
    /// The process that has used its share of the time.
    skipped: Option<u32>,
}

/// One process of each entry.
#[derive(Clone, Copy, Default)]
struct Process {
    began: Nanos,
    /// Part of its preparation that later ones don't need.
    one_time_setup: Nanos,
    /// When its second round began.
    second: Option<Nanos>,
    /// Rounds begun.
    rounds: u32,
}

/// Time that another process like the measured one takes, nanoseconds.
struct Paces {
    /// For its preparation.
    preparation: u64,
    /// In all, with the fewest rounds that are worth it.
    least: u64,
}

impl Process {
    /// Until the second round begins, round and preparation can't be separated.
    fn paces(&self, elapsed: Nanos) -> Paces {
        let Some(second) = self.second else {
            let whole = self.own(elapsed);
            return Paces { preparation: whole, least: whole };
        };
        let round = elapsed.since(second) / u64::from(self.rounds - 1);
        let preparation = self.own(second).saturating_sub(round);
        let rounds = u64::from(self.rounds.min(LEAST_ROUNDS));
        Paces { preparation, least: preparation + round * rounds }
    }

    /// Time from its begin to `until`, without the one-time setup.
    fn own(&self, until: Nanos) -> u64 {
        until.since(self.began).saturating_sub(self.one_time_setup.0)
    }
}

impl Stopping {
    pub fn new(rule: Rule, most_processes: u32) -> Self {
        Self { rule, most_processes, round: None, process: Process::default(), skipped: None }
    }

    /// The current process is ready; later ones don't need `one_time_setup` of the time that it took.
    pub fn prepared(&mut self, one_time_setup: Nanos) {
        self.process.one_time_setup = one_time_setup;
    }

    /// What to do with the next planned trial. `is_clear` says whether that number of processes of each entry gives a clear
    /// answer; it is called when all entries have had one more.
    pub fn turn(
        &mut self,
        planned: &PlannedTrial,
        elapsed: Nanos,
        is_clear: impl FnOnce(u32) -> bool,
    ) -> Turn {
        let round = (planned.process, planned.workload.clone(), planned.number);
        let before = self.round.as_ref().map(|(process, ..)| *process);
        if self.round.as_ref() == Some(&round) {
            return Turn::Made;
        }
        if self.skipped == Some(planned.process) {
            return Turn::Skipped;
        }
        if before == Some(planned.process) {
            if self.process.rounds >= LEAST_ROUNDS && self.share_is_used(planned.process, elapsed) {
                self.skipped = Some(planned.process);
                return Turn::Skipped;
            }
            self.process.second.get_or_insert(elapsed);
        } else {
            if before.is_some() && self.ends_before(planned.process, elapsed, is_clear) {
                return Turn::End;
            }
            self.process = Process { began: elapsed, ..Process::default() };
        }
        self.round = Some(round);
        self.process.rounds += 1;
        Turn::Made
    }

    /// True if the run ends before the processes of that number.
    fn ends_before(
        &self,
        process: u32,
        elapsed: Nanos,
        is_clear: impl FnOnce(u32) -> bool,
    ) -> bool {
        let most = self.most().unwrap_or(Nanos::NEVER);
        if process <= self.rule.least_processes {
            return elapsed >= most;
        }
        let Paces { least, .. } = self.process.paces(elapsed);
        elapsed + Nanos(least) > most || self.rule.precision.is_some() && is_clear(process - 1)
    }

    /// True if a process has used its share of the time: what was left when it began, divided among the required processes,
    /// or as many as are worth their preparation.
    fn share_is_used(&self, process: u32, elapsed: Nanos) -> bool {
        let Some(most) = self.most() else { return false };
        let left = self.process.own(most);
        let Paces { preparation, least } = self.process.paces(elapsed);
        let worth = (WORTH * preparation).max(1);
        let worthwhile = ((left + worth / 2) / worth).min(left / least.max(1));
        let until = |last: u32| u64::from((last + 1).saturating_sub(process));
        let (min, max) = (until(self.rule.least_processes), until(self.most_processes));
        self.process.own(elapsed) >= left / worthwhile.min(max).max(min).max(1)
    }

    /// Time limit of the run.
    fn most(&self) -> Option<Nanos> {
        self.rule.max_time_ms.map(Nanos::from_millis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(entry: &str, process: u32, number: u32) -> PlannedTrial {
        PlannedTrial { entry: entry.to_owned(), workload: "w".to_owned(), process, number }
    }

    /// Rounds made of 5 processes x 6 rounds of a second each, with a preparation of 2 s for each process.
    fn made(rule: Rule, clear_after: u32) -> Vec<u32> {
        made_after(0, rule, clear_after)
    }

    /// The same, with a one-time setup of the first process, in seconds.
    fn made_after(one_time_setup: u64, rule: Rule, clear_after: u32) -> Vec<u32> {
        let numbers =
            |process| (1..=6).map(move |round| planned("a", process, (process - 1) * 6 + round));
        let order: Vec<_> = (1..=5).flat_map(numbers).collect();
        let (mut stopping, mut elapsed) = (Stopping::new(rule, 5), Nanos(0));
        let mut made = vec![0; 5];
        for planned in &order {
            let at = (planned.process - 1) as usize;
            match stopping.turn(planned, elapsed, |done| done >= clear_after) {
                Turn::Made => {
                    if made[at] == 0 {
                        let once =
                            Nanos::from_millis(if at == 0 { one_time_setup * 1000 } else { 0 });
                        stopping.prepared(once);
                        elapsed = elapsed + once + Nanos::from_millis(2000);
                    }
                    made[at] += 1;
                    elapsed = elapsed + Nanos::from_millis(1000);
                }
                Turn::Skipped => {}
                Turn::End => return made,
            }
        }
        made
    }

    fn rule(precision: Option<f64>, least_processes: u32, seconds: Option<u64>) -> Rule {
        Rule { precision, agreement: None, least_processes, max_time_ms: seconds.map(|s| s * 1000) }
    }

    #[test]
    fn it_ends_when_the_answer_is_clear_but_not_before_the_minimum() {
        assert_eq!(made(rule(Some(0.05), 2, None), 3), [6, 6, 6, 0, 0]);
        assert_eq!(made(rule(Some(0.05), 2, None), 1), [6, 6, 0, 0, 0]);
        assert_eq!(made(rule(Some(0.05), 2, None), 9), [6, 6, 6, 6, 6]);
    }

    #[test]
    fn a_process_without_time_for_four_rounds_is_not_begun() {
        assert_eq!(made(rule(Some(0.05), 2, Some(17)), 9), [6, 6, 0, 0, 0]);
        assert_eq!(made(rule(Some(0.05), 2, Some(18)), 9), [4, 4, 4, 0, 0]);
        assert_eq!(made(rule(Some(0.05), 2, Some(22)), 9), [6, 5, 5, 0, 0]);
    }

    #[test]
    fn a_process_over_its_share_leaves_equal_shares_to_the_rest() {
        // Four rounds take the first process to 6 s of 18: six are left for each of the others.
        assert_eq!(made(rule(None, 3, Some(18)), 9), [4, 4, 4, 0, 0]);
        assert_eq!(made(rule(None, 3, Some(15)), 9), [4, 4, 4, 0, 0]);
        assert_eq!(made(rule(None, 3, Some(20)), 9), [5, 5, 4, 0, 0]);
    }

    #[test]
    fn cheap_preparations_give_more_processes_of_fewer_rounds() {
        assert_eq!(made(rule(Some(0.05), 2, Some(24)), 9), [4, 4, 4, 4, 0]);
    }

    #[test]
    fn one_time_setup_is_not_expected_of_later_processes() {
        assert_eq!(made_after(30, rule(Some(0.05), 2, Some(54)), 9), [4, 4, 4, 4, 0]);
        assert_eq!(made_after(30, rule(None, 3, Some(48)), 9), [4, 4, 4, 0, 0]);
    }

    #[test]
    fn all_allowed_processes_fill_the_time() {
        assert_eq!(made(rule(Some(0.05), 2, Some(40)), 9), [6, 6, 6, 6, 6]);
    }

    #[test]
    fn required_processes_divide_the_time() {
        assert_eq!(made(rule(Some(0.05), 2, Some(14)), 9), [5, 5, 0, 0, 0]);
        assert_eq!(made(rule(Some(0.05), 2, Some(8)), 9), [4, 4, 0, 0, 0]);
        // No time is left for the second.
        assert_eq!(made(rule(Some(0.05), 2, Some(5)), 9), [4, 0, 0, 0, 0]);
    }

    #[test]
    fn trials_of_a_round_are_made_or_skipped_together() {
        let mut stopping = Stopping::new(rule(None, 1, Some(1)), 1);
        let late = Nanos::from_millis(9000);
        for number in 1..=4 {
            assert_eq!(stopping.turn(&planned("a", 1, number), late, |_| false), Turn::Made);
            assert_eq!(stopping.turn(&planned("b", 1, number), late, |_| false), Turn::Made);
        }
        assert_eq!(stopping.turn(&planned("a", 1, 5), late, |_| false), Turn::Skipped);
        assert_eq!(stopping.turn(&planned("b", 1, 5), late, |_| false), Turn::Skipped);
    }
}
