//! Decides when an attempt at a rate has enough windows, and its verdict.
//!
//! A window that can't be used as evidence (the client had no CPU left, calls failed, the server did not keep up) is a **fault**
//! and has no value; every other window gives a value of the figure. A late generator is a fault if the figure exceeds its limit.
//! Otherwise the window counts, since response times start when calls are due: lateness only makes them longer. In this order:
//!
//! - [`CONFIRM`] faults: not met, for the reason of the last one;
//! - [`CONFIRM`] windows in which no call came due: not met, since more windows would not help;
//! - [`CONFIRM`] values of at least [`CLEAR`] times the limit: not met;
//! - a first window without fault whose value is at most the limit divided by [`CLEAR`]: met. Disturbances make calls slower,
//!   never faster, so a single window is enough for this side but not for the other;
//! - the Student interval of the values' mean is entirely on one side of the limit: met, or not met. Response times vary by
//!   factors, so their logarithms are compared, which are symmetrical. The interval is computed after each window from the
//!   second on, at confidence [`WINDOW_CONFIDENCE`], so that all of them together err in at most 5 % (Bonferroni);
//! - [`WINDOWS`] windows: not met, since the rate may be too high.

use rpcbench_record::{Figure, Measured, NotMet, StepVerdict, Threshold};
use rpcbench_stats::mean_interval_at;

/// Maximum windows of an attempt at a rate.
pub const WINDOWS: usize = 8;
/// Windows that must agree before a rate fails without an interval, since one may be a fluke.
pub const CONFIRM: usize = 2;
/// A value this many times above or below the limit needs no interval.
pub const CLEAR: f64 = 2.0;
/// Share of calls that may fail in a window, unless the threshold limits errors.
pub const ERRORS: f64 = 0.01;
/// Up to this many calls may be chance, no matter the share: of 30 calls that are each late with a probability of 1 %, two or
/// more are late in one window of 28, three or more in one of 300.
pub const FEW: u64 = 2;
/// Confidence of the interval after each window.
const WINDOW_CONFIDENCE: f64 = 1.0 - 0.05 / (WINDOWS - 1) as f64;

/// The verdict of an attempt with these windows. `None` if another window is needed.
pub(super) fn verdict(threshold: Threshold, windows: &[Measured]) -> Option<StepVerdict> {
    let (mut faults, mut values) = (Vec::new(), Vec::new());
    for window in windows {
        match fault(threshold, window) {
            Some(fault) => faults.push(fault),
            None => values.extend(threshold.figure().of(window)),
        }
    }
    if let (Some(last), true) = (faults.last(), faults.len() >= CONFIRM) {
        return Some(StepVerdict::NotMet(*last));
    }
    if windows.iter().filter(|window| window.outcomes.total() == 0).count() >= CONFIRM {
        return Some(StepVerdict::NotMet(NotMet::Unclear));
    }
    let limit = threshold.limit();
    if values.iter().filter(|value| **value >= limit * CLEAR).count() >= CONFIRM {
        return Some(StepVerdict::NotMet(NotMet::Beyond));
    }
    if let ([_], [value]) = (windows, values.as_slice())
        && *value <= limit / CLEAR
    {
        return Some(StepVerdict::Met);
    }
    // A share may be 0, so it is not compared on a log scale.
    let scale = if threshold.figure().is_time() { f64::ln } else { |value| value };
    let scaled: Vec<f64> = values.into_iter().map(scale).collect();
    match mean_interval_at(&scaled, WINDOW_CONFIDENCE) {
        Some(interval) if interval.high < scale(limit) => Some(StepVerdict::Met),
        Some(interval) if interval.low > scale(limit) => Some(StepVerdict::NotMet(NotMet::Beyond)),
        _ if windows.len() >= WINDOWS => Some(StepVerdict::NotMet(NotMet::Unclear)),
        _ => None,
    }
}

fn fault(threshold: Threshold, window: &Measured) -> Option<NotMet> {
    let outcomes = &window.outcomes;
    let too_many =
        |calls: u64| calls > FEW && calls as f64 > ERRORS * outcomes.total().max(1) as f64;
    let late = window.pacing.is_some_and(|pacing| pacing.generator_late() && pacing.late > FEW);
    let holds = threshold.holds(window) == Some(true);
    let (overloaded, failing) = (
        window.kept_up() == Some(false) || too_many(outcomes.not_sent),
        threshold.figure() != Figure::Errors && too_many(outcomes.errors()),
    );
    if late && (!holds || overloaded || failing) {
        return Some(NotMet::GeneratorLate);
    }
    if window.client_saturated() {
        return Some(NotMet::ClientBound);
    }
    if overloaded {
        return Some(NotMet::Overloaded);
    }
    failing.then_some(NotMet::Failing)
}
