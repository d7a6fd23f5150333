//! Compares entries of two runs.
//!
//! Two runs share no rounds. With enough entries, a change of the machine that affects all entries cancels: each run acts as a
//! round, and its effect is the median change of the entries rather than the mean, as some entries did change. With fewer
//! entries, the error of each mean includes all effects that the entries of its run share (B. L. Welch, *The Generalization of
//! "Student's" Problem When Several Different Population Variances Are Involved*, Biometrika 34, 1947), and only the machine
//! reference shows what changed between the runs.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::common::Common;
use super::model::{Mean, Model};
use super::own::OwnError;
use super::windows::Windows;
use super::{Observation, Pair, Question};

/// The comparison of an entry in two runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Geometric mean in the old run, corrected for the common change like [`Self::pair`].
    pub old: f64,
    /// Geometric mean in the new run, corrected in the same way.
    pub new: f64,
    /// The new mean divided by the old one. Its range has the question's confidence for this entry alone, not for all at once.
    pub pair: Pair,
}

/// The comparison of two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes {
    /// One per pair of entries. `None` if one has no observations.
    pub list: Vec<Option<Change>>,
    /// The median change, new divided by old, which is removed from all means. `None` if there are too few entries.
    pub common: Option<f64>,
    /// The machine reference in the new run divided by that in the old one. `None` if a run lacks it. Without a common change,
    /// all ranges are wider by this ratio, as the machine may affect a server fully or not at all.
    pub reference: Option<f64>,
}

/// Compares entries of two runs. `entries` pairs their numbers in `old` and `new`. Ignores values that are not finite and
/// positive.
pub fn between_runs(
    old: &[Observation],
    new: &[Observation],
    entries: &[(usize, usize)],
    question: &Question,
) -> Changes {
    let (old, new) = (windows(old), windows(new));
    let moved = reference(&old).zip(reference(&new)).map(|(old, new)| new - old);
    let (old, new) = (Means::of(&old), Means::of(&new));
    let both = |(a, b): &(usize, usize)| Some(Both { old: old.entry(*a)?, new: new.entry(*b)? });
    let both: Vec<Option<Both>> = entries.iter().map(both).collect();
    let common = Common::of(both.iter().flatten());
    // How much of the machine's change affected an entry is unknown.
    let unknown = moved.map_or(0.0, f64::abs);
    let change = |both: &Both| match &common {
        Some(common) => both.change_beyond(common, question),
        None => both.change(0.0, both.own().map(|own| (own, unknown)), question),
    };
    Changes {
        list: both.iter().map(|both| both.as_ref().map(change)).collect(),
        common: common.map(|common| common.shift.exp()),
        reference: moved.map(f64::exp),
    }
}

fn windows(observations: &[Observation]) -> Windows {
    let entries = observations.iter().map(|it| it.entry + 1).max().unwrap_or_default();
    Windows::new(observations, entries, true)
}

/// Logarithm of the machine reference's geometric mean over the windows. `None` if a process has no reading.
fn reference(windows: &Windows) -> Option<f64> {
    let of_process = |process: usize| {
        let own = windows.list.iter().filter(|w| w.process == process);
        mean(own.filter_map(|w| w.reference))
    };
    let readings = windows.list.iter().map(|w| w.reference.or_else(|| of_process(w.process)));
    mean(readings.collect::<Option<Vec<f64>>>()?.into_iter())
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// Means of the entries of a run, with the caller's entry numbers.
struct Means(Vec<(usize, Mean)>);

impl Means {
    fn of(windows: &Windows) -> Self {
        Self(windows.present.iter().copied().zip(Model::fit(windows).means()).collect())
    }

    fn entry(&self, number: usize) -> Option<Mean> {
        self.0.iter().find(|(own, _)| *own == number).map(|(_, mean)| *mean)
    }
}

/// An entry's means in both runs.
pub(super) struct Both {
    old: Mean,
    new: Mean,
}

impl Both {
    /// Difference of the logarithms, new minus old.
    pub fn difference(&self) -> f64 {
        self.new.value - self.old.value
    }

    /// Error of the difference, excluding effects shared by the entries of a run.
    pub fn apart(&self) -> Option<OwnError> {
        Some(self.old.apart?.with(self.new.apart?))
    }

    /// Error of the difference, including these effects.
    fn own(&self) -> Option<OwnError> {
        Some(self.old.own?.with(self.new.own?))
    }

    fn change_beyond(&self, common: &Common, question: &Question) -> Change {
        let error = self.apart().map(|apart| (apart.with(common.error), 0.0));
        self.change(common.shift, error, question)
    }

    /// The change beyond `shift`; half of `shift` is removed from each mean. `error` is an estimated error and a bound on the
    /// rest.
    fn change(&self, shift: f64, error: Option<(OwnError, f64)>, question: &Question) -> Change {
        let tail = 1.0 - question.confidence;
        let half = |tail: f64| {
            let (OwnError { variance, freedom }, most) = error?;
            let students = StudentsT::new(0.0, 1.0, freedom).ok()?;
            Some(students.inverse_cdf(1.0 - tail) * variance.sqrt() + most)
        };
        let difference = self.difference() - shift;
        let pair = Pair::of(difference, half(tail / 2.0), half(tail), question.precision);
        let (old, new) = (self.old.value + shift / 2.0, self.new.value - shift / 2.0);
        Change { old: old.exp(), new: new.exp(), pair }
    }
}
