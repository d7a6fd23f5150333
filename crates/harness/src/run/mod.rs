//! A run: every trial of the plan, in order, and the record of it.
//!
//! ```text
//! start -> ready -> check -> connect -> warm -> measure -> (frozen -> woken -> measure)* -> stop
//! ```
//! A server is warmed by a closed loop at full load, whatever the arrivals under which it is measured. Workloads that differ
//! in no more than name, arrivals and window share a process and its connections.
//! Only one server is awake at any time. What happens to one server never ends the run of the others.
//! Where servers run, and who starts them, is the business of [`crate::placement`]: nothing here knows.

mod candidates;
mod context;
mod environment;
mod interrupt;
mod kept;
mod observer;
mod prepare;
mod resume;
mod subject;
mod target;
mod trial;
mod verify;
mod warm;

use rpcbench_engine::clock;
use rpcbench_record::{
    Arrivals, Event as RecordEvent, Fresh, PlannedTrial, Preparation, Run, StoreError, Trial,
    TrialResult, Workload, Writer,
};

pub use candidates::{BuildEvent, BuildState, Building, Candidate, candidates};
use context::Context;
pub use environment::Environment;
pub use interrupt::{Interrupt, StopNow};
use kept::{Kept, same_process};
pub use observer::{Event, Observer, Phase, Stage};
pub use resume::{ResumeError, remaining, same_machine};
pub use subject::{Admission, Provenance, Subject};
use target::{Target, Trouble};
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
    /// What all servers have in common.
    pub environment: &'a Environment,
    /// Every entry of the plan.
    pub subjects: &'a [Subject<'a>],
    /// Where the record goes. `None`: nowhere but into the run that comes back.
    pub writer: Option<Writer>,
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
            if self.environment.interrupt.after_this() {
                return Ok(Ending::Interrupted);
            }
            let plan = &self.run.header.plan;
            let is_last = !trials[at + 1..].iter().any(|later| same_process(plan, later, planned));
            if self.trial(planned, is_last, &mut kept)?.is_err() {
                return Ok(Ending::Interrupted);
            }
        }
        if self.environment.interrupt.ends_window() {
            return Ok(Ending::Interrupted);
        }
        let at = clock::wall();
        self.run.finished = Some(at);
        self.append(&RecordEvent::Finished { at })?;
        Ok(Ending::Finished)
    }

    /// One trial, and before it whatever its server needs. `Ok(Err)`: the run is to stop now.
    fn trial(
        &mut self,
        planned: &PlannedTrial,
        is_last: bool,
        kept: &mut Kept,
    ) -> Result<Result<(), StopNow>, StoreError> {
        let Some((workload, arrivals)) = self.load(planned).filter(|_| !kept.is_excluded(planned))
        else {
            return Ok(Ok(()));
        };
        let Some(subject) = self.subjects.iter().find(|s| s.entry == planned.entry) else {
            return Ok(Ok(()));
        };
        let (environment, observer) = (self.environment, self.observer);
        let context = Context { environment, subject, workload: &workload, observer };
        let mut target = match kept.take(&self.run.header.plan, planned) {
            Some(target) => target,
            None => match self.prepare(planned, &context)? {
                Ok(Some(target)) => Box::new(target),
                Ok(None) => {
                    kept.exclude_process(&self.run.header.plan, planned);
                    return Ok(Ok(()));
                }
                Err(stop) => return Ok(Err(stop)),
            },
        };
        let trial = match self.measure(planned, &context, &mut target, arrivals) {
            Ok(trial) => trial,
            Err(stop) => return Ok(Err(stop)),
        };
        let failed = matches!(trial.result, TrialResult::Failed(_));
        self.record_trial(trial)?;
        if failed {
            kept.exclude(planned); // The drop kills what is left of its server.
        } else if let Some(target) = self.put_away(target, is_last) {
            kept.keep(&self.run.header.plan, planned, target);
        }
        Ok(Ok(()))
    }

    fn measure(
        &self,
        planned: &PlannedTrial,
        context: &Context<'_>,
        target: &mut Target,
        arrivals: Arrivals,
    ) -> Result<Trial, StopNow> {
        let began = clock::wall();
        let PlannedTrial { entry, workload, number } = planned.clone();
        self.observer.event(&Event::Measuring {
            entry: entry.clone(),
            workload: workload.clone(),
            arrivals,
            number,
            position: (self.run.trials.len(), self.run.header.plan.order.len()),
        });
        let outcome = match trial::run(target, context, arrivals) {
            Ok(outcome) => outcome,
            Err(Trouble::Server(failure)) => trial::Outcome {
                started: began,
                arrivals: None,
                search: None,
                unmeasured: None,
                result: TrialResult::Failed(failure),
            },
            Err(Trouble::Stop(stop)) => return Err(stop),
        };
        let trial::Outcome { started, arrivals, search, unmeasured, result } = outcome;
        Ok(Trial { entry, workload, number, started, arrivals, search, unmeasured, result })
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
    fn put_away(&self, mut target: Box<Target>, is_last: bool) -> Option<Box<Target>> {
        let kept = self.run.header.plan.fresh == Fresh::Kept;
        if is_last || !kept {
            // That it had to be killed is in its log; its trials are over.
            let _ = target.stop();
            return None;
        }
        // One that can't be frozen is started anew for its next trial.
        target.freeze().ok().map(|()| target)
    }

    fn prepare(
        &mut self,
        planned: &PlannedTrial,
        context: &Context<'_>,
    ) -> Result<Result<Option<Target>, StopNow>, StoreError> {
        self.observer.event(&Event::Starting { entry: planned.entry.clone() });
        match prepare::prepare(context, planned.number) {
            Ok((preparation, target)) => {
                self.record_preparation(preparation)?;
                Ok(Ok(target))
            }
            Err(stop) => Ok(Err(stop)),
        }
    }

    /// In memory first: a full disk must not lose what can still be shown.
    fn record_preparation(&mut self, preparation: Preparation) -> Result<(), StoreError> {
        self.observer.event(&Event::Prepared(&preparation));
        self.run.preparations.push(preparation.clone());
        self.append(&RecordEvent::Prepared(Box::new(preparation)))
    }

    fn record_trial(&mut self, trial: Trial) -> Result<(), StoreError> {
        self.observer.event(&Event::Trial(&trial));
        self.run.trials.push(trial.clone());
        self.append(&RecordEvent::Trial(Box::new(trial)))
    }

    fn append(&mut self, event: &RecordEvent) -> Result<(), StoreError> {
        self.writer.as_mut().map_or(Ok(()), |writer| writer.append(event))
    }
}
