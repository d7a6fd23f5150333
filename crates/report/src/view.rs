//! A record as shown to readers.

use rpcbench_record::Run;

use crate::document::Document;
use crate::layout::Layout;
use crate::load::{Load, LoadCurve};
use crate::summary::{Summary, summary};

/// A record as shown to readers.
#[derive(Clone, Debug, PartialEq)]
pub enum View {
    /// A run of servers, or a load without complete windows.
    Run(Box<Summary>),
    /// One window on a server at an address.
    Load(Box<Load>),
    /// Several rates on a server at an address: a sweep or a search.
    Curve(Box<LoadCurve>),
}

impl View {
    /// The view of a record.
    pub fn of(run: &Run) -> Self {
        load(run).unwrap_or_else(|| Self::Run(Box::new(summary(run))))
    }

    /// The document of the record. Only runs have a layout.
    pub fn document(&self, layout: &Layout) -> Document<'_> {
        match self {
            Self::Run(summary) => Document::of_run(summary, layout),
            Self::Load(load) => Document::of_load(load),
            Self::Curve(curve) => Document::of_curve(curve),
        }
    }
}

fn load(run: &Run) -> Option<View> {
    if run.header.plan.placement.starts_servers() {
        return None;
    }
    let run = &run.printable();
    let plan = &run.header.plan;
    let [server] = plan.servers.as_slice() else { return None };
    let mut loads = plan.loads();
    let first = loads.next()?;
    if first.find_max.is_none() && loads.next().is_none() {
        let trial = run.trials.iter().find(|trial| trial.workload == first.name)?;
        return Some(View::Load(Box::new(Load::of(run, server, first, trial)?)));
    }
    Some(View::Curve(Box::new(LoadCurve::of(run, server, first)?)))
}
