//! The cells that two runs share, and their figures.

use rpcbench_record::{Age, RankedBy, Run, Trial, Workload, observations, observe};
use rpcbench_stats::{Change as Found, Changes as Compared, Observation, Question, between_runs};

use super::gate::{Gate, LeftOut};
use super::{Change, ComparedFigure};
use crate::catalog::Subject;
use crate::row::Row;
use crate::standings::{comparison, finding};
use crate::summary::{Summary, Table};
use crate::warming::counted;

#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub run: &'a Run,
    pub summary: &'a Summary,
    /// Restricts the cells to this build.
    pub build: Option<Age>,
}

/// The reason why a run has no ranked row of a cell.
struct Missing {
    kind: Absence,
    reason: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Absence {
    NotMeasured,
    Failed,
    NotRanked,
}

/// The two runs, or the two builds of one.
pub(super) struct Sides<'a> {
    pub old: Side<'a>,
    pub new: Side<'a>,
}

/// The statistical question asked about each figure.
pub(super) struct CompareQuestion {
    /// The question about two runs.
    pub question: Question,
    /// Number of figures compared.
    pub figures: usize,
}

/// The entries that both runs have measured under a workload.
pub(super) struct Cells<'s> {
    pub workload: &'s Workload,
    pub by: RankedBy,
    pub pairs: Vec<Pair<'s>>,
}

/// An entry in both runs.
#[derive(Clone, Copy)]
pub(super) struct Pair<'s> {
    pub old: &'s Row,
    pub new: &'s Row,
}

impl<'a> Side<'a> {
    /// The side's entries, without the suffix of their build.
    fn entries(&self) -> impl Iterator<Item = &str> {
        let servers = self.summary.header.plan.servers.iter();
        let mine = servers.filter(|server| server.build.as_ref().map(|it| it.age) == self.build);
        mine.map(|server| server.without_build())
    }

    fn table(&self, workload: &str) -> Option<&Table> {
        self.summary.tables.iter().find(|table| table.workload.name == workload)
    }

    /// A cell with a ranked verdict.
    fn row(&self, workload: &str, entry: &str) -> Result<&Row, Missing> {
        let is_it = |row: &&Row| {
            let build = row.server.build.as_ref().map(|build| build.age);
            build == self.build && row.server.without_build() == entry
        };
        let rows = self.table(workload).map(|table| &table.rows);
        let row = rows.and_then(|rows| rows.iter().find(is_it));
        let missing = |kind, reason| Missing { kind, reason };
        let row = row.ok_or_else(|| missing(Absence::NotMeasured, "not measured".to_owned()))?;
        if row.verdict.is_ranked() {
            return Ok(row);
        }
        let kind = if row.verdict.is_failed() { Absence::Failed } else { Absence::NotRanked };
        Err(match &row.verdict.reason {
            Some(reason) => missing(kind, format!("{}: {reason}", row.verdict)),
            None => missing(kind, row.verdict.to_string()),
        })
    }

    fn observations(&self, workload: &Workload, figure: ComparedFigure) -> Vec<Observation> {
        let all = match figure.ranks() {
            Some(by) => observations(self.run, workload, by),
            None => observe(self.run, workload, |trial| self.value(figure, trial)),
        };
        counted(all, self.table(&workload.name).map_or(&[], |table| &table.rows))
    }

    fn value(&self, figure: ComparedFigure, trial: &Trial) -> Option<f64> {
        figure.0.value(&Subject::trial(self.run, trial))?.as_f64()
    }

    /// A figure of a cell as the run's report shows it. `None` for figures that only windows have.
    fn reported(&self, workload: &str, row: &Row, figure: ComparedFigure) -> Option<f64> {
        figure.0.value(&Subject::cell(self.summary, self.table(workload)?, row))?.as_f64()
    }
}

impl Sides<'_> {
    /// The cells that both runs measured, and what can't be compared, with the reason.
    pub fn cells(&self) -> (Vec<Cells<'_>>, Vec<LeftOut>) {
        let (mut cells, mut left_out) = (Vec::new(), Vec::new());
        for table in &self.new.summary.tables {
            let workload = &table.workload;
            let mut pairs = Vec::new();
            for entry in self.entries() {
                match self.pair(&workload.name, entry) {
                    Ok(pair) => pairs.push(pair),
                    Err((gate, reason)) => {
                        let cell = format!("{entry} under {}", workload.name);
                        left_out.push(LeftOut { cell, reason, gate });
                    }
                }
            }
            cells.push(Cells { workload, by: RankedBy::of(self.new.run, workload), pairs });
        }
        let gone = self.old.summary.tables.iter().map(|table| &table.workload.name);
        let gone = gone.filter(|name| self.new.table(name).is_none());
        left_out.extend(gone.map(|name| LeftOut {
            cell: name.clone(),
            reason: "missing from the new run".to_owned(),
            gate: Gate::CantTell,
        }));
        (cells, left_out)
    }

    /// The entries of either run, those of the new one first.
    fn entries(&self) -> Vec<&str> {
        let mut entries: Vec<&str> = Vec::new();
        for entry in self.new.entries().chain(self.old.entries()) {
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
        entries
    }

    /// Both rows, or the gate's verdict on a missing one, with the reason.
    fn pair(&self, workload: &str, entry: &str) -> Result<Pair<'_>, (Gate, String)> {
        let what = if self.new.build.is_some() { "build" } else { "run" };
        let (old, new) = (self.old.row(workload, entry), self.new.row(workload, entry));
        let (age, missing) = match (old, new) {
            (Ok(old), Ok(new)) => return Ok(Pair { old, new }),
            (_, Err(new)) if new.kind == Absence::Failed => ("new", new),
            (Err(old), _) => ("old", old),
            (_, Err(new)) => ("new", new),
        };
        let gate = match (age, missing.kind) {
            ("new", Absence::Failed) => Gate::Failed,
            ("old", Absence::NotMeasured) => Gate::NoBaseline,
            _ => Gate::CantTell,
        };
        Err((gate, format!("in the {age} {what}, {}", missing.reason)))
    }

    pub fn compare(
        &self,
        cells: &Cells,
        figure: ComparedFigure,
        question: &CompareQuestion,
    ) -> Compared {
        let mut compared = match self.new.build {
            Some(_) => self.within_run(cells, figure, question),
            None => self.between_runs(cells, figure, &question.question),
        };
        if figure.ranks() == Some(RankedBy::HighestRate) {
            for (pair, found) in cells.pairs.iter().zip(&mut compared.list) {
                widen(pair, found, question.question.precision);
            }
        }
        compared
    }

    /// The finding about a figure, with the values from both reports.
    pub fn change(
        &self,
        cells: &Cells,
        pair: &Pair,
        figure: ComparedFigure,
        found: &Found,
    ) -> Change {
        let workload = &cells.workload.name;
        let old = self.old.reported(workload, pair.old, figure);
        let new = self.new.reported(workload, pair.new, figure);
        Change {
            workload: workload.clone(),
            entry: pair.new.server.without_build().to_owned(),
            figure,
            old: old.unwrap_or(found.old),
            new: new.unwrap_or(found.new),
            compared: [found.old, found.new],
            corrected: false,
            ratio: found.pair.ratio,
            range: found.pair.range,
            finding: found.pair.finding,
        }
    }

    fn between_runs(&self, cells: &Cells, figure: ComparedFigure, question: &Question) -> Compared {
        let of = |side: &Side| side.observations(cells.workload, figure);
        let numbers: Vec<_> =
            cells.pairs.iter().map(|pair| (pair.old.number, pair.new.number)).collect();
        between_runs(&of(&self.old), &of(&self.new), &numbers, question)
    }

    /// Compares entries like a ranking does: effects shared in a round cancel out.
    fn within_run(
        &self,
        cells: &Cells,
        figure: ComparedFigure,
        question: &CompareQuestion,
    ) -> Compared {
        let observations = self.new.observations(cells.workload, figure);
        let members: Vec<usize> =
            cells.pairs.iter().flat_map(|pair| [pair.old.number, pair.new.number]).collect();
        let comparison =
            comparison(&observations, &members, self.new.run, cells.workload, question.figures);
        let found = |at: usize| {
            let (old, new) = (2 * at, 2 * at + 1);
            let mut pair = comparison.pair(new, old)?;
            pair.finding = finding(pair.range, question.question.precision);
            let mean = |entry| Some(comparison.estimate(entry)?.mean);
            Some(Found { old: mean(old)?, new: mean(new)?, pair })
        };
        let list = (0..cells.pairs.len()).map(found).collect();
        Compared { list, common: None, reference: None }
    }
}

/// A search only brackets its limit, so the range is widened.
fn widen(pair: &Pair, found: &mut Option<Found>, precision: f64) {
    let Some(found) = found else { return };
    if let Some(range) = &mut found.pair.range {
        range.low /= pair.old.bracket;
        range.high *= pair.new.bracket;
    }
    found.pair.finding = finding(found.pair.range, precision);
}
