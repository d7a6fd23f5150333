//! Loads on servers that the user runs, from run to run.

use indexmap::IndexMap;
use rpcbench_record::{Header, Run};

use super::view::PointView;
use crate::columns::Column;
use crate::document::{Block, Content, Table};
use crate::format::{self, NOTHING};
use crate::load::{Load, LoadCurve};
use crate::view::View;
use crate::words;

/// Loads on one target, earliest first.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadHistory {
    /// Address and target, such as `127.0.0.1:50051 shop.v1.Orders/Get`.
    pub name: String,
    /// Loads of one window.
    pub loads: Vec<PastLoad>,
    /// Sweeps and searches.
    pub curves: Vec<PastCurve>,
}

/// A load with one window.
#[derive(Clone, Debug, PartialEq)]
pub struct PastLoad {
    /// Header of its record.
    pub header: Header,
    /// Name of its workload.
    pub workload: String,
    /// What was sent, in words.
    pub load: String,
    /// Ok calls per second. `None` if unknown.
    pub calls_per_s: Option<f64>,
    /// Median and 99th percentile of the response time of ok calls, nanoseconds. `None` without an ok call.
    pub quantiles_ns: Option<[u64; 2]>,
    /// Share of due calls that did not end ok.
    pub error_share: f64,
    /// The verdict on the load.
    pub verdict: String,
}

/// A sweep or a search.
#[derive(Clone, Debug, PartialEq)]
pub struct PastCurve {
    /// Header of its record.
    pub header: Header,
    /// The result. `None` without a result.
    pub headline: Option<String>,
    /// What was sent, in words.
    pub load: String,
}

impl LoadHistory {
    /// The number of records.
    pub(super) fn count(&self) -> u64 {
        (self.loads.len() + self.curves.len()) as u64
    }
}

impl PastLoad {
    fn of(load: &Load) -> Self {
        Self {
            header: load.header.clone(),
            workload: load.workload.name.clone(),
            load: words::load(&load.workload, load.protocol),
            calls_per_s: load.figures().map(|figures| figures.calls_per_s.value),
            quantiles_ns: load.measured.latency.as_ref().map(|it| [it.p50_ns, it.p99_ns]),
            error_share: load.measured.outcomes.error_share(),
            verdict: load.verdict().to_string(),
        }
    }
}

impl PastCurve {
    fn of(curve: &LoadCurve) -> Self {
        Self {
            header: curve.header.clone(),
            headline: curve.headline(),
            load: words::load(&curve.workload, curve.protocol),
        }
    }
}

/// Loads by target, the most recently loaded target last.
#[derive(Debug, Default)]
pub(super) struct Loads(IndexMap<String, LoadHistory>);

impl Loads {
    /// Adds a load that began after those added before, if its target or address is among `servers` or `servers` is empty.
    pub fn add(&mut self, run: &Run, servers: &[String]) {
        let view = View::of(run);
        let (name, address, workload) = match &view {
            View::Load(load) => (load.name(), &load.address, &load.workload),
            View::Curve(curve) => (curve.name(), &curve.address, &curve.workload),
            View::Run(_) => return,
        };
        let target = workload.content.call().map(|call| &call.target);
        let names = [Some(&name), Some(address), target];
        if !servers.is_empty() && !names.into_iter().flatten().any(|it| servers.contains(it)) {
            return;
        }
        let new = || LoadHistory { name: name.clone(), loads: Vec::new(), curves: Vec::new() };
        let mut history = self.0.shift_remove(&name).unwrap_or_else(new);
        match &view {
            View::Load(load) => history.loads.push(PastLoad::of(load)),
            View::Curve(curve) => history.curves.push(PastCurve::of(curve)),
            View::Run(_) => {}
        }
        self.0.insert(name, history);
    }

    /// All loads, the most recently loaded target first.
    pub fn finish(self) -> Vec<LoadHistory> {
        self.0.into_values().rev().collect()
    }
}

/// Tables of the loads of one target.
pub(super) fn block(history: &LoadHistory) -> Block {
    let tables = [windows(&history.loads), curves(&history.curves)];
    let content = tables.into_iter().filter(|table| table.rows() > 0).map(Content::Table);
    Block::titled(history.name.clone(), content.collect())
}

fn windows(loads: &[PastLoad]) -> Table {
    let of = |text: &dyn Fn(&PastLoad) -> String| loads.iter().map(text).collect();
    let rate = |load: &PastLoad| load.calls_per_s.map_or(NOTHING.to_owned(), format::si);
    let time = |load: &PastLoad, at: usize| {
        let quantiles = load.quantiles_ns;
        quantiles.map_or(NOTHING.to_owned(), |it| format::duration_ns(it[at] as f64))
    };
    let columns = vec![
        Column::new("run", false, of(&|load| words::began(&load.header))),
        Column::new("ok calls/s", true, of(&rate)),
        Column::new("p50", true, of(&|load| time(load, 0))),
        Column::new("p99", true, of(&|load| time(load, 1))),
        Column::new("errors", true, of(&|load| format::percent(load.error_share))),
        Column::new("verdict", false, of(&|load| load.verdict.clone())),
        Column::new("load", false, of(&|load| load.load.clone())),
    ];
    Table { columns, tones: Vec::new() }
}

fn curves(curves: &[PastCurve]) -> Table {
    let of = |text: &dyn Fn(&PastCurve) -> String| curves.iter().map(text).collect();
    let headline = |curve: &PastCurve| curve.headline.clone().unwrap_or_else(|| NOTHING.to_owned());
    let columns = vec![
        Column::new("run", false, of(&|curve| words::began(&curve.header))),
        Column::new("sweep or search", false, of(&headline)),
        Column::new("load", false, of(&|curve| curve.load.clone())),
    ];
    Table { columns, tones: Vec::new() }
}

/// A row for an export. Loads have one window, so there is no interval and no finding about a change.
pub(super) fn view<'a>(history: &'a LoadHistory, load: &'a PastLoad) -> PointView<'a> {
    let mut view = PointView::of(&history.name, &load.header, "calls_per_s");
    view.workload = &load.workload;
    view.verdict = load.verdict.clone();
    view.value = load.calls_per_s;
    view
}
