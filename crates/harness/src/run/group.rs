//! Processes that live at the same time, and their preparation.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rpcbench_clock::Nanos;
use rpcbench_record::{PlannedTrial, Readiness, Workload};

use super::context::Context;
use super::growth::Growth;
use super::loaded_server::LoadedServer;
use super::observer::Event;
use super::pool::{ServerPool, first_sharing, same_process};
use super::stopping::Stopping;
use super::{Runner, StopReason, Subject, estimate, prepare};

/// The first of the workloads that share processes, and in turns the number of the process.
pub(super) type Group = (String, u32);

/// An entry, and the number of its process.
pub(super) type EntryProcess = (String, u32);

/// Preparation of an entry's first process, which is checked and judged, relative to that of a later one.
const FIRST_WEIGHT: u64 = 2;
/// Processes that start while another one is prepared: more would take too much CPU time from the client that warms it.
const EARLY: usize = 3;

fn process_of(planned: &PlannedTrial) -> EntryProcess {
    (planned.entry.clone(), planned.process)
}

impl Runner<'_> {
    pub(super) fn group(&self, planned: &PlannedTrial) -> Group {
        let first = first_sharing(&self.run.header.plan, planned);
        (first.to_owned(), if self.turns.is_some() { planned.process } else { 0 })
    }

    /// True if a later trial needs the same process.
    pub(super) fn has_later(&self, planned: &PlannedTrial, later: &[PlannedTrial]) -> bool {
        later.iter().any(|later| same_process(&self.run.header.plan, later, planned))
    }

    /// Makes the processes of the first trial's group ready that have more than one trial, the first of each entry before the
    /// second. Those that would be ready too late are left out, in all entries or in none. Without room for all, processes
    /// take turns from now on.
    pub(super) fn prepare_group(
        &mut self,
        trials: &mut [PlannedTrial],
        stopping: Option<&mut Stopping>,
        pool: &mut ServerPool,
    ) -> Result<(), StopReason> {
        let stages = self.workloads(trials).len();
        let deadlines = stopping.as_ref().and_then(|rule| rule.deadlines(stages, self.now()));
        let members = self.members(trials);
        let first = members.first().map_or(1, |planned| planned.process);
        let (members, later) = self.split(members);
        later.iter().for_each(|planned| pool.skip(&self.run.header.plan, planned));
        for (at, planned) in members.iter().enumerate() {
            self.check_interrupt()?;
            let left = &members[at..];
            let begins = at > 0 && members[at - 1].process != planned.process;
            if begins && deadlines.is_some_and(|it| self.now() + self.cost(left) > it.last) {
                left.iter().for_each(|late| pool.skip(&self.run.header.plan, late));
                break;
            }
            let limit = deadlines.map(|it| self.share(left, first, it.aim - self.now()));
            if let Some(short) = self.add(planned, &left[1..], limit, pool)? {
                self.turns = Some(short);
                pool.stop_after(first, self.observer);
                trials.sort_by_key(|planned| planned.process);
                if let Some(rule) = stopping {
                    let plan = &self.run.header.plan;
                    rule.take_turns(trials.iter().filter(|it| !pool.is_excluded(plan, it)));
                }
                break;
            }
        }
        self.early.clear();
        Ok(())
    }

    /// How much of the time for preparing these processes the first has: those of entries that were prepared keep what they are
    /// known to take, and the others share the rest. `first`: number of the processes that are judged.
    fn share(&self, left: &[PlannedTrial], first: u32, time: Nanos) -> Nanos {
        let Some((planned, others)) = left.split_first() else { return time };
        let weight = |it: &PlannedTrial| if it.process == first { FIRST_WEIGHT } else { 1 };
        let (mut known, mut all) = (Nanos(0), weight(planned));
        for other in others {
            match self.setup.get(&other.entry) {
                Some(length) => known = known + *length,
                None => all += weight(other),
            }
        }
        Nanos((time - known).0 / all * weight(planned))
    }

    /// The processes that run from the start, and those that may follow. A resumed run starts with as many as it had.
    fn split(&mut self, members: Vec<PlannedTrial>) -> (Vec<PlannedTrial>, Vec<PlannedTrial>) {
        let measured = self.run.trials.iter().map(|trial| trial.process).max().unwrap_or(0);
        let first = self.run.header.plan.first_processes().max(measured);
        self.processes = if self.turns.is_some() { u32::MAX } else { first };
        members.into_iter().partition(|planned| planned.process <= self.processes)
    }

    /// Prepares more processes of all entries, if they narrow the intervals more than further windows do. `trials` are those
    /// that are left.
    pub(super) fn grow(
        &mut self,
        trials: &[PlannedTrial],
        stopping: &mut Stopping,
        pool: &mut ServerPool,
    ) -> Result<(), StopReason> {
        let most = self.run.header.plan.most_processes();
        let Some((spread, left, turn)) = stopping.outlook(self.now()) else { return Ok(()) };
        if self.processes >= most {
            return Ok(());
        }
        let setup = Nanos(self.setup.values().map(|length| length.0).sum());
        let workload = self.run.trials.last().map(|trial| &trial.workload);
        let own = self.run.trials.iter().filter(|trial| Some(&trial.workload) == workload);
        let windows = own.count() as f64 / self.setup.len().max(1) as f64;
        let growth = Growth { processes: self.processes, most, windows, left, turn, setup };
        let wanted = growth.best(spread);
        let members = self.members(trials);
        let new = members.into_iter().filter(|it| it.process > self.processes);
        let new: Vec<PlannedTrial> = new.take_while(|it| it.process <= wanted).collect();
        self.processes = wanted;
        for (at, planned) in new.iter().enumerate() {
            self.check_interrupt()?;
            pool.unskip(&self.run.header.plan, planned);
            let limit = self.setup.get(&planned.entry).copied();
            if self.add(planned, &new[at + 1..], limit, pool)?.is_some() {
                // None of that number, so that all entries have as many.
                pool.stop_after(planned.process - 1, self.observer);
                let out = new.iter().filter(|it| it.process >= planned.process);
                out.for_each(|it| pool.skip(&self.run.header.plan, it));
                self.processes = most;
                break;
            }
        }
        self.early.clear();
        Ok(())
    }

    /// Makes a process ready for its trials, within `limit`, and puts it away. Returns what there is too little of, if it has
    /// no room next to those that run. `next` are the processes to prepare after it.
    fn add(
        &mut self,
        planned: &PlannedTrial,
        next: &[PlannedTrial],
        limit: Option<Nanos>,
        pool: &mut ServerPool,
    ) -> Result<Option<&'static str>, StopReason> {
        let Some((subject, workload, _)) = self.due(planned, pool) else { return Ok(None) };
        if !pool.is_empty()
            && let Some(short) = self.shortage(planned, subject, &workload)
        {
            return Ok(Some(short));
        }
        let context = Context { preparation_limit: limit, ..self.context(subject, &workload) };
        if let Some(target) = self.ready(planned, next, &context, pool)? {
            self.park(planned, target, pool);
        }
        Ok(None)
    }

    /// Starts the next processes, so that they get ready while another one is prepared.
    fn start_early(&mut self, next: &[PlannedTrial], pool: &ServerPool) {
        for planned in next.iter().take(EARLY) {
            let Some((subject, workload, _)) = self.due(planned, pool) else { continue };
            if self.shortage(planned, subject, &workload).is_some() {
                return;
            }
            if subject.readiness == Readiness::Ready
                && let Entry::Vacant(free) = self.early.entry(process_of(planned))
                && let Some(server) = subject.placement.start_early(planned.process)
            {
                free.insert(server);
            }
        }
    }

    /// The first trial of each process of the first trial's group that has more than one, by number of the process. Languages
    /// that warm up slowly come last: they can use the time that the others leave.
    fn members(&self, trials: &[PlannedTrial]) -> Vec<PlannedTrial> {
        let Some(group) = trials.first().map(|first| self.group(first)) else { return Vec::new() };
        let own = || trials.iter().take_while(|planned| self.group(planned) == group);
        let mut numbers: BTreeMap<(&str, u32), u32> = BTreeMap::new();
        own().for_each(|it| *numbers.entry((&it.entry, it.process)).or_default() += 1);
        let several = own()
            .filter(|it| numbers.remove(&(&it.entry, it.process)).is_some_and(|number| number > 1));
        let mut members: Vec<PlannedTrial> = several.cloned().collect();
        members.sort_by_key(|planned| (planned.process, self.least_warm_up(&planned.entry)));
        members
    }

    fn least_warm_up(&self, entry: &str) -> Option<Duration> {
        self.subjects.iter().find(|it| it.entry == entry).map(|it| it.runtime.least_warm_up)
    }

    fn workloads<'t>(&self, trials: &'t [PlannedTrial]) -> BTreeSet<&'t str> {
        let group = trials.first().map(|first| self.group(first));
        let own = trials.iter().filter(|planned| Some(self.group(planned)) == group);
        own.map(|planned| &*planned.workload).collect()
    }

    /// How long it takes to prepare the first of these processes and those of the same number.
    fn cost(&self, left: &[PlannedTrial]) -> Nanos {
        let same = left.iter().take_while(|later| later.process == left[0].process);
        let known = same.filter_map(|later| self.setup.get(&later.entry));
        Nanos(known.map(|length| length.0).sum())
    }

    /// What there is too little of for another server next to those that run. One that was started early has its memory.
    fn shortage(
        &self,
        planned: &PlannedTrial,
        subject: &Subject<'_>,
        workload: &Workload,
    ) -> Option<&'static str> {
        if !self.environment.generator.has_room(workload, subject.protocol) {
            return Some("open files");
        }
        let runs = self.early.contains_key(&process_of(planned));
        (!runs && !subject.placement.has_room()).then_some("memory")
    }

    /// The server for a trial: the one kept for it, or a new one. `None` if it can't be made ready; then it has no more trials.
    /// `next` are the processes to prepare after it.
    pub(super) fn ready(
        &mut self,
        planned: &PlannedTrial,
        next: &[PlannedTrial],
        context: &Context<'_>,
        pool: &mut ServerPool,
    ) -> Result<Option<Box<LoadedServer>>, StopReason> {
        if let Some(target) = pool.take(&self.run.header.plan, planned) {
            return Ok(Some(target));
        }
        // If even one process of each entry is too many, servers restart for each trial.
        if self.shortage(planned, context.subject, context.workload).is_some() {
            pool.stop_all(self.observer);
        }
        self.observer.event(&Event::Starting(planned));
        let start = self.now();
        let early = self.early.remove(&process_of(planned));
        let server = match context.subject.readiness {
            Readiness::Ready => {
                Some(early.map_or_else(|| context.subject.placement.start(planned.process), Ok))
            }
            _ => None,
        };
        self.start_early(next, pool);
        let (mut preparation, target) = prepare::prepare(context, planned.process, server)?;
        let one_time = estimate::one_time_setup(&preparation);
        self.setup.insert(planned.entry.clone(), self.now() - start - one_time);
        if let Some(short) = self.turns {
            let note = format!("processes took turns: not enough {short} for all at the same time");
            preparation.isolation.notes.push(note);
        }
        self.record_preparation(preparation)?;
        if target.is_none() {
            pool.exclude_process(&self.run.header.plan, planned);
        }
        Ok(target.map(Box::new))
    }

    /// Keeps a server for its next trial. One that must be frozen and can't be is ended, and started again.
    pub(super) fn park(
        &self,
        planned: &PlannedTrial,
        mut target: Box<LoadedServer>,
        pool: &mut ServerPool,
    ) {
        if target.rest(self.now()).is_ok() {
            pool.keep(&self.run.header.plan, planned, target);
        }
    }
}
