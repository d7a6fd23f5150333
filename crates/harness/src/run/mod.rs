//! A run: every trial of the plan, in order, and the record of it.
//!
//! ```text
//! start -> ready -> check -> connect -> warm -> measure -> (frozen -> woken -> measure)* -> stop
//! ```
//! A server is warmed by a closed loop at full load, whatever the arrivals under which it is measured. Workloads that differ
//! in no more than name, arrivals and window share a process and its connections.
//! Only one server is awake at any time. What happens to one server never ends the run of the others.

mod candidates;
mod guest;
mod interrupt;
mod kept;
mod lab;
mod observer;
mod prepare;
mod resume;
mod scene;
mod trial;
mod verify;
mod warm;

use jiff::Timestamp;
use rpcbench_engine::clock;
use rpcbench_record::{
    Arrivals, Event as RecordEvent, Fresh, PlannedTrial, Preparation, Run, StoreError, Trial,
    TrialResult, Workload, Writer,
};

pub use candidates::{BuildEvent, Building, candidates};
use guest::{Guest, Trouble};
pub use interrupt::{Interrupt, StopNow};
use kept::{Kept, same_process};
pub use lab::Lab;
pub use observer::{Event, Observer};
pub use prepare::{BuildState, Candidate};
pub use resume::{ResumeError, remaining, same_machine};
use scene::Scene;
pub use verify::{Verified, verify};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every trial of the plan has ended.
    Finished,
    /// Ctrl-C: what was measured is in the record, and the rest can be resumed.
    Interrupted,
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
        let mut kept = Kept::default();
        for (at, planned) in trials.iter().enumerate() {
            if self.lab.interrupt.after_this() {
                return Ok(Ending::Interrupted);
            }
            let plan = &self.run.header.plan;
            let is_last = !trials[at + 1..].iter().any(|later| same_process(plan, later, planned));
            if self.trial(planned, is_last, &mut kept)?.is_err() {
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
        kept: &mut Kept,
    ) -> Result<Result<(), StopNow>, StoreError> {
        let Some((workload, arrivals)) = self.load(planned).filter(|_| !kept.is_out(planned))
        else {
            return Ok(Ok(()));
        };
        let Some(candidate) = self.candidates.iter().find(|c| c.entry.name() == planned.entry)
        else {
            return Ok(Ok(()));
        };
        let mut guest = match kept.take(&self.run.header.plan, planned) {
            Some(guest) => guest,
            None => match self.prepare(planned, candidate, &workload)? {
                Ok(Some(guest)) => Box::new(guest),
                Ok(None) => {
                    kept.put_out_all(&self.run.header.plan, planned);
                    return Ok(Ok(()));
                }
                Err(stop) => return Ok(Err(stop)),
            },
        };
        let started = clock::wall();
        let position = (self.run.trials.len(), self.run.header.plan.order.len());
        let (entry, number) = (planned.entry.clone(), planned.number);
        let of = planned.workload.clone();
        self.observer.event(&Event::Measuring { entry, workload: of, number, position });
        let (lab, observer) = (self.lab, self.observer);
        let scene = Scene { lab, entry: &candidate.entry, workload: &workload, observer };
        let outcome = match trial::run(&mut guest, &scene, arrivals) {
            Ok(outcome) => outcome,
            Err(Trouble::Server(failure)) => {
                let result = TrialResult::Failed(failure);
                trial::Outcome { arrivals: None, search: None, result }
            }
            Err(Trouble::Stop(stop)) => return Ok(Err(stop)),
        };
        let failed = matches!(outcome.result, TrialResult::Failed(_));
        self.record_trial(ended(planned, started, outcome))?;
        if failed {
            kept.put_out(planned); // The drop kills what is left of its server.
        } else if let Some(guest) = self.put_away(guest, is_last) {
            kept.keep(&self.run.header.plan, planned, guest);
        }
        Ok(Ok(()))
    }

    /// The load of a trial, and its arrival process with a rate that is known. `None` where there is none, as the capacity
    /// that it is a share of could not be measured.
    fn load(&self, planned: &PlannedTrial) -> Option<(Workload, Arrivals)> {
        let workload = self.run.header.plan.workload(&planned.workload)?.clone();
        let arrivals = match workload.arrivals.needs_capacity() {
            true => {
                let capacity = self.run.capacity(&planned.entry, &planned.workload)?;
                workload.arrivals.resolve(capacity)?
            }
            false => workload.arrivals,
        };
        Some((workload, arrivals))
    }

    /// After a trial: frozen where it is kept, stopped where it is not.
    fn put_away(&self, mut guest: Box<Guest>, is_last: bool) -> Option<Box<Guest>> {
        let kept = self.run.header.plan.fresh == Fresh::Kept;
        if is_last || !kept {
            // That it had to be killed is in its log; its trials are over.
            let _ = guest.stop();
            return None;
        }
        // One that can't be frozen is started anew for its next trial.
        guest.freeze().ok().map(|()| guest)
    }

    fn prepare(
        &mut self,
        planned: &PlannedTrial,
        candidate: &Candidate,
        workload: &Workload,
    ) -> Result<Result<Option<Guest>, StopNow>, StoreError> {
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

fn ended(planned: &PlannedTrial, started: Timestamp, outcome: trial::Outcome) -> Trial {
    let trial::Outcome { arrivals, search, result } = outcome;
    let PlannedTrial { entry, workload, number } = planned.clone();
    Trial { entry, workload, number, started, arrivals, search, result }
}
