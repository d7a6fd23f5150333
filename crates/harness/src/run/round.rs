//! A round of windows in slices. All processes take turns on the CPU in random order, so that their windows cover the same
//! moments.

use rand::seq::SliceRandom as _;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;
use rpcbench_clock::{self as clock, Nanos};
use rpcbench_record::{Arrivals, PlannedTrial, Trial, TrialResult, Workload};

use super::loaded_server::{LoadedServer, StepError};
use super::observer::Event;
use super::slice::{SliceLength, SlicedWindow};
use super::trial::{self, MAX_REPEATS, over};
use super::{Runner, StopReason};
use crate::placement::Freezer;

/// A process that takes part in a round.
struct Member<'a> {
    planned: PlannedTrial,
    server: Box<LoadedServer<'a>>,
    window: SlicedWindow,
    repeats: u32,
}

impl<'a> Runner<'a> {
    /// How the servers of a workload are frozen between slices. `None` if windows are measured in one piece: the workload can't be
    /// sliced, there is only one entry, or a process can't be frozen.
    pub(super) fn slices(&self, planned: &PlannedTrial) -> Option<Freezer> {
        let allowed = self.can_be_sliced(planned);
        let freezers = allowed.then(|| self.state.freezers()).flatten()?;
        Some(freezers.into_iter().max().unwrap_or(Freezer::Cgroup))
    }

    /// False if a workload's windows must be in one piece: open loops, windows of a number of calls, searches, cold servers, logs
    /// of calls.
    pub(super) fn can_be_sliced(&self, planned: &PlannedTrial) -> bool {
        let plan = &self.record.run.header.plan;
        let Some(workload) = plan.workload(&planned.workload) else { return false };
        let agrees = plan.stopping.is_some_and(|stopping| stopping.agreement.is_some());
        let is_plain = !workload.arrivals.is_open()
            && workload.window.length_ms().is_some()
            && workload.find_max.is_none()
            && workload.settle_ms > 0
            && !plan.finds_capacity(workload);
        // The figures of the two kinds don't compare, so a resumed run stays with one.
        let measured = self.record.run.trials.iter().filter(|it| it.workload == workload.name);
        let mut pieces = measured.filter_map(Trial::measured).map(|window| window.slicing);
        let was_whole = pieces.next().is_some_and(|slicing| slicing.is_none());
        self.context.adapts
            && plan.servers.len() > 1
            && is_plain
            && !agrees
            && !plan.log_calls
            && !was_whole
    }

    /// The slice length of a trial. `--slices` may alternate it by round.
    fn length(&self, planned: &PlannedTrial, workload: &Workload, freezer: Freezer) -> SliceLength {
        let plan = &self.record.run.header.plan;
        let round = plan.rounds(&workload.name).get(&planned.number).copied().unwrap_or(0);
        let mut given = self.context.environment.slices.iter().cycle();
        let server = plan.servers.iter().find(|it| it.entry == planned.entry);
        let connections = server
            .map_or(workload.connections, |server| workload.connections_under(server.protocol));
        let of_builds = server.is_some_and(|server| server.build.is_some());
        let given = given.nth(round as usize).copied();
        given.unwrap_or_else(|| SliceLength::of(freezer, connections, of_builds))
    }

    /// Measures a round: one window for each of these trials.
    pub(super) fn measure_round(
        &mut self,
        trials: &[PlannedTrial],
        freezer: Freezer,
    ) -> Result<(), StopReason> {
        let Some(workload) = trials.first().and_then(|it| self.record.load(it)) else {
            return Ok(());
        };
        let workload = workload.0;
        let begin = self.context.now();
        let mut members = Vec::new();
        for planned in trials {
            let Some(mut server) = self.state.take_resting(planned) else { continue };
            let length = self.length(planned, &workload, freezer);
            match server.join_round(&workload) {
                Ok(()) => members.push(Member {
                    planned: planned.clone(),
                    server,
                    window: SlicedWindow::new(length),
                    repeats: MAX_REPEATS,
                }),
                Err(error) => self.end_member(planned, server, error)?,
            }
        }
        let number = members.len().max(1) as u64;
        let length = members.iter().map(|it: &Member<'_>| it.window.takes(&workload).0).sum();
        let seed = self.record.run.header.plan.seed;
        let mut rng = Pcg64::seed_from_u64(seed.wrapping_add(self.record.run.trials.len() as u64));
        let context = self.context;
        let ends = context.now() + Nanos(length);
        let current = context.interrupt().begin_trial(Some(ends));
        while !members.is_empty() {
            // The model compares processes of the same number, so they take turns one right after the other.
            members.shuffle(&mut rng);
            members.sort_by_key(|it| it.planned.process);
            members = self.pass(members, &workload)?;
        }
        drop(current);
        let took = Nanos((context.now() - begin).0 / number);
        if let Some(rule) = &mut self.state.stopping {
            trials.iter().for_each(|planned| rule.took(&planned.entry, took));
        }
        Ok(())
    }

    /// Gives each member a turn. Returns those whose window is unfinished.
    fn pass(
        &mut self,
        members: Vec<Member<'a>>,
        workload: &Workload,
    ) -> Result<Vec<Member<'a>>, StopReason> {
        let mut left = Vec::new();
        for mut member in members {
            let Member { planned, server, window, repeats } = &mut member;
            let (arrivals, context) = (Arrivals::Closed, self.context);
            if window.is_new() {
                let position = self.state.position();
                context.observer.event(&Event::Measuring { planned, arrivals, position });
            }
            let turn = server.take_turn(window, workload).and_then(|ended| {
                let Some(ended) = ended else { return Ok(None) };
                if *repeats > 0 && trial::is_worth_repeating(&ended.measured) {
                    let entry = planned.entry.clone();
                    context.observer.event(&Event::Repeating { entry });
                    (*window, *repeats) = (window.again(), *repeats - 1);
                    return Ok(None);
                }
                server.check_port(false)?;
                trial::conclude(server, planned, arrivals, ended).map(Some)
            });
            match turn {
                Ok(None) => left.push(member),
                Ok(Some(trial)) => {
                    self.record.add_trial(trial)?;
                    self.state.keep(&member.planned, member.server);
                }
                Err(error) => self.end_member(&member.planned, member.server, error)?,
            }
        }
        Ok(left)
    }

    /// Ends a process that failed, or the run if it must stop now.
    fn end_member(
        &mut self,
        planned: &PlannedTrial,
        server: Box<LoadedServer<'a>>,
        error: StepError,
    ) -> Result<(), StopReason> {
        match error {
            StepError::Server(failure) => {
                let result = TrialResult::Failed(failure);
                self.record.add_trial(over(planned, clock::wall(), result))?;
                self.state.put_back(planned, server, true);
                Ok(())
            }
            StepError::Stop(stop) => Err(stop.into()),
        }
    }

    /// Ends the load of the processes that took turns until the next round. While other processes start, calls can't stay in flight:
    /// servers and proxies time them out by the clock.
    pub(super) fn pause_rounds(&mut self) -> Result<(), StopReason> {
        for (planned, mut server) in self.state.take_members() {
            match server.leave_rounds() {
                Ok(()) => self.state.rest(&planned, server),
                Err(error) => self.end_last_window(&planned, server, error)?,
            }
        }
        Ok(())
    }

    /// Ends the load of the processes that took turns, and checks once more that they answer correctly and alone. A process that
    /// doesn't fails with its last window.
    pub(super) fn end_rounds(&mut self) -> Result<(), StopReason> {
        for (planned, mut server) in self.state.take_members() {
            let current = self.context.interrupt().begin_trial(None);
            let ended = server.leave_rounds().and_then(|()| {
                server.check_port(true)?;
                if server.subject.is_proven() { server.spot_check(true) } else { Ok(()) }
            });
            drop(current);
            match ended {
                Ok(()) => self.state.put_back(&planned, server, false),
                Err(error) => self.end_last_window(&planned, server, error)?,
            }
        }
        self.state.end_rounds();
        Ok(())
    }

    /// Ends a process that failed between rounds: its last window is its failure.
    fn end_last_window(
        &mut self,
        planned: &PlannedTrial,
        server: Box<LoadedServer<'a>>,
        error: StepError,
    ) -> Result<(), StopReason> {
        let mut trials = self.record.run.trials.iter();
        let last =
            trials.rfind(|trial| trial.entry == planned.entry && trial.process == planned.process);
        let number = last.map_or(planned.number, |trial| trial.number);
        self.end_member(&PlannedTrial { number, ..planned.clone() }, server, error)
    }
}
