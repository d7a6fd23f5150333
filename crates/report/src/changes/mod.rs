//! A run beside an earlier one of the same entries, or two builds in one run: what became faster, what slower, and what
//! can't be told.

mod cells;
mod differences;
mod figure;
mod limit;
pub(crate) mod view;
pub(crate) mod words;

use rpcbench_record::{Age, Build, Header, Run};
use rpcbench_stats::{Changes as Compared, Finding, Question, Range};
use serde::Serialize;

pub(crate) use cells::Side;
use cells::{Asking, Cells, Sides};
pub use differences::Difference;
use differences::{differences, versions};
pub use figure::{ComparedFigure, UnknownFigure};
pub use limit::{ChangeLimit, ChangeLimitError};
pub use view::{changes_csv, changes_json, changes_markdown, changes_schema, changes_text};
pub(crate) use words::change as change_of;

use crate::summary::summary;

/// Probability with which any of the statements about a pair of runs is false.
const ERROR: f64 = 0.05;

/// What is asked of two runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// Figures besides those that entries are ranked by.
    pub figures: Vec<ComparedFigure>,
    /// Difference up to which two values count as the same, a share. `None`: what a run of builds was made for, else 5 %.
    pub precision: Option<f64>,
}

/// Two runs, or two builds in one, compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes {
    /// The earlier run.
    pub old: Header,
    /// The later one; the same where builds are compared.
    pub new: Header,
    /// The old build and the new one, where builds are compared.
    pub builds: Option<[Build; 2]>,
    /// In what two runs differ besides their servers, what forbids a comparison first.
    pub differences: Vec<Difference>,
    /// In what their servers differ: `go-grpc: grpc 1.80.0, now 1.81.0`.
    pub versions: Vec<String>,
    /// Those of one cell follow each other; cells in the order of the later run.
    pub rows: Vec<Change>,
    /// What can't be compared, with the reason.
    pub left_out: Vec<String>,
    /// The median change of what cells are ranked by, new over old, which is taken out of all. The one farthest from 1 of all workloads;
    /// `None` where no workload has enough cells to tell it, and of builds.
    pub common: Option<f64>,
    /// What the machine reference shows of the later run's machine over the earlier one's, a ratio of times: 1.05 where it
    /// was 5 % slower. The one farthest from 1 of all workloads; `None` where none has it in both runs.
    pub machine: Option<f64>,
    /// Whether all figures are adjusted by the machine reference.
    pub adjusted: bool,
    /// Difference up to which two values count as the same, a share.
    pub precision: f64,
}

/// One figure of a cell in both runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Name of the workload.
    pub workload: String,
    /// Name of the entry.
    pub entry: String,
    /// Which figure.
    pub figure: ComparedFigure,
    /// Its geometric mean in the earlier run, in its unit.
    pub old: f64,
    /// In the later one.
    pub new: f64,
    /// The later over the earlier.
    pub ratio: f64,
    /// Where the ratio lies; all ranges hold at once. `None` where a run has one process of the entry.
    pub range: Option<Range>,
    /// What follows for the figure's value: `Faster` where it is higher.
    pub finding: Finding,
}

/// What a change means to whoever runs the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Worth {
    Good,
    Bad,
    /// It did not change, or neither way is the better one.
    Neither,
}

impl Change {
    pub(crate) fn worth(&self) -> Worth {
        match self.figure.word(self.finding) {
            "faster" => Worth::Good,
            "slower" => Worth::Bad,
            _ => Worth::Neither,
        }
    }
}

impl Changes {
    /// What forbids a comparison.
    pub fn obstacles(&self) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(|difference| difference.forbids)
    }

    /// The rows that break a limit.
    pub fn broken<'a>(&'a self, limit: &'a ChangeLimit) -> impl Iterator<Item = &'a Change> {
        self.rows.iter().filter(|row| limit.is_broken_by(row))
    }
}

/// Compares two runs.
#[must_use]
pub fn changes(old: &Run, new: &Run, asked: &Asked) -> Changes {
    let (old, new) = (old.printable(), new.printable());
    let summaries = [summary(&old), summary(&new)];
    let side = |run, summary| Side { run, summary, build: None };
    changes_of_runs(side(&old, &summaries[0]), side(&new, &summaries[1]), asked)
}

/// The same of printable runs whose summaries are known.
pub(crate) fn changes_of_runs(old: Side<'_>, new: Side<'_>, asked: &Asked) -> Changes {
    let differences = differences(old.run, new.run);
    Changes { differences, ..compared(&Sides { old, new }, asked) }
}

/// Compares the builds of a run. `None` where it did not measure two.
#[must_use]
pub fn changes_of_builds(run: &Run, asked: &Asked) -> Option<Changes> {
    let run = run.printable();
    let builds = || run.header.plan.servers.iter().filter_map(|server| server.build.as_ref());
    let of = |age| builds().find(|build| build.age == age).cloned();
    let builds = [of(Age::Old)?, of(Age::New)?];
    let summary = summary(&run);
    let [old, new] =
        [Age::Old, Age::New].map(|age| Side { run: &run, summary: &summary, build: Some(age) });
    Some(Changes { builds: Some(builds), ..compared(&Sides { old, new }, asked) })
}

fn compared(sides: &Sides<'_>, asked: &Asked) -> Changes {
    let (cells, left_out) = sides.cells();
    let measures: Vec<(&Cells, ComparedFigure)> = cells
        .iter()
        .flat_map(|cells| figures(cells, asked).into_iter().map(move |figure| (cells, figure)))
        .collect();
    let asking = asking(sides, asked, &measures);
    let compared: Vec<Compared> =
        measures.iter().map(|(cells, figure)| sides.compare(cells, *figure, &asking)).collect();
    let rows = measures.iter().zip(&compared).flat_map(|((cells, figure), compared)| {
        let found = cells.pairs.iter().zip(&compared.list);
        found.filter_map(|(pair, found)| Some(cells.change(pair, *figure, found.as_ref()?)))
    });
    let far = |ratio: &f64| ratio.ln().abs();
    let farthest = |ratios: Vec<f64>| ratios.into_iter().max_by(|a, b| far(a).total_cmp(&far(b)));
    let ranking =
        measures.iter().zip(&compared).filter(|((_, figure), _)| figure.ranks().is_some());
    Changes {
        builds: None,
        differences: Vec::new(),
        versions: versions(&cells),
        rows: rows.collect(),
        left_out,
        common: farthest(ranking.filter_map(|(_, it)| it.common).collect()),
        machine: farthest(compared.iter().filter_map(|it| it.reference).collect()),
        adjusted: compared.iter().all(|it| it.unadjusted.is_none()),
        precision: asking.question.precision,
        old: sides.old.run.header.clone(),
        new: sides.new.run.header.clone(),
    }
}

/// All statements hold at once: each has its part of the error.
fn asking(sides: &Sides<'_>, asked: &Asked, measures: &[(&Cells, ComparedFigure)]) -> Asking {
    let statements: usize = measures.iter().map(|(cells, _)| cells.pairs.len()).sum();
    let stopping = sides.new.run.header.plan.stopping.filter(|_| sides.new.build.is_some());
    let planned = stopping.and_then(|stopping| stopping.precision);
    let usual = Question::default();
    let question = Question {
        confidence: 1.0 - ERROR / statements.max(1) as f64,
        precision: asked.precision.or(planned).unwrap_or(usual.precision),
        ..usual
    };
    Asking { question, figures: measures.len() }
}

/// What cells are ranked by, then what is asked for besides.
fn figures(cells: &Cells, asked: &Asked) -> Vec<ComparedFigure> {
    let ranked = ComparedFigure::ranking(cells.by);
    let others = asked.figures.iter().copied().filter(|figure| *figure != ranked);
    std::iter::once(ranked).chain(others).collect()
}
