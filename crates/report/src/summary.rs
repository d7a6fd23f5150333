//! Summarises a run: a table and a conclusion per workload, and warnings.

use std::cmp::Ordering;

use itertools::Itertools as _;
use rpcbench_record::{Header, RankedBy, Run, Slicing, Workload, observations};

use crate::catalog::Subject;
use crate::cell::Cell;
use crate::conclusion::Conclusion;
use crate::curve::is_given;
use crate::row::{Absent, Row};
use crate::speed_trend::trends;
use crate::standings::{Standings, estimate, rank};
use crate::warning::{Warning, warnings};

/// The summary of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Plan, machine and tool.
    pub header: Header,
    /// True if the run finished.
    pub finished: bool,
    /// One per workload, in the plan's order.
    pub tables: Vec<Table>,
    /// Limits of the figures, most important first.
    pub warnings: Vec<Warning>,
}

impl Summary {
    pub(crate) fn rows_of<'a>(&'a self, table: &'a Table) -> Vec<Subject<'a>> {
        table.rows.iter().map(|row| Subject::cell(self, table, row)).collect()
    }
}

/// One workload's results.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The load.
    pub workload: Workload,
    /// The winner.
    pub conclusion: Conclusion,
    /// The comparison of entries. `None` for pairs, and if each entry has its own load.
    pub standings: Option<Standings>,
    /// Rows sorted by speed, ranked or not, with failed ones last. Pairs are in the plan's order.
    pub rows: Vec<Row>,
    /// Entries without a row, in the plan's order.
    pub absent: Vec<Absent>,
    /// The slices of its windows, one of each length. Empty if they were measured in one piece.
    pub slicings: Vec<Slicing>,
}

/// Summarises a run.
pub fn summary(run: &Run) -> Summary {
    let run = &run.printable();
    let plan = &run.header.plan;
    let mut tables = Vec::with_capacity(plan.workloads.len());
    let mut cells = Vec::new();
    for workload in &plan.workloads {
        let of_workload: Vec<Cell> =
            (0..plan.servers.len()).map(|number| Cell::of(run, number, workload)).collect();
        tables.push(table(run, workload, &of_workload));
        cells.extend(of_workload);
    }
    Summary {
        header: run.header.clone(),
        finished: run.finished.is_some(),
        warnings: warnings(run, &tables, &cells),
        tables,
    }
}

fn table(run: &Run, workload: &Workload, cells: &[Cell]) -> Table {
    let by = RankedBy::of(run, workload);
    let precision = run.header.plan.precision();
    let trends = trends(&observations(run, workload, by), cells.len(), precision);
    let absent = cells.iter().filter_map(Cell::absent).collect();
    let mut rows: Vec<Row> = cells
        .iter()
        .zip(trends.into_iter().map(|trend| trend.under(workload)))
        .filter(|(cell, _)| cell.absent().is_none())
        .map(|(cell, trend)| cell.row(by, trend))
        .collect();
    estimate(&mut rows, run, workload);
    // Pairs stay in the order of their matrix: the figure that ranks them is the client's, and the limit may be the server's.
    let is_matrix = run.header.plan.has_pairs();
    if !is_matrix {
        rows.sort_by(order);
    }
    let is_ranked = !is_matrix && !is_given(workload);
    let standings = is_ranked.then(|| rank(&mut rows, run, workload, by));
    let conclusion = standings.as_ref().map_or(Conclusion::Nothing, |standings| {
        let ranked: Vec<&Row> = rows.iter().filter(|row| row.place.is_some()).collect();
        Conclusion::of(&ranked, standings)
    });
    let slicings = slicings(cells);
    Table { workload: workload.clone(), conclusion, standings, rows, absent, slicings }
}

fn slicings(cells: &[Cell]) -> Vec<Slicing> {
    let all = cells.iter().flat_map(Cell::measured).filter_map(|window| window.slicing);
    all.unique_by(|it| (it.discarded_ns, it.counted_ns)).collect()
}

/// Order by speed, ranked or not; failed rows last.
fn order(a: &Row, b: &Row) -> Ordering {
    let speed = |row: &Row| row.ranked().map_or(-1.0, |estimate| estimate.value);
    let failed = |row: &Row| row.verdict.is_failed();
    failed(a)
        .cmp(&failed(b))
        .then(speed(b).total_cmp(&speed(a)))
        .then_with(|| a.server.entry.cmp(&b.server.entry))
}
