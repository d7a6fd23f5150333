//! One entry in two runs.
//!
//! Runs share no rounds, so nothing that the machine did in one of them cancels: the error of each mean is the one with
//! all that the entries of its run share, as processes of different times show it (B. L. Welch, *The Generalization of
//! "Student's" Problem When Several Different Population Variances Are Involved*, Biometrika 34, 1947). What changed
//! from one run to the next and stood still within each is known from the machine reference alone.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::model::{Model, OwnError};
use super::reference::{self, Adjusted};
use super::windows::Windows;
use super::{Observation, Pair, Question, Unadjusted};

/// An entry in a new run beside itself in an old one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Geometric mean in the old run, adjusted like [`Self::pair`].
    pub old: f64,
    /// Geometric mean in the new run.
    pub new: f64,
    /// The new mean over the old one. Its range has the question's confidence by itself.
    pub pair: Pair,
}

/// What two runs say of the same entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes {
    /// One for each pair of entries. `None` where one of them has no observations.
    pub list: Vec<Option<Change>>,
    /// What the machine reference showed in the new run over what it showed in the old one. `None` where a run
    /// lacks it.
    pub reference: Option<f64>,
    /// Why figures are not adjusted by it. `None`: they are, to the state in the middle of both. Else all ranges are
    /// wider by the whole of that ratio, as a server may feel all of it or nothing.
    pub unadjusted: Option<Unadjusted>,
}

/// Compares entries of two runs, each with the number it has in `old` and in `new`. Observations with a value that is not
/// finite and above 0 are left out.
#[must_use]
pub fn between_runs(
    old: &[Observation],
    new: &[Observation],
    entries: &[(usize, usize)],
    question: &Question,
) -> Changes {
    let (old, new) = (windows(old), windows(new));
    let states = reference::usual(&old).zip(reference::usual(&new));
    let between = states.map(|(old, new)| f64::midpoint(old, new).exp());
    let baseline = question.baseline.or(between);
    let both = reference::adjust(&old, baseline)
        .and_then(|(_, old)| Ok((old, reference::adjust(&new, baseline)?.1)));
    let (values, unadjusted) = match both {
        Ok(values) => (values, None),
        Err(why) => ((reference::unadjusted(&old), reference::unadjusted(&new)), Some(why)),
    };
    let (old, new) = (Means::of(&old, values.0), Means::of(&new, values.1));
    let moved = states.map_or(0.0, |(old, new)| new - old);
    let unknown = if unadjusted.is_some() { moved.abs() } else { 0.0 };
    let change =
        |(a, b): &(usize, usize)| Some(change(old.entry(*a)?, new.entry(*b)?, question, unknown));
    Changes {
        list: entries.iter().map(change).collect(),
        reference: states.map(|_| moved.exp()),
        unadjusted,
    }
}

fn windows(observations: &[Observation]) -> Windows {
    let entries = observations.iter().map(|it| it.entry + 1).max().unwrap_or_default();
    Windows::new(observations, entries)
}

/// Means of the entries of a run, as logarithms, by the caller's numbers.
struct Means(Vec<(usize, (f64, Option<OwnError>))>);

impl Means {
    fn of(windows: &Windows, values: Adjusted) -> Self {
        let means = Model::fit(windows, values).means();
        Self(windows.present.iter().copied().zip(means).collect())
    }

    fn entry(&self, number: usize) -> Option<(f64, Option<OwnError>)> {
        self.0.iter().find(|(own, _)| *own == number).map(|(_, mean)| *mean)
    }
}

/// `unknown` is what the machine may have done to the difference, as a logarithm: nobody can tell how much of it.
fn change(
    (old, old_error): (f64, Option<OwnError>),
    (new, new_error): (f64, Option<OwnError>),
    question: &Question,
    unknown: f64,
) -> Change {
    let tail = 1.0 - question.confidence;
    let known = old_error.zip(new_error).map(|(old, new)| error_of_difference(old, new));
    let half = |tail: f64| {
        let OwnError { variance, freedom } = known?;
        let students = StudentsT::new(0.0, 1.0, freedom).ok()?;
        Some(students.inverse_cdf(1.0 - tail) * variance.sqrt() + unknown)
    };
    let pair = Pair::of(new - old, half(tail / 2.0), half(tail), question.precision);
    Change { old: old.exp(), new: new.exp(), pair }
}

/// By F. E. Satterthwaite, for two errors that are known apart.
fn error_of_difference(a: OwnError, b: OwnError) -> OwnError {
    let variance = a.variance + b.variance;
    let unknown = a.variance.powi(2) / a.freedom + b.variance.powi(2) / b.freedom;
    let freedom = if unknown > 0.0 { variance.powi(2) / unknown } else { a.freedom + b.freedom };
    OwnError { variance, freedom }
}
