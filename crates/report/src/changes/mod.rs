//! Compares a run with an earlier run of the same entries, or two builds in one run: what became faster, what became slower, and
//! what is undecided.

mod cells;
mod differences;
mod figure;
mod gate;
mod limit;
pub(crate) mod view;
pub(crate) mod words;

use rpcbench_record::{Age, Build, Header, Run};
use rpcbench_stats::{Changes as Compared, Finding, Question, Range};

pub(crate) use cells::Side;
use cells::{Cells, CompareQuestion, Pair, Sides};
pub use differences::Difference;
use differences::{differences, versions};
pub use figure::ComparedFigure;
pub use gate::{Gate, Gated, LeftOut};
pub use limit::ChangeLimit;
pub use view::changes_schema;
pub(crate) use words::{change as change_of, is_compared_by_others};

use crate::document::Tone;
use crate::summary::summary;

/// Probability that any statement about a pair of runs is false.
const ERROR: f64 = 0.05;

/// What to compare.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompareOptions {
    /// Figures in addition to those that entries are ranked by.
    pub figures: Vec<ComparedFigure>,
    /// Difference up to which two values count as equal, a share. `None` for that of a run of builds, or else 5 %.
    pub precision: Option<f64>,
    /// Limits on changes.
    pub limits: Vec<ChangeLimit>,
}

/// Two runs, or two builds in one, compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes {
    /// The earlier run.
    pub old: Header,
    /// The later run; the same run if builds are compared.
    pub new: Header,
    /// The old and the new build, if builds are compared.
    pub builds: Option<[Build; 2]>,
    /// Differences between the runs apart from their servers, those that forbid a comparison first.
    pub differences: Vec<Difference>,
    /// Differences between their servers: `go-grpc: grpc 1.80.0; now grpc 1.81.0`.
    pub versions: Vec<String>,
    /// Figure by figure, cells in the order of the later run.
    pub rows: Vec<Change>,
    /// The compared cells: `go-grpc under quick`.
    pub compared: Vec<String>,
    /// What can't be compared, with the reason.
    pub left_out: Vec<LeftOut>,
    /// The verdicts of limits on each cell.
    pub gates: Vec<Gated>,
    /// The median change of the ranking figure, new divided by old, which is removed from all changes. Of all workloads, the one
    /// farthest from 1. `None` if no workload has enough cells, and for builds.
    pub common: Option<f64>,
    /// Time of the machine reference in the later run divided by that in the earlier one: 1.05 if the machine was 5 % slower. Of
    /// all workloads, the one farthest from 1. `None` if no workload has it in both runs.
    pub machine: Option<f64>,
    /// Difference up to which two values count as equal, a share.
    pub precision: f64,
}

/// One figure of a cell in both runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Name of the workload.
    pub workload: String,
    /// Name of the entry.
    pub entry: String,
    /// The compared figure.
    pub figure: ComparedFigure,
    /// Value in the earlier run, as its report shows it.
    pub old: f64,
    /// Value in the later run.
    pub new: f64,
    /// The two values from which the change is computed: geometric means over processes.
    pub compared: [f64; 2],
    /// True if the common change is removed from these values.
    pub corrected: bool,
    /// The later of these values divided by the earlier.
    pub ratio: f64,
    /// Interval of the ratio. All intervals hold simultaneously. `None` if the noise is unknown.
    pub range: Option<Range>,
    /// The finding: `Faster` if the value is higher.
    pub finding: Finding,
}

impl Change {
    /// `go-grpc under quick`.
    fn cell(&self) -> String {
        format!("{} under {}", self.entry, self.workload)
    }

    pub(crate) fn tone(&self) -> Tone {
        match self.figure.word(self.finding) {
            "faster" => Tone::Good,
            "slower" => Tone::Bad,
            _ => Tone::Neither,
        }
    }
}

impl Changes {
    /// The differences that forbid a comparison.
    pub fn obstacles(&self) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(|difference| difference.forbids)
    }
}

/// Compares two runs.
pub fn changes(old: &Run, new: &Run, options: &CompareOptions) -> Changes {
    let (old, new) = (old.printable(), new.printable());
    let summaries = [summary(&old), summary(&new)];
    let side = |run, summary| Side { run, summary, build: None };
    changes_of_runs(side(&old, &summaries[0]), side(&new, &summaries[1]), options)
}

/// Compares printable runs with known summaries.
pub(crate) fn changes_of_runs(old: Side<'_>, new: Side<'_>, options: &CompareOptions) -> Changes {
    let differences = differences(old.run, new.run);
    Changes { differences, ..compared(&Sides { old, new }, options) }
}

/// Compares the builds of a run. `None` if it did not measure two.
pub fn changes_of_builds(run: &Run, options: &CompareOptions) -> Option<Changes> {
    let run = run.printable();
    let builds = || run.header.plan.servers.iter().filter_map(|server| server.build.as_ref());
    let of = |age| builds().find(|build| build.age == age).cloned();
    let builds = [of(Age::Old)?, of(Age::New)?];
    let summary = summary(&run);
    let [old, new] =
        [Age::Old, Age::New].map(|age| Side { run: &run, summary: &summary, build: Some(age) });
    Some(Changes { builds: Some(builds), ..compared(&Sides { old, new }, options) })
}

fn compared(sides: &Sides<'_>, options: &CompareOptions) -> Changes {
    let (cells, left_out) = sides.cells();
    let measures: Vec<(&Cells, ComparedFigure)> = cells
        .iter()
        .flat_map(|cells| figures(cells, options).into_iter().map(move |figure| (cells, figure)))
        .collect();
    let question = question(sides, options, &measures);
    let compared: Vec<Compared> =
        measures.iter().map(|(cells, figure)| sides.compare(cells, *figure, &question)).collect();
    let rows = measures.iter().zip(&compared).flat_map(|((cells, figure), compared)| {
        let corrected = compared.common.is_some();
        let found = cells.pairs.iter().zip(&compared.list);
        found.filter_map(move |(pair, found)| {
            let change = sides.change(cells, pair, *figure, found.as_ref()?);
            Some(Change { corrected, ..change })
        })
    });
    let far = |ratio: &f64| ratio.ln().abs();
    let farthest = |ratios: Vec<f64>| ratios.into_iter().max_by(|a, b| far(a).total_cmp(&far(b)));
    let ranking =
        measures.iter().zip(&compared).filter(|((_, figure), _)| figure.ranks().is_some());
    let pairs = cells.iter().flat_map(|cells| cells.pairs.iter().map(move |pair| (cells, pair)));
    let cell = |(cells, pair): (&Cells, &Pair)| {
        format!("{} under {}", pair.new.server.without_build(), cells.workload.name)
    };
    let mut changes = Changes {
        builds: None,
        differences: Vec::new(),
        versions: versions(&cells),
        rows: rows.collect(),
        compared: pairs.map(cell).collect(),
        gates: Vec::new(),
        left_out,
        common: farthest(ranking.filter_map(|(_, it)| it.common).collect()),
        machine: farthest(compared.iter().filter_map(|it| it.reference).collect()),
        precision: question.question.precision,
        old: sides.old.run.header.clone(),
        new: sides.new.run.header.clone(),
    };
    changes.gates = changes.gated(&options.limits);
    changes
}

/// All statements hold simultaneously, so they share the error.
fn question(
    sides: &Sides<'_>,
    options: &CompareOptions,
    measures: &[(&Cells, ComparedFigure)],
) -> CompareQuestion {
    let statements: usize = measures.iter().map(|(cells, _)| cells.pairs.len()).sum();
    let stopping = sides.new.run.header.plan.stopping.filter(|_| sides.new.build.is_some());
    let planned = stopping.and_then(|stopping| stopping.precision);
    let usual = Question::default();
    let question = Question {
        confidence: 1.0 - ERROR / statements.max(1) as f64,
        precision: options.precision.or(planned).unwrap_or(usual.precision),
    };
    CompareQuestion { question, figures: measures.len() }
}

/// The ranking figure, followed by the chosen ones.
fn figures(cells: &Cells, options: &CompareOptions) -> Vec<ComparedFigure> {
    let ranked = ComparedFigure::ranking(cells.by);
    let others = options.figures.iter().copied().filter(|figure| *figure != ranked);
    std::iter::once(ranked).chain(others).collect()
}
