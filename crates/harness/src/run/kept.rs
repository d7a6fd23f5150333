//! The servers that a run keeps between trials, and the cells that have no more trials.

use std::collections::{BTreeMap, BTreeSet};

use rpcbench_record::{Plan, PlannedTrial};

use super::target::Target;

/// An entry, and the first of the workloads that can share one process of it.
type Process = (String, String);

/// Warm servers, frozen, and cells that are excluded.
#[derive(Default)]
pub(super) struct Kept {
    targets: BTreeMap<Process, Box<Target>>,
    excluded: BTreeSet<(String, String)>,
}

impl Kept {
    /// The server for a trial, if one is warm.
    pub fn take(&mut self, plan: &Plan, planned: &PlannedTrial) -> Option<Box<Target>> {
        self.targets.remove(&process(plan, planned))
    }

    /// Keeps a server for the trials that can share it.
    pub fn keep(&mut self, plan: &Plan, planned: &PlannedTrial, target: Box<Target>) {
        self.targets.insert(process(plan, planned), target);
    }

    /// No more trials of this cell.
    pub fn exclude(&mut self, planned: &PlannedTrial) {
        self.excluded.insert((planned.entry.clone(), planned.workload.clone()));
    }

    /// No more trials of any cell that would share the process.
    pub fn exclude_process(&mut self, plan: &Plan, planned: &PlannedTrial) {
        let all = plan.order.iter().filter(|other| same_process(plan, other, planned));
        all.for_each(|other| self.exclude(other));
    }

    pub fn is_excluded(&self, planned: &PlannedTrial) -> bool {
        self.excluded.contains(&(planned.entry.clone(), planned.workload.clone()))
    }
}

/// Whether one process of the entry can serve both.
pub(super) fn same_process(plan: &Plan, a: &PlannedTrial, b: &PlannedTrial) -> bool {
    process(plan, a) == process(plan, b)
}

fn process(plan: &Plan, planned: &PlannedTrial) -> Process {
    let first = plan
        .workload(&planned.workload)
        .and_then(|own| plan.workloads.iter().find(|other| other.shares_process(own)))
        .map_or(&planned.workload, |first| &first.name);
    (planned.entry.clone(), first.clone())
}
