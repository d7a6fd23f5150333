//! Loads of one kind, shown as one table: response times over load.

use rpcbench_record::Workload;

use crate::catalog::Subject;
use crate::row::{Absent, Row};
use crate::summary::{Summary, Table};
use crate::words::{Unranked, unranked};

/// What is shown together.
pub(crate) enum Part<'a> {
    /// A workload whose entries compete.
    Ranking(&'a Table),
    /// Workloads that give the rates, and ask for response times.
    Curve(Curve<'a>),
}

/// Tables of workloads that differ in rate, in the plan's order; at least one.
pub(crate) struct Curve<'a> {
    pub(crate) tables: Vec<&'a Table>,
}

/// The parts of a summary, in order.
pub(crate) fn parts(tables: &[Table]) -> Vec<Part<'_>> {
    let mut parts: Vec<Part> = Vec::new();
    for table in tables {
        if !is_given(&table.workload) {
            parts.push(Part::Ranking(table));
            continue;
        }
        match parts.last_mut() {
            Some(Part::Curve(curve)) if curve.continues(&table.workload) => {
                curve.tables.push(table);
            }
            _ => parts.push(Part::Curve(Curve { tables: vec![table] })),
        }
    }
    parts
}

/// Whether calls come due at a rate that was given.
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

    /// Entry by entry, its loads in order.
    pub(crate) fn rows(&self) -> Vec<&'a Row> {
        self.cells().into_iter().map(|(_, row)| row).collect()
    }

    /// As [`Self::rows`], with what their figures are read from.
    pub(crate) fn subjects(&self, summary: &'a Summary) -> Vec<Subject<'a>> {
        let cells = self.cells().into_iter();
        cells.map(|(table, row)| Subject::cell(summary, table, row)).collect()
    }

    fn cells(&self) -> Vec<(&'a Table, &'a Row)> {
        let mut entries: Vec<&str> = Vec::new();
        for row in self.tables.iter().flat_map(|table| &table.rows) {
            if !entries.contains(&row.server.entry.as_str()) {
                entries.push(&row.server.entry);
            }
        }
        let rows = |entry: &str| {
            let of = |table: &&'a Table| {
                Some((*table, table.rows.iter().find(|row| row.server.entry == entry)?))
            };
            self.tables.iter().filter_map(of).collect::<Vec<_>>()
        };
        entries.iter().flat_map(|entry| rows(entry)).collect()
    }

    /// Rows whose figures are not the server's at their load, with the loads; those of one cause together.
    pub(crate) fn troubles(&self) -> Vec<(Unranked, String)> {
        let mut found: Vec<(Unranked, Vec<&str>)> = Vec::new();
        for table in &self.tables {
            for row in unranked(table) {
                let name = table.workload.name.as_str();
                let same = |(other, _): &&mut (Unranked, Vec<&str>)| {
                    (&other.entry, other.verdict, &other.reason)
                        == (&row.entry, row.verdict, &row.reason)
                };
                match found.iter_mut().find(same) {
                    Some((_, names)) => names.push(name),
                    None => found.push((row, vec![name])),
                }
            }
        }
        found.into_iter().map(|(row, names)| (row, names.join(", "))).collect()
    }

    /// Entries that were not measured under some load, with the loads.
    pub(crate) fn absent(&self) -> Vec<(&'a Absent, String)> {
        let mut found: Vec<(&'a Absent, Vec<&str>)> = Vec::new();
        for table in &self.tables {
            for absent in &table.absent {
                let name = table.workload.name.as_str();
                match found.iter_mut().find(|(other, _)| *other == absent) {
                    Some((_, names)) => names.push(name),
                    None => found.push((absent, vec![name])),
                }
            }
        }
        found.into_iter().map(|(absent, names)| (absent, names.join(", "))).collect()
    }
}
