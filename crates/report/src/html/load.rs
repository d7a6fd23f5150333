//! The part of the page that shows a load.

use rpcbench_record::{Latency, Run};
use rpcbench_stats::Histogram;
use serde::Serialize;

use super::buckets::Distribution;
use super::cell::CellView;
use super::part::{KindView, PartView};
use super::table::RowView;
use crate::document::Part;
use crate::load::{Load, headline};

#[derive(Serialize)]
pub(super) struct Named {
    name: &'static str,
    meaning: &'static str,
    distribution: Distribution,
}

pub(super) fn part(run: &Run, load: &Load, part: Part) -> PartView {
    let distribution =
        |latency: &Latency| Distribution::of(&Histogram::from_base64(&latency.histogram).ok()?);
    let named = load.times().into_iter().filter_map(|(name, meaning, latency)| {
        Some(Named { name, meaning, distribution: distribution(latency?)? })
    });
    let trial = run.trials.iter().find(|trial| trial.measured() == Some(&load.measured));
    let trials: Vec<_> = trial.into_iter().collect();
    let row = RowView {
        reason: load.verdict().reason,
        cell: Some(CellView::of_trials(run, &trials)),
        name: load.name(),
        entry: load.address.clone(),
        verdict: load.verdict().to_string(),
        ..RowView::default()
    };
    let mut view = PartView::of(KindView::Load, &load.workload.name, part);
    view.headline = vec![headline(load)];
    view.distributions = named.collect();
    view.table.rows = vec![row];
    view
}
