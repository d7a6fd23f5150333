//! Adjusts figures by the machine reference.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::two_way::TwoWay;
use super::windows::{Windows, cell};

/// Degrees of freedom that an entry's own slope must leave.
const LEAST_FREEDOM: usize = 3;
/// Variance of the reference's logarithm up to which it counts as constant: a thousandth of a percent, squared.
const STILL: f64 = 1e-10;
/// Distance from the baseline, as a factor, up to which slopes are trusted.
const NEAR: f64 = 2.0;
/// Probability below which differences of the reference between entries are not chance.
const MOVED: f64 = 0.10;

/// Whether figures are adjusted by the machine reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Adjustment {
    /// They are adjusted to this state of the machine.
    To {
        /// In the reference's unit: the baseline, or the mean of the observations.
        baseline: f64,
    },
    /// They are as measured.
    Raw(Unadjusted),
}

/// Why figures are not adjusted by the machine reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unadjusted {
    /// A process has no reading, or there are no observations.
    NoReference,
    /// An entry has too few windows or the reference was constant, so slopes are unknown.
    NoSlope,
    /// The machine was too far from the baseline for slopes to hold.
    Far {
        /// Mean of the observations, in the reference's unit.
        mean: f64,
    },
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
    /// For each window.
    pub values: Vec<f64>,
    /// Each entry's slope, and what the slope's error adds to the variance of the entry's mean. Empty if nothing was adjusted.
    pub slopes: Vec<Slope>,
}

pub(super) struct Slope {
    pub slope: f64,
    /// For independent windows.
    pub variance: f64,
    /// Estimated from processes, whose windows may depend on each other (K.-Y. Liang and
    /// S. Zeger, *Longitudinal Data Analysis Using Generalized Linear Models*, Biometrika 73, 1986).
    pub by_process: f64,
}

pub(super) fn unadjusted(windows: &Windows) -> Adjusted {
    Adjusted { values: windows.list.iter().map(|w| w.value).collect(), slopes: Vec::new() }
}

/// Subtracts from each window its entry's slope times the distance of the reference from the baseline.
///
/// Each entry has its own slope, as servers react differently to the machine; with a common slope equal entries would differ.
/// Slopes come from differences within processes, which do not depend on differences between entries. (W. G. Cochran, *Analysis of Covariance: Its Nature and Uses*, Biometrics 13, 1957.)
pub(super) fn adjust(
    windows: &Windows,
    baseline: Option<f64>,
) -> Result<(Adjustment, Adjusted), Unadjusted> {
    let references = complete(windows).ok_or(Unadjusted::NoReference)?;
    untouched(windows)?;
    let own = baseline.filter(|own| own.is_finite() && *own > 0.0).map(f64::ln);
    let usual = mean(&references);
    let baseline = own.unwrap_or(usual);
    if (usual - baseline).abs() > NEAR.ln() {
        return Err(Unadjusted::Far { mean: usual.exp() });
    }
    let slopes: Option<Vec<Slope>> =
        (0..windows.entries()).map(|entry| slope(windows, &references, entry, baseline)).collect();
    let slopes = slopes.ok_or(Unadjusted::NoSlope)?;
    let values = windows.list.iter().zip(&references);
    let values = values.map(|(w, x)| w.value - slopes[w.entry].slope * (x - baseline)).collect();
    Ok((Adjustment::To { baseline: baseline.exp() }, Adjusted { values, slopes }))
}

/// A reading for each window; missing ones are the mean of the process.
fn complete(windows: &Windows) -> Option<Vec<f64>> {
    let of_process = |entry: usize, generation: usize| {
        let own = windows.list.iter().filter(|w| (w.entry, w.generation) == (entry, generation));
        let readings: Vec<f64> = own.filter_map(|w| w.reference).collect();
        (!readings.is_empty()).then(|| mean(&readings))
    };
    let readings = windows.list.iter();
    let readings: Option<Vec<f64>> =
        readings.map(|w| w.reference.or_else(|| of_process(w.entry, w.generation))).collect();
    readings.filter(|readings| !readings.is_empty())
}

/// Logarithm of the reference's mean. `None` as for [`complete`].
pub(super) fn usual(windows: &Windows) -> Option<f64> {
    complete(windows).map(|references| mean(&references))
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
    let begins: Vec<usize> = windows
        .rounds
        .iter()
        .scan(0, |sum, rounds| Some(std::mem::replace(sum, *sum + rounds)))
        .collect();
    let rounds = windows.rounds.iter().sum();
    let table = |by_entry: bool| {
        let cells: Vec<_> = windows
            .list
            .iter()
            .filter_map(|w| {
                let row = if by_entry { w.entry } else { 0 };
                Some(cell(row, begins[w.generation] + w.round, w.reference?))
            })
            .collect();
        (TwoWay::fit(&cells, if by_entry { entries } else { 1 }, rounds).rest, cells.len())
    };
    let ((within, readings), (without, _)) = (table(true), table(false));
    let numerator = (entries - 1) as f64;
    let denominator = (readings + 1).saturating_sub(rounds + entries) as f64;
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

/// Slope of an entry's figures over the reference, pooled over its processes.
fn slope(windows: &Windows, references: &[f64], entry: usize, baseline: f64) -> Option<Slope> {
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    let (mut count, mut centres) = (0, Vec::new());
    let mut sums = Vec::new();
    for generation in 0..windows.generations() {
        let own: Vec<(f64, f64)> = windows
            .list
            .iter()
            .zip(references)
            .filter(|(w, _)| (w.entry, w.generation) == (entry, generation))
            .map(|(w, x)| (*x, w.value))
            .collect();
        if own.is_empty() {
            continue;
        }
        let n = own.len() as f64;
        let (x, y) = own.iter().fold((0.0, 0.0), |sum, own| (sum.0 + own.0 / n, sum.1 + own.1 / n));
        let (xx_before, xy_before) = (xx, xy);
        for (own_x, own_y) in &own {
            xx += (own_x - x).powi(2);
            xy += (own_x - x) * (own_y - y);
            yy += (own_y - y).powi(2);
        }
        sums.push((xx - xx_before, xy - xy_before));
        count += own.len();
        centres.push(x);
    }
    let freedom = count.checked_sub(centres.len() + 1).filter(|free| *free >= LEAST_FREEDOM)?;
    if xx <= STILL * freedom as f64 {
        return None;
    }
    let slope = xy / xx;
    let rest = (yy - slope * xy).max(0.0) / freedom as f64;
    let distance = (mean(&centres) - baseline).powi(2);
    let scores = sums.iter().map(|(own_xx, own_xy)| (own_xy - slope * own_xx).powi(2));
    let n = sums.len() as f64;
    let by_process = scores.sum::<f64>() * n / (n - 1.0).max(1.0) / xx.powi(2);
    Some(Slope { slope, variance: rest * distance / xx, by_process: by_process * distance })
}
