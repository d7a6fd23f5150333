//! Searches for the highest rate at which a threshold holds, and sweeps over loads.
//!
//! A [`Search`] gives the rate of the next window and takes the measurement. It has no clock and does no I/O.
//!
//! 1. **Exponential.** The first rate decides the direction: it is doubled while the threshold holds, or halved until it does, at
//!    most [`DOUBLINGS`] times. That brackets the limit. The search gives up after [`CLIENTS`] rates at which only the client
//!    fell short, since lower rates would reveal nothing about the server either.
//! 2. **Bisection.** The geometric middle of the bracket replaces one of its ends, until the lowest rate that did not meet the
//!    threshold is within the precision ([`PRECISION`]) of the highest that did.
//! 3. **Confirmation.** Either end may be a fluke, so both are measured again. If the two attempts at an end disagree, a third
//!    decides; an end that turns out wrong reopens the bracket. An attempt in which only the client fell short counts only if
//!    there are no others.
//!
//! Each attempt at a rate takes as many windows as it needs; see `step.rs`.

mod step;
mod sweep;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use rpcbench_record::{Measured, PerSecond, Search as Record, SearchStep, StepVerdict, Threshold};

pub use step::{CLEAR, CONFIRM, ERRORS, FEW, WINDOWS};
pub use sweep::Sweep;

/// Target distance between the highest rate that met the threshold and the lowest that did not, relative to the first.
pub const PRECISION: f64 = 0.05;
/// Maximum doublings, or halvings, of the first rate: a factor of 4,096.
pub const DOUBLINGS: u32 = 12;
/// The search gives up after this many rates at which only the client fell short.
pub const CLIENTS: usize = 5;
/// Why some thresholds can't be searched for.
pub(crate) const UNBOUNDED: &str =
    "only a response time or errors below a limit have a highest rate, such as 'p99<10ms'";
/// Minimum precision: well above the resolution of a rate.
const FINEST: f64 = 0.001;

/// A search in progress.
#[derive(Clone, Debug)]
pub struct Search {
    record: Record,
    first: PerSecond,
    /// The rate of the next window. `None` once the search is over.
    rate: Option<PerSecond>,
    /// Windows of the current attempt at that rate.
    windows: Vec<Measured>,
    /// The verdicts of all attempts at each rate, in the order of the steps.
    attempts: Vec<Vec<StepVerdict>>,
}

/// Attempts required at each end of the bracket.
const REQUIRED_ATTEMPTS: usize = 2;
/// Maximum attempts at a rate. A tie then counts as not met.
const MAX_ATTEMPTS: usize = 5;

impl Search {
    /// A search that starts at the rate `first` and stops at `precision`, a share such as [`PRECISION`]. If the capacity is
    /// known, half of it is a good first rate. Fails for a threshold that does not depend on load, and for a precision below 0.1
    /// % or above 100 %.
    pub fn new(threshold: Threshold, first: PerSecond, precision: f64) -> Result<Self, String> {
        if !threshold.bounds_load() {
            return Err(format!("'{threshold}' can't be searched for: {UNBOUNDED}"));
        }
        if !(FINEST..=1.0).contains(&precision) {
            return Err(format!(
                "a precision of {precision} is out of range; give a share from 0.001 to 1, such as 0.05"
            ));
        }
        let record = Record { threshold, precision, steps: Vec::new() };
        Ok(Self { record, first, rate: Some(first), windows: Vec::new(), attempts: Vec::new() })
    }

    /// The rate of the next window. `None` once the search is over.
    pub fn rate(&self) -> Option<PerSecond> {
        self.rate
    }

    /// Takes the window measured at [`Self::rate`]. Returns the step of that rate if the attempt has a verdict now. No-op once
    /// the search is over.
    pub fn add_window(&mut self, window: Measured) -> Option<&SearchStep> {
        let rate = self.rate?;
        self.windows.push(window);
        let verdict = step::verdict(self.record.threshold, &self.windows)?;
        let windows = std::mem::take(&mut self.windows);
        let at = self.record_attempt(rate, windows, verdict);
        self.rate = self.next();
        self.record.steps.get(at)
    }

    /// Records the verdict of an attempt at a rate. Returns the index of its step.
    fn record_attempt(
        &mut self,
        rate: PerSecond,
        windows: Vec<Measured>,
        verdict: StepVerdict,
    ) -> usize {
        let Some(at) = self.record.steps.iter().position(|step| step.rate == rate) else {
            self.record.steps.push(SearchStep { rate, windows, verdict });
            self.attempts.push(vec![verdict]);
            return self.attempts.len() - 1;
        };
        let (step, attempts) = (&mut self.record.steps[at], &mut self.attempts[at]);
        step.windows.extend(windows);
        attempts.push(verdict);
        step.verdict = majority(attempts).unwrap_or(step.verdict);
        at
    }

    /// The rates that have a verdict, and so the result so far.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The result of the search, without windows of a rate that has no verdict.
    pub fn into_record(self) -> Record {
        self.record
    }

    fn next(&self) -> Option<PerSecond> {
        let tie = self.attempts.iter().position(|attempts| majority(attempts).is_none());
        tie.map(|at| self.record.steps[at].rate)
            .or_else(|| self.untried())
            .or_else(|| self.end_to_confirm())
    }

    /// The next untried rate. `None` if the bracket is narrow enough, or its missing end is out of reach.
    fn untried(&self) -> Option<PerSecond> {
        let met = self.record.met().map(|step| step.rate.get());
        let unmet = self.record.unmet().map(|step| step.rate.get());
        let reach = f64::from(1_u32 << DOUBLINGS) * 1.000_1;
        let within = |rate: &f64| (1.0 / reach..=reach).contains(&(rate / self.first.get()));
        match (met, unmet) {
            (None, None) => Some(self.first),
            (Some(met), None) => Some(met * 2.0).filter(within).and_then(PerSecond::new),
            (None, Some(_)) if self.is_clients() => None,
            (None, Some(unmet)) => Some(unmet / 2.0).filter(within).and_then(PerSecond::new),
            (Some(met), Some(unmet)) => middle(met, unmet, self.record.precision),
        }
    }

    /// True if the last [`CLIENTS`] rates say nothing about the server.
    fn is_clients(&self) -> bool {
        let last = self.record.steps.iter().rev().take(CLIENTS);
        let clients = last.filter(|step| step.verdict.is_clients()).count();
        clients == CLIENTS
    }

    fn end_to_confirm(&self) -> Option<PerSecond> {
        let ends = [self.record.met(), self.record.unmet()].into_iter().flatten();
        let mut rates = ends.map(|step| step.rate);
        rates.find(|rate| {
            let steps = self.record.steps.iter().zip(&self.attempts);
            steps
                .into_iter()
                .any(|(step, attempts)| step.rate == *rate && attempts.len() < REQUIRED_ATTEMPTS)
        })
    }
}

/// The verdict of the majority of attempts at a rate. Attempts in which only the client fell short count only if there are no
/// others. If the threshold was not met, the last reason is returned. `None` for a tie that another attempt may break.
fn majority(attempts: &[StepVerdict]) -> Option<StepVerdict> {
    let (clients, servers): (Vec<_>, Vec<_>) =
        attempts.iter().copied().partition(|verdict| verdict.is_clients());
    let counted = if servers.is_empty() { clients } else { servers };
    let (met, unmet): (Vec<_>, Vec<_>) =
        counted.into_iter().partition(|verdict| *verdict == StepVerdict::Met);
    match met.len().cmp(&unmet.len()) {
        Ordering::Greater => Some(StepVerdict::Met),
        Ordering::Less => unmet.last().copied(),
        Ordering::Equal if attempts.len() < MAX_ATTEMPTS => None,
        Ordering::Equal => unmet.last().copied(),
    }
}

/// The geometric middle of a bracket, rounded to a whole number if that fits. `None` if the bracket is narrow enough.
fn middle(met: f64, unmet: f64, precision: f64) -> Option<PerSecond> {
    if unmet <= met * (1.0 + precision) {
        return None;
    }
    let middle = (met * unmet).sqrt();
    let inside = |rate: &PerSecond| met < rate.get() && rate.get() < unmet;
    let whole = PerSecond::new(middle.round()).filter(inside);
    whole.or_else(|| PerSecond::new(middle).filter(inside))
}
