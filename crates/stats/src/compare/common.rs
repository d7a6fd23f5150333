//! What all entries of two runs did alike.

use super::between::Both;
use super::own::OwnError;
use crate::median;

/// Entries from which on their median change is what the machine did: fewer may well have changed alike by themselves.
const ENOUGH: usize = 4;
/// Standard deviation of normal values over the median of their distances from their median.
const NORMAL: f64 = 1.4826;
/// Variance of a median over that of a mean, of many normal values.
const OF_MEDIAN: f64 = std::f64::consts::FRAC_PI_2;

/// A change that is everybody's.
pub(super) struct Common {
    /// New less old, as a logarithm: the median of the entries.
    pub shift: f64,
    /// What it may be wrong by for an entry: how far entries that did not change differ from it, beyond their own errors,
    /// since they feel the machine differently; and its own error.
    pub error: OwnError,
}

impl Common {
    /// `None` where too few have an error.
    pub fn of<'a>(entries: impl Iterator<Item = &'a Both>) -> Option<Self> {
        let known: Vec<(f64, f64)> =
            entries.filter_map(|both| Some((both.difference(), both.apart()?.variance))).collect();
        if known.len() < ENOUGH {
            return None;
        }
        let entries = known.len() as f64;
        let shift = median(known.iter().map(|(difference, _)| *difference).collect())?;
        let distance = median(known.iter().map(|(it, _)| (it - shift).abs()).collect())?;
        // Of few values it is too small (C. Croux and P. Rousseeuw, *Time-Efficient Algorithms for Two Highly Robust
        // Estimators of Scale*, COMPSTAT 1992).
        let seen = (NORMAL * distance * entries / (entries - 0.8)).powi(2);
        let usual = median(known.iter().map(|(_, variance)| *variance).collect())?;
        let scatter = (seen - usual).max(0.0);
        let variance = scatter + OF_MEDIAN * (usual + scatter) / entries;
        Some(Self { shift, error: OwnError { variance, freedom: entries - 1.0 } })
    }
}
