//! The servers that a run keeps between trials, and the cells that have no more trials.

use std::collections::{BTreeMap, BTreeSet};

use rpcbench_record::{Plan, PlannedTrial};

use super::target::Target;

/// An entry, the first of the workloads that can share one process of it, and the number of the process.
type Process = (String, String, u32);

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

    /// No more trials of any cell that would share a process with this one: the next would not get ready either.
    pub fn exclude_process(&mut self, plan: &Plan, planned: &PlannedTrial) {
        let shares = |other: &&PlannedTrial| {
            let (entry, workload, _) = process(plan, other);
            let (own_entry, own_workload, _) = process(plan, planned);
            entry == own_entry && workload == own_workload
        };
        plan.order.iter().filter(shares).for_each(|other| self.exclude(other));
    }

    /// Stops the servers that are kept.
    pub fn stop_all(&mut self) {
        for target in std::mem::take(&mut self.targets).into_values() {
            // That one had to be killed is in its log; its trials are over.
            let _ = target.stop();
        }
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
    (planned.entry.clone(), first.clone(), planned.process)
}
