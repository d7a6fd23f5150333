//! The mixed model: windows, processes, intervals of entries and pairs.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::Question;
use super::finding::{Estimate, Pair, Range, Spread};
use super::noise::Noise;
use super::own::{OwnError, Round, shared};
use super::process::{self, Means};
use super::reactions::{Uncertain, reactions, variance_inflation};
use super::two_way::dot;
use super::windows::{Windows, squares};
use crate::median;
use crate::studentized_range::studentized_range;

/// Step of the logarithm of the degrees of freedom for which quantiles are computed, and the maximum degrees of freedom.
const STEP: f64 = 0.02;
const MAX_FREEDOM: f64 = 1e4;

/// The fitted model. Entries are numbered without gaps.
pub(super) struct Model {
    noise: Noise,
    means: Means,
    /// Variance between processes.
    between: OwnError,
    /// Covariance of the entries' means due to their windows.
    by_windows: Vec<Vec<f64>>,
    /// Covariance due to their processes, in units of `between`.
    by_processes: Vec<Vec<f64>>,
    /// Processes and windows of each entry.
    sizes: Vec<(f64, usize)>,
    /// The error of effects shared by all entries.
    shared: Option<OwnError>,
    /// Each entry's reaction to the shared effects relative to the others', as a factor minus 1.
    reactions: Vec<Uncertain>,
}

/// The comparison of two entries, as logarithms.
pub(super) struct Difference {
    pub a: usize,
    pub b: usize,
    difference: f64,
    /// Half-width of the simultaneous interval.
    pub half: Option<f64>,
    /// Half-width of the interval for equality.
    half_equal: Option<f64>,
}

/// The mean of an entry.
#[derive(Clone, Copy)]
pub(super) struct Mean {
    /// The mean's logarithm.
    pub value: f64,
    /// Error excluding effects shared by all entries. `None` for a single entry, or if the noise is unknown.
    pub apart: Option<OwnError>,
    /// Error including effects shared by all entries. `None` with too few rounds.
    pub own: Option<OwnError>,
}

/// A typical pair, used to predict what more processes would show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Typical {
    /// Variance of the difference of two means.
    variance: f64,
    freedom: f64,
    processes: f64,
    entries: usize,
}

impl Model {
    pub fn fit(windows: &Windows) -> Self {
        let noise = Noise::fit(windows);
        let (levels, covariance) = (&noise.levels, &noise.covariance);
        let between = process::variance(levels, covariance, &windows.processes, windows.assumed);
        let square = between.variance;
        let means = Means::fit(levels, covariance, &windows.processes, square);
        let inflation = variance_inflation(windows, &noise);
        let of_levels = |share: &Vec<f64>| -> Vec<f64> {
            noise.covariance.iter().map(|line| inflation * dot(line, share)).collect()
        };
        let with_levels: Vec<Vec<f64>> = means.shares.iter().map(of_levels).collect();
        let counts: Vec<f64> = windows.processes.iter().map(|own| own.part).collect();
        let counted = |share: &Vec<f64>| -> Vec<f64> {
            share.iter().zip(&counts).map(|(share, part)| share * part).collect()
        };
        let with_counts: Vec<Vec<f64>> = means.shares.iter().map(counted).collect();
        let of_pairs = |others: &[Vec<f64>]| -> Vec<Vec<f64>> {
            let line = |a: &Vec<f64>| others.iter().map(|b| dot(a, b)).collect();
            means.shares.iter().map(line).collect()
        };
        let mut sizes = vec![(0.0, 0); windows.entries()];
        windows.processes.iter().for_each(|own| sizes[own.entry].0 += own.count);
        windows.list.iter().for_each(|window| sizes[window.entry].1 += 1);
        Self {
            by_windows: of_pairs(&with_levels),
            by_processes: of_pairs(&with_counts),
            shared: shared(&rounds(windows, &noise, &means)),
            reactions: reactions(windows, &noise),
            noise,
            means,
            between,
            sizes,
        }
    }

    /// True if there are enough windows to estimate the noise.
    fn knows_noise(&self) -> bool {
        self.noise.pooled.freedom > 0.0
    }

    fn entries(&self) -> usize {
        self.sizes.len()
    }

    /// All pairs `a < b`.
    pub fn pairs(&self, question: &Question) -> Vec<Difference> {
        let quantiles = Quantiles::new(self.entries(), 1.0 - question.confidence);
        let mut pairs = Vec::new();
        for a in 0..self.entries() {
            for b in a + 1..self.entries() {
                let known = self.error_of_pair(a, b).and_then(|OwnError { variance, freedom }| {
                    let (apart, equal) = quantiles.at(freedom)?;
                    let deviation = variance.sqrt();
                    Some((apart * deviation, equal * deviation))
                });
                pairs.push(Difference {
                    a,
                    b,
                    difference: self.means.list[a] - self.means.list[b],
                    half: known.map(|(apart, _)| apart),
                    half_equal: known.map(|(_, equal)| equal),
                });
            }
        }
        pairs
    }

    /// The error of the difference of two entries' means.
    fn error_of_pair(&self, a: usize, b: usize) -> Option<OwnError> {
        let of = |all: &[Vec<f64>]| all[a][a] + all[b][b] - 2.0 * all[a][b];
        let error = self.error(of(&self.by_windows), of(&self.by_processes), &[a, b])?;
        // In another state of the machine the entries would differ by more or less.
        let unlike = self.reactions[a].unlike(self.reactions[b]);
        let shared = self.shared.map(|shared| shared.times(unlike));
        Some(shared.into_iter().fold(error, OwnError::with))
    }

    /// The error of a mean or a difference: `windows` is the windows' part, `processes` the processes' part in units of their
    /// variance.
    fn error(&self, windows: f64, processes: f64, entries: &[usize]) -> Option<OwnError> {
        let part = |entry: &usize| {
            let own = self.noise.entries[*entry];
            OwnError { variance: own.variance / self.sizes[*entry].1 as f64, ..own }
        };
        let pooled = self.noise.pooled.freedom;
        let known = entries.iter().map(part).reduce(OwnError::with)?;
        let windows = OwnError { variance: windows, freedom: known.freedom.min(pooled) };
        let processes = self.between.times(processes);
        self.knows_noise().then(|| windows.with(processes))
    }

    pub fn estimates(&self, windows: &Windows, pairs: &[Difference]) -> Vec<Estimate> {
        let measured = windows.values();
        let usual = median(pairs.iter().filter_map(|pair| pair.half).collect());
        let halves = halves(self.entries(), pairs);
        let of = |entry: usize| {
            let mean = self.means.list[entry];
            let own = self.mean(entry).own.and_then(OwnError::half);
            let around = |half: f64| Range { low: (mean - half).exp(), high: (mean + half).exp() };
            let excess = windows.list.iter().zip(measured.iter().zip(&self.noise.values));
            let excess = excess.filter(|(w, _)| w.entry == entry);
            let (_, count) = self.sizes[entry];
            let excess = excess.map(|(_, (m, kept))| m - kept).sum::<f64>() / count as f64;
            let enough = usual.or(own);
            Estimate {
                mean: mean.exp(),
                range: own.map(around),
                comparison: halves[entry].map(around),
                raw: (mean + excess).exp(),
                stalls_decide: enough.is_some_and(|half| excess.abs() > half),
                processes: self.sizes[entry].0 as usize,
                windows: count,
            }
        };
        (0..self.entries()).map(of).collect()
    }

    /// The mean of each entry.
    pub fn means(&self) -> Vec<Mean> {
        (0..self.entries()).map(|entry| self.mean(entry)).collect()
    }

    fn mean(&self, entry: usize) -> Mean {
        let entries = self.entries() as f64;
        let processes = self.by_processes[entry][entry];
        // The error relative to the mean of all entries, to which this entry contributes.
        let own = &self.by_windows[entry];
        let all = self.by_windows.iter().flatten().sum::<f64>() / entries.powi(2);
        let centred = own[entry] - 2.0 * own.iter().sum::<f64>() / entries + all;
        let part = (entries - 1.0) / entries;
        let apart = self.error(centred / part, processes, &[entry]).filter(|_| entries > 1.0);
        let own = match apart {
            Some(apart) => self.shared.map(|shared| shared.with(apart.times(part))),
            None => self.shared.map(|shared| shared.with(self.between.times(processes))),
        };
        Mean { value: self.means.list[entry], apart, own }
    }

    /// `None` if no process has two windows.
    pub fn spread(&self, windows: &Windows) -> Option<Spread> {
        let (mut sum, mut freedom) = (0.0, 0.0);
        for process in 0..windows.processes.len() {
            let own = windows.list.iter().filter(|window| window.process == process);
            let own: Vec<f64> = own.map(|window| window.value).collect();
            sum += squares(&own);
            freedom += (own.len() - 1) as f64;
        }
        let processes = self.between.variance.sqrt();
        self.knows_noise().then(|| Spread {
            windows: (sum / freedom).sqrt(),
            in_rounds: self.noise.pooled.variance.sqrt(),
            processes,
            more_processes: windows.assumed.map_or(processes, |_| processes.max(process::USUAL)),
        })
    }

    /// `None` if no pair has an interval.
    pub fn typical(&self) -> Option<Typical> {
        let entries = self.entries();
        let pairs = (0..entries).flat_map(|a| (a + 1..entries).map(move |b| (a, b)));
        let errors: Vec<OwnError> = pairs.filter_map(|(a, b)| self.error_of_pair(a, b)).collect();
        let sizes = self.sizes.iter().map(|(processes, _)| *processes);
        Some(Typical {
            variance: median(errors.iter().map(|error| error.variance).collect())?,
            freedom: median(errors.iter().map(|error| error.freedom).collect())?,
            processes: sizes.fold(f64::INFINITY, f64::min),
            entries,
        })
    }
}

/// The windows of each round, minus the means of their entries.
fn rounds(windows: &Windows, noise: &Noise, means: &Means) -> Vec<Round> {
    let mut rounds = vec![Round::default(); windows.rounds];
    for (window, value) in windows.list.iter().zip(&noise.values) {
        rounds[window.round].add(value - means.list[window.entry]);
    }
    rounds
}

/// Half-width of each entry's comparison interval. The half-widths of two entries add up as closely as possible to their pair's.
fn halves(entries: usize, pairs: &[Difference]) -> Vec<Option<f64>> {
    let of = |entry: Option<usize>| {
        let own = pairs.iter().filter(|pair| entry.is_none_or(|e| pair.a == e || pair.b == e));
        own.map(|pair| pair.half).sum::<Option<f64>>()
    };
    let others = (entries as f64 - 1.0).max(1.0);
    let half = |entry| {
        let (own, all) = (of(Some(entry))?, of(None)? / others);
        match pairs.len() {
            0 => None,
            1 => Some(own / 2.0),
            _ => Some(((own - all) / (others - 1.0)).max(0.0)),
        }
    };
    (0..entries).map(half).collect()
}

impl Difference {
    pub fn found(&self, precision: f64) -> Pair {
        Pair::of(self.difference, self.half, self.half_equal, precision)
    }
}

impl Typical {
    /// Half-width of the simultaneous interval of a pair's difference with this many processes.
    pub fn half(&self, processes: usize, tail: f64) -> Option<f64> {
        let more = processes as f64 / self.processes;
        let (apart, _) = Quantiles::new(self.entries, tail).at(self.freedom * more)?;
        Some(apart * (self.variance / more).sqrt())
    }
}

/// Half-widths in standard deviations of a difference. The first is for the simultaneous intervals of all pairs, each with its
/// own variance and degrees of freedom (P. A. Games and J. F. Howell, *Pairwise Multiple Comparison Procedures with Unequal N's
/// and/or Variances*, Journal of Educational Statistics 1, 1976). The second is for the two one-sided tests of equality, at a
/// level that keeps the family's rate over all pairs (C. Lauzon and B. Caffo, *Easy Multiplicity Control in Equivalence Testing
/// Using Two One-Sided Tests*, The American Statistician 63, 2009).
#[derive(Clone, Copy)]
struct Quantiles {
    entries: usize,
    tail: f64,
}

/// Both half-widths. `None` if there are too few entries.
type HalfWidths = Option<(f64, f64)>;

/// Half-widths by number of entries, bits of the tail, and step of the degrees of freedom.
type Known = HashMap<(usize, u64, u32), HalfWidths>;

/// Caches half-widths: the quantile of a range takes longer than the rest of a comparison.
static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

impl Quantiles {
    fn new(entries: usize, tail: f64) -> Self {
        Self { entries, tail }
    }

    /// Rounds the degrees of freedom down to a grid, so that few quantiles are computed.
    fn at(self, freedom: f64) -> HalfWidths {
        if freedom.is_nan() {
            return None;
        }
        let step = (freedom.clamp(1.0, MAX_FREEDOM).ln() / STEP).floor();
        let key = (self.entries, self.tail.to_bits(), step as u32);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(key).or_insert_with(|| self.compute((step * STEP).exp()))
    }

    fn compute(self, freedom: f64) -> HalfWidths {
        let apart = studentized_range(self.tail, self.entries, freedom)? / 2_f64.sqrt();
        let students = StudentsT::new(0.0, 1.0, freedom).ok()?;
        Some((apart, -students.inverse_cdf(self.tail / (self.entries - 1) as f64)))
    }
}
