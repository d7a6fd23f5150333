//! The record of a run, in memory and on disk.

use rpcbench_clock::{self as clock, Nanos};
use rpcbench_record::{
    Arrivals, Event as RecordEvent, InterimAnalysis, PlannedTrial, Preparation, Run, Secrets,
    StoreError, Trial, Workload, Writer,
};

use super::observer::{Event, Observer};

/// A run so far. Events go to memory first, so that a full disk does not lose what can still be shown.
pub(super) struct RunRecord<'a> {
    pub run: Run,
    /// `None`: the record is only returned.
    pub writer: Option<Writer>,
    pub observer: &'a dyn Observer,
    /// Secrets to conceal in preparations and trials.
    pub secrets: Secrets,
}

impl RunRecord<'_> {
    pub fn add_preparation(&mut self, mut preparation: Preparation) -> Result<(), StoreError> {
        self.secrets.conceal_in_preparation(&mut preparation);
        self.observer.event(&Event::Prepared(&preparation));
        self.run.preparations.push(preparation.clone());
        self.append(&RecordEvent::Prepared(Box::new(preparation)))
    }

    pub fn add_trial(&mut self, mut trial: Trial) -> Result<(), StoreError> {
        self.secrets.conceal_in_trial(&mut trial);
        self.observer.event(&Event::Trial(&trial));
        self.run.trials.push(trial.clone());
        self.append(&RecordEvent::Trial(Box::new(trial)))
    }

    pub fn add_analysis(&mut self, analysis: InterimAnalysis) -> Result<(), StoreError> {
        self.run.interim_analyses.push(analysis.clone());
        self.append(&RecordEvent::InterimAnalysis(analysis))
    }

    pub fn finish(&mut self) -> Result<(), StoreError> {
        let at = clock::wall();
        self.run.finished = Some(at);
        self.append(&RecordEvent::Finished { at })
    }

    fn append(&mut self, event: &RecordEvent) -> Result<(), StoreError> {
        self.writer.as_mut().map_or(Ok(()), |writer| writer.append(event))
    }

    /// The workload of a trial, and its arrivals with a known rate. `None` if the rate is a share of a capacity that could not
    /// be measured.
    pub fn load(&self, planned: &PlannedTrial) -> Option<(Workload, Arrivals)> {
        let PlannedTrial { entry, workload: name, process, .. } = planned;
        let workload = self.run.header.plan.workload(name)?.clone();
        let mut arrivals = workload.arrivals;
        if arrivals.needs_capacity() {
            arrivals = arrivals.resolve(self.run.capacity(entry, name, Some(*process))?)?;
        }
        Some((workload, arrivals))
    }

    /// True if a process of the entry has passed the conformance check.
    pub fn has_passed(&self, entry: &str) -> bool {
        let own = self.run.preparations.iter().filter(|it| it.entry == entry);
        own.map(|it| &it.check).any(|check| check.passed > 0 && check.failed.is_empty())
    }

    /// The longest warm-up that a process of an entry needed. `None` if unknown: before the first, or if one did not become
    /// steady.
    pub fn known_warm_up(&self, entry: &str, workload: &str) -> Option<Nanos> {
        let of_entry = |p: &&Preparation| p.entry == entry && p.workload == workload;
        let curves = self.run.preparations.iter().filter(of_entry).filter_map(|p| p.warm.as_ref());
        let needed = curves.filter(|curve| !curve.as_earlier).map(|curve| curve.later_ms);
        needed.collect::<Option<Vec<u64>>>()?.into_iter().max().map(Nanos::from_millis)
    }

    /// Average number of windows of each of `entries` under the latest workload.
    pub fn mean_windows(&self, entries: usize) -> f64 {
        let workload = self.run.trials.last().map(|trial| &trial.workload);
        let own = self.run.trials.iter().filter(|trial| Some(&trial.workload) == workload);
        own.count() as f64 / entries.max(1) as f64
    }

    /// True if the last two trials of a cell in this process agree, so that the process needs no more of them.
    pub fn agrees(&self, planned: &PlannedTrial) -> bool {
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
}
