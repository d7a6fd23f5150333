//! Loads at several rates on one address: a search, or a sweep.

use std::fmt;

use rpcbench_record::{
    Arrivals, Header, Measured, NotMet, PerSecond, Protocol, Search, SearchStep, StepVerdict,
    Workload,
};
use serde::Serialize;

use super::of_run::Capacity;
use super::of_run::named;
use super::points::{POINT, PointFigures, values};
use crate::catalog::{Values, run_values};
use crate::cell::errors;
use crate::columns::Column;
use crate::document::{Block, Content, Document, Part, Table};
use crate::doubt::doubts;
use crate::export::{EXPORT_SCHEMA, Export, ExportError, to_csv, to_json};
use crate::format;
use crate::open::{client_bound, late};
use crate::verdict::{Verdict, VerdictKind};
use crate::words;

const HOW_TO_READ: &str = "rate: calls due per second; p50 to p99.9: response time over all calls, where failed calls count as infinitely slow";

/// Loads at several rates.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadCurve {
    /// The run.
    pub header: Header,
    /// The address, as typed.
    pub address: String,
    /// The protocol.
    pub protocol: Protocol,
    /// The workload of the first load; the others differ only in their rate.
    pub workload: Workload,
    /// The capacity of which the rates are shares. `None` if they are not shares.
    pub capacity: Option<Capacity>,
    /// The rates, in the order in which they were run.
    pub points: Vec<LoadPoint>,
    /// The search. `None` for a sweep.
    pub search: Option<Search>,
}

impl LoadCurve {
    /// The problem of the loads as a whole. `None` without a problem.
    pub fn complaint(&self) -> Option<String> {
        if let Some(limit) = self.clients_limit() {
            return Some(format!("{limit}; use more client threads, or free CPUs"));
        }
        if self.search.as_ref().is_some_and(|search| search.met().is_none()) {
            return self.found();
        }
        self.swept(VerdictKind::Suspect)
            .then(|| "the figures of a load contradict each other".to_owned())
    }

    fn swept(&self, kind: VerdictKind) -> bool {
        self.points.iter().any(|p| matches!(&p.verdict, PointVerdict::Swept(v) if v.kind == kind))
    }

    /// The reason why the loads show the client's limit. `None` if they do not.
    fn clients_limit(&self) -> Option<&'static str> {
        const LATE: &str = "generator late: the client fell behind its own schedule, so these figures show its limit, \
                            not the server's";
        const BOUND: &str = "client-bound: the client had no CPU left, so these figures show its limit, not the server's";
        const CAPACITY: &str = "client-bound: the capacity is the client's, so the rates are not shares of the server's";
        let unmet = self.search.as_ref().and_then(Search::unmet).map(|step| step.verdict);
        if unmet == Some(StepVerdict::NotMet(NotMet::GeneratorLate))
            || self.swept(VerdictKind::GeneratorLate)
        {
            return Some(LATE);
        }
        if unmet == Some(StepVerdict::NotMet(NotMet::ClientBound))
            || self.swept(VerdictKind::ClientBound)
        {
            return Some(BOUND);
        }
        let client_bound = self.capacity.is_some_and(|capacity| capacity.client_bound);
        (self.search.is_none() && client_bound).then_some(CAPACITY)
    }

    /// The result of a search. `None` for a sweep.
    pub fn found(&self) -> Option<String> {
        let search = self.search.as_ref()?;
        let (threshold, si) = (search.threshold, |step: &SearchStep| format::si(step.rate.get()));
        let near = |step: &SearchStep, other: &SearchStep| {
            format::si_near(step.rate.get(), &[other.rate.get()])
        };
        let clients = |step: &SearchStep| match step.verdict {
            StepVerdict::NotMet(why) => why.clients_reason(),
            StepVerdict::Met => None,
        };
        Some(match (search.met(), search.unmet()) {
            (Some(met), Some(unmet)) => {
                let (holds, ends) = (near(met, unmet), near(unmet, met));
                match clients(unmet) {
                    Some(reason) => format!(
                        "{threshold}: holds up to {holds} calls/s; can't tell above, since at {ends} {reason}"
                    ),
                    None => format!(
                        "{threshold}: holds up to {holds} calls/s; at {ends} it does not ({})",
                        unmet.verdict
                    ),
                }
            }
            (Some(met), None) => {
                format!("{threshold}: still holds at {} calls/s, the highest rate tried", si(met))
            }
            (None, Some(unmet)) => match clients(unmet) {
                Some(reason) => format!(
                    "{threshold}: can't tell, since {reason} even at {} calls/s, the lowest rate tried",
                    si(unmet)
                ),
                None => format!(
                    "{threshold}: does not hold at {} calls/s, the lowest rate tried ({})",
                    si(unmet),
                    unmet.verdict
                ),
            },
            (None, None) => format!("{threshold}: no rate was tried to the end"),
        })
    }

    /// The result in one sentence: what a search found, or the rate up to which the server kept up.
    pub(crate) fn headline(&self) -> Option<String> {
        let most = self.points.iter().map(|point| point.rate).max()?;
        let kept = self.points.iter().filter(|point| point.is_kept()).map(|point| point.rate).max();
        let si = |rate: PerSecond| format::si(rate.get());
        self.found().or_else(|| {
            Some(match kept {
                Some(kept) if kept == most => {
                    format!("ok up to {} calls/s, the highest rate tried", si(kept))
                }
                Some(kept) => format!("ok up to {} calls/s", si(kept)),
                None => format!("ok at none of {} rates", self.points.len()),
            })
        })
    }

    /// Address and target.
    pub(crate) fn name(&self) -> String {
        named(&self.address, &self.workload)
    }

    /// Address and load.
    pub(crate) fn title(&self) -> String {
        let w = &self.workload;
        let arrivals = match w.arrivals {
            Arrivals::Constant { .. } => "constant",
            _ => "Poisson",
        };
        let what = match &self.search {
            Some(search) => format!("highest rate with {}", search.threshold),
            None => format::plural(self.points.len() as u64, "rate"),
        };
        let capacity = self.capacity.map(|it| format::si(it.calls_per_s));
        let capacity = capacity.map(|rate| format!(", capacity {rate} calls/s"));
        format!(
            "{}: {} {}, {}, {} in flight at most, {arrivals} arrivals, {what}, {}{}",
            self.address,
            self.protocol,
            w.content,
            words::connections(w, &[self.protocol].into()),
            format::plural(u64::from(w.in_flight), "call"),
            format::plural(u64::from(w.client_threads), "client thread"),
            capacity.unwrap_or_default()
        )
    }

    fn table(&self) -> Table {
        let mut points: Vec<&LoadPoint> = self.points.iter().collect();
        points.sort_by_key(|point| point.rate);
        let figures: Vec<PointFigures> = points.into_iter().map(PointFigures::of).collect();
        let listed = POINT.iter().filter(|figure| figure.listed);
        let column = listed.map(|figure| {
            let cells = figures.iter().map(|of| figure.text(of)).collect();
            Column::new(figure.title, figure.unit.is_number(), cells)
        });
        Table { columns: column.collect(), tones: Vec::new() }
    }

    /// The points, each with a description of the run.
    fn rows(&self) -> impl Iterator<Item = Values> {
        let run = run_values(&self.header).0;
        self.points.iter().map(move |point| {
            let mut row = values(point);
            row.0.extend(run.iter().cloned());
            row
        })
    }
}

impl<'a> Document<'a> {
    /// The document of a search or a sweep.
    pub fn of_curve(curve: &'a LoadCurve) -> Self {
        let table = [Content::Table(curve.table()), Content::Prose(vec![HOW_TO_READ.to_owned()])];
        let blocks = vec![
            Block::titled("Latency over load", table.into()),
            Block::list("Highest rate", curve.found()),
        ];
        Self {
            origin: Some(words::origin(&curve.header)),
            parts: vec![Part { title: Some(curve.title()), blocks, ..Part::default() }],
            warnings: curve
                .complaint()
                .into_iter()
                .chain(curve.header.plan.warnings.iter().cloned())
                .collect(),
            ..Self::new(curve.name(), curve)
        }
    }
}

impl Export for LoadCurve {
    fn json(&self) -> Result<String, ExportError> {
        #[derive(Serialize)]
        struct View<'a> {
            schema: u32,
            address: &'a str,
            workload: &'a Workload,
            capacity_calls_per_s: Option<f64>,
            threshold: Option<String>,
            highest_rate_per_s: Option<f64>,
            lowest_unmet_rate_per_s: Option<f64>,
            points: Vec<Values>,
        }
        let search = self.search.as_ref();
        let rate = |step: Option<&SearchStep>| step.map(|step| step.rate.get());
        to_json(&View {
            schema: EXPORT_SCHEMA,
            address: &self.address,
            workload: &self.workload,
            capacity_calls_per_s: self.capacity.map(|capacity| capacity.calls_per_s),
            threshold: search.map(|search| search.threshold.to_string()),
            highest_rate_per_s: rate(search.and_then(Search::met)),
            lowest_unmet_rate_per_s: rate(search.and_then(Search::unmet)),
            points: self.rows().collect(),
        })
    }

    /// CSV, in the order in which the rates were run.
    fn csv(&self) -> Result<String, ExportError> {
        let run = run_values(&self.header).0;
        let point = POINT.iter().map(|figure| figure.key);
        let keys: Vec<&str> = point.chain(run.iter().map(|(key, _)| *key)).collect();
        to_csv(&keys, self.rows())
    }
}

/// A load at one rate.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadPoint {
    /// Calls due per second.
    pub rate: PerSecond,
    /// The windows; at least one.
    pub windows: Vec<Measured>,
    /// The verdict on its figures.
    pub verdict: PointVerdict,
}

/// The verdict on the figures at a rate.
#[derive(Clone, Debug, PartialEq)]
pub enum PointVerdict {
    /// The verdict on a rate of a sweep.
    Swept(Verdict),
    /// Whether the threshold of a search held.
    Searched(StepVerdict),
}

impl fmt::Display for PointVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Swept(verdict) => verdict.fmt(f),
            Self::Searched(verdict) => verdict.fmt(f),
        }
    }
}

impl LoadPoint {
    /// A point of a sweep. Its verdict follows from its window: `suspect`, `generator late`, `overloaded` (the
    /// server finished fewer calls than came due, and the client had CPU to spare), `failed`, `client-bound` or `ok`.
    pub fn swept(rate: PerSecond, window: Measured, workload: &Workload, of: Protocol) -> Self {
        let doubt = doubts(&window, workload).first().map(|doubt| Verdict::suspect(1, doubt));
        let verdict = doubt.or_else(|| late(1, &window)).unwrap_or_else(|| {
            if !window.client_saturated() && window.kept_up() == Some(false) {
                Verdict::overloaded(1)
            } else if window.outcomes.errors() > 0 {
                Verdict::failed(errors(&window.outcomes, of))
            } else if window.client_saturated() {
                client_bound(&window)
            } else {
                Verdict::ranked(VerdictKind::Ok)
            }
        });
        Self { rate, windows: vec![window], verdict: PointVerdict::Swept(verdict) }
    }

    /// A point of a search.
    pub fn searched(step: &SearchStep) -> Self {
        let (windows, verdict) = (step.windows.clone(), PointVerdict::Searched(step.verdict));
        Self { rate: step.rate, windows, verdict }
    }

    /// True if the server kept up, or the threshold held.
    pub(crate) fn is_kept(&self) -> bool {
        match &self.verdict {
            PointVerdict::Swept(verdict) => verdict.is_ranked(),
            PointVerdict::Searched(verdict) => *verdict == StepVerdict::Met,
        }
    }
}
