//! The ranking figure of cells, from run to run.

mod loads;
mod plot;
mod view;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use rpcbench_record::{Header, PlacementKind, RankedBy, Role, Run};
use rpcbench_stats::Question;

use crate::changes::{Change, Changes, CompareOptions, Side, changes_of_runs};
use crate::figures::Estimate;
use crate::row::Row;
use crate::summary::{Summary, summary};
use crate::verdict::Verdict;

use loads::Loads;
pub use loads::{LoadHistory, PastCurve, PastLoad};
pub use view::history_schema;

/// Cells over runs.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// The runs of servers that rpcbench started, earliest first.
    pub runs: Vec<Header>,
    /// Cells, those of the latest run first.
    pub cells: Vec<CellHistory>,
    /// Loads on servers that the user runs, by target.
    pub loads: Vec<LoadHistory>,
    /// Difference up to which two values count as equal, a share.
    pub precision: f64,
}

/// A cell over the runs that have it.
#[derive(Clone, Debug, PartialEq)]
pub struct CellHistory {
    /// Name of the entry, with the role for a client.
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
    /// The ranking figure. `None` if the verdict excludes it from the ranking.
    pub estimate: Option<Estimate>,
    /// Library versions.
    pub versions: String,
    /// The change since the last earlier run of the same placement that has a figure.
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

/// Builds a history from its runs, one at a time. Keeps only the runs that a later one can be compared with: the last one with a
/// figure for each cell.
#[derive(Debug)]
pub struct HistoryBuilder {
    servers: Vec<String>,
    options: CompareOptions,
    runs: Vec<Header>,
    cells: IndexMap<Name, Cell>,
    earlier: BTreeMap<usize, (Run, Summary)>,
    loads: Loads,
}

/// Role, entry and workload of a cell.
type Name = (Role, String, String);

#[derive(Debug)]
struct Cell {
    by: RankedBy,
    points: Vec<Point>,
    /// The latest run that has the cell, and the cell's position in it.
    position: (Reverse<usize>, usize),
    /// The latest run of each placement with a figure.
    latest: Vec<(PlacementKind, usize)>,
}

impl HistoryBuilder {
    /// A history without runs. `servers` has names of entries or servers, or is empty for all. Builds compared by a run are left
    /// out.
    pub fn new(servers: Vec<String>, precision: Option<f64>) -> Self {
        Self {
            servers,
            options: CompareOptions { precision, ..CompareOptions::default() },
            runs: Vec::new(),
            cells: IndexMap::new(),
            earlier: BTreeMap::new(),
            loads: Loads::default(),
        }
    }

    /// Adds a run that began after those added before.
    pub fn add(&mut self, run: &Run) {
        let run = run.printable();
        let placement = run.header.plan.placement;
        if !placement.starts_servers() {
            self.loads.add(&run, &self.servers);
            return;
        }
        let (number, summary) = (self.runs.len(), summary(&run));
        self.runs.push(run.header.clone());
        self.earlier.insert(number, (run, summary));
        let (_, summary) = &self.earlier[&number];
        let mut changes = BTreeMap::new();
        let mut cells = Vec::new();
        for table in &summary.tables {
            for row in table.rows.iter().filter(|row| self.is_selected(row)) {
                let server = &row.server;
                let name = (server.role, server.entry.clone(), table.workload.name.clone());
                let estimate = row.ranked().filter(|_| row.verdict.is_ranked());
                let before = estimate.and_then(|_| self.cells.get(&name)?.before(placement));
                let since = before.map_or(Since::Nothing, |old| {
                    let pair = changes.entry(old).or_insert_with(|| self.changes(old, number));
                    change(pair, &name)
                });
                let (verdict, versions) = (row.verdict.clone(), row.versions());
                let point = Point { run: number, verdict, estimate, versions, since };
                cells.push((name, row.by, point));
            }
        }
        for (at, (name, by, point)) in cells.into_iter().enumerate() {
            self.keep(name, by, point, at);
        }
        let held: BTreeSet<usize> =
            self.cells.values().flat_map(|cell| &cell.latest).map(|(_, run)| *run).collect();
        self.earlier.retain(|run, _| held.contains(run));
    }

    /// The history of the runs added.
    pub fn finish(mut self) -> History {
        self.cells.sort_by(|_, a, _, b| a.position.cmp(&b.position));
        let cells = self.cells.into_iter().map(|((role, entry, workload), cell)| {
            // A server and a client may have the same name.
            let entry = match role {
                Role::Server => entry,
                Role::Client => format!("{entry} ({role})"),
            };
            CellHistory { entry, workload, by: cell.by, points: cell.points }
        });
        let precision = self.options.precision.unwrap_or(Question::default().precision);
        let loads = self.loads.finish();
        History { cells: cells.collect(), runs: self.runs, loads, precision }
    }

    fn is_selected(&self, row: &Row) -> bool {
        let server = &row.server;
        let named = self.servers.iter().any(|name| [&server.entry, &server.server].contains(&name));
        server.build.is_none() && (self.servers.is_empty() || named)
    }

    fn changes(&self, old: usize, new: usize) -> Changes {
        let side = |at: usize| {
            let (run, summary) = &self.earlier[&at];
            Side { run, summary, build: None }
        };
        changes_of_runs(side(old), side(new), &self.options)
    }

    /// Adds a point, which has the position `at` in its run.
    fn keep(&mut self, name: Name, by: RankedBy, point: Point, at: usize) {
        let placement = self.runs[point.run].plan.placement;
        let position = (Reverse(point.run), at);
        let new = || Cell { by, points: Vec::new(), position, latest: Vec::new() };
        let cell = self.cells.entry(name).or_insert_with(new);
        (cell.by, cell.position) = (by, position);
        if point.estimate.is_some() {
            cell.latest.retain(|(of, _)| *of != placement);
            cell.latest.push((placement, point.run));
        }
        cell.points.push(point);
    }
}

impl Cell {
    /// The last run of a placement with a figure.
    fn before(&self, placement: PlacementKind) -> Option<usize> {
        self.latest.iter().find(|(of, _)| *of == placement).map(|(_, run)| *run)
    }
}

/// The change of a cell between two runs.
fn change(changes: &Changes, (_, entry, workload): &Name) -> Since {
    if let Some(obstacle) = changes.obstacles().next() {
        let reason = format!("{}: {}, now {}", obstacle.field, obstacle.old, obstacle.new);
        return Since::Incomparable(reason);
    }
    let row = changes.rows.iter().find(|row| row.entry == *entry && row.workload == *workload);
    row.map_or(Since::Nothing, |row| Since::Changed(Box::new(row.clone())))
}
