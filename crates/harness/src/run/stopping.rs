//! When a run ends before its order does.
//!
//! ```text
//! process 1: round 1, round 2, ... | process 2: round 1, ... | process 3: ...
//!            ^ its share of the time is up: on to the next process
//!                                                              ^ the answer is clear, or no time for four rounds: the end
//! ```

use rpcbench_engine::clock::Nanos;
use rpcbench_record::{PlannedTrial, Stopping as Rule};

/// Rounds of a process below which its preparation was not worth its time.
const LEAST_ROUNDS: u32 = 4;
/// Time of a process, preparation and rounds, over that of its preparation, to which it is cut where that leaves time for
/// another one. More processes tell more than more rounds of the same, so long as preparations leave most of the time.
const WORTH: u64 = 2;

/// Whether a trial of the order is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It is.
    Made,
    /// It is left out, as are those of its process that follow.
    LeftOut,
    /// It is left out, as are all that follow.
    End,
}

/// Follows a run through its order. Times are since the run began.
pub(super) struct Stopping {
    rule: Rule,
    /// Processes of each entry that there may be.
    most_processes: u32,
    /// The round that is on: process, workload, number.
    round: Option<(u32, String, u32)>,
    /// The process that is on.
    process: Process,
    /// The process that has had its share of the time.
    left_out: Option<u32>,
}

/// One process of each entry.
#[derive(Clone, Copy, Default)]
struct Process {
    began: Nanos,
    /// Part of its preparation that later ones need not have.
    once: Nanos,
    /// When its second round began.
    second: Option<Nanos>,
    /// Rounds that were begun.
    rounds: u32,
}

/// What another process like one that was measured takes, nanoseconds.
struct Paces {
    /// To be made ready.
    preparation: u64,
    /// With no more rounds than make it worth that.
    least: u64,
}

impl Process {
    /// After one round nobody can tell it from the preparation.
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

    /// Time from its begin to `until`, without what was only needed once.
    fn own(&self, until: Nanos) -> u64 {
        until.since(self.began).saturating_sub(self.once.0)
    }
}

impl Stopping {
    pub fn new(rule: Rule, most_processes: u32) -> Self {
        Self { rule, most_processes, round: None, process: Process::default(), left_out: None }
    }

    /// The process that is on was made ready; `once` of the time that this took is spared to later ones.
    pub fn prepared(&mut self, once: Nanos) {
        self.process.once = once;
    }

    /// What becomes of the next trial of the order. `is_clear` says whether so many processes of each entry give the answer;
    /// it is asked when all entries have had one more.
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
        if self.left_out == Some(planned.process) {
            return Turn::LeftOut;
        }
        if before == Some(planned.process) {
            if self.process.rounds >= LEAST_ROUNDS && self.share_is_up(planned.process, elapsed) {
                self.left_out = Some(planned.process);
                return Turn::LeftOut;
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

    /// Whether no process of that number is begun.
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

    /// Whether a process has had its share of the time: what was left when it began, divided among those that there must
    /// be yet, or as many as are worth their preparation.
    fn share_is_up(&self, process: u32, elapsed: Nanos) -> bool {
        let Some(most) = self.most() else { return false };
        let left = self.process.own(most);
        let Paces { preparation, least } = self.process.paces(elapsed);
        let worth = (WORTH * preparation).max(1);
        let worthwhile = ((left + worth / 2) / worth).min(left / least.max(1));
        let until = |last: u32| u64::from((last + 1).saturating_sub(process));
        let (must, may) = (until(self.rule.least_processes), until(self.most_processes));
        self.process.own(elapsed) >= left / worthwhile.min(may).max(must).max(1)
    }

    /// When the run's time is up.
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

    /// What is made of 5 processes x 6 rounds of a second each, with a preparation of 2 s for each process.
    fn made(rule: Rule, clear_after: u32) -> Vec<u32> {
        made_after(0, rule, clear_after)
    }

    /// The same, where the first process is made ready for so many seconds more.
    fn made_after(once: u64, rule: Rule, clear_after: u32) -> Vec<u32> {
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
                        let once = Nanos::from_millis(if at == 0 { once * 1000 } else { 0 });
                        stopping.prepared(once);
                        elapsed = elapsed + once + Nanos::from_millis(2000);
                    }
                    made[at] += 1;
                    elapsed = elapsed + Nanos::from_millis(1000);
                }
                Turn::LeftOut => {}
                Turn::End => return made,
            }
        }
        made
    }

    fn rule(precision: Option<f64>, least_processes: u32, seconds: Option<u64>) -> Rule {
        Rule { precision, agreement: None, least_processes, max_time_ms: seconds.map(|s| s * 1000) }
    }

    #[test]
    fn it_ends_when_the_answer_is_clear_and_not_before_the_least() {
        assert_eq!(made(rule(Some(0.05), 2, None), 3), [6, 6, 6, 0, 0]);
        assert_eq!(made(rule(Some(0.05), 2, None), 1), [6, 6, 0, 0, 0]);
        assert_eq!(made(rule(Some(0.05), 2, None), 9), [6, 6, 6, 6, 6]);
    }

    #[test]
    fn a_process_that_has_no_time_for_four_rounds_is_not_begun() {
        assert_eq!(made(rule(Some(0.05), 2, Some(17)), 9), [6, 6, 0, 0, 0]);
        assert_eq!(made(rule(Some(0.05), 2, Some(18)), 9), [4, 4, 4, 0, 0]);
        assert_eq!(made(rule(Some(0.05), 2, Some(22)), 9), [6, 5, 5, 0, 0]);
    }

    #[test]
    fn who_takes_more_than_his_share_leaves_an_equal_one_to_each_that_follows() {
        // Four rounds take the first process to 6 s of 18: six are left for each of the others.
        assert_eq!(made(rule(None, 3, Some(18)), 9), [4, 4, 4, 0, 0]);
        assert_eq!(made(rule(None, 3, Some(15)), 9), [4, 4, 4, 0, 0]);
        assert_eq!(made(rule(None, 3, Some(20)), 9), [5, 5, 4, 0, 0]);
    }

    #[test]
    fn where_preparing_is_cheap_there_are_more_processes_of_fewer_rounds() {
        assert_eq!(made(rule(Some(0.05), 2, Some(24)), 9), [4, 4, 4, 4, 0]);
    }

    #[test]
    fn what_the_first_process_alone_needs_is_not_expected_of_others() {
        assert_eq!(made_after(30, rule(Some(0.05), 2, Some(54)), 9), [4, 4, 4, 4, 0]);
        assert_eq!(made_after(30, rule(None, 3, Some(48)), 9), [4, 4, 4, 0, 0]);
    }

    #[test]
    fn all_processes_that_there_may_be_fill_the_time() {
        assert_eq!(made(rule(Some(0.05), 2, Some(40)), 9), [6, 6, 6, 6, 6]);
    }

    #[test]
    fn processes_that_there_must_be_divide_the_time() {
        assert_eq!(made(rule(Some(0.05), 2, Some(14)), 9), [5, 5, 0, 0, 0]);
        assert_eq!(made(rule(Some(0.05), 2, Some(8)), 9), [4, 4, 0, 0, 0]);
        // No time is left for the second.
        assert_eq!(made(rule(Some(0.05), 2, Some(5)), 9), [4, 0, 0, 0, 0]);
    }

    #[test]
    fn trials_of_one_round_are_made_or_left_out_together() {
        let mut stopping = Stopping::new(rule(None, 1, Some(1)), 1);
        let late = Nanos::from_millis(9000);
        for number in 1..=4 {
            assert_eq!(stopping.turn(&planned("a", 1, number), late, |_| false), Turn::Made);
            assert_eq!(stopping.turn(&planned("b", 1, number), late, |_| false), Turn::Made);
        }
        assert_eq!(stopping.turn(&planned("a", 1, 5), late, |_| false), Turn::LeftOut);
        assert_eq!(stopping.turn(&planned("b", 1, 5), late, |_| false), Turn::LeftOut);
    }
}
