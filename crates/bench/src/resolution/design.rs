//! The runs, and what must be found.

use std::fmt;
use std::path::PathBuf;

use super::trees::BuildPair;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// The servers that `rpcbench run` takes without names.
    Bench,
    /// Six servers that warm up fast.
    Bench6,
    /// Three servers, each listed twice.
    EqualReal,
    /// Two builds of a server; calls of the new one cost 5 % more.
    Known5,
    /// The same with 10 %, in a short run.
    Known10,
    /// Six equal entries of the testkit.
    Equal,
    /// Six entries of the testkit; calls of one cost 5 % more CPU time.
    Costlier5,
    /// The same with 10 %, in a short run.
    Costlier10,
    /// Two builds of an entry of the testkit; calls of the new one cost 5 % more.
    Builds5,
}

/// All, those of real servers first.
pub const DESIGNS: [Experiment; 9] = [
    Experiment::Bench,
    Experiment::Bench6,
    Experiment::EqualReal,
    Experiment::Known5,
    Experiment::Known10,
    Experiment::Equal,
    Experiment::Costlier5,
    Experiment::Costlier10,
    Experiment::Builds5,
];

pub const REAL: &[Experiment] = DESIGNS.split_at(5).0;

/// What makes a run right, besides calling no equal entries different.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// All entries are ranked, and it sees differences of this share.
    Sees(f64),
    /// All entries are ranked.
    Ranks,
    /// The costlier entry, with this name in the record, is slower than another.
    Finds(&'static str),
}

/// A build in which each call costs more CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Costlier {
    /// Of a real server, by this many percent.
    Real(u32),
    /// Of the testkit's, by 5 %.
    Testkit,
}

pub struct Spec {
    /// `bench`, `equal-real`: its argument and the folder of its runs.
    pub name: &'static str,
    /// As arguments. Empty: rpcbench's choice.
    pub servers: &'static [&'static str],
    /// Compares this build with the current one.
    pub build: Option<Costlier>,
    max_time: &'static str,
    pub goal: Goal,
    /// The share of the runs that must be right; of `equal-real`, the share of the pairs.
    pub bar: f64,
}

const FAST: [&str; 6] =
    ["cpp-grpc", "go-grpc", "go-net-http", "go-thrift", "rust-axum@multi-thread", TONIC];
const DOUBLES: [&str; 6] = ["cpp-grpc", "cpp-grpc", "go-grpc", "go-grpc", TONIC, TONIC];
/// Its name alone means all of its variants.
const TONIC: &str = "rust-tonic@multi-thread";
const HONEST: &str = "testkit-liar@honest";
const COSTLIER_5: &str = "testkit-liar@costlier";
const COSTLIER_10: &str = "testkit-liar@costlier-10";
const NEW: &str = "testkit-liar@honest#new";
const NEW_REAL: &str = "go-grpc#new";

impl Experiment {
    #[rustfmt::skip]
    pub fn spec(self) -> Spec {
        match self {
            Self::Bench => Spec { name: "bench", servers: &[], build: None, max_time: "6m", goal: Goal::Sees(0.07), bar: 0.8 },
            Self::Bench6 => Spec { name: "bench-6", servers: &FAST, build: None, max_time: "6m", goal: Goal::Sees(0.04), bar: 0.8 },
            Self::EqualReal => Spec { name: "equal-real", servers: &DOUBLES, build: None, max_time: "6m", goal: Goal::Ranks, bar: 0.95 },
            Self::Known5 => Spec { name: "known-real-5", servers: &["go-grpc"], build: Some(Costlier::Real(5)), max_time: "6m", goal: Goal::Finds(NEW_REAL), bar: 0.8 },
            Self::Known10 => Spec { name: "known-real-10", servers: &["go-grpc"], build: Some(Costlier::Real(10)), max_time: "2m", goal: Goal::Finds(NEW_REAL), bar: 0.8 },
            Self::Equal => Spec { name: "equal", servers: &[HONEST; 6], build: None, max_time: "6m", goal: Goal::Ranks, bar: 0.9 },
            Self::Costlier5 => Spec { name: "costlier-5", servers: &[HONEST, HONEST, COSTLIER_5, HONEST, HONEST, HONEST], build: None, max_time: "6m", goal: Goal::Finds(COSTLIER_5), bar: 0.8 },
            Self::Costlier10 => Spec { name: "costlier-10", servers: &[HONEST, HONEST, COSTLIER_10, HONEST, HONEST, HONEST], build: None, max_time: "2m", goal: Goal::Finds(COSTLIER_10), bar: 0.8 },
            Self::Builds5 => Spec { name: "builds-5", servers: &[HONEST], build: Some(Costlier::Testkit), max_time: "6m", goal: Goal::Finds(NEW), bar: 0.8 },
        }
    }

    pub fn is_real(self) -> bool {
        REAL.contains(&self)
    }

    /// The name of the costlier entry in the record.
    pub fn costlier(self) -> Option<&'static str> {
        match self.spec().goal {
            Goal::Finds(entry) => Some(entry),
            Goal::Sees(_) | Goal::Ranks => None,
        }
    }

    /// The arguments of rpcbench, without the suite and the folder for results.
    pub fn arguments(self, trees: &BuildPair) -> Vec<PathBuf> {
        let Spec { servers, build, max_time, .. } = self.spec();
        let root = if self.is_real() { &trees.real } else { &trees.testkit };
        let mut words = vec!["--root".into(), root.clone()];
        match build {
            None => words.push("run".into()),
            Some(costlier) => {
                words.extend(["compare", "--build"].map(PathBuf::from));
                words.extend([root.clone(), "--build".into(), trees.costlier(costlier)]);
            }
        }
        words.extend(servers.iter().map(PathBuf::from));
        words.extend(["--max-time", max_time].map(PathBuf::from));
        words
    }

    /// The share of the comparisons with the last `equal` run that must be right. `None`: the change is too small for two runs,
    /// or there are no such comparisons.
    pub fn bar_compared(self) -> Option<f64> {
        (!self.is_real() && self != Self::Costlier5).then(|| self.spec().bar)
    }
}

/// Whether two entries are the same server: `go-grpc` and `go-grpc#2`.
pub fn are_doubles(one: &str, other: &str) -> bool {
    one.split('#').next() == other.split('#').next()
}

impl fmt::Display for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.spec().name)
    }
}
