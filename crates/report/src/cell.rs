//! One row: an entry under a workload.

use std::collections::BTreeMap;

use rpcbench_record::{
    Fresh, Limits, Measured, Outcomes, PlannedServer, Preparation, Readiness, Run, Trial,
    TrialResult, Workload, status_name,
};
use rpcbench_stats::Rank;

use crate::doubt::doubts;
use crate::figures::Figures;
use crate::format;
use crate::verdict::{Verdict, saturation};
use crate::warming::warming;

/// A cell of the run: an entry under a workload, its trials taken together.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was measured.
    pub server: PlannedServer,
    /// Library versions from its lock file.
    pub versions: BTreeMap<String, String>,
    /// Trials planned.
    pub planned: u32,
    /// Trials measured to their end.
    pub measured: u32,
    /// Place by calls a second. `None` where the verdict forbids one, or one trial gives no interval.
    pub rank: Option<Rank>,
    /// What the figures are worth.
    pub verdict: Verdict,
    /// `None` where no trial was measured.
    pub figures: Option<Figures>,
    /// Time from the first load to steady, mean over its processes, milliseconds. `None` where it
    /// was not reached or not asked for.
    pub steady_after_ms: Option<u64>,
    /// Calls a second over the first second of load, mean over its processes.
    pub cold_calls_per_s: Option<f64>,
    /// What a reader must know about it.
    pub notes: Vec<String>,
    /// What went wrong, line by line: last lines of the server's log, failed cases, examples of errors.
    pub evidence: Vec<String>,
}

/// An entry that was not measured, through no fault of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absent {
    /// It can't run on this machine.
    Skipped {
        /// The entry.
        entry: String,
        /// What is missing and what to install.
        reason: String,
    },
    /// The run ended before its turn.
    NotReached {
        /// The entry.
        entry: String,
    },
}

impl Absent {
    /// The entry's name.
    #[must_use]
    pub fn entry(&self) -> &str {
        match self {
            Self::Skipped { entry, .. } | Self::NotReached { entry } => entry,
        }
    }

    /// Why it was not measured, one line.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Skipped { reason, .. } => reason,
            Self::NotReached { .. } => "the run ended before it was measured",
        }
    }
}

/// Everything that the record has on one cell.
pub(crate) struct Cell<'a> {
    pub(crate) server: &'a PlannedServer,
    pub(crate) workload: &'a Workload,
    pub(crate) limits: Limits,
    pub(crate) fresh: Fresh,
    pub(crate) planned: u32,
    /// The latest preparation for each trial that has one.
    pub(crate) preparations: Vec<&'a Preparation>,
    /// The latest result of each trial, by number.
    pub(crate) trials: Vec<&'a Trial>,
}

impl<'a> Cell<'a> {
    pub(crate) fn of(run: &'a Run, server: &'a PlannedServer, workload: &'a Workload) -> Self {
        let plan = &run.header.plan;
        let mine = |entry: &str, load: &str| entry == server.entry && load == workload.name;
        let planned = plan.order.iter().filter(|t| mine(&t.entry, &t.workload)).count() as u32;
        let preparations: BTreeMap<u32, &Preparation> = run
            .preparations
            .iter()
            .filter(|p| mine(&p.entry, &p.workload))
            .map(|p| (p.trial, p))
            .collect();
        let trials: BTreeMap<u32, &Trial> = run
            .trials
            .iter()
            .filter(|t| mine(&t.entry, &t.workload))
            .map(|t| (t.number, t))
            .collect();
        Self {
            server,
            workload,
            limits: plan.limits,
            fresh: plan.fresh,
            planned,
            preparations: preparations.into_values().collect(),
            trials: trials.into_values().collect(),
        }
    }

    pub(crate) fn measured(&self) -> Vec<&'a Measured> {
        self.numbered().into_iter().map(|(_, measured)| measured).collect()
    }

    fn numbered(&self) -> Vec<(u32, &'a Measured)> {
        let measured = |t: &&'a Trial| match &t.result {
            TrialResult::Measured(measured) => Some((t.number, &**measured)),
            TrialResult::Failed(_) => None,
        };
        self.trials.iter().filter_map(measured).collect()
    }

    /// Why there is no row for it. `None` where there is one.
    pub(crate) fn absent(&self) -> Option<Absent> {
        let entry = self.server.entry.clone();
        if !self.trials.is_empty() {
            return None;
        }
        match self.preparations.last().map(|p| &p.readiness) {
            Some(Readiness::Skipped { reason }) => {
                Some(Absent::Skipped { entry, reason: reason.clone() })
            }
            Some(Readiness::Failed(_)) => None,
            Some(Readiness::Ready) | None => Some(Absent::NotReached { entry }),
        }
    }

    pub(crate) fn row(&self) -> Row {
        let trials = self.measured();
        let figures = Figures::of(&trials, Some(self.limits));
        let (verdict, evidence) = self.verdict(figures.as_ref());
        let curves = || self.preparations.iter().filter_map(|p| p.warm.as_ref());
        Row {
            server: self.server.clone(),
            versions: self.preparations.last().map(|p| p.versions.clone()).unwrap_or_default(),
            planned: self.planned,
            measured: trials.len() as u32,
            rank: None,
            verdict,
            figures,
            steady_after_ms: mean(
                &curves().map(|c| c.steady_after_ms.map(|ms| ms as f64)).collect::<Vec<_>>(),
            )
            .map(|ms| ms.round() as u64),
            cold_calls_per_s: mean(&curves().map(|c| Some(c.cold_rate)).collect::<Vec<_>>()),
            notes: self.notes(),
            evidence,
        }
    }

    fn verdict(&self, figures: Option<&Figures>) -> (Verdict, Vec<String>) {
        if let Some(failed) = self.failure() {
            return failed;
        }
        let trials = self.numbered();
        let Some(figures) = figures.filter(|f| f.outcomes.ok > 0) else {
            let reason = "no call was answered".to_owned();
            return (Verdict::Failed { reason }, examples(&trials));
        };
        if figures.outcomes.errors() > 0 {
            return (Verdict::Failed { reason: errors(&figures.outcomes) }, examples(&trials));
        }
        (self.judged(figures, &trials), Vec::new())
    }

    /// The verdict on a cell in which every call was answered right.
    fn judged(&self, figures: &Figures, trials: &[(u32, &Measured)]) -> Verdict {
        let doubted = trials
            .iter()
            .find_map(|(n, t)| doubts(t, self.workload).into_iter().next().map(|d| (*n, d)));
        if let Some((trial, doubt)) = doubted {
            return Verdict::Suspect { trial, doubt };
        }
        let measured: Vec<&Measured> = trials.iter().map(|(_, t)| *t).collect();
        if let Some(why) = warming(self.workload.warm_up, self.fresh, &self.preparations, &measured)
        {
            return Verdict::StillWarming(why);
        }
        saturation(figures.server.map(|s| s.cpu_share), figures.client.busiest_share)
    }

    /// A failure to prepare or to finish a trial.
    fn failure(&self) -> Option<(Verdict, Vec<String>)> {
        let prepared = self.preparations.iter().find_map(|p| match &p.readiness {
            Readiness::Failed(failure) => {
                let evidence = [&p.check.failed[..], &failure.log_tail[..]].concat();
                Some((failure.reason.clone(), evidence))
            }
            Readiness::Ready | Readiness::Skipped { .. } => None,
        });
        let (reason, evidence) = prepared.or_else(|| {
            self.trials.iter().find_map(|t| match &t.result {
                TrialResult::Failed(failure) => {
                    let reason = match self.planned {
                        0 | 1 => failure.reason.clone(),
                        _ => format!("{}, in trial {}", failure.reason, t.number),
                    };
                    Some((reason, failure.log_tail.clone()))
                }
                TrialResult::Measured(_) => None,
            })
        })?;
        Some((Verdict::Failed { reason }, evidence))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for note in self.preparations.iter().flat_map(|p| &p.isolation.notes) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        let measured = self.measured().len() as u32;
        if measured > 0 && measured < self.planned {
            notes.push(format!(
                "{measured} of {}",
                format::plural(u64::from(self.planned), "trial")
            ));
        }
        notes
    }
}

/// Mean of values that are all there. `None` where one is missing, or there are none.
fn mean(values: &[Option<f64>]) -> Option<f64> {
    let all: Option<Vec<f64>> = values.iter().copied().collect();
    all.filter(|v| !v.is_empty()).map(|v| v.iter().sum::<f64>() / v.len() as f64)
}

fn examples(trials: &[(u32, &Measured)]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for example in trials.iter().flat_map(|(_, t)| &t.error_examples) {
        if !found.contains(example) {
            found.push(example.clone());
        }
    }
    found
}

/// `12 of 34,000 calls failed (0.04 %): 10 timeout, 2 status 13 INTERNAL`.
fn errors(outcomes: &Outcomes) -> String {
    let kinds: Vec<String> = kinds(outcomes)
        .into_iter()
        .map(|(kind, n)| format!("{} {kind}", format::count(n)))
        .collect();
    format!(
        "{} of {} failed ({}): {}",
        format::count(outcomes.errors()),
        format::plural(outcomes.total(), "call"),
        format::percent(outcomes.errors() as f64 / outcomes.total() as f64),
        kinds.join(", ")
    )
}

/// The outcomes other than `ok` that occurred, by name, in the order of the record.
pub(crate) fn kinds(outcomes: &Outcomes) -> Vec<(String, u64)> {
    let by_code = outcomes.status.iter().map(|(code, n)| (status(*code), *n));
    let mut kinds = vec![("wrong answer".to_owned(), outcomes.wrong_answer)];
    kinds.extend(by_code);
    kinds.push(("timeout".to_owned(), outcomes.timeout));
    kinds.push(("transport".to_owned(), outcomes.transport));
    kinds.push(("not sent".to_owned(), outcomes.not_sent));
    kinds.retain(|(_, n)| *n > 0);
    kinds
}

/// `status 13 INTERNAL`; the number alone where the code has no name.
fn status(code: u32) -> String {
    let name = status_name(code).map(|name| format!(" {name}"));
    format!("status {code}{}", name.unwrap_or_default())
}
