//! Entries in two runs.
//!
//! Runs share no rounds. What the machine did from one to the next, and all entries felt, cancels where there are enough
//! entries to tell it: the run takes the place of the round, and the median change that of its mean, since some
//! entries did change. With fewer, the error of each mean is the one with all that the entries of its run share (B. L.
//! Welch, *The Generalization of "Student's" Problem When Several Different Population Variances Are Involved*,
//! Biometrika 34, 1947), and what changed between the runs is known from the machine reference alone.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::common::Common;
use super::model::{Mean, Model};
use super::own::OwnError;
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
    /// The median change, new over old, which is taken out of all means. `None` where there are too few entries to tell it.
    pub common: Option<f64>,
    /// What the machine reference showed in the new run over what it showed in the old one. `None` where a run
    /// lacks it.
    pub reference: Option<f64>,
    /// Why figures are not adjusted by it. `None`: they are, to the state in the middle of both. Else all ranges are
    /// wider by the whole of that ratio, as a server may feel all of it or nothing, but where the common change has it.
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
    let both = |(a, b): &(usize, usize)| Some(Both { old: old.entry(*a)?, new: new.entry(*b)? });
    let both: Vec<Option<Both>> = entries.iter().map(both).collect();
    let common = Common::of(both.iter().flatten());
    // Nobody can tell how much of it an entry felt.
    let unknown = if unadjusted.is_some() { moved.abs() } else { 0.0 };
    let change = |both: &Both| match &common {
        Some(common) => both.change_beside(common, question),
        None => both.change(0.0, both.own().map(|own| (own, unknown)), question),
    };
    Changes {
        list: both.iter().map(|both| both.as_ref().map(change)).collect(),
        common: common.map(|common| common.shift.exp()),
        reference: states.map(|_| moved.exp()),
        unadjusted,
    }
}

fn windows(observations: &[Observation]) -> Windows {
    let entries = observations.iter().map(|it| it.entry + 1).max().unwrap_or_default();
    Windows::new(observations, entries)
}

/// Means of the entries of a run, by the caller's numbers.
struct Means(Vec<(usize, Mean)>);

impl Means {
    fn of(windows: &Windows, values: Adjusted) -> Self {
        let means = Model::fit(windows, values).means();
        Self(windows.present.iter().copied().zip(means).collect())
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
    /// Of the logarithms, new less old.
    pub fn difference(&self) -> f64 {
        self.new.value - self.old.value
    }

    /// The difference's error without what the entries of a run share.
    pub fn apart(&self) -> Option<OwnError> {
        Some(self.old.apart?.with(self.new.apart?))
    }

    /// The difference's error with all of it.
    fn own(&self) -> Option<OwnError> {
        Some(self.old.own?.with(self.new.own?))
    }

    fn change_beside(&self, common: &Common, question: &Question) -> Change {
        let error = self.apart().map(|apart| (apart.with(common.error), 0.0));
        self.change(common.shift, error, question)
    }

    /// The change beyond `shift`, half of which is taken out of either mean. The error has a part that is estimated, and one by
    /// which it may be wrong at the most.
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
