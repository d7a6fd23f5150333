//! A run: every trial of the plan, in order, and its record.
//!
//! ```text
//! start -> ready -> check -> connect -> warm -> (rest -> wake -> settle -> measure)* -> stop
//! ```
//! A server is warmed by a closed loop at full load, under any arrivals. Workloads that differ only in name, arrivals and window
//! share a process and its connections. Processes with several trials are made ready before the first round, so that rounds
//! are short and changes of the machine affect all servers alike. Only one server at a time has load; the others are idle, and
//! frozen if they use CPU time all the same. Where memory or open files are short, processes take turns. A failure of one
//! server never ends the run of the others.
//!
//! The run knows where servers run and who makes the load only by the traits of [`crate::placement`] and [`crate::load`].

mod context;
mod estimate;
mod group;
mod growth;
mod interim;
mod loaded_server;
mod observer;
mod pool;
mod prepare;
mod resume;
mod serve;
mod settle;
mod stopping;
mod subject;
mod trial;
mod verify;
mod warm;

use std::collections::{BTreeMap, BTreeSet};

use rpcbench_clock::{self as clock, Nanos};
use rpcbench_record::{
    Arrivals, Event as RecordEvent, PlannedTrial, Preparation, Readiness, Run, StoreError, Trial,
    TrialResult, Workload, Writer,
};

use crate::interrupt::StopNow;
use crate::placement::Running;

use context::Context;
pub use context::Environment;
pub use estimate::{Estimate, Left};
use group::EntryProcess;
use interim::Interim;
use loaded_server::{LoadedServer, StepError};
pub use observer::{Event, Observer, Phase, Stage};
use pool::ServerPool;
pub use resume::{CurrentSetup, ResumeError, remaining, resumable};
pub use serve::{Served, serve};
use stopping::Stopping;
pub use subject::{Admission, Provenance, Subject};
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
    Interrupt,
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
    environment: &'a Environment,
    subjects: &'a [Subject<'a>],
    /// Writes the record. `None`: it is only returned.
    writer: Option<Writer>,
    run: Run,
    observer: &'a dyn Observer,
    /// Trials of the plan that are over or skipped.
    done: usize,
    /// Why processes take turns. `None`: all run at the same time.
    turns: Option<&'static str>,
    /// Number up to which processes of each entry run.
    processes: u32,
    /// How long another process of an entry takes to prepare.
    setup: BTreeMap<String, Nanos>,
    /// Processes that were started before their turn.
    early: BTreeMap<EntryProcess, Box<dyn Running>>,
}

impl<'a> Runner<'a> {
    /// A runner of what `run` lacks. Without a writer, the record is only returned.
    pub fn new(
        environment: &'a Environment,
        subjects: &'a [Subject<'a>],
        writer: Option<Writer>,
        run: Run,
        observer: &'a dyn Observer,
    ) -> Self {
        let (done, turns, setup, early) = (0, None, BTreeMap::new(), BTreeMap::new());
        let processes = 1;
        Self { environment, subjects, writer, run, observer, done, turns, processes, setup, early }
    }

    /// Runs what the record lacks. Returns the run as far as it got in any case.
    pub fn execute(mut self) -> (Run, Result<Ending, StoreError>) {
        let trials = remaining(&self.run);
        let ending = match self.trials(trials) {
            Ok(ending) => Ok(ending),
            Err(StopReason::Interrupt) => Ok(Ending::Interrupted),
            Err(StopReason::Store(error)) => Err(error),
        };
        self.environment.interrupt.conclude();
        (self.run, ending)
    }

    fn trials(&mut self, mut trials: Vec<PlannedTrial>) -> Result<Ending, StopReason> {
        let mut pool = ServerPool::default();
        let mut stopping = self.stopping(&trials);
        let mut group = None;
        let mut at = 0;
        while let Some(first) = trials.get(at) {
            self.check_interrupt()?;
            if group != Some(self.group(first)) {
                pool.stop_all(self.observer);
                self.prepare_group(&mut trials[at..], stopping.as_mut(), &mut pool)?;
                group = Some(self.group(&trials[at]));
            }
            let planned = trials[at].clone();
            at += 1;
            if pool.is_excluded(&self.run.header.plan, &planned) || self.agrees(&planned) {
                continue;
            }
            if let Some(rule) = &mut stopping {
                let is_made = self.is_made(rule, &planned)?;
                self.grow(&trials[at..], rule, &mut pool)?;
                if !is_made {
                    continue;
                }
            }
            let start = self.now();
            self.done = self.run.header.plan.order.len() - (trials.len() - at) - 1;
            self.trial(&planned, !self.has_later(&planned, &trials[at..]), &mut pool)?;
            if let Some(rule) = &mut stopping {
                rule.took(&planned.entry, self.now() - start);
            }
        }
        pool.stop_all(self.observer);
        if self.environment.interrupt.ends_window() {
            return Ok(Ending::Interrupted);
        }
        let at = clock::wall();
        self.run.finished = Some(at);
        self.append(&RecordEvent::Finished { at })?;
        Ok(Ending::Finished)
    }

    fn now(&self) -> Nanos {
        self.environment.interrupt.now()
    }

    fn stopping(&self, trials: &[PlannedTrial]) -> Option<Stopping> {
        let plan = &self.run.header.plan;
        let names: BTreeSet<&String> = trials.iter().map(|trial| &trial.workload).collect();
        let rounds = names.into_iter().map(|name| (name.clone(), plan.rounds(name)));
        plan.stopping.map(|rule| Stopping::new(rule, rounds.collect(), self.now()))
    }

    /// Whether the time and the windows so far leave a trial to be made.
    fn is_made(&mut self, rule: &mut Stopping, planned: &PlannedTrial) -> Result<bool, StoreError> {
        let is_made = rule.makes(planned, self.now(), |rounds, elapsed| {
            let workload = self.run.header.plan.workload(&planned.workload);
            let analyze = |it| interim::analyze(&self.run, it, rounds, elapsed);
            workload.map_or_else(Interim::default, analyze)
        });
        if let Some(look) = rule.take_analysis() {
            self.run.interim_analyses.push(look.clone());
            self.append(&RecordEvent::InterimAnalysis(look))?;
        }
        Ok(is_made)
    }

    /// True if the last two trials of a cell agree, so that it needs no more in this process.
    fn agrees(&self, planned: &PlannedTrial) -> bool {
        let rule = self.run.header.plan.stopping.filter(|rule| rule.agreement.is_some());
        let Some(rule) = rule else { return false };
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

    /// Makes the server of a trial ready if necessary, and measures it.
    fn trial(
        &mut self,
        planned: &PlannedTrial,
        is_last: bool,
        pool: &mut ServerPool,
    ) -> Result<(), StopReason> {
        let Some((subject, workload, arrivals)) = self.due(planned, pool) else { return Ok(()) };
        let context = Context { is_last, ..self.context(subject, &workload) };
        let Some(mut target) = self.ready(planned, &[], &context, pool)? else { return Ok(()) };
        let trial = self.measure(planned, &context, &mut target, arrivals)?;
        let failed = matches!(trial.result, TrialResult::Failed(_));
        self.record_trial(trial)?;
        if failed {
            pool.exclude(planned); // Dropping the target kills what is left of its server.
        } else if is_last {
            pool::stop(*target, planned.entry.clone(), self.observer);
        } else {
            self.park(planned, target, pool);
        }
        Ok(())
    }

    /// What a trial needs: its server, its workload, and its arrival process with a known rate. `None` if it is not made.
    fn due(
        &self,
        planned: &PlannedTrial,
        pool: &ServerPool,
    ) -> Option<(&'a Subject<'a>, Workload, Arrivals)> {
        let subject = self.subjects.iter().find(|s| s.entry == planned.entry)?;
        let (workload, arrivals) =
            self.load(planned).filter(|_| !pool.is_excluded(&self.run.header.plan, planned))?;
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
            is_checked: self.run.preparations.iter().any(|it| {
                it.entry == subject.entry && it.check.passed > 0 && it.readiness == Readiness::Ready
            }),
            adapts: self.run.header.plan.placement.starts_servers(),
            preparation_limit: None,
            is_last: false,
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

    fn measure(
        &self,
        planned: &PlannedTrial,
        context: &Context<'_>,
        target: &mut LoadedServer,
        arrivals: Arrivals,
    ) -> Result<Trial, StopNow> {
        let began = clock::wall();
        let current = self.environment.interrupt.begin_trial(trial::end(context));
        let position = (self.done, self.run.header.plan.order.len());
        self.observer.event(&Event::Measuring { planned, arrivals, position });
        let measured = trial::run(target, context, planned, arrivals).and_then(|trial| {
            // While the load's connections are open: another process may have accepted them.
            let interrupt = &self.environment.interrupt;
            target.serves_itself(interrupt, context.is_last)?;
            if context.is_proven() && !interrupt.ends_window() {
                target.spot_check(interrupt, context.is_last)?;
            }
            Ok(trial)
        });
        drop(current);
        match measured {
            Ok(trial) => Ok(trial),
            Err(StepError::Server(failure)) => {
                Ok(trial::over(planned, began, TrialResult::Failed(failure)))
            }
            Err(StepError::Stop(stop)) => Err(stop),
        }
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
