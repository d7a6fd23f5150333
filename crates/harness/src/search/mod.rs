//! Searching for the highest rate under which a threshold holds, and sweeping over loads.
//!
//! A [`Search`] says at which rate the next window is to be, and is told the window. It has no clock and does
//! no I/O.
//!
//! 1. **Exponential.** The first rate decides the direction: doubled as long as the threshold holds, or halved
//!    until it does, at most [`DOUBLINGS`] times. That brackets the limit.
//! 2. **Bisection.** The middle of the bracket takes the place of one of its ends, until the lowest rate that
//!    did not meet the threshold is within the precision ([`PRECISION`]) of the highest that did.
//!
//! Each rate is measured in as many windows as it takes to tell; see `step.rs` for when that is.

mod arrivals;
mod error;
mod step;
mod sweep;
#[cfg(test)]
mod tests;

use rpcbench_record::{Measured, PerSecond, Search as Record, SearchStep, StepVerdict, Threshold};

pub use arrivals::at_rate;
pub use error::{SearchError, SweepError};
pub use step::{CLEAR, CONFIRM, ERRORS, WINDOWS};
pub use sweep::Sweep;

/// How close a rate that met the threshold and one that did not come, relative to the first.
pub const PRECISION: f64 = 0.05;
/// How often the first rate is doubled, or halved, before the search gives up: a factor of 4,096.
pub const DOUBLINGS: u32 = 12;
/// The finest precision: what a rate's own resolution allows with room to spare.
const FINEST: f64 = 0.001;

/// A search on its way.
#[derive(Clone, Debug)]
pub struct Search {
    record: Record,
    first: PerSecond,
    /// Where the next window is to be. `None`: the search is over.
    rate: Option<PerSecond>,
    /// Windows at that rate.
    windows: Vec<Measured>,
}

impl Search {
    /// A search that begins at the rate `first` and ends at `precision`, a share such as [`PRECISION`].
    /// With a capacity that is known, half of it is a good first rate.
    ///
    /// # Errors
    /// A threshold that more load can't break, or a precision below 0.1 % or above 100 %.
    pub fn new(
        threshold: Threshold,
        first: PerSecond,
        precision: f64,
    ) -> Result<Self, SearchError> {
        Self::check(threshold)?;
        if !(FINEST..=1.0).contains(&precision) {
            return Err(SearchError::Precision(precision));
        }
        let record = Record { threshold, precision, steps: Vec::new() };
        Ok(Self { record, first, rate: Some(first), windows: Vec::new() })
    }

    /// Whether a highest rate can be searched for.
    ///
    /// # Errors
    /// A threshold that more load can't break.
    pub fn check(threshold: Threshold) -> Result<(), SearchError> {
        if threshold.bounds_load() { Ok(()) } else { Err(SearchError::Unbounded(threshold)) }
    }

    /// The rate of the next window. `None`: the search is over.
    #[must_use]
    pub fn rate(&self) -> Option<PerSecond> {
        self.rate
    }

    /// Takes the window that was measured at [`Self::rate`]. The verdict, if that rate has one now. Does nothing
    /// once the search is over.
    pub fn tell(&mut self, window: Measured) -> Option<StepVerdict> {
        let rate = self.rate?;
        self.windows.push(window);
        let verdict = step::verdict(self.record.threshold, &self.windows)?;
        let windows = std::mem::take(&mut self.windows);
        self.record.steps.push(SearchStep { rate, windows, verdict });
        self.rate = self.next();
        Some(verdict)
    }

    /// The rates that have their verdict, and with them the result as it stands.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The search as it went. Windows of a rate without a verdict are left out.
    #[must_use]
    pub fn into_record(self) -> Record {
        self.record
    }

    fn next(&self) -> Option<PerSecond> {
        let met = self.record.met().map(|step| step.rate.get());
        let unmet = self.record.unmet().map(|step| step.rate.get());
        let reach = f64::from(1_u32 << DOUBLINGS) * 1.000_1;
        let within = |rate: &f64| (1.0 / reach..=reach).contains(&(rate / self.first.get()));
        match (met, unmet) {
            (None, None) => Some(self.first),
            (Some(met), None) => Some(met * 2.0).filter(within).and_then(PerSecond::new),
            (None, Some(unmet)) => Some(unmet / 2.0).filter(within).and_then(PerSecond::new),
            (Some(met), Some(unmet)) => middle(met, unmet, self.record.precision),
        }
    }
}

/// The middle of a bracket, a whole number where there is one in it. `None` where the bracket is narrow enough.
fn middle(met: f64, unmet: f64, precision: f64) -> Option<PerSecond> {
    if unmet <= met * (1.0 + precision) {
        return None;
    }
    let middle = f64::midpoint(met, unmet);
    let inside = |rate: &PerSecond| met < rate.get() && rate.get() < unmet;
    let whole = PerSecond::new(middle.round()).filter(inside);
    whole.or_else(|| PerSecond::new(middle).filter(inside))
}
