//! Adjusts figures by the machine reference.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::noise::Noise;
use super::own::{self, OwnError, shared};
use super::reactions::Uncertain;
use super::two_way::{Cell, TwoWay, dot, inverse};
use super::windows::Windows;

/// Variance of the reference's logarithm up to which it counts as constant: a thousandth of a percent, squared.
const STILL: f64 = 1e-10;
/// Probability below which differences of the reference between entries are not chance.
const MOVED: f64 = 0.05;
/// Candidates for the standard deviation of the entries' slopes around the common one.
const UNLIKE: [f64; 3] = [0.01, 0.25, 1.0];

/// Whether figures are adjusted by the machine reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Adjustment {
    /// They are adjusted to the mean state of the machine.
    To {
        /// Mean reading, in the reference's unit.
        mean: f64,
    },
    /// They are as measured.
    Raw(Unadjusted),
}

/// Why figures are not adjusted by the machine reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unadjusted {
    /// A process has no reading, or there are no observations.
    NoReference,
    /// There are too few windows, or the reference was constant.
    NoSlope,
    /// Adjusting would not narrow the intervals.
    NoGain,
    /// There is only one entry, so it is unknown whether it affects the reference.
    Alone,
    /// The reference differs between entries: they affect it, so adjusting would bias the result.
    Moved {
        /// Probability of such differences by chance.
        probability: f64,
    },
}

/// Figures at one state of the machine, as logarithms.
pub(super) struct Adjusted {
    /// The figure of each window.
    pub values: Vec<f64>,
    /// Each entry's slope, and the variance that its error adds to the entry's mean. Empty if nothing was adjusted.
    pub slopes: Vec<Uncertain>,
    pub errors: Vec<f64>,
    /// Slopes fitted for each entry.
    pub spent: f64,
    /// The error of the run's mean state, which entries with different slopes do not share.
    pub state: Option<OwnError>,
}

/// How figures depend on the machine reference.
pub(super) struct Slopes {
    references: Vec<f64>,
    /// Mean of the reference's logarithm.
    pub mean: f64,
    slopes: Vec<Uncertain>,
    spent: f64,
    state: Option<OwnError>,
}

pub(super) fn unadjusted(windows: &Windows) -> Adjusted {
    Adjusted {
        values: windows.values(),
        slopes: Vec::new(),
        errors: Vec::new(),
        spent: 0.0,
        state: None,
    }
}

impl Slopes {
    /// `noise` is that of the unadjusted windows.
    ///
    /// Slopes are shrunk towards a common one, by the amount that best predicts each round from the others (A. E. Hoerl and R. W.
    /// Kennard, *Ridge Regression*, Technometrics 12, 1970; M. Stone, *Cross-Validatory Choice and Assessment of Statistical
    /// Predictions*, Journal of the Royal Statistical Society B 36, 1974). If no slopes predict better than none, figures stay as
    /// measured.
    pub fn fit(windows: &Windows, noise: &Noise) -> Result<Self, Unadjusted> {
        let references = complete(windows).ok_or(Unadjusted::NoReference)?;
        untouched(windows)?;
        let mean = mean(&references);
        let rounds = Rounds::new(windows, noise, &references, mean);
        let raw: f64 = rounds.list.iter().map(|round| round.squares).sum();
        let tried = UNLIKE.map(|unlike| (rounds.error(unlike), unlike));
        let best = tried.into_iter().filter(|(error, _)| error.is_finite());
        let best = best.min_by(|(a, _), (b, _)| a.total_cmp(b)).ok_or(Unadjusted::NoSlope)?;
        if best.0 >= raw {
            return Err(Unadjusted::NoGain);
        }
        let (slopes, inverse) = rounds.slopes(best.1, None);
        let uncertain = |(at, value): (usize, f64)| Uncertain { value, variance: inverse[at][at] };
        let slopes = slopes.into_iter().enumerate().map(uncertain).collect();
        let spent = if best.1 > UNLIKE[0] { 1.0 } else { 1.0 / windows.entries() as f64 };
        let state = shared(&by_round(windows, &references));
        Ok(Self { references, mean, slopes, spent, state })
    }

    /// The figures at a state of the machine, a logarithm.
    pub fn adjust(&self, windows: &Windows, state: f64) -> Adjusted {
        let values = windows.list.iter().zip(&self.references);
        let values = values.map(|(w, x)| w.value - self.slopes[w.entry].value * (x - state));
        let distance = (self.mean - state).powi(2);
        let errors = self.slopes.iter().map(|slope| slope.variance * distance);
        Adjusted {
            values: values.collect(),
            slopes: self.slopes.clone(),
            errors: errors.collect(),
            spent: self.spent,
            state: self.state,
        }
    }
}

/// Sums over the windows of a round, without the effects of processes and rounds.
struct Round {
    /// Sums of products of the entries' readings.
    readings: Vec<Vec<f64>>,
    /// Sums of products of readings and figures.
    figures: Vec<f64>,
    squares: f64,
}

struct Rounds {
    list: Vec<Round>,
}

impl Rounds {
    fn new(windows: &Windows, noise: &Noise, references: &[f64], mean: f64) -> Self {
        let entries = windows.entries();
        let cells = windows.cells(|entry| 1.0 / noise.entries[entry].variance);
        let table = TwoWay::new(&cells, windows.processes.len(), windows.rounds);
        let columns: Vec<Vec<f64>> = (0..entries)
            .map(|entry| {
                let own = windows.list.iter().zip(references);
                let own = own.map(|(w, x)| if w.entry == entry { x - mean } else { 0.0 });
                table.fit(&own.collect::<Vec<f64>>()).rest
            })
            .collect();
        let empty = || Round {
            readings: vec![vec![0.0; entries]; entries],
            figures: vec![0.0; entries],
            squares: 0.0,
        };
        let mut list: Vec<Round> = (0..windows.rounds).map(|_| empty()).collect();
        for (at, Cell { column, weight, .. }) in cells.iter().enumerate() {
            let (round, figure) = (&mut list[*column], noise.rest[at]);
            round.squares += weight * figure * figure;
            for a in 0..entries {
                round.figures[a] += weight * columns[a][at] * figure;
                for b in 0..entries {
                    round.readings[a][b] += weight * columns[a][at] * columns[b][at];
                }
            }
        }
        Self { list }
    }

    /// Slopes with this standard deviation around the common one, from all rounds but one, and their covariance.
    fn slopes(&self, unlike: f64, without: Option<usize>) -> (Vec<f64>, Vec<Vec<f64>>) {
        let entries = self.list.first().map_or(0, |round| round.figures.len());
        let each = 1.0 / (unlike * unlike);
        let mut normal: Vec<Vec<f64>> = (0..entries)
            .map(|a| {
                let diagonal = |b| if a == b { each } else { 0.0 };
                (0..entries).map(|b| diagonal(b) - each / entries as f64).collect()
            })
            .collect();
        let mut right = vec![0.0; entries];
        let kept = self.list.iter().enumerate().filter(|(at, _)| Some(*at) != without);
        for (_, round) in kept {
            for (a, own) in round.readings.iter().enumerate() {
                normal[a].iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
                right[a] += round.figures[a];
            }
        }
        let (inverse, _) = inverse(normal);
        (inverse.iter().map(|line| dot(line, &right)).collect(), inverse)
    }

    /// Sum of squares of each round's windows, adjusted by slopes from the other rounds.
    fn error(&self, unlike: f64) -> f64 {
        let of = |(at, round): (usize, &Round)| {
            let (slopes, _) = self.slopes(unlike, Some(at));
            let products = round.readings.iter().zip(&slopes);
            let explained: f64 = products.map(|(line, own)| own * dot(line, &slopes)).sum();
            round.squares - 2.0 * dot(&round.figures, &slopes) + explained
        };
        self.list.iter().enumerate().map(of).sum()
    }
}

/// A reading for each window; missing ones are the mean of the process.
fn complete(windows: &Windows) -> Option<Vec<f64>> {
    let of_process = |process: usize| {
        let own = windows.list.iter().filter(|w| w.process == process);
        let readings: Vec<f64> = own.filter_map(|w| w.reference).collect();
        (!readings.is_empty()).then(|| mean(&readings))
    };
    let readings = windows.list.iter();
    let readings: Option<Vec<f64>> =
        readings.map(|w| w.reference.or_else(|| of_process(w.process))).collect();
    readings.filter(|readings| !readings.is_empty())
}

/// Logarithm of the reference's mean. `None` as for [`complete`].
pub(super) fn usual(windows: &Windows) -> Option<f64> {
    complete(windows).map(|references| mean(&references))
}

/// The readings of each round.
fn by_round(windows: &Windows, references: &[f64]) -> Vec<own::Round> {
    let mut rounds = vec![own::Round::default(); windows.rounds];
    for (window, reading) in windows.list.iter().zip(references) {
        rounds[window.round].add(*reading);
    }
    rounds
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Refuses a reference that entries affect. The order within a round is random, so its readings differ between entries by
/// chance or because the entries affect it: an F test of entries within rounds.
fn untouched(windows: &Windows) -> Result<(), Unadjusted> {
    let entries = windows.entries();
    if entries < 2 {
        return Err(Unadjusted::Alone);
    }
    let table = |by_entry: bool| {
        let read = windows.list.iter().filter_map(|w| Some((w, w.reference?)));
        let (cells, values): (Vec<Cell>, Vec<f64>) = read
            .map(|(w, reading)| {
                let row = if by_entry { w.entry } else { 0 };
                (Cell { row, column: w.round, weight: 1.0 }, reading)
            })
            .unzip();
        let rows = if by_entry { entries } else { 1 };
        let fit = TwoWay::new(&cells, rows, windows.rounds).fit(&values);
        (fit.rest.iter().map(|rest| rest * rest).sum::<f64>(), cells.len())
    };
    let ((within, readings), (without, _)) = (table(true), table(false));
    let numerator = (entries - 1) as f64;
    let denominator = (readings + 1).saturating_sub(windows.rounds + entries) as f64;
    if denominator < 1.0 || within <= STILL * denominator {
        return Err(Unadjusted::NoSlope);
    }
    let ratio = ((without - within) / numerator) / (within / denominator);
    let chance = FisherSnedecor::new(numerator, denominator).map_err(|_| Unadjusted::NoSlope)?;
    match chance.sf(ratio.max(0.0)) {
        probability if probability < MOVED => Err(Unadjusted::Moved { probability }),
        _ => Ok(()),
    }
}
