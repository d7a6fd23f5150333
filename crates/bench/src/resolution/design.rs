//! The runs, and what must be found.

use std::fmt;
use std::path::Path;

use rpcbench_record::Plan;

/// The entry that is equal in all runs.
const HONEST: &str = "testkit-liar@honest";

/// A kind of run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Six equal entries.
    Equal,
    /// Six entries; calls of one cost 5 % more CPU time.
    Costlier5,
    /// Six entries; calls of one cost 10 % more, and the run is short.
    Costlier10,
    /// Two builds of an entry; calls of the new one cost 5 % more.
    Builds5,
}

/// Every kind.
pub const DESIGNS: [Design; 4] =
    [Design::Equal, Design::Costlier5, Design::Costlier10, Design::Builds5];

/// Folders that have `servers/`.
#[derive(Clone, Copy, Debug)]
pub struct Trees<'a> {
    /// With all of the testkit's servers.
    pub testkit: &'a Path,
    /// With a server whose calls cost 5 % more.
    pub costlier_5: &'a Path,
}

impl Design {
    /// `equal`, `costlier-5`, `costlier-10`, `builds-5`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Costlier5 => "costlier-5",
            Self::Costlier10 => "costlier-10",
            Self::Builds5 => "builds-5",
        }
    }

    /// Number of equal entries.
    pub fn equals(self) -> usize {
        match self {
            Self::Equal => 6,
            Self::Costlier5 | Self::Costlier10 => 5,
            Self::Builds5 => 1,
        }
    }

    /// The name of the costlier entry in the record.
    pub fn costlier(self) -> Option<&'static str> {
        match self {
            Self::Equal => None,
            Self::Costlier5 => Some("testkit-liar@costlier"),
            Self::Costlier10 => Some("testkit-liar@costlier-10"),
            Self::Builds5 => Some("testkit-liar@honest#new"),
        }
    }

    /// Number of entries of a run.
    pub fn entries(self) -> usize {
        self.equals() + self.costlier().iter().count()
    }

    /// The arguments of rpcbench, without the suite and the folder for results.
    pub fn arguments(self, trees: Trees<'_>) -> Vec<&Path> {
        let mut words = vec!["--root".as_ref(), trees.testkit];
        if self == Self::Builds5 {
            words.extend(["compare", "--build"].map(Path::new));
            words.extend([trees.testkit, "--build".as_ref(), trees.costlier_5, HONEST.as_ref()]);
        } else {
            let mut entries = vec![HONEST; self.equals()];
            if let Some(costlier) = self.costlier() {
                entries.insert(entries.len() / 2, costlier);
            }
            words.push("run".as_ref());
            words.extend(entries.into_iter().map(Path::new));
        }
        words.extend(["--max-time", self.max_time()].map(Path::new));
        words
    }

    /// The value of `--max-time`.
    fn max_time(self) -> &'static str {
        match self {
            Self::Equal | Self::Costlier5 | Self::Builds5 => "6m",
            Self::Costlier10 => "2m",
        }
    }

    /// The kind of a run. `None` for any other run.
    pub fn of(plan: &Plan) -> Option<Self> {
        let entries: Vec<&str> = plan.servers.iter().map(|it| it.entry.as_str()).collect();
        DESIGNS.into_iter().find(|design| design.has(&entries))
    }

    fn has(self, entries: &[&str]) -> bool {
        let is_costlier = |entry: &&&str| self.costlier() == Some(**entry);
        let is_equal = |entry: &&&str| entry.split('#').next() == Some(HONEST);
        let equals = entries.iter().filter(|it| !is_costlier(it)).filter(is_equal).count();
        let costlier = entries.iter().filter(is_costlier).count();
        entries.len() == self.entries()
            && equals == self.equals()
            && equals + costlier == self.entries()
    }

    /// The share of the runs that must be right.
    pub fn bar(self) -> f64 {
        match self {
            Self::Equal => 0.9,
            Self::Costlier5 | Self::Costlier10 | Self::Builds5 => 0.8,
        }
    }

    /// The share of the comparisons that must be right. `None`: the change is too small for two runs.
    pub fn bar_compared(self) -> Option<f64> {
        (self != Self::Costlier5).then(|| self.bar())
    }
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
