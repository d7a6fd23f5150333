//! Looking at a run before its end, without looking until something shows.

/// The error level of one look at a run, such that all looks together stay below `family`.
///
/// `done_before` and `done` are the parts of the longest possible run, 0 to 1, that were done at the look before
/// (0 for the first) and are done now. At part `t`, `family x t²` is spent in all: a look gets what has
/// been added since the one before, so that early looks ask for much and the last one has most of it. The
/// times need not be planned, as long as no finding decides when the next one is (K. K. G. Lan and D. L.
/// DeMets, *Discrete Sequential Boundaries for Clinical Trials*, Biometrika 70, 1983; the power family is
/// K. Kim and DeMets', Biometrika 74, 1987). The confidence of a look is 1 less its level.
#[must_use]
pub fn look_level(family: f64, done_before: f64, done: f64) -> f64 {
    let spent = |part: f64| family * part.clamp(0.0, 1.0).powi(2);
    (spent(done) - spent(done_before)).max(0.0)
}
