//! Which entries are faster, by how much, and how certain that is.
//!
//! The model, for a window of process `p` of entry `e` in round `r`:
//!
//! ```text
//! ln value = entry + round + process + rest
//! ```
//!
//! Effects that all entries share in a round cancel. Processes of an entry differ by a random effect whose variance is estimated
//! over all entries (T. Kalibera and R. Jones, *Rigorous Benchmarking in Reasonable Time*, ISMM 2013, on levels of repetition).
//! The variance of the rest is estimated per entry.

mod between;
mod common;
mod drift;
mod error_spending;
mod finding;
mod model;
mod noise;
mod own;
mod process;
mod reactions;
mod two_way;
mod windows;

pub use between::{Change, Changes, between_runs};
pub use drift::{Drift, drift};
pub use error_spending::analysis_level;
pub use finding::{Estimate, Finding, Pair, Range, RankRange, Spread};

use model::Model;
use windows::Windows;

/// One measured window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// The entry, from 0.
    pub entry: usize,
    /// Number of the entry's process.
    pub process: u32,
    /// Number of the round within the process, in time order. Windows of all entries with the same process and round number were
    /// measured one after another.
    pub round: u32,
    /// The figure to compare, above 0; higher is better.
    pub value: f64,
    /// The machine reference during the window, above 0, in any unit; only [`between_runs`] uses it. `None` if it was not read.
    pub reference: Option<f64>,
    /// Assumed standard deviation between processes of the entry, as a logarithm. Used only if no entry has two processes.
    pub spread: f64,
}

impl Observation {
    /// The largest [`Self::spread`] measured: eight processes of a server in Java (docs/evidence.md).
    pub const MAX_SPREAD: f64 = 0.03;

    /// An observation without a machine reference, with the spread of an unknown entry.
    pub fn new(entry: usize, process: u32, round: u32, value: f64) -> Self {
        Self { entry, process, round, value, reference: None, spread: Self::MAX_SPREAD }
    }
}

/// The parameters of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// Probability, 0 to 1, that no statement about any pair is false.
    pub confidence: f64,
    /// Difference up to which two entries count as equal, as a fraction: 0.05 is 5 %.
    pub precision: f64,
}

impl Default for Question {
    /// 95 %, 5 %.
    fn default() -> Self {
        Self { confidence: 0.95, precision: 0.05 }
    }
}

/// The result: estimates of all entries and findings about all pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    estimates: Vec<Option<Estimate>>,
    pairs: Vec<Vec<Option<Pair>>>,
    typical: Option<model::Typical>,
    spread: Option<Spread>,
    confidence: f64,
}

/// Compares `entries` entries, numbered from 0. Ignores observations of other entries, and values that are not finite and
/// positive.
pub fn compare(observations: &[Observation], entries: usize, question: &Question) -> Comparison {
    let windows = Windows::new(observations, entries, true);
    let model = Model::fit(&windows);
    let pairs = model.pairs(question);
    let mut comparison = Comparison {
        estimates: vec![None; entries],
        pairs: vec![vec![None; entries]; entries],
        typical: model.typical(),
        spread: model.spread(&windows),
        confidence: question.confidence,
    };
    for (at, estimate) in model.estimates(&windows, &pairs).into_iter().enumerate() {
        comparison.estimates[windows.present[at]] = Some(estimate);
    }
    for pair in pairs {
        let (a, b) = (windows.present[pair.a], windows.present[pair.b]);
        let found = pair.found(question.precision);
        comparison.pairs[b][a] = Some(found.turned());
        comparison.pairs[a][b] = Some(found);
    }
    comparison
}

impl Comparison {
    /// The estimate of an entry. `None` without observations.
    pub fn estimate(&self, entry: usize) -> Option<Estimate> {
        *self.estimates.get(entry)?
    }

    /// The comparison of entry `a` with entry `b`. `None` if one has no observations or both are the same.
    pub fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        *self.pairs.get(a)?.get(b)?
    }

    /// The possible ranks of an entry, given which others are certainly faster or slower (F. Al
    /// Mohamad, J. Goeman and E. van Zwet, *Simultaneous Confidence Intervals for Ranks*, Psychometrika 87,
    /// 2022). `None` for an entry without observations.
    pub fn place(&self, entry: usize) -> Option<RankRange> {
        self.estimate(entry)?;
        let present = self.estimates.iter().flatten().count();
        let others = || self.pairs[entry].iter().flatten().map(|pair| pair.finding);
        let behind = others().filter(|finding| finding.is_slower()).count();
        let ahead = others().filter(|finding| finding.is_faster()).count();
        Some(RankRange { best: 1 + behind, worst: present - ahead })
    }

    /// The entries that have observations, fastest first.
    pub fn order(&self) -> Vec<usize> {
        let speed = |at: &usize| self.estimates[*at].map_or(0.0, |estimate| estimate.mean);
        let mut order: Vec<usize> =
            (0..self.estimates.len()).filter(|at| self.estimates[*at].is_some()).collect();
        order.sort_by(|a, b| speed(b).total_cmp(&speed(a)));
        order
    }

    /// Neighbours in order of speed whose comparison is open, as (faster, slower).
    pub fn open_neighbours(&self) -> Vec<(usize, usize)> {
        let order = self.order();
        let neighbours = order.windows(2).map(|pair| (pair[0], pair[1]));
        let open = |(a, b): &(usize, usize)| {
            self.pair(*a, *b).is_none_or(|pair| pair.finding == Finding::Open)
        };
        neighbours.filter(open).collect()
    }

    /// True if no comparison of neighbours is open.
    pub fn is_decided(&self) -> bool {
        self.open_neighbours().is_empty()
    }

    /// The smallest detectable difference, as a fraction: the median over the pairs. `None` with fewer than two entries, or if
    /// the noise is unknown.
    pub fn resolution(&self) -> Option<f64> {
        let ranges = self.pairs.iter().flatten().flatten();
        crate::median(
            ranges.filter_map(|pair| Some((pair.range?.high / pair.ratio).ln())).collect(),
        )
        .map(f64::exp_m1)
    }

    /// The expected [`resolution`](Self::resolution) with this many processes of each entry and the same noise.
    pub fn resolution_after(&self, processes: usize) -> Option<f64> {
        let half = self.typical?.half(processes, 1.0 - self.confidence)?;
        Some(half.exp_m1())
    }

    /// The components of the noise. `None` if no process has two windows.
    pub fn spread(&self) -> Option<Spread> {
        self.spread
    }
}
