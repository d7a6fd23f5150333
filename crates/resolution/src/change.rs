//! What `rpcbench compare` says of two records, beside what is true.

use rpcbench_record::Run;
use rpcbench_report::{Change, Changes, CompareOptions, changes, changes_of_builds};
use rpcbench_stats::median;

use crate::design::Design;

/// What a new build stands beside.
const BUILD: &str = "its old build";

/// A run of a known design beside one of equal entries.
#[derive(Clone, Debug)]
pub struct Compared {
    /// What the later run was.
    pub design: Design,
    /// The later run's folder.
    pub name: String,
    /// The earlier run's folder, or that it is a build of the same run.
    pub base: String,
    /// What the machine reference showed in the later run over the earlier one, a ratio of times.
    pub machine: Option<f64>,
    /// Entries that did not change and are said to.
    pub wrong: usize,
    /// Whether the costlier entry is called slower. `None` where there is none.
    pub found: Option<bool>,
    /// The smallest change that the two runs can tell, a share: the median over the entries.
    pub resolution: Option<f64>,
}

impl Compared {
    /// `base` is of equal entries; one of them is the costlier one's earlier self. `None` where `new` is of no design.
    pub fn of(base: (&str, &Run), new: (&str, &Run)) -> Option<Self> {
        let design = Design::of(&new.1.header.plan)?;
        let (renamed, changed) = match design.costlier() {
            Some(costlier) => {
                let earlier = missing(base.1, new.1)?;
                (renamed(new.1, costlier, &earlier), Some(earlier))
            }
            None => (new.1.clone(), None),
        };
        let found = changes(base.1, &renamed, &CompareOptions::default());
        Some(Self::judged(design, base.0, new.0, &found, changed.as_deref()))
    }

    /// The new build in a run beside the old one. `None` where it has no builds.
    pub fn builds(name: &str, run: &Run) -> Option<Self> {
        let found = changes_of_builds(run, &CompareOptions::default())?;
        let changed = found.rows.first().map(|row| row.entry.clone());
        Some(Self::judged(Design::Builds5, BUILD, name, &found, changed.as_deref()))
    }

    /// `changed` is the entry that became costlier.
    fn judged(
        design: Design,
        base: &str,
        name: &str,
        found: &Changes,
        changed: Option<&str>,
    ) -> Self {
        let (costlier, equal): (Vec<&Change>, Vec<&Change>) =
            found.rows.iter().partition(|row| Some(row.entry.as_str()) == changed);
        Self {
            design,
            name: name.to_owned(),
            base: base.to_owned(),
            machine: found.machine,
            wrong: equal.iter().filter(|row| row.finding.is_difference()).count(),
            found: changed.map(|_| costlier.iter().any(|row| row.finding.is_slower())),
            resolution: median(found.rows.iter().filter_map(smallest).collect()),
        }
    }

    /// Whether nothing false is said, and a costlier entry is called slower.
    pub fn is_right(&self) -> bool {
        self.wrong == 0 && self.found != Some(false)
    }
}

/// Upper half of the range of a ratio, a share of it.
fn smallest(row: &Change) -> Option<f64> {
    Some(row.range?.high / row.ratio - 1.0)
}

/// The entry of `base` that `new` lacks.
fn missing(base: &Run, new: &Run) -> Option<String> {
    let has = |entry: &str| new.header.plan.servers.iter().any(|it| it.entry == entry);
    let mut entries = base.header.plan.servers.iter().map(|it| &it.entry);
    entries.find(|entry| !has(entry)).cloned()
}

/// The run with an entry under another name, as if its server had become what it is.
fn renamed(run: &Run, from: &str, to: &str) -> Run {
    let mut run = run.clone();
    let plan = &mut run.header.plan;
    let planned = plan.servers.iter_mut().map(|it| &mut it.entry);
    let ordered = plan.order.iter_mut().map(|it| &mut it.entry);
    let prepared = run.preparations.iter_mut().map(|it| &mut it.entry);
    let tried = run.trials.iter_mut().map(|it| &mut it.entry);
    let entries = planned.chain(ordered).chain(prepared).chain(tried);
    entries.filter(|entry| *entry == from).for_each(|entry| to.clone_into(entry));
    run
}
