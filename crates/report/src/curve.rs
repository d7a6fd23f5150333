//! Workloads that differ only in rate, shown as one table: response times over load.

use indexmap::IndexMap;
use itertools::Itertools as _;
use rpcbench_record::Workload;

use crate::catalog::Subject;
use crate::row::{Absent, Row};
use crate::summary::{Summary, Table};
use crate::words::{Unranked, unranked};

/// What one table shows.
pub(crate) enum Results<'a> {
    /// A workload whose entries compete.
    Ranking(&'a Table),
    /// Workloads with given rates, measured for response times.
    Curve(Curve<'a>),
}

/// Tables of workloads that differ only in rate, in the plan's order. Never empty.
pub(crate) struct Curve<'a> {
    pub(crate) tables: Vec<&'a Table>,
}

/// The results of a summary, in the plan's order.
pub(crate) fn results(tables: &[Table]) -> Vec<Results<'_>> {
    let mut results: Vec<Results> = Vec::new();
    for table in tables {
        if !is_given(&table.workload) {
            results.push(Results::Ranking(table));
            continue;
        }
        match results.last_mut() {
            Some(Results::Curve(curve)) if curve.continues(&table.workload) => {
                curve.tables.push(table);
            }
            _ => results.push(Results::Curve(Curve { tables: vec![table] })),
        }
    }
    results
}

/// True if calls come due at a given rate.
pub(crate) fn is_given(workload: &Workload) -> bool {
    workload.arrivals.is_open() && workload.find_max.is_none()
}

impl<'a> Curve<'a> {
    fn continues(&self, next: &Workload) -> bool {
        self.tables.last().is_some_and(|last| {
            let (a, b) = (&last.workload, next);
            let kind = std::mem::discriminant(&a.arrivals) == std::mem::discriminant(&b.arrivals);
            kind && a.shares_process(b) && a.window == b.window
        })
    }

    /// Rows entry by entry, loads in order.
    pub(crate) fn rows(&self) -> Vec<&'a Row> {
        self.cells().into_iter().map(|(_, row)| row).collect()
    }

    /// The same as [`Self::rows`], as subjects of the catalog.
    pub(crate) fn subjects(&self, summary: &'a Summary) -> Vec<Subject<'a>> {
        let cells = self.cells().into_iter();
        cells.map(|(table, row)| Subject::cell(summary, table, row)).collect()
    }

    fn cells(&self) -> Vec<(&'a Table, &'a Row)> {
        let all =
            || self.tables.iter().flat_map(|table| table.rows.iter().map(|row| (*table, row)));
        let entries = all().map(|(_, row)| &row.server.entry).unique();
        entries.flat_map(|entry| all().filter(move |(_, row)| row.server.entry == *entry)).collect()
    }

    /// Rows whose figures do not show the server at their load, with the loads. Rows of one entry and verdict are merged, with
    /// the reason at the last of their loads; failures are merged only if the reason is the same.
    pub(crate) fn unranked_rows(&self) -> Vec<(Unranked, String)> {
        let mut found: Vec<(Vec<Unranked>, Vec<&str>)> = Vec::new();
        for table in &self.tables {
            for row in unranked(table) {
                let name = table.workload.name.as_str();
                match found.iter_mut().find(|(others, _)| is_like(&others[0], &row)) {
                    Some((rows, names)) => {
                        rows.push(row);
                        names.push(name);
                    }
                    None => found.push((vec![row], vec![name])),
                }
            }
        }
        found.into_iter().filter_map(|(rows, names)| folded(rows, &names)).collect()
    }

    /// Entries that were not measured at some loads, with these loads.
    pub(crate) fn absent(&self) -> Vec<(&'a Absent, String)> {
        let mut found: IndexMap<&'a Absent, Vec<&str>> = IndexMap::new();
        for table in &self.tables {
            for absent in &table.absent {
                found.entry(absent).or_default().push(&table.workload.name);
            }
        }
        found.into_iter().map(|(absent, names)| (absent, names.join(", "))).collect()
    }
}

fn is_like(one: &Unranked, other: &Unranked) -> bool {
    let has_evidence = !one.evidence.is_empty() || !other.evidence.is_empty();
    (&one.entry, one.verdict) == (&other.entry, other.verdict)
        && (one.reason == other.reason || !has_evidence)
}

/// Merges rows into the last one, with all their loads. If the reasons differ, it names the last load.
fn folded(mut rows: Vec<Unranked>, names: &[&str]) -> Option<(Unranked, String)> {
    let last = rows.pop()?;
    let same = rows.iter().all(|row| row.reason == last.reason);
    let reason = match names.last().filter(|_| !same) {
        Some(name) => format!("in {name}, {}", last.reason),
        None => last.reason,
    };
    Some((Unranked { reason, ..last }, names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(reason: &str, evidence: &[&str]) -> Unranked {
        Unranked {
            entry: "go-grpc".to_owned(),
            verdict: "generator late",
            reason: reason.to_owned(),
            evidence: evidence.iter().map(|line| (*line).to_owned()).collect(),
        }
    }

    #[test]
    fn rows_of_one_verdict_merge_with_last_reason() {
        let (early, late) = (row("1 % late", &[]), row("5 % late", &[]));
        assert!(is_like(&early, &late));
        let (shown, loads) = folded(vec![early.clone(), late], &["open-80", "open-90"]).unwrap();
        assert_eq!(
            (shown.reason.as_str(), loads.as_str()),
            ("in open-90, 5 % late", "open-80, open-90")
        );
        let (shown, _) =
            folded(vec![early.clone(), early.clone()], &["open-80", "open-90"]).unwrap();
        assert_eq!(shown.reason, "1 % late");
        assert!(!is_like(&early, &row("no reply", &["panic: ..."])));
    }
}
