//! Error levels of interim analyses of a run.

/// The error level of one analysis of a run. Together, all analyses of the run stay below `family`.
///
/// `done_before` and `done` are the fractions, 0 to 1, of the longest possible run that were done at the previous analysis (0 for
/// the first) and are done now. At fraction `t`, `family x t³` is spent in total. Each analysis gets the increase since the
/// previous one, so early analyses are strict and the last one gets most of the error. Analysis times need not be planned, as
/// long as they do not depend on findings (K. K. G. Lan and D. L. DeMets, *Discrete Sequential Boundaries for Clinical Trials*,
/// Biometrika 70, 1983; the power family is K. Kim and DeMets', Biometrika 74, 1987). The confidence of an analysis is 1 minus
/// its level.
pub fn analysis_level(family: f64, done_before: f64, done: f64) -> f64 {
    let spent = |part: f64| family * part.clamp(0.0, 1.0).powi(3);
    (spent(done) - spent(done_before)).max(0.0)
}
