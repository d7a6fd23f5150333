//! Judges what a run reports.

use rpcbench_record::Run;
use rpcbench_report::{Pair, Summary, summary};

use super::design::{Experiment, Goal, are_doubles};
use super::noise::{Noise, noise};

#[derive(Clone, Debug)]
pub struct Judged {
    pub design: Experiment,
    /// The run's folder.
    pub name: String,
    /// Processes of each entry.
    pub processes: usize,
    /// Length of the run including builds and checks, seconds. `None` if it has not ended.
    pub seconds: Option<f64>,
    pub unranked: usize,
    /// Pairs of equal entries.
    pub equal_pairs: usize,
    /// Of these, pairs that are reported as different; and those in which the costlier entry is reported as faster.
    pub wrong: usize,
    /// Entries than which the costlier one is reported as slower.
    pub found: usize,
    /// The smallest difference that the run says it can detect, a share.
    pub resolution: Option<f64>,
    /// The noise, and what removed it.
    pub noise: Noise,
}

impl Judged {
    /// Judges the run in the folder `name`. `None` if nothing was measured.
    pub fn of(name: &str, design: Experiment, run: &Run) -> Option<Self> {
        let Summary { tables, .. } = summary(run);
        let table = tables.first()?;
        let standings = table.standings.as_ref();
        let counts = counts(standings.map_or(&[][..], |it| &it.pairs), design);
        let ended = run.finished.map(|at| at.duration_since(run.header.started).as_secs_f64());
        Some(Self {
            design,
            name: name.to_owned(),
            processes: standings.map_or(0, |it| it.processes),
            seconds: ended,
            unranked: table.rows.iter().filter(|row| row.place.is_none()).count(),
            equal_pairs: counts.equal,
            wrong: counts.wrong,
            found: counts.found,
            resolution: standings.and_then(|it| it.resolution),
            noise: noise(run, &table.workload),
        })
    }

    /// True if the run reports no difference between equal entries, and reaches its goal.
    pub fn is_right(&self) -> bool {
        self.wrong == 0
            && match self.design.spec().goal {
                Goal::Sees(share) => {
                    self.unranked == 0 && self.resolution.is_some_and(|least| least <= share)
                }
                Goal::Ranks => self.unranked == 0,
                Goal::Finds(_) => self.found > 0,
            }
    }

    /// What its score counts: of `equal-real` the pairs of equal entries, else the run.
    pub fn score(&self) -> (usize, usize) {
        match self.design {
            Experiment::EqualReal => (self.equal_pairs - self.wrong, self.equal_pairs),
            _ => (usize::from(self.is_right()), 1),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    pub right: usize,
    pub all: usize,
    /// The share that must be right.
    pub bar: f64,
}

impl Score {
    /// Of counts of what is right and of all. `None` without any.
    pub fn of(counts: impl Iterator<Item = (usize, usize)>, bar: f64) -> Option<Self> {
        let (right, all) = counts.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        (all > 0).then_some(Self { right, all, bar })
    }

    pub fn is_met(self) -> bool {
        self.right as f64 >= self.bar * self.all as f64
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    equal: usize,
    wrong: usize,
    found: usize,
}

fn counts(pairs: &[Pair], design: Experiment) -> Counts {
    let mut counts = Counts::default();
    let is_costlier = |entry: &str| design.costlier() == Some(entry);
    for pair in pairs {
        let has_costlier = is_costlier(&pair.first) || is_costlier(&pair.second);
        let is_equal = !has_costlier && are_doubles(&pair.first, &pair.second);
        let slower = if pair.finding.is_faster() { &pair.second } else { &pair.first };
        let is_found = has_costlier && is_costlier(slower);
        counts.equal += usize::from(is_equal);
        if pair.is_decided() {
            counts.found += usize::from(is_found);
            counts.wrong += usize::from(is_equal || has_costlier && !is_found);
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use rpcbench_stats::Finding;

    use super::*;

    fn pair(first: &str, second: &str, finding: Finding) -> Pair {
        let entry = |name: &str| format!("testkit-liar@{name}");
        Pair { first: entry(first), second: entry(second), ratio: 1.05, range: None, finding }
    }

    #[test]
    fn a_costlier_entry_is_found_only_if_reported_as_slower() {
        let pairs = [
            pair("honest", "costlier", Finding::Faster),
            pair("honest#2", "costlier", Finding::SlightlyFaster),
            pair("costlier", "honest#3", Finding::Slower),
            pair("costlier", "honest#4", Finding::Faster),
            pair("honest", "honest#2", Finding::Equal),
            pair("honest", "honest#3", Finding::Open),
            pair("honest", "honest#4", Finding::Slower),
        ];
        assert_eq!(counts(&pairs, Experiment::Costlier5), Counts { equal: 3, wrong: 2, found: 3 });
        assert_eq!(counts(&pairs[4..], Experiment::Equal), Counts { equal: 3, wrong: 1, found: 0 });
    }

    #[test]
    fn of_real_servers_only_doubles_are_equal() {
        let pair = |first: &str, second: &str, finding| Pair {
            first: first.to_owned(),
            second: second.to_owned(),
            ..pair("", "", finding)
        };
        let pairs = [
            pair("go-grpc", "go-grpc#2", Finding::Slower),
            pair("rust-tonic", "rust-tonic#2", Finding::Equal),
            pair("rust-tonic", "go-grpc", Finding::Faster),
        ];
        let doubles = counts(&pairs, Experiment::EqualReal);
        assert_eq!(doubles, Counts { equal: 2, wrong: 1, found: 0 });
        let builds = [pair("go-grpc#old", "go-grpc#new", Finding::Faster)];
        assert_eq!(counts(&builds, Experiment::Known5), Counts { equal: 0, wrong: 0, found: 1 });
    }
}
