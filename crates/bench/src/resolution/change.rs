//! Judges what `rpcbench compare` says about two runs, or about two builds in one.

use rpcbench_record::Run;
use rpcbench_report::{Change, Changes, CompareOptions, changes, changes_of_builds};
use rpcbench_stats::median;

use super::design::Experiment;

/// Shown as the baseline of a new build.
const BUILD: &str = "its old build";

/// A run of a known design, compared with one of equal entries.
#[derive(Clone, Debug)]
pub struct Compared {
    pub design: Experiment,
    pub name: String,
    /// The earlier run's folder, or [`BUILD`].
    pub base: String,
    /// Time of the machine reference in the later run divided by that in the earlier one.
    pub machine: Option<f64>,
    /// Unchanged entries that are reported as changed.
    pub wrong: usize,
    /// Whether the costlier entry is reported as slower. `None` without one.
    pub found: Option<bool>,
    /// The smallest detectable change, a share: the median over the entries.
    pub resolution: Option<f64>,
}

impl Compared {
    /// `base` has equal entries, one of which is compared with the costlier entry. `None` if no entry of `base` is missing in `new`.
    pub fn of(base: (&str, &Run), new: (&str, &Run), design: Experiment) -> Option<Self> {
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

    /// Compares the new build in a run with the old one. `None` without builds.
    pub fn builds(name: &str, design: Experiment, run: &Run) -> Option<Self> {
        let found = changes_of_builds(run, &CompareOptions::default())?;
        let changed = found.rows.first().map(|row| row.entry.clone());
        Some(Self::judged(design, BUILD, name, &found, changed.as_deref()))
    }

    /// `changed` is the entry that became costlier.
    fn judged(
        design: Experiment,
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

    /// True if no unchanged entry is reported as changed and a costlier one as slower.
    pub fn is_right(&self) -> bool {
        self.wrong == 0 && self.found != Some(false)
    }
}

/// Upper half of the range of a ratio, as a share of it.
fn smallest(row: &Change) -> Option<f64> {
    Some(row.range?.high / row.ratio - 1.0)
}

/// The entry of `base` that `new` lacks.
fn missing(base: &Run, new: &Run) -> Option<String> {
    let has = |entry: &str| new.header.plan.servers.iter().any(|it| it.entry == entry);
    let mut entries = base.header.plan.servers.iter().map(|it| &it.entry);
    entries.find(|entry| !has(entry)).cloned()
}

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
