//! The runs, and what must be found.

use std::fmt;
use std::path::Path;

use rpcbench_record::Plan;

/// The entry that is equal in all runs.
const HONEST: &str = "testkit-liar@honest";

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

pub struct Spec {
    /// `equal`, `costlier-5`, `costlier-10`, `builds-5`.
    pub name: &'static str,
    pub equals: usize,
    /// The name of the costlier entry in the record.
    pub costlier: Option<&'static str>,
    max_time: &'static str,
    /// The share of the runs that must be right.
    pub bar: f64,
}

impl Design {
    #[rustfmt::skip]
    pub fn spec(self) -> Spec {
        match self {
            Self::Equal => Spec { name: "equal", equals: 6, costlier: None, max_time: "6m", bar: 0.9 },
            Self::Costlier5 => Spec { name: "costlier-5", equals: 5, costlier: Some("testkit-liar@costlier"), max_time: "6m", bar: 0.8 },
            Self::Costlier10 => Spec { name: "costlier-10", equals: 5, costlier: Some("testkit-liar@costlier-10"), max_time: "2m", bar: 0.8 },
            Self::Builds5 => Spec { name: "builds-5", equals: 1, costlier: Some("testkit-liar@honest#new"), max_time: "6m", bar: 0.8 },
        }
    }

    pub fn entries(self) -> usize {
        self.spec().equals + self.spec().costlier.iter().count()
    }

    /// The arguments of rpcbench, without the suite and the folder for results.
    pub fn arguments(self, trees: Trees<'_>) -> Vec<&Path> {
        let mut words = vec!["--root".as_ref(), trees.testkit];
        if self == Self::Builds5 {
            words.extend(["compare", "--build"].map(Path::new));
            words.extend([trees.testkit, "--build".as_ref(), trees.costlier_5, HONEST.as_ref()]);
        } else {
            let mut entries = vec![HONEST; self.spec().equals];
            if let Some(costlier) = self.spec().costlier {
                entries.insert(entries.len() / 2, costlier);
            }
            words.push("run".as_ref());
            words.extend(entries.into_iter().map(Path::new));
        }
        words.extend(["--max-time", self.spec().max_time].map(Path::new));
        words
    }

    /// The kind of a run. `None` for any other run.
    pub fn of(plan: &Plan) -> Option<Self> {
        let entries: Vec<&str> = plan.servers.iter().map(|it| it.entry.as_str()).collect();
        DESIGNS.into_iter().find(|design| design.has(&entries))
    }

    fn has(self, entries: &[&str]) -> bool {
        let is_costlier = |entry: &&&str| self.spec().costlier == Some(**entry);
        let is_equal = |entry: &&&str| entry.split('#').next() == Some(HONEST);
        let equals = entries.iter().filter(|it| !is_costlier(it)).filter(is_equal).count();
        let costlier = entries.iter().filter(is_costlier).count();
        entries.len() == self.entries()
            && equals == self.spec().equals
            && equals + costlier == self.entries()
    }

    /// The share of the comparisons that must be right. `None`: the change is too small for two runs.
    pub fn bar_compared(self) -> Option<f64> {
        (self != Self::Costlier5).then(|| self.spec().bar)
    }
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.spec().name)
    }
}
