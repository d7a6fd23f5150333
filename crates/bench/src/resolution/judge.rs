//! Judges what a run reports.

use rpcbench_record::Run;
use rpcbench_report::{Pair, Summary, Table, summary};

use super::design::Design;
use super::noise::{Noise, noise};

#[derive(Clone, Debug)]
pub struct Judged {
    pub design: Design,
    /// The run's folder.
    pub name: String,
    /// Processes of each entry.
    pub processes: usize,
    /// Length of the run including builds and checks, seconds. `None` if it has not ended.
    pub seconds: Option<f64>,
    pub unranked: usize,
    /// Pairs of equal entries that are reported as different.
    pub wrong: usize,
    /// Entries than which the costlier one is reported as slower.
    pub found: usize,
    /// The smallest difference that the run says it can detect, a share.
    pub resolution: Option<f64>,
    /// The noise, and what removed it.
    pub noise: Noise,
}

impl Judged {
    /// Judges the run in the folder `name`. `None` if it has no known design or nothing was measured.
    pub fn of(name: &str, run: &Run) -> Option<Self> {
        let design = Design::of(&run.header.plan)?;
        let Summary { tables, .. } = summary(run);
        let table = tables.first()?;
        let pairs = table.standings.as_ref().map_or(&[][..], |it| &it.pairs);
        let counts = counts(pairs, design);
        let ended = run.finished.map(|at| at.duration_since(run.header.started).as_secs_f64());
        Some(Self {
            design,
            name: name.to_owned(),
            processes: table.standings.as_ref().map_or(0, |it| it.processes),
            seconds: ended,
            unranked: design.entries() - ranked(table),
            wrong: counts.wrong,
            found: counts.found,
            resolution: table.standings.as_ref().and_then(|it| it.resolution),
            noise: noise(run, &table.workload),
        })
    }

    /// True if the run reports no difference between equal entries, and ranks all of them or finds the costlier one.
    pub fn is_right(&self) -> bool {
        self.wrong == 0
            && match self.design {
                Design::Equal => self.unranked == 0,
                Design::Costlier5 | Design::Costlier10 | Design::Builds5 => self.found > 0,
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
    pub fn of(right: impl Iterator<Item = bool>, bar: f64) -> Option<Self> {
        let right: Vec<bool> = right.collect();
        let (right, all) = (right.iter().filter(|it| **it).count(), right.len());
        (all > 0).then_some(Self { right, all, bar })
    }

    pub fn is_met(self) -> bool {
        self.right as f64 >= self.bar * self.all as f64
    }
}

fn ranked(table: &Table) -> usize {
    table.rows.iter().filter(|row| row.place.is_some()).count()
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    wrong: usize,
    found: usize,
}

fn counts(pairs: &[Pair], design: Design) -> Counts {
    let mut counts = Counts::default();
    for pair in pairs.iter().filter(|pair| pair.is_decided()) {
        let is_costlier = |entry: &str| design.spec().costlier == Some(entry);
        let slower = if pair.finding.is_faster() { &pair.second } else { &pair.first };
        match (is_costlier(&pair.first) || is_costlier(&pair.second), is_costlier(slower)) {
            (true, true) => counts.found += 1,
            _ => counts.wrong += 1,
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
        assert_eq!(counts(&pairs, Design::Costlier5), Counts { wrong: 2, found: 3 });
        assert_eq!(counts(&pairs[4..], Design::Equal), Counts { wrong: 1, found: 0 });
    }
}
