//! The state of a run: the remaining trials, and the live processes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rpcbench_clock::Nanos;
use rpcbench_record::{Plan, PlannedTrial, Run};

use super::loaded_server::LoadedServer;
use super::resume::remaining;
use super::stopping::{Deadlines, Stopping};
use crate::placement::{Freezer, Running};

/// An entry, the first of the workloads that share a process of it, and the number of the process.
type ProcessKey = (String, String, u32);

/// The first of the workloads that share processes, and the process number if processes run in batches, else 0.
type Group = (String, u32);

pub(super) struct RunState<'a> {
    plan: Plan,
    /// Remaining trials, in order.
    trials: VecDeque<PlannedTrial>,
    /// Decides which trials are made. `None`: all.
    pub stopping: Option<Stopping>,
    /// The group of the live processes.
    group: Option<Group>,
    /// The resource that is short, so that processes run in batches. `None`: all run at the same time.
    short: Option<&'static str>,
    /// Highest process number of each entry that runs.
    processes: u32,
    /// Cells (entry, workload) whose server failed.
    failed: BTreeSet<(String, String)>,
    /// Processes for which there is no time or no room.
    skipped: BTreeSet<ProcessKey>,
    /// Time to prepare another process of an entry.
    pub setup: BTreeMap<String, Nanos>,
    /// Processes that were started before they are needed.
    early: BTreeMap<ProcessKey, Box<dyn Running>>,
    /// The workload whose windows are in slices. In its rounds, processes out of their turn are frozen with calls in flight.
    sliced: Option<String>,
    /// Warm processes at rest.
    resting: BTreeMap<ProcessKey, Box<LoadedServer<'a>>>,
}

impl<'a> RunState<'a> {
    /// The state of a run that starts, or resumes, now.
    pub fn new(run: &Run, now: Nanos) -> Self {
        let (plan, trials) = (run.header.plan.clone(), VecDeque::from(remaining(run)));
        let names: BTreeSet<&String> = trials.iter().map(|trial| &trial.workload).collect();
        let rounds = names.into_iter().map(|name| (name.clone(), plan.rounds(name)));
        let stopping = plan.stopping.map(|rule| Stopping::new(rule, rounds.collect(), now));
        Self {
            processes: 1,
            plan,
            trials,
            stopping,
            group: None,
            short: None,
            failed: BTreeSet::new(),
            skipped: BTreeSet::new(),
            setup: BTreeMap::new(),
            early: BTreeMap::new(),
            sliced: None,
            resting: BTreeMap::new(),
        }
    }

    pub fn has_trials(&self) -> bool {
        !self.trials.is_empty()
    }

    /// The next trial.
    pub fn first(&self) -> Option<&PlannedTrial> {
        self.trials.front()
    }

    /// Takes the next trial.
    pub fn next(&mut self) -> Option<PlannedTrial> {
        self.trials.pop_front()
    }

    /// The trials of the next round.
    fn round(&self) -> impl Iterator<Item = &PlannedTrial> {
        let round = |it: &PlannedTrial| {
            let rounds = self.plan.rounds(&it.workload);
            (it.workload.clone(), rounds.get(&it.number).copied(), self.group(it))
        };
        let first = self.trials.front().map(round);
        self.trials.iter().take_while(move |it| Some(round(it)) == first)
    }

    /// Takes the trials of the next round, which is measured in slices.
    pub fn next_round(&mut self) -> Vec<PlannedTrial> {
        let number = self.round().count();
        self.sliced = self.trials.front().map(|first| first.workload.clone());
        self.trials.drain(..number).collect()
    }

    /// The freezers of the processes in the next round. `None` if one can't be frozen or does not run yet, or if the first round
    /// would have fewer than two entries.
    pub fn freezers(&self) -> Option<Vec<Freezer>> {
        let is_sliced = self.sliced.is_some();
        let members: Vec<&PlannedTrial> = self.round().filter(|it| !self.is_excluded(it)).collect();
        let entries: BTreeSet<&String> = members.iter().map(|planned| &planned.entry).collect();
        let freezer =
            |planned: &&PlannedTrial| self.resting.get(&self.owned_key(planned))?.freezer();
        let is_enough = is_sliced || entries.len() >= 2;
        is_enough.then(|| members.iter().map(freezer).collect()).flatten()
    }

    /// True if the next trial, or the end of the run, ends the rounds in slices.
    pub fn ends_rounds(&self) -> bool {
        let next = self.trials.front();
        let continues = |it: &PlannedTrial| {
            Some(&it.workload) == self.sliced.as_ref() && Some(self.group(it)) == self.group
        };
        self.sliced.is_some() && !next.is_some_and(continues)
    }

    /// Takes the processes that were measured in slices, each with a trial that identifies it.
    pub fn take_members(&mut self) -> Vec<(PlannedTrial, Box<LoadedServer<'a>>)> {
        let Some(workload) = self.sliced.clone() else { return Vec::new() };
        let members = self.resting.extract_if(.., |_, server| server.own_time.is_some());
        let named = members.map(|((entry, _, process), server)| {
            (PlannedTrial { entry, workload: workload.clone(), process, number: 0 }, server)
        });
        named.collect()
    }

    /// Ends the rounds in slices.
    pub fn end_rounds(&mut self) {
        self.sliced = None;
    }

    /// Keeps a process for its next turn.
    pub fn keep(&mut self, planned: &PlannedTrial, server: Box<LoadedServer<'a>>) {
        self.resting.insert(self.owned_key(planned), server);
    }

    /// Number of trials in the plan before the last one taken, and in total.
    pub fn position(&self) -> (usize, usize) {
        let all = self.plan.order.len();
        (all - self.trials.len() - 1, all)
    }

    /// The next trials, as far as they belong to one group.
    pub fn group_trials(&self) -> impl Iterator<Item = &PlannedTrial> {
        let group = self.trials.front().map(|first| self.group(first));
        self.trials.iter().take_while(move |planned| Some(self.group(planned)) == group)
    }

    /// True if the next trial needs processes other than the live ones, which are then stopped.
    pub fn begins_group(&mut self) -> bool {
        let next = self.trials.front().map(|first| self.group(first));
        let begins = self.group != next;
        if begins {
            self.stop_all();
            self.group = next;
        }
        begins
    }

    /// When the processes of the next group should be ready. `None` without a time limit.
    pub fn deadlines(&self, now: Nanos) -> Option<Deadlines> {
        let group = self.trials.front().map(|first| self.group(first));
        let own = self.trials.iter().filter(|planned| Some(self.group(planned)) == group);
        let workloads: BTreeSet<&str> = own.map(|planned| &*planned.workload).collect();
        self.stopping.as_ref()?.deadlines(workloads.len(), now)
    }

    /// Runs processes in batches from now on, one of each entry at a time, because there is not enough of `short` for all. Those
    /// with the number `first` come first.
    pub fn run_in_batches(&mut self, short: &'static str, first: u32) {
        self.stop_above(first);
        self.short = Some(short);
        self.trials.make_contiguous().sort_by_key(|planned| planned.process);
        if let Some(mut rule) = self.stopping.take() {
            rule.run_in_batches(self.trials.iter().filter(|it| !self.is_excluded(it)));
            self.stopping = Some(rule);
        }
        self.group = self.trials.front().map(|first| self.group(first));
    }

    /// A note for the record if processes run in batches.
    pub fn batches_note(&self) -> Option<String> {
        let short = self.short?;
        Some(format!("processes ran in batches: not enough {short} for all at the same time"))
    }

    /// Highest process number of each entry that runs, and the maximum.
    pub fn processes(&self) -> (u32, u32) {
        let most = self.plan.most_processes();
        (if self.short.is_some() { most } else { self.processes.min(most) }, most)
    }

    pub fn set_processes(&mut self, processes: u32) {
        self.processes = processes;
    }

    /// True if a remaining trial needs the same process.
    pub fn has_later(&self, planned: &PlannedTrial) -> bool {
        let key = self.key(planned);
        self.trials.iter().any(|later| self.key(later) == key)
    }

    /// True if the trial is not made: its server failed, or its process is skipped.
    pub fn is_excluded(&self, planned: &PlannedTrial) -> bool {
        self.failed.contains(&(planned.entry.clone(), planned.workload.clone()))
            || self.skipped.contains(&self.owned_key(planned))
    }

    pub fn skip(&mut self, planned: &PlannedTrial) {
        self.skipped.insert(self.owned_key(planned));
    }

    /// The opposite of [`Self::skip`].
    pub fn unskip(&mut self, planned: &PlannedTrial) {
        self.skipped.remove(&self.owned_key(planned));
    }

    /// Excludes all cells that would share a process that can't get ready: the entry's next process would fail too.
    pub fn fail_process(&mut self, planned: &PlannedTrial) {
        let (entry, workload, _) = self.key(planned);
        let shares = |other: &&PlannedTrial| {
            let (other_entry, other_workload, _) = self.key(other);
            (other_entry, other_workload) == (entry, workload)
        };
        let cells = self.plan.order.iter().filter(shares);
        let cells: Vec<_> = cells.map(|it| (it.entry.clone(), it.workload.clone())).collect();
        self.failed.extend(cells);
    }

    /// Takes the resting process of a trial, if there is one.
    pub fn take_resting(&mut self, planned: &PlannedTrial) -> Option<Box<LoadedServer<'a>>> {
        self.resting.remove(&self.owned_key(planned))
    }

    pub fn has_resting(&self) -> bool {
        !self.resting.is_empty()
    }

    /// Lets a process rest until its next trial. If it must be frozen and can't be, drops it; its next trial starts it again.
    pub fn rest(&mut self, planned: &PlannedTrial, mut server: Box<LoadedServer<'a>>) {
        if server.rest().is_ok() {
            self.resting.insert(self.owned_key(planned), server);
        }
    }

    /// Takes a process back after its trial. If it failed, drops it and excludes its cell. If it has no further trials, stops it.
    pub fn put_back(
        &mut self,
        planned: &PlannedTrial,
        server: Box<LoadedServer<'a>>,
        has_failed: bool,
    ) {
        if has_failed {
            self.failed.insert((planned.entry.clone(), planned.workload.clone()));
        } else if self.has_later(planned) {
            self.rest(planned, server);
        } else {
            server.stop_for_good();
        }
    }

    /// Stops resting processes with a higher number.
    pub fn stop_above(&mut self, number: u32) {
        for (_, server) in self.resting.extract_if(.., |(_, _, of), _| *of > number) {
            server.stop_for_good();
        }
    }

    pub fn stop_all(&mut self) {
        self.stop_above(0);
    }

    pub fn add_early(&mut self, planned: &PlannedTrial, server: Box<dyn Running>) {
        self.early.insert(self.owned_key(planned), server);
    }

    pub fn is_early(&self, planned: &PlannedTrial) -> bool {
        self.early.contains_key(&self.owned_key(planned))
    }

    pub fn take_early(&mut self, planned: &PlannedTrial) -> Option<Box<dyn Running>> {
        self.early.remove(&self.owned_key(planned))
    }

    /// Ends processes that were started early and are not needed.
    pub fn end_early(&mut self) {
        self.early.clear();
    }

    fn group(&self, planned: &PlannedTrial) -> Group {
        let process = if self.short.is_some() { planned.process } else { 0 };
        (self.key(planned).1.to_owned(), process)
    }

    fn owned_key(&self, planned: &PlannedTrial) -> ProcessKey {
        let (entry, workload, process) = self.key(planned);
        (entry.to_owned(), workload.to_owned(), process)
    }

    fn key<'p>(&'p self, planned: &'p PlannedTrial) -> (&'p str, &'p str, u32) {
        let own = self.plan.workload(&planned.workload);
        let first = |own| self.plan.workloads.iter().find(|it| it.shares_process(own));
        let workload = own.and_then(first).map_or(&planned.workload, |first| &first.name);
        (&planned.entry, workload, planned.process)
    }
}
