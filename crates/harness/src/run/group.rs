//! Prepares the processes that live at the same time.

use std::collections::BTreeMap;
use std::time::Duration;

use rpcbench_clock::Nanos;
use rpcbench_contract::{Method, Shape};
use rpcbench_record::{Arrivals, PlannedTrial, Readiness, Workload};

use super::growth::Growth;
use super::loaded_server::LoadedServer;
use super::observer::Event;
use super::prepare::{Preparing, prepare};
use super::{Runner, StopReason, Subject};

/// Weight of an entry's first process, whose warm-up is judged, in sharing the time for preparations. A later one has 1.
const FIRST_WEIGHT: u64 = 2;
/// Maximum processes that start while another one is prepared: more would take too much CPU time from the client that warms it.
const EARLY: usize = 3;

impl<'a> Runner<'a> {
    /// Prepares the processes of the next group that have several trials, the first of each entry before the second. Skips
    /// those that would be ready too late, for all entries or for none. If there is no room for all, processes run in
    /// batches from now on.
    pub(super) fn prepare_group(&mut self) -> Result<(), StopReason> {
        let deadlines = self.state.deadlines(self.context.now());
        let members = self.members();
        let first = members.first().map_or(1, |planned| planned.process);
        // A resumed run starts with as many processes as it had.
        let measured = self.record.run.trials.iter().map(|trial| trial.process).max();
        let start = self.record.run.header.plan.first_processes().max(measured.unwrap_or(0));
        self.state.set_processes(start);
        let (processes, _) = self.state.processes();
        let (members, later): (Vec<_>, Vec<_>) =
            members.into_iter().partition(|planned| planned.process <= processes);
        later.iter().for_each(|planned| self.state.skip(planned));
        for (at, planned) in members.iter().enumerate() {
            self.check_interrupt()?;
            let left = &members[at..];
            let begins = at > 0 && members[at - 1].process != planned.process;
            let now = self.context.now();
            if begins && deadlines.is_some_and(|it| now + self.cost(left) > it.last) {
                left.iter().for_each(|late| self.state.skip(late));
                break;
            }
            let limit = deadlines.map(|it| self.share(left, first, it.aim - now));
            if let Some(short) = self.add(planned, &left[1..], limit)? {
                self.state.run_in_batches(short, first);
                break;
            }
        }
        self.state.end_early();
        Ok(())
    }

    /// Prepares more processes of all entries, if they narrow the intervals more than further windows do.
    pub(super) fn grow(&mut self) -> Result<(), StopReason> {
        let now = self.context.now();
        let outlook = self.state.stopping.as_mut().and_then(|rule| rule.outlook(now));
        let Some((spread, left, round)) = outlook else { return Ok(()) };
        let (processes, most) = self.state.processes();
        if processes >= most {
            return Ok(());
        }
        let setup = Nanos(self.state.setup.values().map(|length| length.0).sum());
        let windows = self.record.mean_windows(self.state.setup.len());
        let wanted = Growth { processes, most, windows, left, round, setup }.best(spread);
        self.state.set_processes(wanted);
        let mut new = self.members();
        new.retain(|it| it.process > processes && it.process <= wanted);
        if !new.is_empty() {
            self.pause_rounds()?;
        }
        for (at, planned) in new.iter().enumerate() {
            self.check_interrupt()?;
            self.state.unskip(planned);
            let limit = self.state.setup.get(&planned.entry).copied();
            if self.add(planned, &new[at + 1..], limit)?.is_some() {
                // All entries must have equally many processes, so none keeps this number.
                self.state.stop_above(planned.process - 1);
                let out = new.iter().filter(|it| it.process >= planned.process);
                out.for_each(|it| self.state.skip(it));
                self.state.set_processes(most);
                break;
            }
        }
        self.state.end_early();
        Ok(())
    }

    /// The first trial of each process in the next group that has several trials, by process number. Languages that warm up
    /// slowly come last: they can use the time that the others leave.
    fn members(&self) -> Vec<PlannedTrial> {
        let mut trials: BTreeMap<(&str, u32), usize> = BTreeMap::new();
        for it in self.state.group_trials() {
            *trials.entry((&it.entry, it.process)).or_default() += 1;
        }
        let own = self.state.group_trials();
        let several =
            own.filter(|it| trials.remove(&(&*it.entry, it.process)).is_some_and(|of| of > 1));
        let mut members: Vec<PlannedTrial> = several.cloned().collect();
        members.sort_by_key(|planned| (planned.process, self.min_warm_up(&planned.entry)));
        members
    }

    /// The contract's methods that the run calls.
    fn methods(&self) -> Vec<Method> {
        let shapes = self.record.run.header.plan.workloads.iter().map(|it| it.content.shape());
        shapes.filter_map(|shape| Some(shape?.parse::<Shape>().ok()?.method())).collect()
    }

    fn min_warm_up(&self, entry: &str) -> Option<Duration> {
        self.subject(entry).map(|it| it.runtime.warmup_min)
    }

    fn subject(&self, entry: &str) -> Option<&'a Subject<'a>> {
        self.subjects.iter().find(|it| it.entry == entry)
    }

    /// Known time to prepare the first of these processes and those with the same number.
    fn cost(&self, left: &[PlannedTrial]) -> Nanos {
        let same = left.iter().take_while(|later| later.process == left[0].process);
        let known = same.filter_map(|later| self.state.setup.get(&later.entry));
        Nanos(known.map(|length| length.0).sum())
    }

    /// Part of `time` for preparing the first of these processes. Later ones whose preparation time is known get that time, and
    /// the rest is shared by weight. `first`: number of the processes whose warm-up is judged.
    fn share(&self, left: &[PlannedTrial], first: u32, time: Nanos) -> Nanos {
        let Some((planned, others)) = left.split_first() else { return time };
        let weight = |it: &PlannedTrial| if it.process == first { FIRST_WEIGHT } else { 1 };
        let (mut known, mut all) = (Nanos(0), weight(planned));
        for other in others {
            match self.state.setup.get(&other.entry) {
                Some(length) => known = known + *length,
                None => all += weight(other),
            }
        }
        Nanos((time - known).0 / all * weight(planned))
    }

    /// Prepares a process for its trials, within `limit`. If there is no room for it next to the running ones, returns the
    /// resource that is short. `next`: the processes to prepare after it.
    fn add(
        &mut self,
        planned: &PlannedTrial,
        next: &[PlannedTrial],
        limit: Option<Nanos>,
    ) -> Result<Option<&'static str>, StopReason> {
        let Some((subject, workload, _)) = self.due(planned) else { return Ok(None) };
        if self.state.has_resting()
            && let Some(short) = self.shortage(planned, subject, &workload)
        {
            return Ok(Some(short));
        }
        if let Some(server) = self.ready(planned, subject, &workload, (next, limit))? {
            self.state.rest(planned, server);
        }
        Ok(None)
    }

    /// Subject, workload and arrivals, with a known rate, of a trial. `None` if the trial is not made.
    pub(super) fn due(
        &self,
        planned: &PlannedTrial,
    ) -> Option<(&'a Subject<'a>, Workload, Arrivals)> {
        let (workload, arrivals) =
            self.record.load(planned).filter(|_| !self.state.is_excluded(planned))?;
        Some((self.subject(&planned.entry)?, workload, arrivals))
    }

    /// The resource that is short for this process next to the running ones. A process that was started early has its memory.
    fn shortage(
        &self,
        planned: &PlannedTrial,
        subject: &Subject<'_>,
        workload: &Workload,
    ) -> Option<&'static str> {
        if !subject.generator.has_room(workload, subject.protocol) {
            return Some("open files");
        }
        (!self.state.is_early(planned) && !subject.placement.has_room()).then_some("memory")
    }

    /// The process for a trial: the resting one, or a new one. `None` if it can't be prepared; its cells then have no more
    /// trials. `next`: the processes to prepare after it.
    pub(super) fn ready(
        &mut self,
        planned: &PlannedTrial,
        subject: &'a Subject<'a>,
        workload: &Workload,
        (next, limit): (&[PlannedTrial], Option<Nanos>),
    ) -> Result<Option<Box<LoadedServer<'a>>>, StopReason> {
        if let Some(server) = self.state.take_resting(planned) {
            return Ok(Some(server));
        }
        // If even one process of each entry is too many, servers restart for each trial.
        if self.shortage(planned, subject, workload).is_some() {
            self.state.stop_all();
        }
        self.context.observer.event(&Event::Starting(planned));
        let start = self.context.now();
        let early = self.state.take_early(planned);
        let running = (subject.readiness_for(workload.tls) == Readiness::Ready).then(|| {
            early.map_or_else(|| subject.placement.start(planned.process, workload.tls), Ok)
        });
        self.start_early(next);
        let methods = self.methods();
        let preparing = Preparing {
            subject,
            workload,
            process: planned.process,
            has_passed: self.record.has_passed(&subject.entry),
            methods: &methods,
            known_warm_up: self.record.known_warm_up(&subject.entry, &workload.name),
            takes_turns: self.can_be_sliced(planned),
            limit,
        };
        let (mut preparation, server) = prepare(self.context, &preparing, running)?;
        let took = self.context.now() - start - Nanos(preparation.first_only_ns);
        self.state.setup.insert(planned.entry.clone(), took);
        preparation.isolation.notes.extend(self.state.batches_note());
        self.record.add_preparation(preparation)?;
        if server.is_none() {
            self.state.fail_process(planned);
        }
        Ok(server.map(Box::new))
    }

    /// Starts the next processes, so that they get ready while another one is prepared.
    fn start_early(&mut self, next: &[PlannedTrial]) {
        for planned in next.iter().take(EARLY) {
            let Some((subject, workload, _)) = self.due(planned) else { continue };
            if self.shortage(planned, subject, &workload).is_some() {
                return;
            }
            if subject.readiness_for(workload.tls) == Readiness::Ready
                && !self.state.is_early(planned)
                && let Some(server) = subject.placement.start_early(planned.process, workload.tls)
            {
                self.state.add_early(planned, server);
            }
        }
    }
}
