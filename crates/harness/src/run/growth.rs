//! Decides how many processes of each entry a run has.

use rpcbench_clock::Nanos;
use rpcbench_stats::Spread;

/// Reduction of the variance that is not worth the memory of more processes, as a share of the variance.
const TOLERANCE: f64 = 0.1;

/// A run whose answer is not clear yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    /// Processes of each entry so far, at least 1.
    pub processes: u32,
    /// Maximum processes of each entry.
    pub most: u32,
    /// Windows of each entry so far, on average.
    pub windows: f64,
    /// Time left.
    pub left: Nanos,
    /// Time for a window of each entry, above 0.
    pub round: Nanos,
    /// Time to prepare another process of each entry.
    pub setup: Nanos,
}

impl Growth {
    /// The fewest processes with which the intervals are about as narrow as possible when the time is up.
    pub fn best(&self, spread: Spread) -> u32 {
        let setup = |processes: u32| self.setup.0 * u64::from(processes - self.processes);
        let variance = |processes: u32| {
            let windows = (self.left.0 - setup(processes)) as f64 / self.round.0 as f64;
            let is_more = processes > self.processes;
            let between = if is_more { spread.more_processes } else { spread.processes };
            between.powi(2) / f64::from(processes)
                + spread.in_rounds.powi(2) / (self.windows + windows)
        };
        // At least half of the time is left for windows.
        let numbers = self.processes..=self.most;
        let mut numbers = numbers.take_while(|number| setup(*number) <= self.left.0 / 2);
        let least = numbers.clone().map(variance).fold(f64::INFINITY, f64::min);
        let enough = numbers.find(|number| variance(*number) <= least * (1.0 + TOLERANCE));
        enough.unwrap_or(self.processes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Nanos {
        Nanos::from_millis(seconds * 1000)
    }

    fn spread(windows: f64, processes: f64) -> Spread {
        Spread { windows, in_rounds: windows, processes, more_processes: processes }
    }

    /// Two entries after 20 s of a run of six minutes.
    const FEW: Growth = Growth {
        processes: 2,
        most: 8,
        windows: 8.0,
        left: seconds(330),
        round: seconds(2),
        setup: seconds(5),
    };

    #[test]
    fn few_entries_get_all_planned_processes() {
        assert_eq!(FEW.best(spread(0.05, 0.03)), 8);
    }

    #[test]
    fn many_entries_get_no_further_processes() {
        let many = Growth { round: seconds(15), setup: seconds(50), left: seconds(200), ..FEW };
        assert_eq!(many.best(spread(0.12, 0.03)), 2);
    }

    /// A run of twelve servers grew to two processes here, which then had a round and a half, and saw 19 %: no more than before.
    #[test]
    fn processes_of_which_much_is_assumed_stay_alone() {
        let twelve = Growth {
            processes: 1,
            most: 5,
            windows: 5.0,
            left: seconds(166),
            round: seconds(16),
            setup: seconds(75),
        };
        let assumed = Spread { more_processes: 0.03, ..spread(0.0597, 0.0185) };
        assert_eq!([twelve.best(spread(0.0597, 0.0185)), twelve.best(assumed)], [2, 1]);
        assert_eq!(Growth { processes: 1, ..FEW }.best(assumed), 8);
    }

    #[test]
    fn processes_that_hardly_differ_need_not_be_many() {
        assert_eq!(FEW.best(spread(0.05, 0.001)), 2);
    }

    #[test]
    fn costly_processes_are_started_up_to_the_optimum() {
        let six = Growth { round: seconds(8), setup: seconds(18), ..FEW };
        // 9e-4 / p + 144e-4 / (8 + (330 - 18 (p - 2)) / 8): 7.4e-4, 6.1e-4, 5.5e-4, ..., and 5.1e-4 with seven.
        assert_eq!(six.best(spread(0.12, 0.03)), 4);
    }

    #[test]
    fn process_not_ready_in_time_is_not_started() {
        let late = Growth { windows: 30.0, left: seconds(4), ..FEW };
        assert_eq!(late.best(spread(0.05, 0.03)), 2);
        assert_eq!(Growth { most: 2, ..FEW }.best(spread(0.05, 0.03)), 2);
    }
}
