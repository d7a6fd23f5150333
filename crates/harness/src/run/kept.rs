//! Servers kept between trials, and cells without further trials.

use std::collections::{BTreeMap, BTreeSet};

use rpcbench_record::{Plan, PlannedTrial};

use super::target::Target;

/// An entry, the first of the workloads that share a process of it, and the number of the process.
type Process = (String, String, u32);

/// Warm, frozen servers, and excluded cells.
#[derive(Default)]
pub(super) struct Kept {
    targets: BTreeMap<Process, Box<Target>>,
    excluded: BTreeSet<(String, String)>,
}

impl Kept {
    /// The warm server for a trial, if there is one.
    pub fn take(&mut self, plan: &Plan, planned: &PlannedTrial) -> Option<Box<Target>> {
        self.targets.remove(&process(plan, planned))
    }

    /// Keeps a server for trials that can share it.
    pub fn keep(&mut self, plan: &Plan, planned: &PlannedTrial, target: Box<Target>) {
        self.targets.insert(process(plan, planned), target);
    }

    /// Excludes further trials of this cell.
    pub fn exclude(&mut self, planned: &PlannedTrial) {
        self.excluded.insert((planned.entry.clone(), planned.workload.clone()));
    }

    /// Excludes all cells that would share a process with this one: the next process would not get ready either.
    pub fn exclude_process(&mut self, plan: &Plan, planned: &PlannedTrial) {
        let shares = |other: &&PlannedTrial| {
            let (entry, workload, _) = process(plan, other);
            let (own_entry, own_workload, _) = process(plan, planned);
            entry == own_entry && workload == own_workload
        };
        plan.order.iter().filter(shares).for_each(|other| self.exclude(other));
    }

    /// Stops the kept servers.
    pub fn stop_all(&mut self) {
        for target in std::mem::take(&mut self.targets).into_values() {
            // Their trials are over; if one has to be killed, its log says so.
            let _ = target.stop();
        }
    }

    pub fn is_excluded(&self, planned: &PlannedTrial) -> bool {
        self.excluded.contains(&(planned.entry.clone(), planned.workload.clone()))
    }
}

/// True if one process of the entry serves both.
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
