//! Processes as the sampling unit: means, variances, intervals.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::Question;
use super::finding::{Estimate, Pair, Range, Spread};
use super::own::{OwnError, shared};
use super::reference::{Adjusted, Slope};
use super::robust::huber_mean;
use super::two_way::{Cell, TwoWay};
use super::windows::{Process, Processes, Windows, squares};
use crate::median;
use crate::studentized_range::studentized_range;

/// Minimum generations for a pair's own variance to count; with fewer it is too uncertain.
const OWN: usize = 4;

/// The fitted model. Entries are numbered without gaps.
pub(super) struct Model {
    adjusted: Adjusted,
    processes: Processes,
    fit: TwoWay,
    weights: Vec<f64>,
    /// The error of effects shared by all entries.
    shared: Option<OwnError>,
    entries: usize,
    generations: usize,
    /// Variance of a process of weight 1 within entry and generation. `None` without a degree of freedom.
    variance: Option<f64>,
    freedom: f64,
}

/// The comparison of two entries, as logarithms.
pub(super) struct Difference {
    pub a: usize,
    pub b: usize,
    difference: f64,
    /// Half of the simultaneous interval.
    pub half: Option<f64>,
    /// Half of the interval for equality.
    half_equal: Option<f64>,
}

/// The mean of an entry.
#[derive(Clone, Copy)]
pub(super) struct Mean {
    /// As a logarithm.
    pub value: f64,
    /// Its error without effects shared by all entries. `None` for a single entry or one process.
    pub apart: Option<OwnError>,
    /// Its error with them. `None` with one process.
    pub own: Option<OwnError>,
}

/// A typical pair, to predict what more processes would show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Typical {
    /// Variance of a process within entry and generation, including the slopes' errors.
    variance: f64,
    entries: usize,
}

impl Model {
    pub fn fit(windows: &Windows, adjusted: Adjusted) -> Self {
        let processes = windows.processes(&adjusted.values);
        let (entries, generations) = (windows.entries(), windows.generations());
        let fit = |weights: &[f64]| {
            let cells: Vec<Cell> = processes
                .list
                .iter()
                .zip(weights)
                .map(|(p, weight)| Cell {
                    row: p.entry,
                    column: p.generation,
                    value: p.mean,
                    weight: *weight,
                })
                .collect();
            TwoWay::fit(&cells, entries, generations)
        };
        let freedom = (processes.list.len() + 1).saturating_sub(entries + generations) as f64;
        let even = vec![1.0; processes.list.len()];
        let weights = weights(&processes, fit(&even).rest / freedom.max(1.0));
        let fit = fit(&weights);
        let variance = (freedom > 0.0).then(|| fit.rest / freedom);
        let mut rounds: Vec<Vec<f64>> =
            fit.columns.iter().zip(&windows.rounds).map(|(all, n)| vec![*all; *n]).collect();
        for (window, round) in windows.list.iter().zip(&processes.rounds) {
            rounds[window.generation][window.round] = fit.columns[window.generation] + round;
        }
        let shared = shared(&rounds);
        Self { adjusted, processes, fit, weights, shared, entries, generations, variance, freedom }
    }

    /// All pairs `a < b`.
    pub fn pairs(&self, question: &Question) -> Vec<Difference> {
        let mut quantiles = Quantiles::new(self.entries, 1.0 - question.confidence);
        let mut pairs = Vec::new();
        for a in 0..self.entries {
            for b in a + 1..self.entries {
                let known = self.variance_of_pair(a, b).and_then(|(variance, freedom)| {
                    let (apart, equal) = quantiles.at(freedom)?;
                    let deviation = variance.sqrt();
                    Some((apart * deviation, equal * deviation))
                });
                pairs.push(Difference {
                    a,
                    b,
                    difference: self.fit.rows[a] - self.fit.rows[b],
                    half: known.map(|(apart, _)| apart),
                    half_equal: known.map(|(_, equal)| equal),
                });
            }
        }
        pairs
    }

    /// Variance of the difference of two entries' means, and its degrees of freedom.
    fn variance_of_pair(&self, a: usize, b: usize) -> Option<(f64, f64)> {
        let pooled = self.variance?;
        let (variance, freedom) = match self.own_variance(a, b) {
            Some((own, shared)) => (
                f64::midpoint(pooled, own),
                blended_freedom(self.entries, shared).min(self.freedom),
            ),
            None => (pooled, self.freedom),
        };
        let unit = self.fit.variance_of_difference(a, b);
        Some((variance * unit + self.slope_error(a) + self.slope_error(b), freedom))
    }

    /// Variance of a process estimated from this pair alone, and its number of generations.
    fn own_variance(&self, a: usize, b: usize) -> Option<(f64, usize)> {
        let of = |entry: usize| {
            let list = self.processes.list.iter().zip(&self.weights);
            let mut by_generation = vec![None; self.generations];
            list.filter(|(process, _)| process.entry == entry)
                .for_each(|(p, weight)| by_generation[p.generation] = Some((p.mean, *weight)));
            by_generation
        };
        let shared: Vec<(f64, f64)> = of(a)
            .into_iter()
            .zip(of(b))
            .filter_map(|pair| match pair {
                (Some((a, wa)), Some((b, wb))) => Some((a - b, wa * wb / (wa + wb))),
                _ => None,
            })
            .collect();
        if shared.len() < OWN {
            return None;
        }
        let all: f64 = shared.iter().map(|(_, weight)| weight).sum();
        let mean = shared.iter().map(|(own, weight)| own * weight).sum::<f64>() / all;
        let squares: f64 = shared.iter().map(|(own, weight)| weight * (own - mean).powi(2)).sum();
        Some((squares / (shared.len() - 1) as f64, shared.len()))
    }

    fn slope_error(&self, entry: usize) -> f64 {
        self.adjusted.slopes.get(entry).map_or(0.0, |slope| slope.variance)
    }

    /// Estimates of all entries. `raw` is the model without adjustment.
    pub fn estimates(&self, windows: &Windows, raw: &Self, pairs: &[Difference]) -> Vec<Estimate> {
        let usual = usual_half(pairs.iter());
        (0..self.entries)
            .map(|entry| {
                let mean = self.fit.rows[entry];
                let own = self.mean(entry).own.and_then(OwnError::half);
                let levels: Vec<f64> = windows
                    .list
                    .iter()
                    .enumerate()
                    .filter(|(_, w)| w.entry == entry)
                    .map(|(at, w)| {
                        let shared = self.processes.rounds[at] + self.fit.columns[w.generation];
                        self.adjusted.values[at] - shared
                    })
                    .collect();
                let robust = huber_mean(&levels).unwrap_or(mean);
                let enough = usual.or(own);
                let around =
                    |half: f64| Range { low: (mean - half).exp(), high: (mean + half).exp() };
                let beside = usual_half(pairs.iter().filter(|pair| pair.has(entry)));
                Estimate {
                    mean: mean.exp(),
                    range: own.map(around),
                    comparison: beside.map(|half| around(half / 2.0)),
                    raw: raw.fit.rows[entry].exp(),
                    robust: robust.exp(),
                    stalls_decide: enough.is_some_and(|half| (robust - mean).abs() > half),
                    slope: self.adjusted.slopes.get(entry).map(|Slope { slope, .. }| *slope),
                    processes: self.of_entry(entry).count(),
                    windows: levels.len(),
                }
            })
            .collect()
    }

    fn of_entry(&self, entry: usize) -> impl Iterator<Item = &Process> {
        self.processes.list.iter().filter(move |process| process.entry == entry)
    }

    /// The mean of each entry.
    pub fn means(&self) -> Vec<Mean> {
        (0..self.entries).map(|entry| self.mean(entry)).collect()
    }

    fn mean(&self, entry: usize) -> Mean {
        let slope = self.adjusted.slopes.get(entry).map_or(0.0, |it| it.by_process);
        let apart = self.apart(entry).map(|error| error.plus(slope));
        // The entry contributes to the shared effects.
        let beside = (self.entries - 1) as f64 / self.entries as f64;
        let own = match &apart {
            Some(apart) => self.shared.map(|shared| shared.with(apart.times(beside))),
            None => self.alone(entry).map(|error| error.plus(slope)),
        };
        Mean { value: self.fit.rows[entry], apart, own }
    }

    /// Variance between an entry's processes without shared effects: pooled, and with enough processes averaged with its own.
    fn apart(&self, entry: usize) -> Option<OwnError> {
        let pooled = self.variance?;
        let own: Vec<&Process> = self.of_entry(entry).collect();
        let (entries, spare) = (self.entries as f64, own.len() as f64 - 1.0);
        let (variance, freedom) = if own.len() >= OWN {
            let rest = |process: &&Process| {
                process.mean - self.fit.rows[entry] - self.fit.columns[process.generation]
            };
            let squares: f64 = own.iter().map(rest).map(|rest| rest * rest).sum();
            // The entry contributes to what it is compared with.
            let own = squares / spare * entries / (entries - 1.0);
            (f64::midpoint(pooled, own), self.freedom.min(2.0 * spare))
        } else {
            (pooled, self.freedom)
        };
        Some(OwnError { variance: variance / own.len() as f64, freedom })
    }

    /// Variance between the processes of a single entry.
    fn alone(&self, entry: usize) -> Option<OwnError> {
        let means: Vec<f64> = self.of_entry(entry).map(|process| process.mean).collect();
        let freedom = means.len().checked_sub(1).filter(|freedom| *freedom > 0)? as f64;
        Some(OwnError { variance: squares(&means) / freedom / means.len() as f64, freedom })
    }

    /// The components of the noise in this model and in the one without adjustment.
    pub fn spread(&self, raw: &Self) -> Option<Spread> {
        let measured = &raw.processes;
        let windows = measured.within.0 / measured.within.1;
        let in_rounds = measured.rest / measured.freedom;
        let adjusted = self.processes.rest / self.processes.freedom;
        (measured.freedom > 0.0).then(|| Spread {
            windows: windows.sqrt(),
            in_rounds: in_rounds.sqrt(),
            adjusted: adjusted.sqrt(),
            processes: self.variance.map(|all| between(&self.processes, all).sqrt()),
        })
    }

    /// `None` if no pair has an interval.
    pub fn typical(&self) -> Option<Typical> {
        let per_process = |a, b| {
            let (variance, _) = self.variance_of_pair(a, b)?;
            Some(variance * self.generations as f64 / 2.0)
        };
        let pairs = (0..self.entries).flat_map(|a| (a + 1..self.entries).map(move |b| (a, b)));
        let variance = median(pairs.filter_map(|(a, b)| per_process(a, b)).collect())?;
        Some(Typical { variance, entries: self.entries })
    }
}

/// Half of the interval of a typical pair. `None` if none has one.
fn usual_half<'a>(pairs: impl Iterator<Item = &'a Difference>) -> Option<f64> {
    median(pairs.filter_map(|pair| pair.half).collect())
}

impl Difference {
    fn has(&self, entry: usize) -> bool {
        self.a == entry || self.b == entry
    }

    pub fn found(&self, precision: f64) -> Pair {
        Pair::of(self.difference, self.half, self.half_equal, precision)
    }
}

impl Typical {
    /// Half of the simultaneous interval of a pair's difference with this many processes.
    pub fn half(&self, processes: usize, tail: f64) -> Option<f64> {
        let freedom = if processes < OWN {
            ((self.entries - 1) * processes.checked_sub(1)?) as f64
        } else {
            blended_freedom(self.entries, processes)
        };
        let (apart, _) = Quantiles::new(self.entries, tail).at(freedom)?;
        Some(apart * (self.variance * 2.0 / processes as f64).sqrt())
    }
}

/// Degrees of freedom of the mean of the pooled variance and the pair's own over `g` generations: at most those of two own
/// ones, as variances differ between entries; fewer with two or three entries, where the pair's own is a large part of the
/// pooled one (Satterthwaite's formula for equal variances).
fn blended_freedom(entries: usize, g: usize) -> f64 {
    let e = entries as f64;
    (g - 1) as f64 * (4.0 * (e - 1.0) / (e + 2.0)).min(2.0)
}

/// Weights of processes: the inverse of their variance if their numbers of windows differ. `all` is the variance between
/// processes, including the windows' contribution.
fn weights(processes: &Processes, all: f64) -> Vec<f64> {
    let between = between(processes, all);
    let weights = processes.list.iter().map(|p| 1.0 / (between + processes.of_windows(p)));
    let weights: Vec<f64> = weights.collect();
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    weights.iter().map(|w| if mean.is_finite() { w / mean } else { 1.0 }).collect()
}

/// Variance between processes, without the windows' contribution that `all` includes.
fn between(processes: &Processes, all: f64) -> f64 {
    let windows = processes.list.iter().map(|p| processes.of_windows(p));
    (all - windows.sum::<f64>() / processes.list.len() as f64).max(0.0)
}

/// Half-widths in standard deviations of a difference: of all pairs' intervals at once (J. W. Tukey and C. Y.
/// Kramer), and of the two one-sided tests of equality, at a level that keeps the family's rate over all pairs
/// (C. Lauzon and B. Caffo, *Easy Multiplicity Control in Equivalence Testing Using Two One-Sided Tests*, The
/// American Statistician 63, 2009).
struct Quantiles {
    entries: usize,
    tail: f64,
    known: Vec<(f64, Option<(f64, f64)>)>,
}

impl Quantiles {
    fn new(entries: usize, tail: f64) -> Self {
        Self { entries, tail, known: Vec::new() }
    }

    /// Most pairs have the same degrees of freedom, so quantiles are cached.
    fn at(&mut self, freedom: f64) -> Option<(f64, f64)> {
        if let Some((_, found)) = self.known.iter().find(|(known, _)| *known == freedom) {
            return *found;
        }
        let found = self.compute(freedom);
        self.known.push((freedom, found));
        found
    }

    fn compute(&self, freedom: f64) -> Option<(f64, f64)> {
        let apart = studentized_range(self.tail, self.entries, freedom)? / 2_f64.sqrt();
        let students = StudentsT::new(0.0, 1.0, freedom).ok()?;
        Some((apart, -students.inverse_cdf(self.tail / (self.entries - 1) as f64)))
    }
}
