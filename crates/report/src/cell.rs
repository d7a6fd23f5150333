//! An entry under a workload: its part of the record, and its verdict.

use std::collections::BTreeMap;

use itertools::Itertools as _;
use rpcbench_record::{
    Arrivals, Isolation, IsolationMode, Limits, Measured, Outcomes, PlannedServer, Preparation,
    Protocol, RankedBy, Rate, Readiness, Run, Search, Trial, TrialResult, Workload, in_parallel,
};

use crate::doubt::{doubts_if, outside_group, remembers_replies, too_little_cpu};
use crate::figures::Figures;
use crate::format;
use crate::open::{bracket, client_bound, highest_rate, paced, searched};
use crate::parties::Parties;
use crate::row::{Absent, Row};
use crate::speed_trend::SpeedTrend;
use crate::verdict::{Verdict, VerdictKind};
use crate::warming::{remark, unsteady, warming};
use crate::{connections, disturbed, figures, in_slices, left_out, words};

/// A cell's part of the record.
pub(crate) struct Cell<'a> {
    run: &'a Run,
    /// Index in the plan's list of servers.
    number: usize,
    pub(crate) server: &'a PlannedServer,
    pub(crate) workload: &'a Workload,
    pub(crate) limits: Limits,
    pub(crate) planned: u32,
    /// See [`preparations`].
    pub(crate) preparations: Vec<&'a Preparation>,
    /// The latest result of each trial, by number.
    pub(crate) trials: Vec<&'a Trial>,
}

impl<'a> Cell<'a> {
    /// The cell of the server at an index of the plan's list.
    pub(crate) fn of(run: &'a Run, number: usize, workload: &'a Workload) -> Self {
        let plan = &run.header.plan;
        let server = &plan.servers[number];
        let mine = |entry: &str, load: &str| entry == server.entry && load == workload.name;
        let trials = latest(run, &server.entry, &workload.name);
        // A run that stopped early because its answer was clear is complete.
        let planned = match plan.stopping.filter(|_| run.finished.is_some()) {
            Some(_) => trials.len(),
            None => plan.order.iter().filter(|t| mine(&t.entry, &t.workload)).count(),
        };
        Self {
            run,
            number,
            server,
            workload,
            limits: plan.limits,
            planned: planned as u32,
            preparations: preparations(run, server, workload),
            trials,
        }
    }

    /// The capacity of which its load is a share. `None` if the load is not a share.
    fn capacity(&self) -> Option<f64> {
        let capacity = self.run.capacity(&self.server.entry, &self.workload.name, None);
        capacity.filter(|_| self.workload.arrivals.needs_capacity())
    }

    /// A window that shows that this capacity is the client's.
    fn client_bound_capacity(&self) -> Option<&'a Measured> {
        let window = self.run.client_bound_capacity(&self.server.entry, &self.workload.name);
        window.filter(|_| self.workload.arrivals.needs_capacity())
    }

    pub(crate) fn measured(&self) -> Vec<&'a Measured> {
        self.numbered().into_iter().map(|(_, measured)| measured).collect()
    }

    /// The windows of the rounds that count.
    fn counted(&self, trend: SpeedTrend) -> Vec<&'a Measured> {
        if trend.counts_from() == 1 {
            return self.measured();
        }
        let rounds = self.run.header.plan.rounds(&self.workload.name);
        let round = |trial: &Trial| rounds.get(&trial.number).copied().unwrap_or(trial.number);
        let counts = |(trial, _): &(&Trial, _)| round(trial) >= trend.counts_from();
        self.numbered().into_iter().filter(counts).map(|(_, measured)| measured).collect()
    }

    fn numbered(&self) -> Vec<(&'a Trial, &'a Measured)> {
        self.trials.iter().filter_map(|trial| Some((*trial, trial.measured()?))).collect()
    }

    /// The reason why the cell has no row. `None` if it has one.
    pub(crate) fn absent(&self) -> Option<Absent> {
        let entry = self.server.entry.clone();
        if !self.trials.is_empty() {
            return None;
        }
        let reason = match self.preparations.last().map(|p| &p.readiness) {
            Some(Readiness::Skipped { reason }) => reason.as_str(),
            Some(Readiness::Failed(_)) => return None,
            Some(Readiness::Ready) | None
                if capacity_failed(self.run, self.server, self.workload) =>
            {
                "its capacity could not be measured"
            }
            Some(Readiness::Ready) | None => "the run ended before it was measured",
        };
        Some(Absent { entry, reason: reason.to_owned() })
    }

    pub(crate) fn row(&self, by: RankedBy, trend: SpeedTrend) -> Row {
        let trials = self.counted(trend);
        let figures = Figures::of(&trials, Some(self.limits));
        let (mut verdict, evidence) = self.verdict(figures.as_ref(), trend);
        if verdict.is_ranked()
            && let Some(cpus) = self.shared_cpus()
        {
            verdict = Verdict::shared_cpu(&cpus);
        }
        let curves = || self.preparations.iter().filter_map(|p| p.warm.as_ref());
        let judged = curves().filter(|curve| !curve.as_earlier);
        Row {
            number: self.number,
            server: self.server.clone(),
            versions: self.preparations.last().map(|p| p.versions.clone()).unwrap_or_default(),
            toolchains: self.preparations.last().map(|p| p.toolchains.clone()).unwrap_or_default(),
            reply_checks: self.preparations.last().and_then(|p| p.reply_checks.clone()),
            planned: self.planned,
            measured: self.measured().len() as u32,
            place: None,
            leader: None,
            by,
            price: self.run.header.plan.price.clone(),
            stalls_decide: false,
            verdict: verdict.of(Parties::of(self.server)),
            figures,
            highest_rate: highest_rate(&self.searches()),
            bracket: bracket(&self.searches()),
            counts_from: trend.counts_from(),
            offered_per_s: mean(self.offered()),
            capacity_per_s: self.capacity(),
            steady_after_ms: mean(judged.map(|c| c.steady_after_ms.map(|ms| ms as f64)))
                .map(|ms| ms.round() as u64),
            cold_calls_per_s: mean(curves().map(|c| Some(c.cold_rate))),
            notes: self.notes(trend),
            evidence,
        }
    }

    /// CPUs shared by the client and a server that rpcbench started. `None` if they share no CPU.
    fn shared_cpus(&self) -> Option<Vec<u32>> {
        let placed = self.preparations.iter().map(|preparation| &preparation.isolation);
        let placed = placed.filter(|isolation| isolation.mode != IsolationMode::Unmanaged);
        placed.map(Isolation::shared_cpus).find(|cpus| !cpus.is_empty())
    }

    /// The difference of the last two trials, if the run waited for two that agree.
    fn disagreement(&self) -> Option<String> {
        let rule = self.run.header.plan.stopping.filter(|rule| rule.agreement.is_some())?;
        let spreads: Vec<f64> =
            self.measured().iter().filter_map(|t| Some(t.latency.as_ref()?.stddev_ns)).collect();
        let [.., one, other] = spreads.as_slice() else { return None };
        let apart = one.max(*other) / one.min(*other) - 1.0;
        (!rule.agree(*one, *other)).then(|| {
            let apart = format::percent_near(apart, rule.agreement.as_slice());
            format!("no two trials in a row agreed; the standard deviations of the last differ by {apart}")
        })
    }

    fn searches(&self) -> Vec<&'a Search> {
        self.trials.iter().filter_map(|t| t.search.as_deref()).collect()
    }

    /// The rate of each trial's arrivals, if constant.
    fn offered(&self) -> impl Iterator<Item = Option<f64>> {
        let rate = |arrivals: Arrivals| match arrivals.rate() {
            Some(Rate::PerSecond(rate)) => Some(rate.get()),
            _ => None,
        };
        self.trials.iter().filter_map(|t| t.arrivals).map(rate)
    }

    fn verdict(&self, figures: Option<&Figures>, trend: SpeedTrend) -> (Verdict, Vec<String>) {
        if let Some((reason, evidence)) = self.failure() {
            return (Verdict::failed(reason), evidence);
        }
        let trials = self.numbered();
        let answered = figures.filter(|figures| figures.outcomes.ok > 0);
        let is_faulty = |it: &&Measured| it.outcomes.errors() > 0 && it.late_by_machine().is_none();
        let has_fault = self.counted(trend).iter().any(is_faulty);
        if let Some(figures) = answered.filter(|_| !has_fault) {
            let fault = connections::fault(&self.measured()).map(Verdict::failed);
            let verdict = fault.unwrap_or_else(|| self.judged(figures, &trials, trend));
            return (verdict, Vec::new());
        }
        if let Some(disturbed) = disturbed::verdict(&trials).filter(|_| !has_fault) {
            return (disturbed, Vec::new());
        }
        // A late client leaves calls unsent and makes others time out.
        let may_be_late = figures.is_none_or(|figures| figures.outcomes.is_only_late());
        if let Some(verdict) = searched(&trials).filter(|_| may_be_late) {
            return (verdict, Vec::new());
        }
        let reason = match answered {
            Some(figures) => errors(&figures.outcomes, self.server.protocol),
            None => "no call was answered".to_owned(),
        };
        (Verdict::failed(reason), examples(&trials))
    }

    /// The verdict on a cell in which every call was answered correctly, or was late because of the machine.
    fn judged(
        &self,
        figures: &Figures,
        trials: &[(&Trial, &Measured)],
        trend: SpeedTrend,
    ) -> Verdict {
        let workload = self.workload;
        let is_whole = figures.response.as_ref().is_some_and(|response| response.is_whole)
            && self.counted(trend).len() == trials.len();
        let first = |(n, t): &(&Trial, &Measured)| {
            Some((n.number, doubts_if(t, workload, is_whole).first()?.clone()))
        };
        let found = in_parallel(trials, trials.len(), |trials| trials.iter().find_map(first));
        if let Some((trial, doubt)) = found.into_iter().flatten().next() {
            return Verdict::suspect(trial, &doubt);
        }
        // Without a cgroup, CPU time is only known to the clock tick.
        let is_exact = |p: &&Preparation| p.isolation.mode != IsolationMode::Affinity;
        if self.preparations.iter().all(is_exact)
            && let Some(reason) = outside_group(&self.measured())
                .or_else(|| too_little_cpu(&self.measured(), self.workload, self.server.protocol))
                .or_else(|| remembers_replies(self.preparations.iter().copied()))
                .or_else(|| self.in_slices(trend).and_then(in_slices::doubt))
        {
            return Verdict::because(VerdictKind::Suspect, reason);
        }
        if let Some(disturbed) = disturbed::verdict(trials) {
            return disturbed;
        }
        let still_warming = |why| Verdict::because(VerdictKind::StillWarming, why);
        if self.workload.arrivals.is_open() {
            if let Some(why) = unsteady(self.workload.warm_up, &self.preparations) {
                return still_warming(why);
            }
            // The result of a search does not depend on its first rate.
            let share = self.client_bound_capacity().filter(|_| self.workload.find_max.is_none());
            return share.map_or_else(|| paced(trials), client_bound);
        }
        let counted = self.counted(trend);
        if let Some(why) = warming(self.workload.warm_up, trend, &self.preparations, &counted) {
            return still_warming(why);
        }
        let server = figures.server.map(|server| server.cpu_share);
        let verdict = Verdict::saturation(server, figures.client.busiest_share);
        let one_thread = || trials.iter().all(|(_, trial)| trial.server_thread_saturated());
        match verdict.kind == VerdictKind::ClientBound && one_thread() {
            // If one thread of the server was always busy, either side may be the limit.
            true => Verdict::ranked(VerdictKind::Unclear),
            false => verdict,
        }
    }

    /// See [`in_slices::ratio`]. `None` for a server that became faster or slower in the windows: its warm-up says little.
    fn in_slices(&self, trend: SpeedTrend) -> Option<f64> {
        matches!(trend, SpeedTrend::Level | SpeedTrend::Unknown)
            .then(|| in_slices::ratio(self.preparations.iter().copied(), &self.measured()))
            .flatten()
    }

    /// A failure to prepare the server or to finish a trial, and its evidence.
    fn failure(&self) -> Option<(String, Vec<String>)> {
        let prepared = self.preparations.iter().find_map(|p| match &p.readiness {
            Readiness::Failed(failure) => {
                let evidence = [&p.check.failed[..], &failure.log_tail[..]].concat();
                Some((failure.reason.clone(), evidence))
            }
            Readiness::Ready | Readiness::Skipped { .. } => None,
        });
        let failed = |trial: &&Trial| match &trial.result {
            TrialResult::Failed(failure) => {
                let reason = match self.planned {
                    0 | 1 => failure.reason.clone(),
                    _ => format!("{}, in trial {}", failure.reason, trial.number),
                };
                Some((reason, failure.log_tail.clone()))
            }
            TrialResult::Measured(_) => None,
        };
        prepared.or_else(|| self.trials.iter().find_map(failed))
    }

    fn notes(&self, trend: SpeedTrend) -> Vec<String> {
        let isolation = self.preparations.iter().flat_map(|p| &p.isolation.notes);
        let mut notes: Vec<String> = isolation.unique().cloned().collect();
        notes.extend(
            self.preparations.iter().filter_map(|p| p.tls.as_ref()).map(words::agreed).unique(),
        );
        notes.extend(connections::note(&self.measured()));
        notes.extend(disturbed::note(&self.measured()));
        notes.extend(self.disagreement());
        notes.extend(left_out::notes(&self.measured()));
        notes.extend(self.in_slices(trend).and_then(in_slices::note));
        if self.client_bound_capacity().is_some() {
            notes.push("the capacity is the client's: a load thread had no CPU left".to_owned());
        }
        if !self.workload.arrivals.is_open() {
            let counted = self.counted(trend);
            notes.extend(remark(self.workload.warm_up, trend, &self.preparations, &counted));
        }
        let trials = self.measured();
        if self.run.header.plan.runtime_statistics
            && !trials.is_empty()
            && trials.iter().all(|t| t.runtime.is_none())
        {
            notes.push("its runtime reports no garbage collections or allocations".to_owned());
        }
        let refused = trials.iter().find_map(|trial| trial.runtime.as_ref()?.refused.as_ref());
        notes.extend(refused.map(|why| {
            format!("what its runtime reports is refused, since it can't be true: {why}")
        }));
        let measured = trials.len() as u32;
        if measured > 0 && measured < self.planned {
            notes.push(format!(
                "{measured} of {}",
                format::plural(u64::from(self.planned), "trial")
            ));
        }
        let parties = Parties::of(self.server);
        notes.into_iter().map(|note| parties.words(&note).into_owned()).collect()
    }
}

/// The latest trial of each number of a cell, in order.
pub(crate) fn latest<'a>(run: &'a Run, entry: &str, workload: &str) -> Vec<&'a Trial> {
    let own = |trial: &&Trial| trial.entry == entry && trial.workload == workload;
    let all: BTreeMap<u32, &Trial> =
        run.trials.iter().filter(own).map(|trial| (trial.number, trial)).collect();
    all.into_values().collect()
}

/// The processes of a cell: those started for it, or else those of earlier workloads that it shares. The latest of each number.
fn preparations<'a>(
    run: &'a Run,
    server: &PlannedServer,
    workload: &Workload,
) -> Vec<&'a Preparation> {
    let workloads = &run.header.plan.workloads;
    let at = |name: &str| workloads.iter().position(|w| w.name == name);
    let own = at(&workload.name);
    let latest = |shared: bool| -> BTreeMap<(Option<usize>, u32), &'a Preparation> {
        let mine = |p: &&'a Preparation| {
            let place = at(&p.workload);
            let of = place.and_then(|place| workloads.get(place));
            let shares = of.is_some_and(|w| w.shares_process(workload));
            p.entry == server.entry && (place == own || shared && shares && place < own)
        };
        run.preparations.iter().filter(mine).map(|p| ((at(&p.workload), p.process), p)).collect()
    };
    let all = Some(latest(false)).filter(|own| !own.is_empty()).unwrap_or_else(|| latest(true));
    all.into_values().collect()
}

fn capacity_failed(run: &Run, server: &PlannedServer, workload: &Workload) -> bool {
    let measured_by = workload.capacity_from(&run.header.plan.workloads).map(|w| &w.name);
    workload.arrivals.needs_capacity()
        && run.trials.iter().any(|trial| {
            trial.entry == server.entry
                && Some(&trial.workload) == measured_by
                && matches!(trial.result, TrialResult::Failed(_))
        })
}

/// Mean of values. `None` if one is missing, or there are no values.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    figures::mean(&values.collect::<Option<Vec<_>>>()?)
}

fn examples(trials: &[(&Trial, &Measured)]) -> Vec<String> {
    trials.iter().flat_map(|(_, t)| &t.error_examples).unique().cloned().collect()
}

/// `12 of 34,000 calls failed (0.04 %): 10 timeout, 2 status 13 INTERNAL`.
pub(crate) fn errors(outcomes: &Outcomes, protocol: Protocol) -> String {
    let kinds = outcomes.errors_by_kind(protocol).into_iter();
    let kinds = kinds.map(|(kind, n)| format!("{} {kind}", format::count(n))).join(", ");
    format!(
        "{} of {} failed ({}): {kinds}",
        format::count(outcomes.errors()),
        format::plural(outcomes.total(), "call"),
        format::percent(outcomes.error_share())
    )
}
