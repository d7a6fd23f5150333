//! A run: every trial of the plan, in order, and its record.
//!
//! ```text
//! start -> ready -> check -> connect -> warm -> measure -> (frozen -> woken -> measure)* -> stop
//! ```
//! A server is warmed by a closed loop at full load, under any arrivals. Workloads that differ only in name, arrivals and window
//! share a process and its connections. Processes with several trials are made ready before the first round of their number, so
//! that rounds are short and changes of the machine affect all servers alike. Only one server is awake at any time. A failure of
//! one server never ends the run of the others.
//!
//! The run knows where servers run and who makes the load only by the traits of [`crate::placement`] and [`crate::load`].

mod candidates;
mod context;
mod estimate;
mod interim;
mod interrupt;
mod kept;
mod observer;
mod prepare;
mod resume;
mod serve;
mod stopping;
mod subject;
mod target;
mod trial;
mod verify;
mod warm;

use rpcbench_engine::clock::{self, Nanos};
use rpcbench_record::{
    Arrivals, Event as RecordEvent, PlannedTrial, Preparation, Run, StoreError, Trial, TrialResult,
    Workload, Writer,
};

pub use candidates::{BuildEvent, BuildState, Builder, Building, Candidate};
use context::Context;
pub use context::Environment;
pub use estimate::{Estimate, Left};
pub use interrupt::{CurrentTrial, Interrupt, Raised, StopNow};
use kept::{Kept, same_process};
pub use observer::{Event, Observer, Phase, Stage};
pub use resume::{CurrentSetup, ResumeError, remaining, resumable};
pub use serve::{Served, serve};
use stopping::{Stopping, Turn};
pub use subject::{Admission, Provenance, Subject};
use target::{StepError, Target};
pub use verify::{Verified, verify};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every trial of the plan is over.
    Finished,
    /// By Ctrl-C. What was measured is in the record, and the rest can be resumed.
    Interrupted,
}

/// Why a run ends early.
enum StopReason {
    /// Ctrl-C.
    Interrupt,
    /// The record can't be written.
    Store(StoreError),
}

impl From<StopNow> for StopReason {
    fn from(StopNow: StopNow) -> Self {
        Self::Interrupt
    }
}

impl From<StoreError> for StopReason {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Runs a plan.
pub struct Runner<'a> {
    /// The client, shared by all servers.
    pub environment: &'a Environment,
    /// Every entry of the plan.
    pub subjects: &'a [Subject<'a>],
    /// Writes the record. `None`: it is only returned.
    pub writer: Option<Writer>,
    /// The record so far.
    pub run: Run,
    /// Observes the run.
    pub observer: &'a dyn Observer,
    /// Trials of the plan that are over or skipped.
    pub done: usize,
}

impl<'a> Runner<'a> {
    /// Runs what the record lacks. Returns the run as far as it got in any case.
    ///
    /// # Errors
    /// If the record can't be written. What was measured until then is in the run.
    pub fn execute(mut self) -> (Run, Result<Ending, StoreError>) {
        let trials = remaining(&self.run);
        let ending = match self.trials(&trials) {
            Ok(ending) => Ok(ending),
            Err(StopReason::Interrupt) => Ok(Ending::Interrupted),
            Err(StopReason::Store(error)) => Err(error),
        };
        self.environment.interrupt.conclude();
        (self.run, ending)
    }

    fn trials(&mut self, trials: &[PlannedTrial]) -> Result<Ending, StopReason> {
        let (mut kept, began) = (Kept::default(), clock::now());
        let mut stopping = self.stopping();
        let mut process = None;
        for (at, planned) in trials.iter().enumerate() {
            self.check_interrupt()?;
            if self.agrees(planned) {
                continue;
            }
            let elapsed = Nanos(clock::now().since(began));
            let is_clear = |processes| interim::is_clear(&self.run, processes);
            let turn = stopping.as_mut().map(|rule| rule.turn(planned, elapsed, is_clear));
            match turn.unwrap_or(Turn::Made) {
                Turn::Made => {}
                Turn::Skipped => continue,
                Turn::End => break,
            }
            let rest = &trials[at..];
            if process.replace(planned.process) != Some(planned.process) {
                kept.stop_all();
                self.prepare_round(rest, &mut kept)?;
                if let Some(rule) = &mut stopping {
                    rule.prepared(self.one_time_setup(planned.process));
                }
            }
            self.done = self.run.header.plan.order.len() - rest.len();
            self.trial(planned, !self.has_later(rest), &mut kept)?;
        }
        if self.environment.interrupt.ends_window() {
            return Ok(Ending::Interrupted);
        }
        let at = clock::wall();
        self.run.finished = Some(at);
        self.append(&RecordEvent::Finished { at })?;
        Ok(Ending::Finished)
    }

    fn stopping(&self) -> Option<Stopping> {
        let plan = &self.run.header.plan;
        plan.stopping.map(|rule| Stopping::new(rule, plan.most_processes()))
    }

    /// Setup time of these processes that later ones don't need.
    fn one_time_setup(&self, process: u32) -> Nanos {
        let of_process = self.run.preparations.iter().filter(|it| it.process == process);
        Nanos(of_process.map(|it| estimate::one_time_setup(it).0).sum())
    }

    /// True if the last two trials of a cell agree, so that it needs no more in this process.
    fn agrees(&self, planned: &PlannedTrial) -> bool {
        let Some(rule) = self.run.header.plan.stopping else { return false };
        let of_process = |trial: &&Trial| {
            (&trial.entry, &trial.workload, trial.process)
                == (&planned.entry, &planned.workload, planned.process)
        };
        let mut last = self.run.trials.iter().filter(of_process).rev();
        let mut spread = || Some(last.next()?.measured()?.latency.as_ref()?.stddev_ns);
        spread().zip(spread()).is_some_and(|(one, other)| rule.agree(one, other))
    }

    /// Nothing new begins after Ctrl-C.
    fn check_interrupt(&self) -> Result<(), StopNow> {
        if self.environment.interrupt.is_raised() { Err(StopNow) } else { Ok(()) }
    }

    /// True if a later one of these trials needs the same process as the first.
    fn has_later(&self, trials: &[PlannedTrial]) -> bool {
        let plan = &self.run.header.plan;
        let Some((first, later)) = trials.split_first() else { return false };
        let mut later = later.iter().take_while(|later| later.process == first.process);
        later.any(|later| same_process(plan, later, first))
    }

    /// Makes the servers of the first round ready that have more than one trial.
    fn prepare_round(
        &mut self,
        trials: &[PlannedTrial],
        kept: &mut Kept,
    ) -> Result<(), StopReason> {
        let Some(first) = trials.first() else { return Ok(()) };
        let round = trials
            .iter()
            .take_while(|t| (&t.workload, t.number) == (&first.workload, first.number))
            .count();
        for (at, planned) in trials.iter().enumerate().take(round) {
            if !self.has_later(&trials[at..]) {
                continue;
            }
            self.check_interrupt()?;
            let Some((subject, workload, _)) = self.due(planned, kept) else { continue };
            if let Some(target) = self.ready(planned, &self.context(subject, &workload), kept)? {
                self.put_away(planned, target, kept);
            }
        }
        Ok(())
    }

    /// Makes the server of a trial ready if necessary, and measures it.
    fn trial(
        &mut self,
        planned: &PlannedTrial,
        is_last: bool,
        kept: &mut Kept,
    ) -> Result<(), StopReason> {
        let Some((subject, workload, arrivals)) = self.due(planned, kept) else { return Ok(()) };
        let context = self.context(subject, &workload);
        let Some(mut target) = self.ready(planned, &context, kept)? else { return Ok(()) };
        let trial = self.measure(planned, &context, &mut target, arrivals)?;
        let failed = matches!(trial.result, TrialResult::Failed(_));
        self.record_trial(trial)?;
        if failed {
            kept.exclude(planned); // Dropping the target kills what is left of its server.
        } else if is_last {
            // Its trials are over; if it has to be killed, its log says so.
            let _ = target.stop();
        } else {
            self.put_away(planned, target, kept);
        }
        Ok(())
    }

    /// What a trial needs: its server, its workload, and its arrival process with a known rate. `None` if it is not made.
    fn due(
        &self,
        planned: &PlannedTrial,
        kept: &Kept,
    ) -> Option<(&'a Subject<'a>, Workload, Arrivals)> {
        let subject = self.subjects.iter().find(|s| s.entry == planned.entry)?;
        let (workload, arrivals) = self.load(planned).filter(|_| !kept.is_excluded(planned))?;
        Some((subject, workload, arrivals))
    }

    fn context<'c>(&self, subject: &'c Subject<'a>, workload: &'c Workload) -> Context<'c>
    where
        'a: 'c,
    {
        Context {
            environment: self.environment,
            subject,
            workload,
            known_warm_up: self.known_warm_up(&subject.entry, &workload.name),
            observer: self.observer,
        }
    }

    /// The longest warm-up that a process of an entry needed. `None` if one did not become steady.
    fn known_warm_up(&self, entry: &str, workload: &str) -> Option<Nanos> {
        let of_entry = |p: &&Preparation| p.entry == entry && p.workload == workload;
        let curves = self.run.preparations.iter().filter(of_entry).filter_map(|p| p.warm.as_ref());
        let needed = curves.filter(|curve| !curve.as_earlier).map(|curve| curve.later_ms);
        needed.collect::<Option<Vec<u64>>>()?.into_iter().max().map(Nanos::from_millis)
    }

    /// The server for a trial: the one kept for it, or a new one. `None` if it can't be made ready; then it has no more trials.
    fn ready(
        &mut self,
        planned: &PlannedTrial,
        context: &Context<'_>,
        kept: &mut Kept,
    ) -> Result<Option<Box<Target>>, StopReason> {
        if let Some(target) = kept.take(&self.run.header.plan, planned) {
            return Ok(Some(target));
        }
        // Kept servers stay connected. If all connections are too many, servers restart for each trial.
        let generator = &self.environment.generator;
        if !generator.has_room(context.workload, context.subject.protocol) {
            kept.stop_all();
        }
        self.observer
            .event(&Event::Starting { entry: planned.entry.clone(), process: planned.process });
        let (preparation, target) = prepare::prepare(context, planned.process)?;
        self.record_preparation(preparation)?;
        if target.is_none() {
            kept.exclude_process(&self.run.header.plan, planned);
        }
        Ok(target.map(Box::new))
    }

    /// Freezes a server until its next trial. One that can't be frozen is ended, and started again for it.
    fn put_away(&self, planned: &PlannedTrial, mut target: Box<Target>, kept: &mut Kept) {
        if target.server.freeze().is_ok() {
            kept.keep(&self.run.header.plan, planned, target);
        }
    }

    fn measure(
        &self,
        planned: &PlannedTrial,
        context: &Context<'_>,
        target: &mut Target,
        arrivals: Arrivals,
    ) -> Result<Trial, StopNow> {
        let began = clock::wall();
        let PlannedTrial { entry, workload, process, number } = planned.clone();
        let current = self.environment.interrupt.begin_trial(trial::end(context.workload));
        self.observer.event(&Event::Measuring {
            entry: entry.clone(),
            workload: workload.clone(),
            arrivals,
            number,
            position: (self.done, self.run.header.plan.order.len()),
        });
        let outcome = match trial::run(target, context, arrivals) {
            Ok(outcome) => outcome,
            Err(StepError::Server(failure)) => trial::Outcome {
                started: began,
                arrivals: None,
                search: None,
                unmeasured: None,
                result: TrialResult::Failed(failure),
            },
            Err(StepError::Stop(stop)) => return Err(stop),
        };
        drop(current);
        let trial::Outcome { started, arrivals, search, unmeasured, result } = outcome;
        Ok(Trial {
            entry,
            workload,
            process,
            number,
            started,
            arrivals,
            search,
            unmeasured,
            result,
        })
    }

    /// The workload of a trial, and its arrival process with a known rate. `None` if the rate is a share of a capacity that
    /// could not be measured.
    fn load(&self, planned: &PlannedTrial) -> Option<(Workload, Arrivals)> {
        let workload = self.run.header.plan.workload(&planned.workload)?.clone();
        let arrivals = match workload.arrivals.needs_capacity() {
            true => {
                let capacity =
                    self.run.capacity(&planned.entry, &planned.workload, Some(planned.process))?;
                workload.arrivals.resolve(capacity)?
            }
            false => workload.arrivals,
        };
        Some((workload, arrivals))
    }

    /// In memory first, so that a full disk does not lose what can still be shown.
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
