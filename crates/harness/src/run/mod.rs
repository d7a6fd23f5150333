//! A run: every trial of the plan, in order, and its record.
//!
//! ```text
//! start -> ready -> check -> connect -> warm -> settle -> (turn -> freeze)* -> stop
//! ```
//! If entries are compared in a closed loop, all processes take turns with the CPU, in slices (`round`, `slice`). Otherwise
//! each window is measured in one piece (`window`), after a rest: `(rest -> wake -> settle -> measure)*`.
//!
//! The warm-up is a closed loop at full load, for all arrivals. Workloads that differ only in name, arrivals and window share a
//! process and its connections. Processes with several trials are prepared before the first round, so that rounds are short and
//! changes of the machine affect all servers alike. Only one server at a time has load; the others are idle, and frozen if they
//! use CPU time without load. If memory or open files are short, processes run in batches. A failed server never ends the run
//! of the others.
//!
//! A server begins as a [`Subject`], an entry of the plan that may be started; each of its processes is then a `LoadedServer`.
//! The run knows where servers run and who makes the load only through the traits of [`crate::placement`] and [`crate::load`].
//! This file has the loop: `state` has the remaining trials and the live processes, `group` prepares processes, `trial` measures
//! one, and `record` writes the results.

mod context;
mod estimate;
mod fault;
mod first_call;
mod group;
mod growth;
mod interim;
mod loaded_server;
mod observer;
mod prepare;
mod record;
mod resume;
mod round;
mod search;
mod serve;
mod settle;
mod slice;
mod state;
mod stopping;
mod subject;
mod trial;
mod unseen;
mod warm;
mod window;

use rpcbench_record::{PlannedTrial, Run, Secrets, StoreError, TrialResult, Writer};

use crate::interrupt::StopNow;

use context::Context;
pub use context::Environment;
pub use estimate::{Estimate, Left};
pub use observer::{Event, Observer, Phase, Stage};
use record::RunRecord;
pub use resume::{CurrentSetup, ResumeError, remaining, resumable};
pub use serve::{Served, Verified, serve, verify};
pub use slice::SliceLength;
use state::RunState;
pub use subject::{Admission, Provenance, Subject};
use trial::Task;

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every trial of the plan is over.
    Finished,
    /// Ctrl-C ended it. The record has what was measured, and the rest can be resumed.
    Interrupted,
}

/// The reason why a run ends early.
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
    context: Context<'a>,
    subjects: &'a [Subject<'a>],
    record: RunRecord<'a>,
    state: RunState<'a>,
}

impl<'a> Runner<'a> {
    /// A runner of the trials that `run` lacks. Without a writer, the record is only returned.
    pub fn new(
        environment: &'a Environment,
        subjects: &'a [Subject<'a>],
        writer: Option<Writer>,
        run: Run,
        observer: &'a dyn Observer,
    ) -> Self {
        let adapts = run.header.plan.placement.starts_servers();
        let context = Context { environment, observer, adapts };
        let state = RunState::new(&run, context.now());
        let secrets = Secrets::of(&run.header.plan).and(environment.secrets.clone());
        Self { context, subjects, record: RunRecord { run, writer, observer, secrets }, state }
    }

    /// Runs what the record lacks. Returns the run so far even if writing it fails.
    pub fn execute(mut self) -> (Run, Result<Ending, StoreError>) {
        let ending = match self.measure_all() {
            Ok(ending) => Ok(ending),
            Err(StopReason::Interrupt) => Ok(Ending::Interrupted),
            Err(StopReason::Store(error)) => Err(error),
        };
        self.context.interrupt().conclude();
        (self.record.run, ending)
    }

    fn measure_all(&mut self) -> Result<Ending, StopReason> {
        while self.state.has_trials() {
            self.check_interrupt()?;
            if self.state.ends_rounds() {
                self.end_rounds()?;
            }
            if self.state.begins_group() {
                self.prepare_group()?;
            }
            self.measure_next()?;
        }
        self.end_rounds()?;
        self.state.stop_all();
        if self.context.interrupt().ends_window() {
            return Ok(Ending::Interrupted);
        }
        self.record.finish()?;
        Ok(Ending::Finished)
    }

    /// Measures the next trial, or the next round in slices, if it should be made.
    fn measure_next(&mut self) -> Result<(), StopReason> {
        let slices = self.state.first().and_then(|planned| self.slices(planned));
        let trials = match slices {
            Some(_) => self.state.next_round(),
            None => self.state.next().into_iter().collect(),
        };
        let is_left = |it: &&PlannedTrial| !self.state.is_excluded(it) && !self.record.agrees(it);
        let left: Vec<PlannedTrial> = trials.iter().filter(is_left).cloned().collect();
        if left.is_empty() {
            return Ok(());
        }
        let is_made = self.is_made(&left)?;
        self.grow()?;
        match slices {
            _ if !is_made => Ok(()),
            Some(freezer) => self.measure_round(&trials, freezer),
            None => left.iter().try_for_each(|planned| self.measure(planned)),
        }
    }

    /// Fails after Ctrl-C: nothing new should begin.
    fn check_interrupt(&self) -> Result<(), StopNow> {
        if self.context.interrupt().is_raised() { Err(StopNow) } else { Ok(()) }
    }

    /// True if these trials of a round should be made, given the time and the windows so far.
    fn is_made(&mut self, trials: &[PlannedTrial]) -> Result<bool, StoreError> {
        let (run, now) = (&self.record.run, self.context.now());
        let Some(rule) = &mut self.state.stopping else { return Ok(true) };
        let Some(workload) = trials.first().map(|planned| &planned.workload) else {
            return Ok(false);
        };
        let is_made = rule
            .makes(trials, now, |rounds, elapsed| interim::analyze(run, workload, rounds, elapsed));
        match rule.take_analysis() {
            Some(analysis) => self.record.add_analysis(analysis).map(|()| is_made),
            None => Ok(is_made),
        }
    }

    /// Measures a trial. Prepares a process for it if none is at rest.
    fn measure(&mut self, planned: &PlannedTrial) -> Result<(), StopReason> {
        let begin = self.context.now();
        if let Some((subject, workload, arrivals)) = self.due(planned)
            && let Some(mut server) = self.ready(planned, subject, &workload, (&[], None))?
        {
            let is_last = !self.state.has_later(planned);
            let task = Task { planned, workload: &workload, arrivals, is_last };
            let trial = trial::run(&mut server, &task, self.state.position())?;
            let has_failed = matches!(trial.result, TrialResult::Failed(_));
            self.record.add_trial(trial)?;
            self.state.put_back(planned, server, has_failed);
        }
        if let Some(rule) = &mut self.state.stopping {
            rule.took(&planned.entry, self.context.now() - begin);
        }
        Ok(())
    }
}
