//! Decides when the windows of one attempt at a rate are enough, and their verdict.
//!
//! A window that is no evidence about the figure (the client had no CPU left, calls failed, the server did not keep up) is a
//! **fault** without a value; every other one gives the figure's value. A late generator is a fault if the figure is beyond its
//! limit. Within it the window counts, since response times start when calls are due: lateness makes them longer, never
//! shorter. In this order:
//!
//! - [`CONFIRM`] faults: not met, for the reason of the last one;
//! - [`CONFIRM`] windows in which no call came due: not met, as more of them would not help;
//! - [`CONFIRM`] values of [`CLEAR`] times the limit or more: not met;
//! - a first window without fault, at the limit divided by [`CLEAR`] or less: met. Disturbances make calls slower, never
//!   faster, so one such window is enough for this side but not for the other;
//! - the Student interval of the mean of the values' logarithms lies wholly on one side of the limit's: met, or not met.
//!   Response times vary by factors, so their logarithms are symmetrical. The interval is computed after each window from
//!   the second on, with the confidence [`EACH_LOOK`]: all of them together err in at most 5 % (Bonferroni);
//! - [`WINDOWS`] windows: not met, since the rate may be too high.

use rpcbench_record::{Figure, Measured, NotMet, StepVerdict, Threshold};
use rpcbench_stats::mean_interval_at;

/// Maximum windows of an attempt at a rate.
pub const WINDOWS: usize = 8;
/// Windows that must agree before a rate fails without an interval: one may be an accident.
pub const CONFIRM: usize = 2;
/// Factor to the limit from which no interval is needed.
pub const CLEAR: f64 = 2.0;
/// Share of calls that may fail in a window, unless the threshold limits errors.
pub const ERRORS: f64 = 0.01;
/// So few calls may be chance at any share: of 30 calls that are late with a probability of 1 %, two or more are late in one
/// window of 28, three or more in one of 300.
pub const FEW: u64 = 2;
/// Confidence of the interval after each window.
const EACH_LOOK: f64 = 1.0 - 0.05 / (WINDOWS - 1) as f64;

/// The verdict of the windows of one attempt. `None`: one more is needed.
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
    // A share may be 0, and moves by differences.
    let scale = if threshold.figure().is_time() { f64::ln } else { |value| value };
    let scaled: Vec<f64> = values.into_iter().map(scale).collect();
    match mean_interval_at(&scaled, EACH_LOOK) {
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
