//! What is run, and what must come out.

use std::fmt;

use rpcbench_record::Plan;

/// Entries of a run. All answer alike; at most one is dearer than the others.
pub const ENTRIES: usize = 6;

/// A kind of run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// All entries are equal.
    Equal,
    /// One entry's calls cost 5 % more CPU time.
    Dearer5,
    /// One entry's calls cost 10 % more, and the run is short.
    Dearer10,
}

/// Every kind.
pub const DESIGNS: [Design; 3] = [Design::Equal, Design::Dearer5, Design::Dearer10];

impl Design {
    /// `equal`, `dearer-5`, `dearer-10`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Dearer5 => "dearer-5",
            Self::Dearer10 => "dearer-10",
        }
    }

    /// The entries, as `rpcbench run` is given them.
    pub fn entries(self) -> Vec<&'static str> {
        let mut entries = vec!["testkit-liar@honest"; ENTRIES];
        if let Some(dearer) = self.dearer() {
            entries[ENTRIES / 2] = dearer;
        }
        entries
    }

    /// The entry that is dearer.
    pub fn dearer(self) -> Option<&'static str> {
        match self {
            Self::Equal => None,
            Self::Dearer5 => Some("testkit-liar@dearer"),
            Self::Dearer10 => Some("testkit-liar@dearer-10"),
        }
    }

    /// How long a run may take, as `--max-time` takes it.
    pub fn max_time(self) -> &'static str {
        match self {
            Self::Equal | Self::Dearer5 => "6m",
            Self::Dearer10 => "2m",
        }
    }

    /// The kind of a run that was made. `None` where it is another run.
    pub fn of(plan: &Plan) -> Option<Self> {
        let planned = plan.servers.iter().filter_map(|it| it.entry.split('#').next());
        let planned: Vec<&str> = planned.collect();
        let same = |design: &Self| sorted(planned.clone()) == sorted(design.entries());
        DESIGNS.into_iter().find(same)
    }

    /// The least share of the runs that must be right.
    pub fn bar(self) -> f64 {
        match self {
            Self::Equal => 0.9,
            Self::Dearer5 | Self::Dearer10 => 0.8,
        }
    }
}

fn sorted(mut entries: Vec<&str>) -> Vec<&str> {
    entries.sort_unstable();
    entries
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
