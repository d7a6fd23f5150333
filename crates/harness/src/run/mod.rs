//! A run: every trial of the plan, in order, and the record of it.
//!
//! ```text
//! start -> ready -> check -> connect -> warm -> measure -> (frozen -> woken -> measure)* -> stop
//! ```
//! Only one server is awake at any time. What happens to one server never ends the run of the others.

mod candidates;
mod guest;
mod interrupt;
mod lab;
mod observer;
mod prepare;
mod resume;
mod scene;
mod trial;
mod verify;
mod warm;

use std::collections::BTreeMap;

use rpcbench_engine::clock;
use rpcbench_record::{
    Event as RecordEvent, Fresh, Plan, PlannedTrial, Preparation, Run, StoreError, Trial,
    TrialResult, Workload, Writer,
};

pub use candidates::{BuildEvent, Building, candidates};
use guest::{Guest, Trouble};
pub use interrupt::{Interrupt, StopNow};
pub use lab::Lab;
pub use observer::{Event, Observer};
pub use prepare::{BuildState, Candidate};
pub use resume::{ResumeError, remaining, same_machine};
pub use verify::{Verified, verify};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every trial of the plan has ended.
    Finished,
    /// Ctrl-C: what was measured is in the record, and the rest can be resumed.
    Interrupted,
}

/// A cell's server over the run.
enum Cell {
    /// Warm.
    Ready(Box<Guest>),
    /// Failed or skipped: no more trials.
    Out,
}

/// Runs a plan.
pub struct Runner<'a> {
    /// Where servers run.
    pub lab: &'a Lab,
    /// Every entry of the plan.
    pub candidates: &'a [Candidate],
    /// Where the record goes.
    pub writer: Writer,
    /// What is in the record already, and grows.
    pub run: Run,
    /// Who watches.
    pub observer: &'a dyn Observer,
}

impl Runner<'_> {
    /// Runs what the record does not have yet. The run as far as it got comes back in any case.
    ///
    /// # Errors
    /// When the record can't be written; what was measured until then is in the run.
    pub fn execute(mut self) -> (Run, Result<Ending, StoreError>) {
        let trials = remaining(&self.run);
        let ending = self.trials(&trials);
        (self.run, ending)
    }

    fn trials(&mut self, trials: &[PlannedTrial]) -> Result<Ending, StoreError> {
        let mut cells = BTreeMap::new();
        for (at, planned) in trials.iter().enumerate() {
            if self.lab.interrupt.after_this() {
                return Ok(Ending::Interrupted);
            }
            let is_last = !trials[at + 1..].iter().any(|later| same_cell(later, planned));
            if self.trial(planned, is_last, &mut cells)?.is_err() {
                return Ok(Ending::Interrupted);
            }
        }
        let at = clock::wall();
        self.run.finished = Some(at);
        self.writer.append(&RecordEvent::Finished { at })?;
        Ok(Ending::Finished)
    }

    /// One trial, and before it whatever its server needs. `Ok(Err)`: the run is to stop now.
    fn trial(
        &mut self,
        planned: &PlannedTrial,
        is_last: bool,
        cells: &mut BTreeMap<(String, String), Cell>,
    ) -> Result<Result<(), StopNow>, StoreError> {
        let Some(workload) = self.workload(planned) else { return Ok(Ok(())) };
        let key = (planned.entry.clone(), planned.workload.clone());
        let mut guest = match cells.remove(&key) {
            Some(Cell::Ready(guest)) => guest,
            Some(Cell::Out) => {
                cells.insert(key, Cell::Out);
                return Ok(Ok(()));
            }
            None => match self.prepare(planned, &workload)? {
                Ok(Some(guest)) => Box::new(guest),
                Ok(None) => {
                    cells.insert(key, Cell::Out);
                    return Ok(Ok(()));
                }
                Err(stop) => return Ok(Err(stop)),
            },
        };
        let started = clock::wall();
        let position = (self.run.trials.len(), self.run.header.plan.order.len());
        let (entry, number) = (planned.entry.clone(), planned.number);
        self.observer.event(&Event::Measuring { entry, number, position });
        let result = match trial::measure(&mut guest, self.lab, &workload) {
            Ok(measured) => TrialResult::Measured(Box::new(measured)),
            Err(Trouble::Server(failure)) => TrialResult::Failed(failure),
            Err(Trouble::Stop(stop)) => return Ok(Err(stop)),
        };
        let failed = matches!(result, TrialResult::Failed(_));
        let (entry, workload) = (planned.entry.clone(), planned.workload.clone());
        self.record_trial(Trial { entry, workload, number: planned.number, started, result })?;
        if let Some(cell) = self.put_away(guest, failed, is_last) {
            cells.insert(key, cell);
        }
        Ok(Ok(()))
    }

    /// After a trial: frozen where it is kept, stopped where it is not.
    fn put_away(&self, mut guest: Box<Guest>, failed: bool, is_last: bool) -> Option<Cell> {
        let kept = self.run.header.plan.fresh == Fresh::Kept;
        if failed {
            return Some(Cell::Out); // The drop kills what is left of it.
        }
        if is_last || !kept {
            // That it had to be killed is in its log; its trials are over.
            let _ = guest.stop();
            return None;
        }
        match guest.freeze() {
            Ok(()) => Some(Cell::Ready(guest)),
            Err(_) => None, // Started anew for its next trial.
        }
    }

    fn prepare(
        &mut self,
        planned: &PlannedTrial,
        workload: &Workload,
    ) -> Result<Result<Option<Guest>, StopNow>, StoreError> {
        let candidate = self.candidates.iter().find(|c| c.entry.name() == planned.entry);
        let Some(candidate) = candidate else { return Ok(Ok(None)) };
        self.observer.event(&Event::Starting { entry: planned.entry.clone() });
        let asked = prepare::Asked { workload, trial: planned.number };
        match prepare::prepare(self.lab, candidate, asked, self.observer) {
            Ok((preparation, guest)) => {
                self.record_preparation(preparation)?;
                Ok(Ok(guest))
            }
            Err(stop) => Ok(Err(stop)),
        }
    }

    fn workload(&self, planned: &PlannedTrial) -> Option<Workload> {
        let plan: &Plan = &self.run.header.plan;
        plan.workloads.iter().find(|workload| workload.name == planned.workload).cloned()
    }

    /// In memory first: a full disk must not lose what can still be shown.
    fn record_preparation(&mut self, preparation: Preparation) -> Result<(), StoreError> {
        self.observer.event(&Event::Prepared(&preparation));
        self.run.preparations.push(preparation.clone());
        self.writer.append(&RecordEvent::Prepared(Box::new(preparation)))
    }

    fn record_trial(&mut self, trial: Trial) -> Result<(), StoreError> {
        self.observer.event(&Event::Trial(&trial));
        self.run.trials.push(trial.clone());
        self.writer.append(&RecordEvent::Trial(Box::new(trial)))
    }
}

fn same_cell(a: &PlannedTrial, b: &PlannedTrial) -> bool {
    a.entry == b.entry && a.workload == b.workload
}
