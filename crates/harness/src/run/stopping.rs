//! Decides which trials of the plan are made, and divides the time between them.
//!
//! ```text
//! prepare all processes | round 1 | round 2 | round 3 | ... | the answer is clear, or the time is used: the next workload
//! about 2/5 at most
//! ```

use std::collections::{BTreeMap, BTreeSet};

use rpcbench_clock::Nanos;
use rpcbench_record::{InterimAnalysis, PlannedTrial, Stopping as Rule};
use rpcbench_stats::Spread;

use super::interim::Interim;

/// Share of the time that starting, checking and warming may take: settling takes up to a sixth of the rest, so that at least
/// half of a run is measured windows.
const AIM: (u64, u64) = (2, 5);
/// Share of the time after which no more processes are started. It is above the aim because second processes show how much
/// processes differ, and further windows don't. The rest is enough for two or three rounds in slices of a dozen servers with two
/// processes each.
const LAST: (u64, u64) = (3, 4);

/// A workload, and the process number if processes run in batches, else 0.
type Stage = (String, u32);

/// Follows a run through its planned trials.
pub(super) struct Stopping {
    /// When the time limit ends the run.
    end: Option<Nanos>,
    /// Round of each trial number, by workload.
    rounds: BTreeMap<String, BTreeMap<u32, u32>>,
    /// True if processes run in batches, one of each entry at a time.
    in_batches: bool,
    /// Stages that have not begun. They share the remaining time.
    stages_left: u64,
    current: Option<(Stage, u32)>,
    /// When the time of the current stage ends.
    until: Nanos,
    /// Time of the current stage's last analysis, or of its start, and the rounds until then.
    last_analysis: (Nanos, u32),
    /// True if no more trials of the current stage should be made.
    is_over: bool,
    interim: Interim,
    /// Length of each entry's last trial.
    lengths: BTreeMap<String, Nanos>,
}

/// When processes should be ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deadlines {
    /// Time by which all should be ready.
    pub aim: Nanos,
    /// Processes that would be ready later are left out.
    pub last: Nanos,
}

impl Stopping {
    /// Applies `rule` to a run that begins now. `rounds`: [`rpcbench_record::Plan::rounds`] of each workload.
    pub fn new(rule: Rule, rounds: BTreeMap<String, BTreeMap<u32, u32>>, now: Nanos) -> Self {
        Self {
            end: rule.max_time_ms.map(|most| now + Nanos::from_millis(most)),
            in_batches: false,
            stages_left: rounds.len() as u64,
            rounds,
            current: None,
            until: Nanos::NEVER,
            last_analysis: (now, 0),
            is_over: false,
            interim: Interim::default(),
            lengths: BTreeMap::new(),
        }
    }

    /// Runs processes in batches in these trials, the rest of the run.
    pub fn run_in_batches<'t>(&mut self, rest: impl Iterator<Item = &'t PlannedTrial>) {
        self.in_batches = true;
        let stages: BTreeSet<Stage> = rest.map(|planned| self.stage(planned)).collect();
        self.stages_left = stages.len() as u64;
    }

    fn stage(&self, planned: &PlannedTrial) -> Stage {
        (planned.workload.clone(), if self.in_batches { planned.process } else { 0 })
    }

    /// Deadlines of the processes of the next `stages`. `None` without a time limit.
    pub fn deadlines(&self, stages: usize, now: Nanos) -> Option<Deadlines> {
        let time = self.until(stages as u64, now)? - now;
        let part = |(part, of): (u64, u64)| now + Nanos(time.0 / of * part);
        Some(Deadlines { aim: part(AIM), last: part(LAST) })
    }

    /// When the time of the next `stages` ends.
    fn until(&self, stages: u64, now: Nanos) -> Option<Nanos> {
        let left = (self.end? - now).0 / self.stages_left.max(1);
        Some(now + Nanos(left * stages))
    }

    /// True if these trials of one round, at least one, should be made. When the previous round is complete, calls `analyze` with
    /// the number of complete rounds, and with the elapsed share of what was left at the last analysis. The share is `None` if
    /// processes run in batches, since others always follow.
    pub fn makes(
        &mut self,
        trials: &[PlannedTrial],
        now: Nanos,
        analyze: impl FnOnce(u32, Option<f64>) -> Interim,
    ) -> bool {
        let Some(planned) = trials.first() else { return false };
        let rounds = self.rounds.get(&planned.workload);
        let round = rounds.and_then(|rounds| rounds.get(&planned.number)).copied().unwrap_or(1);
        let stage = self.stage(planned);
        match self.current.replace((stage.clone(), round)) {
            Some((before, last)) if before == stage => {
                if last != round && round > Rule::MIN_ROUNDS && !self.is_over {
                    let elapsed = || self.elapsed(&planned.workload, now, round - 1);
                    self.interim = analyze(round - 1, (!self.in_batches).then(elapsed));
                    self.is_over = self.interim.is_clear();
                    if self.interim.analysis.is_some() {
                        self.last_analysis = (now, round - 1);
                    }
                }
            }
            _ => {
                self.until = self.until(1, now).unwrap_or(Nanos::NEVER);
                self.last_analysis = (now, round - 1);
                self.stages_left = self.stages_left.saturating_sub(1);
                (self.is_over, self.interim) = Default::default();
            }
        }
        // The first round is always made: without a window of each entry, a run has no result.
        let known = trials.iter().filter_map(|planned| self.lengths.get(&planned.entry));
        let length = Nanos(known.map(|length| length.0).sum());
        self.is_over |= round > 1 && now + length > self.until;
        !self.is_over
    }

    /// The elapsed share of what was left of a workload at the last analysis: of its time, or of its rounds without a time limit.
    fn elapsed(&self, workload: &str, now: Nanos, rounds: u32) -> f64 {
        let (since, before) = self.last_analysis;
        let (over, left) = match self.end {
            Some(_) => ((now - since).0 as f64, (self.until - since).0 as f64),
            None => {
                let most = self.rounds.get(workload).and_then(|rounds| rounds.values().max());
                let most = most.copied().unwrap_or(rounds);
                (f64::from(rounds - before), f64::from(most - before))
            }
        };
        over / left
    }

    /// Takes the analysis made for the last planned trial, if any.
    pub fn take_analysis(&mut self) -> Option<InterimAnalysis> {
        self.interim.analysis.take()
    }

    /// The noise that the last analysis found, the time left for the current stage, and how long a window of every entry takes in
    /// total. `None` if the stage is over, if there is no time limit, or if the noise was already taken.
    pub fn outlook(&mut self, now: Nanos) -> Option<(Spread, Nanos, Nanos)> {
        let spread = self.interim.spread.take().filter(|_| !self.is_over)?;
        let round = Nanos(self.lengths.values().map(|length| length.0).sum());
        Some((spread, self.until.min(self.end?) - now, round))
    }

    /// Records how long a trial of an entry took.
    pub fn took(&mut self, entry: &str, length: Nanos) {
        self.lengths.insert(entry.to_owned(), length);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn stopping(rule: Rule, workloads: &[&str]) -> Stopping {
        let rounds: BTreeMap<u32, u32> =
            (1..=40).map(|number: u32| (number, number.div_ceil(2))).collect();
        let of = |workload: &&str| ((*workload).to_owned(), rounds.clone());
        Stopping::new(rule, workloads.iter().map(of).collect(), Nanos(0))
    }

    /// Trials made of each workload, by entry and round: two entries with two processes each, in trials of one second.
    fn made(
        rule: Rule,
        workloads: &[&str],
        analyze: impl Fn(u32, Option<f64>) -> Interim,
    ) -> Vec<Vec<(String, u32)>> {
        let mut stopping = stopping(rule, workloads);
        let mut elapsed = Nanos(0);
        let mut all = Vec::new();
        for workload in workloads {
            let mut made = Vec::new();
            let order = (1..=20_u32).flat_map(|round| {
                [("a", 1), ("b", 2), ("b", 1), ("a", 2)]
                    .map(|(entry, process)| (round, entry, process))
            });
            for (round, entry, process) in order {
                let planned = PlannedTrial {
                    entry: entry.to_owned(),
                    workload: (*workload).to_owned(),
                    process,
                    number: (round - 1) * 2 + process,
                };
                if stopping.makes(std::slice::from_ref(&planned), elapsed, &analyze) {
                    elapsed = elapsed + Nanos::from_millis(1000);
                    stopping.took(&planned.entry, Nanos::from_millis(1000));
                    made.push((planned.entry, round));
                }
            }
            all.push(made);
        }
        all
    }

    fn rule(seconds: Option<u64>) -> Rule {
        Rule { precision: Some(0.05), max_time_ms: seconds.map(|s| s * 1000), ..Rule::default() }
    }

    fn clear_after(rounds: u32) -> impl Fn(u32, Option<f64>) -> Interim {
        move |done, _| {
            let workload = String::new();
            let is_clear = done >= rounds;
            let analysis = InterimAnalysis { workload, trials: 0, part: 0.0, is_clear };
            Interim { analysis: Some(analysis), ..Interim::default() }
        }
    }

    fn rounds(made: &[(String, u32)]) -> u32 {
        made.iter().map(|(_, round)| *round).max().unwrap_or_default()
    }

    #[test]
    fn clear_answer_ends_a_workload_but_not_before_the_minimum() {
        for (clear, last) in [(1, 4), (6, 6), (99, 20)] {
            let made = made(rule(None), &["w", "v"], clear_after(clear));
            assert_eq!([rounds(&made[0]), rounds(&made[1])], [last, last]);
        }
    }

    #[test]
    fn trial_that_would_exceed_time_limit_is_not_started() {
        for seconds in [4, 9, 30, 79] {
            assert_eq!(made(rule(Some(seconds)), &["w"], clear_after(99))[0].len() as u64, seconds);
        }
        // One window of each process is always made.
        assert_eq!(made(rule(Some(1)), &["w"], clear_after(99))[0].len(), 4);
    }

    #[test]
    fn analyses_get_elapsed_share_since_previous_one() {
        let elapsed = |rule, workloads: &[&str]| {
            let all = RefCell::new(Vec::new());
            made(rule, workloads, |rounds, elapsed| {
                all.borrow_mut().push(elapsed.expect("no batches"));
                let interim = clear_after(99)(rounds, elapsed);
                if [4, 6].contains(&rounds) { interim } else { Interim::default() }
            });
            all.into_inner()
        };
        // A round takes 4 s.
        assert_eq!(elapsed(rule(Some(40)), &["w"])[..4], [0.4, 4.0 / 24.0, 8.0 / 24.0, 4.0 / 16.0]);
        assert_eq!(elapsed(rule(Some(80)), &["w", "v"])[..2], [0.4, 4.0 / 24.0]);
        assert_eq!(
            elapsed(rule(None), &["w"])[..4],
            [4.0 / 20.0, 1.0 / 16.0, 2.0 / 16.0, 1.0 / 14.0]
        );
    }

    #[test]
    fn workloads_share_the_time() {
        let made = made(rule(Some(60)), &["w", "v", "u"], clear_after(99));
        assert_eq!(made.iter().map(Vec::len).collect::<Vec<_>>(), [20, 20, 20]);
        // A workload that ends early leaves its time to the others.
        let made = self::made(rule(Some(60)), &["w", "v"], clear_after(5));
        assert_eq!(made.iter().map(Vec::len).collect::<Vec<_>>(), [20, 20]);
    }

    #[test]
    fn preparation_gets_two_fifths_of_time_and_at_most_three_quarters() {
        let six = stopping(rule(Some(360)), &["w", "v"]);
        let by = |stages| {
            let Deadlines { aim, last } = six.deadlines(stages, Nanos(0)).expect("a time limit");
            [aim, last].map(|at| at.0 / 1_000_000_000)
        };
        assert_eq!([by(1), by(2)], [[72, 135], [144, 270]]);
        assert_eq!(stopping(rule(None), &["w"]).deadlines(1, Nanos(5)), None);
    }

    #[test]
    fn processes_in_batches_share_time_limit() {
        let mut stopping = stopping(rule(Some(60)), &["w"]);
        let planned = |process, round| PlannedTrial {
            entry: "a".to_owned(),
            workload: "w".to_owned(),
            process,
            number: (round - 1) * 2 + process,
        };
        let order =
            (1..=2).flat_map(|process| (1..=20_u32).map(move |round| planned(process, round)));
        let order: Vec<PlannedTrial> = order.collect();
        stopping.run_in_batches(order.iter());
        let (mut now, mut made) = (Nanos(0), [0, 0]);
        for planned in &order {
            let analyze = |_, elapsed: Option<f64>| {
                assert_eq!(elapsed, None, "others follow in any case");
                Interim::default()
            };
            if stopping.makes(std::slice::from_ref(planned), now, analyze) {
                now = now + Nanos::from_millis(2000);
                stopping.took(&planned.entry, Nanos::from_millis(2000));
                made[planned.process as usize - 1] += 1;
            }
        }
        assert_eq!(made, [15, 15]);
    }

    #[test]
    fn round_that_would_exceed_time_limit_is_not_started() {
        let mut stopping = stopping(rule(Some(10)), &["w"]);
        let round = |number| {
            ["a", "b"].map(|entry| PlannedTrial {
                entry: entry.to_owned(),
                workload: "w".to_owned(),
                process: 1,
                number,
            })
        };
        let mut made = Vec::new();
        for (number, now) in [(1, 0), (2, 6000), (4, 6001)] {
            let now = Nanos::from_millis(now);
            made.push(stopping.makes(&round(number), now, |_, _| Interim::default()));
            for entry in ["a", "b"] {
                stopping.took(entry, Nanos::from_millis(2000));
            }
        }
        assert_eq!(made, [true, true, false]);
    }
}
