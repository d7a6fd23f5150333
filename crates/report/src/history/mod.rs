//! The ranking figure of cells from run to run.

mod loads;
mod plot;
mod view;

use std::collections::BTreeMap;

use itertools::Itertools as _;
use rpcbench_record::{Header, RankedBy, Role, Run};
use rpcbench_stats::Question;

use crate::changes::{Change, Changes, CompareOptions, Side, changes_of_runs};
use crate::figures::Estimate;
use crate::row::Row;
use crate::summary::{Summary, Table, summary};
use crate::verdict::Verdict;

pub use loads::LoadHistory;
pub use view::history_schema;

/// Cells over runs.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// The runs of servers that rpcbench started, the earliest first.
    pub runs: Vec<Header>,
    /// Cells, those of the latest run first.
    pub cells: Vec<CellHistory>,
    /// Loads of servers that the user runs, by target.
    pub loads: Vec<LoadHistory>,
    /// Difference up to which two values count as the same, a share.
    pub precision: f64,
}

/// A cell over the runs that have it.
#[derive(Clone, Debug, PartialEq)]
pub struct CellHistory {
    /// Name of the entry; of a client, with its role.
    pub entry: String,
    /// Name of the workload.
    pub workload: String,
    /// The ranking figure.
    pub by: RankedBy,
    /// Points in the order of the runs.
    pub points: Vec<Point>,
}

/// A cell in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Index in [`History::runs`].
    pub run: usize,
    /// The verdict on the figure.
    pub verdict: Verdict,
    /// `None` if the verdict excludes it from the ranking.
    pub estimate: Option<Estimate>,
    /// Library versions.
    pub versions: String,
    /// Compared with the last earlier run of the same placement that has a figure.
    pub since: Since,
}

/// The change of a cell since an earlier run.
#[derive(Clone, Debug, PartialEq)]
pub enum Since {
    /// One of the two has no figure.
    Nothing,
    /// The runs can't be compared, for this reason.
    Incomparable(String),
    /// The change as `rpcbench compare` computes it.
    Changed(Box<Change>),
}

/// The history of cells. `servers` has names of entries or servers; all if empty. Builds that a run compared are left
/// out.
pub fn history(runs: &[Run], servers: &[String], precision: Option<f64>) -> History {
    let mut runs: Vec<Run> = runs.iter().map(Run::printable).collect();
    runs.sort_by_key(|run| run.header.started);
    let (runs, of_users): (Vec<Run>, Vec<Run>) =
        runs.into_iter().partition(|run| run.header.plan.placement.starts_servers());
    let loads = loads::loads(&of_users, servers);
    let summaries: Vec<Summary> = runs.iter().map(summary).collect();
    let options = CompareOptions { precision, ..CompareOptions::default() };
    let mut pairs = Pairs { runs: &runs, summaries: &summaries, options, known: BTreeMap::new() };
    let names = names(&summaries, servers).into_iter();
    let cells = names.map(|name| cell(name, &mut pairs)).collect();
    let precision = precision.unwrap_or(Question::default().precision);
    History { runs: runs.into_iter().map(|run| run.header).collect(), cells, loads, precision }
}

/// Role, entry and workload of a cell.
type Name = (Role, String, String);

/// The cells, those of later runs first.
fn names(summaries: &[Summary], servers: &[String]) -> Vec<Name> {
    let meant = |row: &&Row| {
        let server = &row.server;
        let named = servers.iter().any(|name| *name == server.entry || *name == server.server);
        server.build.is_none() && (servers.is_empty() || named)
    };
    let tables = summaries.iter().rev().flat_map(|summary| &summary.tables);
    let name = |table: &Table, row: &Row| {
        (row.server.role, row.server.entry.clone(), table.workload.name.clone())
    };
    tables
        .flat_map(|table| table.rows.iter().filter(meant).map(move |row| name(table, row)))
        .unique()
        .collect()
}

fn cell((role, entry, workload): Name, pairs: &mut Pairs<'_>) -> CellHistory {
    let mut points: Vec<Point> = Vec::new();
    let mut by = RankedBy::CallsPerCpuSecond;
    let of_role = pairs.summaries.iter().enumerate();
    for (run, summary) in of_role.filter(|(_, it)| it.header.plan.role() == role) {
        let table = summary.tables.iter().find(|table| table.workload.name == workload);
        let row = table.and_then(|table| table.rows.iter().find(|row| row.server.entry == entry));
        let Some(row) = row else { continue };
        by = row.by;
        let estimate = row.ranked().filter(|_| row.verdict.is_ranked());
        let placement = |run: usize| pairs.runs[run].header.plan.placement;
        let mut before = points.iter().rev().filter(|point| point.estimate.is_some());
        let before = before.find(|point| placement(point.run) == placement(run));
        let since = match before.filter(|_| estimate.is_some()) {
            Some(before) => pairs.since(before.run, run, &entry, &workload),
            None => Since::Nothing,
        };
        let (verdict, versions) = (row.verdict.clone(), row.versions());
        points.push(Point { run, verdict, estimate, versions, since });
    }
    // A server and a client may have the same name.
    let entry = match role {
        Role::Server => entry,
        Role::Client => format!("{entry} ({role})"),
    };
    CellHistory { entry, workload, by, points }
}

/// Pairs of runs, compared on first use.
struct Pairs<'a> {
    runs: &'a [Run],
    summaries: &'a [Summary],
    options: CompareOptions,
    known: BTreeMap<(usize, usize), Changes>,
}

impl Pairs<'_> {
    fn since(&mut self, old: usize, new: usize, entry: &str, workload: &str) -> Since {
        let (runs, summaries, options) = (self.runs, self.summaries, &self.options);
        let side = |at: usize| Side { run: &runs[at], summary: &summaries[at], build: None };
        let pair = self.known.entry((old, new));
        let changes = pair.or_insert_with(|| changes_of_runs(side(old), side(new), options));
        if let Some(obstacle) = changes.obstacles().next() {
            let reason = format!("{}: {}, now {}", obstacle.field, obstacle.old, obstacle.new);
            return Since::Incomparable(reason);
        }
        let mut rows = changes.rows.iter();
        let row = rows.find(|row| row.entry == entry && row.workload == workload);
        row.map_or(Since::Nothing, |row| Since::Changed(Box::new(row.clone())))
    }
}
