//! The cost of TLS, from entries measured under workloads that differ only in TLS.

use rpcbench_record::{RankedBy, TlsMode, Workload};
use rpcbench_stats::Range;

use crate::conclusion::unit;
use crate::document::Block;
use crate::figures::Estimate;
use crate::format;
use crate::row::Row;
use crate::summary::Table;

/// The mode that a workload with TLS is compared with, and the title of the list.
const BASES: [(TlsMode, &str); 2] = [
    (TlsMode::Off, "Compared with the same load without TLS"),
    (TlsMode::On, "Compared with the same load with resumption"),
];

/// A list for each workload that differs from the table's only in TLS: each entry's figure as a share of that without TLS, or
/// with resumption.
pub(crate) fn blocks(tables: &[Table], table: &Table) -> Vec<Block> {
    let own = table.workload.tls;
    let bases = BASES.iter().filter(|(mode, _)| own.is_on() && *mode != own);
    let block = |(mode, title): &(TlsMode, &str)| {
        let base = tables.iter().find(|base| differs_in_tls(&base.workload, *mode, table))?;
        let lines = table.rows.iter().filter_map(|row| line(row, base));
        Some(Block::list((*title).to_owned(), lines))
    };
    bases.filter_map(block).collect()
}

/// True for the table's workload with this mode of TLS.
fn differs_in_tls(base: &Workload, mode: TlsMode, table: &Table) -> bool {
    let Workload { name, .. } = base.clone();
    *base == Workload { name, tls: mode, ..table.workload.clone() }
}

/// `go-grpc: 82 % of its calls/cpu-s (77 to 88 %), a call costs 2.2 us more`. `None` if one of the two was not measured.
fn line(row: &Row, base: &Table) -> Option<String> {
    let same = |other: &&Row| other.server.entry == row.server.entry && other.by == row.by;
    let base = base.rows.iter().find(same)?;
    let is_right = |row: &&Row| !row.verdict.is_failed();
    let figure = |row: &Row| Some(row).filter(is_right).and_then(Row::ranked);
    let (own, base) = (figure(row)?, figure(base)?);
    let (value, range) = share(own, base)?;
    let percent = |share: f64| format::near(share * 100.0, 0, &[100.0]);
    let (entry, value, unit) = (&row.server.entry, percent(value), unit(row.by));
    let Some(range) = range else {
        return Some(format!(
            "{entry}: {value} % of its {unit}, from too few windows for an interval"
        ));
    };
    let (low, high) = (percent(range.low), percent(range.high));
    let cost = match range.low < 1.0 && 1.0 < range.high {
        true => ": can't tell if it costs anything".to_owned(),
        false => cost(row.by, own.value, base.value),
    };
    Some(format!("{entry}: {value} % of its {unit} ({low} to {high} %){cost}"))
}

/// The additional CPU time of the server per call, if this figure was compared.
fn cost(by: RankedBy, own: f64, base: f64) -> String {
    if by != RankedBy::CallsPerCpuSecond {
        return String::new();
    }
    let more = 1e9 / own - 1e9 / base;
    let direction = if more < 0.0 { "less" } else { "more" };
    format!(", a call costs {} {direction}", format::duration_ns(more.abs()))
}

/// A figure as a share of another one, with the 95 % interval. The two were measured at different times, so their errors are
/// independent, and those of their logarithms add up as squares.
fn share(one: Estimate, base: Estimate) -> Option<(f64, Option<Range>)> {
    let value = (base.value > 0.0).then(|| one.value / base.value)?;
    let width = |range: Range| (range.low > 0.0).then(|| (range.high / range.low).ln() / 2.0);
    let widths = one.own.and_then(width).zip(base.own.and_then(width));
    let range = widths.map(|(one, base)| {
        let factor = one.hypot(base).exp();
        Range { low: value / factor, high: value * factor }
    });
    Some((value, range))
}
