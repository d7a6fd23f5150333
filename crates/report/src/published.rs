//! Published figures next to those of a run. They come from another machine, so only ratios between entries of a workload are
//! compared.

use rpcbench_record::{Plan, PlannedServer, Published};

use crate::format;
use crate::matrix;
use crate::summary::Table;

pub(crate) const TITLE: &str = "Compared with published figures from another machine";

/// Compares published entries that were also measured here with the first of them: `go-thrift: 2.4x the calls/s of go-grpc as
/// published, 1.9x here`. The last lines name the sources.
pub(crate) fn lines(plan: &Plan, table: &Table) -> Vec<String> {
    let here = |published: &Published| {
        let row = table.rows.iter().find(|row| is_measured_by(&row.server, &published.entry))?;
        let figures = row.figures.as_ref().filter(|_| !row.verdict.is_failed())?;
        (figures.calls_per_s.raw > 0.0).then_some(figures.calls_per_s.raw)
    };
    let of_table = plan.published.iter().filter(|it| it.workload == table.workload.name);
    let measured: Vec<_> = of_table.filter_map(|it| Some((it, here(it)?))).collect();
    let Some(((first, base), others)) = measured.split_first() else { return Vec::new() };
    let line = |(other, rate): &(&Published, f64)| {
        format!(
            "{}: {}x the calls/s of {} as published, {}x here",
            other.entry,
            format::si(other.calls_per_s / first.calls_per_s),
            first.entry,
            format::si(rate / base),
        )
    };
    let mut sources: Vec<_> = measured.iter().map(|(it, _)| it.source.as_str()).collect();
    sources.dedup();
    let sources = sources.into_iter().filter(|_| !others.is_empty());
    others.iter().map(line).chain(sources.map(|it| format!("source: {it}"))).collect()
}

/// True for the entry with this name, and for a pair named by its client and its server.
fn is_measured_by(server: &PlannedServer, published: &str) -> bool {
    let both = || Some((matrix::client(server)?, server.counterpart.as_ref()?));
    server.entry == published
        || both().is_some_and(|(client, server)| client == published && server == published)
}
