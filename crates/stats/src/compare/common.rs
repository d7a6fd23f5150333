//! The change common to all entries of two runs.

use super::between::Both;
use super::own::OwnError;
use crate::{DEVIATION_PER_MAD, median};

/// Minimum entries to attribute a common change to the machine.
const ENOUGH: usize = 4;
/// Variance of a median divided by that of a mean, for many normal values.
const MEDIAN_VARIANCE_RATIO: f64 = std::f64::consts::FRAC_PI_2;

/// A change common to all entries.
pub(super) struct Common {
    /// New minus old, as a logarithm: the median of the entries.
    pub shift: f64,
    /// Error of the shift when applied to an entry: how far unchanged entries differ from it beyond their own errors, as they
    /// react differently to the machine, plus the shift's own error.
    pub error: OwnError,
}

impl Common {
    /// `None` if too few entries have an error.
    pub fn of<'a>(entries: impl Iterator<Item = &'a Both>) -> Option<Self> {
        let known: Vec<(f64, f64)> =
            entries.filter_map(|both| Some((both.difference(), both.apart()?.variance))).collect();
        if known.len() < ENOUGH {
            return None;
        }
        let entries = known.len() as f64;
        let shift = median(known.iter().map(|(difference, _)| *difference).collect())?;
        let distance = median(known.iter().map(|(it, _)| (it - shift).abs()).collect())?;
        // The median distance is biased low for few values (C. Croux and P. Rousseeuw, *Time-Efficient Algorithms for Two Highly
        // Robust Estimators of Scale*, COMPSTAT 1992).
        let seen = (DEVIATION_PER_MAD * distance * entries / (entries - 0.8)).powi(2);
        let usual = median(known.iter().map(|(_, variance)| *variance).collect())?;
        let scatter = (seen - usual).max(0.0);
        let variance = scatter + MEDIAN_VARIANCE_RATIO * (usual + scatter) / entries;
        Some(Self { shift, error: OwnError { variance, freedom: entries - 1.0 } })
    }
}
