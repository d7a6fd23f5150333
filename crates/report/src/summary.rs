//! A run as its readers need it: tables, a conclusion for each, and warnings.

use std::cmp::Ordering;

use rpcbench_record::{Header, Run, Workload};
use rpcbench_stats::{Interval, ranks};

use crate::catalog::Subject;
use crate::cell::{Absent, Cell, Row};
use crate::verdict::Verdict;
use crate::warning::{Warning, warnings};

/// A run, summarised.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Plan, machine and tool, as recorded.
    pub header: Header,
    /// Whether every planned trial has ended.
    pub finished: bool,
    /// One for each workload, in the plan's order.
    pub tables: Vec<Table>,
    /// What limits the worth of all this, most important first.
    pub warnings: Vec<Warning>,
}

impl Summary {
    /// The rows of one of its tables.
    pub(crate) fn rows_of<'a>(&'a self, table: &'a Table) -> Vec<Subject<'a>> {
        table.rows.iter().map(|row| Subject::cell(self, table, row)).collect()
    }
}

/// One workload's results.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The load.
    pub workload: Workload,
    /// Who won.
    pub conclusion: Conclusion,
    /// Ranked rows by calls a second, then the others by how near they came to being ranked.
    pub rows: Vec<Row>,
    /// Entries without a row, in the plan's order.
    pub absent: Vec<Absent>,
}

/// Who won. Only ranked rows count.
#[derive(Clone, Debug, PartialEq)]
pub enum Conclusion {
    /// One entry's interval lies above all others.
    Winner {
        /// Its name.
        entry: String,
        /// The next best entry.
        next: String,
        /// Its calls a second over the next best's.
        ratio: f64,
    },
    /// The best entries can't be told apart.
    Tie {
        /// Their names, best mean first.
        entries: Vec<String>,
    },
    /// Fewer than two entries have a rank.
    Open,
}

/// Summarises a run.
#[must_use]
pub fn summary(run: &Run) -> Summary {
    let run = &run.printable();
    let plan = &run.header.plan;
    let mut tables = Vec::with_capacity(plan.workloads.len());
    let mut cells = Vec::new();
    for workload in &plan.workloads {
        let of_workload: Vec<Cell> =
            plan.servers.iter().map(|server| Cell::of(run, server, workload)).collect();
        tables.push(table(workload, &of_workload));
        cells.extend(of_workload);
    }
    Summary {
        header: run.header.clone(),
        finished: run.finished.is_some(),
        warnings: warnings(run, &tables, &cells),
        tables,
    }
}

fn table(workload: &Workload, cells: &[Cell]) -> Table {
    let absent = cells.iter().filter_map(Cell::absent).collect();
    let mut rows: Vec<Row> = cells.iter().filter(|c| c.absent().is_none()).map(Cell::row).collect();
    // A rate that was given says nothing about who is faster.
    if !workload.arrivals.is_open() || workload.find_max.is_some() {
        place(&mut rows);
    }
    rows.sort_by(order);
    Table { workload: workload.clone(), conclusion: conclusion(&rows), rows, absent }
}

/// Gives every row its rank that may have one.
fn place(rows: &mut [Row]) {
    let (mut places, intervals): (Vec<&mut Row>, Vec<Interval>) = rows
        .iter_mut()
        .filter(|row| row.verdict.is_ranked())
        .filter_map(|row| {
            let interval = row.rate()?.interval?;
            Some((row, interval))
        })
        .unzip();
    for (row, rank) in places.iter_mut().zip(ranks(&intervals)) {
        row.rank = Some(rank);
    }
}

fn order(a: &Row, b: &Row) -> Ordering {
    let rate = |row: &Row| row.rate().map_or(-1.0, |rate| rate.mean);
    let place = |row: &Row| row.rank.map_or(u32::MAX, |r| r.place);
    group(a)
        .cmp(&group(b))
        .then(place(a).cmp(&place(b)))
        .then(rate(b).total_cmp(&rate(a)))
        .then_with(|| a.server.entry.cmp(&b.server.entry))
}

fn group(row: &Row) -> u8 {
    match row.verdict {
        Verdict::ServerBound | Verdict::Unclear | Verdict::Ok => 0,
        Verdict::ClientBound { .. }
        | Verdict::Overloaded { .. }
        | Verdict::GeneratorLate { .. }
        | Verdict::LimitExceeded { .. } => 1,
        Verdict::StillWarming(_) => 2,
        Verdict::Suspect { .. } => 3,
        Verdict::Failed { .. } => 4,
    }
}

fn conclusion(sorted: &[Row]) -> Conclusion {
    let ranked: Vec<&Row> = sorted.iter().filter(|row| row.rank.is_some()).collect();
    let name = |row: &Row| row.server.entry.clone();
    let rate = |row: &Row| row.rate().map_or(0.0, |rate| rate.mean);
    let best: Vec<&Row> =
        ranked.iter().copied().filter(|row| row.rank.is_some_and(|r| r.place == 1)).collect();
    match (best.as_slice(), ranked.get(1)) {
        ([winner], Some(next)) => Conclusion::Winner {
            entry: name(winner),
            next: name(next),
            ratio: rate(winner) / rate(next),
        },
        ([_, _, ..], _) => Conclusion::Tie { entries: best.iter().map(|row| name(row)).collect() },
        _ => Conclusion::Open,
    }
}
