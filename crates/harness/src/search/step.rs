//! When a rate's windows are enough, and what they say.
//!
//! A window that says nothing about the server's figure (the generator was late, calls failed, the server did
//! not keep up) is a **fault** and gives no value; every other one gives the figure's value. In this order:
//!
//! - [`CONFIRM`] faults: not met, for the reason of the last one;
//! - [`CONFIRM`] values of [`CLEAR`] times the limit or more: not met;
//! - a first window without fault, at the limit divided by [`CLEAR`] or less: met. What disturbs a
//!   machine makes calls slower and not faster, so one such window is enough for this side and not for the other;
//! - the 95 % Student interval of the values' mean lies wholly on one side of the limit: met, or not met;
//! - [`WINDOWS`] windows: not met, since a rate that may be too high is not promised.

use rpcbench_record::{Figure, Measured, NotMet, StepVerdict, Threshold};
use rpcbench_stats::mean_interval;

/// Windows that a rate has at the most.
pub const WINDOWS: usize = 6;
/// Windows that must agree before a rate is given up without an interval: one may be an accident.
pub const CONFIRM: usize = 2;
/// Factor to the limit from which no interval is needed.
pub const CLEAR: f64 = 2.0;
/// Share of calls that may fail in a window, unless errors are what is limited.
pub const ERRORS: f64 = 0.01;

/// What the windows of one rate say. `None`: one more is needed.
pub(super) fn verdict(threshold: Threshold, windows: &[Measured]) -> Option<StepVerdict> {
    let (mut faults, mut values) = (Vec::new(), Vec::new());
    for window in windows {
        match fault(threshold.figure(), window) {
            Some(fault) => faults.push(fault),
            None => values.extend(threshold.figure().of(window)),
        }
    }
    if let (Some(last), true) = (faults.last(), faults.len() >= CONFIRM) {
        return Some(StepVerdict::NotMet(*last));
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
    match mean_interval(&values) {
        Some(interval) if interval.high < limit => Some(StepVerdict::Met),
        Some(interval) if interval.low > limit => Some(StepVerdict::NotMet(NotMet::Beyond)),
        _ if windows.len() >= WINDOWS => Some(StepVerdict::NotMet(NotMet::Unclear)),
        _ => None,
    }
}

fn fault(figure: Figure, window: &Measured) -> Option<NotMet> {
    let outcomes = &window.outcomes;
    let share = |calls: u64| calls as f64 / outcomes.total().max(1) as f64;
    if window.pacing.is_some_and(|pacing| pacing.generator_late()) {
        return Some(NotMet::GeneratorLate);
    }
    if window.kept_up() == Some(false) || share(outcomes.not_sent) > ERRORS {
        return Some(NotMet::Overloaded);
    }
    (figure != Figure::Errors && share(outcomes.errors()) > ERRORS).then_some(NotMet::Failing)
}
