//! Servers kept between trials, and cells without further trials.

use std::collections::{BTreeMap, BTreeSet};

use rpcbench_record::{Plan, PlannedTrial};

use super::loaded_server::LoadedServer;
use super::observer::{Event, Observer};

/// An entry, the first of the workloads that share a process of it, and the number of the process.
type Process = (String, String, u32);

/// Warm servers at rest, excluded cells, and processes for which there is no time.
#[derive(Default)]
pub(super) struct ServerPool {
    targets: BTreeMap<Process, Box<LoadedServer>>,
    excluded: BTreeSet<(String, String)>,
    left_out: BTreeSet<Process>,
}

impl ServerPool {
    /// The warm server for a trial, if there is one.
    pub fn take(&mut self, plan: &Plan, planned: &PlannedTrial) -> Option<Box<LoadedServer>> {
        self.targets.remove(&process(plan, planned))
    }

    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Keeps a server for trials that can share it.
    pub fn keep(&mut self, plan: &Plan, planned: &PlannedTrial, target: Box<LoadedServer>) {
        self.targets.insert(process(plan, planned), target);
    }

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

    pub fn skip(&mut self, plan: &Plan, planned: &PlannedTrial) {
        self.left_out.insert(process(plan, planned));
    }

    /// The opposite of [`Self::skip`].
    pub fn unskip(&mut self, plan: &Plan, planned: &PlannedTrial) {
        self.left_out.remove(&process(plan, planned));
    }

    /// Stops the kept servers whose process has a higher number.
    pub fn stop_after(&mut self, number: u32, observer: &dyn Observer) {
        let targets = std::mem::take(&mut self.targets);
        let (kept, others) = targets.into_iter().partition(|((_, _, of), _)| *of <= number);
        self.targets = others;
        self.stop_all(observer);
        self.targets = kept;
    }

    pub fn stop_all(&mut self, observer: &dyn Observer) {
        for ((entry, ..), target) in std::mem::take(&mut self.targets) {
            stop(*target, entry, observer);
        }
    }

    pub fn is_excluded(&self, plan: &Plan, planned: &PlannedTrial) -> bool {
        self.excluded.contains(&(planned.entry.clone(), planned.workload.clone()))
            || self.left_out.contains(&process(plan, planned))
    }
}

/// Stops a server whose trials are over. That something of it is left does not change them.
pub(super) fn stop(target: LoadedServer, entry: String, observer: &dyn Observer) {
    if let Err(failure) = target.stop() {
        observer.event(&Event::NotStopped { entry, failure: &failure });
    }
}

/// True if one process of the entry serves both.
pub(super) fn same_process(plan: &Plan, a: &PlannedTrial, b: &PlannedTrial) -> bool {
    process(plan, a) == process(plan, b)
}

/// The first of the workloads that share a process with a trial's.
pub(super) fn first_sharing<'a>(plan: &'a Plan, planned: &'a PlannedTrial) -> &'a str {
    plan.workload(&planned.workload)
        .and_then(|own| plan.workloads.iter().find(|other| other.shares_process(own)))
        .map_or(&planned.workload, |first| &first.name)
}

fn process(plan: &Plan, planned: &PlannedTrial) -> Process {
    (planned.entry.clone(), first_sharing(plan, planned).to_owned(), planned.process)
}
