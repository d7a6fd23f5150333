//! Findings about entries and pairs of entries.

/// A confidence interval in the unit of its figure. `low <= high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The estimate of an entry in the unit of the observations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Geometric mean in which outlying windows count less.
    pub mean: f64,
    /// The entry's own 95 % interval. It includes effects shared by all entries, so two of these say little about a pair.
    /// `None` with fewer than two rounds.
    pub range: Option<Range>,
    /// The comparison interval: the half-widths of two entries add up to about the half-width of their pair's interval. Two
    /// entries differ if their comparison intervals do not overlap, as well as single intervals can show that for all pairs (H.
    /// Goldstein and M. Healy, *The Graphical Presentation of a Collection of Means*, Journal of the Royal Statistical Society A
    /// 158, 1995). `None` if a pair has no interval.
    pub comparison: Option<Range>,
    /// Geometric mean in which outlying windows count in full.
    pub raw: f64,
    /// True if outlying windows would change the mean by more than a detectable difference if they counted in full.
    pub stalls_decide: bool,
    /// Processes observed.
    pub processes: usize,
    /// Windows observed.
    pub windows: usize,
}

/// The comparison of two entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The first entry's mean divided by the second's.
    pub ratio: f64,
    /// Interval of the ratio. The intervals of all pairs hold simultaneously. `None` if the noise is unknown.
    pub range: Option<Range>,
    /// The conclusion.
    pub finding: Finding,
}

impl Pair {
    /// Builds the pair from the difference of the logarithms of two means, the half-width of its interval, and the half-width of
    /// the interval for equality.
    pub(super) fn of(
        difference: f64,
        half: Option<f64>,
        half_equal: Option<f64>,
        precision: f64,
    ) -> Self {
        let size = difference.abs();
        let apart = half.is_some_and(|half| size > half);
        let equal = half_equal.is_some_and(|half| size + half < precision.ln_1p());
        let end = |half: f64| (difference + half).exp();
        Self {
            ratio: difference.exp(),
            range: half.map(|half| Range { low: end(-half), high: end(half) }),
            finding: Finding::new(apart, equal, difference > 0.0),
        }
    }

    /// The same comparison with both entries swapped.
    pub(super) fn turned(self) -> Self {
        let turned = |range: Range| Range { low: 1.0 / range.high, high: 1.0 / range.low };
        Self {
            ratio: 1.0 / self.ratio,
            range: self.range.map(turned),
            finding: self.finding.turned(),
        }
    }
}

/// The conclusion about two entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Certainly faster, possibly by more than the precision.
    Faster,
    /// Certainly faster, and certainly by less than the precision.
    SlightlyFaster,
    /// Equal within the precision; unclear which is faster.
    Equal,
    /// Certainly slower, and certainly by less than the precision.
    SlightlySlower,
    /// Certainly slower, possibly by more than the precision.
    Slower,
    /// Undecided: neither different nor equal within the precision.
    Open,
}

impl Finding {
    /// True if the first entry is certainly faster, by any amount.
    pub fn is_faster(self) -> bool {
        matches!(self, Self::Faster | Self::SlightlyFaster)
    }

    /// True if the first entry is certainly slower, by any amount.
    pub fn is_slower(self) -> bool {
        matches!(self, Self::Slower | Self::SlightlySlower)
    }

    /// True if one entry is certainly faster, by any amount.
    pub fn is_difference(self) -> bool {
        self.is_faster() || self.is_slower()
    }

    /// True if the entries certainly differ by less than the precision.
    pub fn is_equal(self) -> bool {
        matches!(self, Self::SlightlyFaster | Self::Equal | Self::SlightlySlower)
    }

    fn turned(self) -> Self {
        match self {
            Self::Faster => Self::Slower,
            Self::SlightlyFaster => Self::SlightlySlower,
            Self::SlightlySlower => Self::SlightlyFaster,
            Self::Slower => Self::Faster,
            Self::Equal | Self::Open => self,
        }
    }

    /// The finding about two entries that certainly differ or not, and are certainly equal within the precision or not.
    pub fn new(is_apart: bool, is_equal: bool, is_faster: bool) -> Self {
        match (is_apart, is_equal, is_faster) {
            (false, false, _) => Self::Open,
            (false, true, _) => Self::Equal,
            (true, false, true) => Self::Faster,
            (true, true, true) => Self::SlightlyFaster,
            (true, true, false) => Self::SlightlySlower,
            (true, false, false) => Self::Slower,
        }
    }
}

/// The possible ranks of an entry. `best <= worst`; both are equal if nothing is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankRange {
    /// Best, from 1.
    pub best: usize,
    /// Worst, at most the number of entries observed.
    pub worst: usize,
}

/// The components of the noise: standard deviations of logarithms, so 0.05 is about 5 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Between the windows of one process, as measured.
    pub windows: f64,
    /// The same, excluding effects shared by all windows of a round.
    pub in_rounds: f64,
    /// Between processes, beyond what their windows explain. With few processes it is mostly the prior; with one of each entry, it is
    /// assumed.
    pub processes: f64,
    /// The same as expected with more processes: then nothing is assumed any more.
    pub more_processes: f64,
}
