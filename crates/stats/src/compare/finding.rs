//! What is found about an entry and about two of them.

/// Ends of a confidence interval, in the unit of what it is about. `low <= high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// How fast an entry is, in the unit of the observations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Geometric mean, adjusted by the machine reference where [`Adjustment`](super::Adjustment) says so.
    pub mean: f64,
    /// The entry's own 95 % interval around it. It includes what all entries share, so two of these say little
    /// about a pair. `None` with one process.
    pub range: Option<Range>,
    /// The interval by which it is read beside the others, as wide as that of its usual pair's ratio and half as far to either
    /// side: where two of these do not overlap, the entries are told apart, if all pairs are known equally well (H.
    /// Goldstein and M. Healy, *The Graphical Presentation of a Collection of Means*, Journal of the Royal Statistical
    /// Society A 158, 1995). `None` where no pair of it has an interval.
    pub comparison: Option<Range>,
    /// Geometric mean of what was measured, without adjustment.
    pub raw: f64,
    /// Robust mean, adjusted like the mean: windows far from the others count less.
    pub robust: f64,
    /// Whether mean and robust mean differ by more than a pair must to be told apart: then a few windows, far from the
    /// others, decide.
    pub stalls_decide: bool,
    /// Change of the figure with the machine reference: relative change for each relative change. `None` unadjusted.
    pub slope: Option<f64>,
    /// Processes observed.
    pub processes: usize,
    /// Windows observed.
    pub windows: usize,
}

/// How fast one entry is beside another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The first's mean over the second's.
    pub ratio: f64,
    /// Interval of the ratio; all pairs' intervals hold at once. `None` where there is no second process.
    pub range: Option<Range>,
    /// What follows.
    pub finding: Finding,
}

impl Pair {
    /// From the difference of the logarithms of two means, with half of its interval, and half of that by which equality is
    /// judged.
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

    /// The same, of the second entry beside the first.
    pub(super) fn turned(self) -> Self {
        let turned = |range: Range| Range { low: 1.0 / range.high, high: 1.0 / range.low };
        Self {
            ratio: 1.0 / self.ratio,
            range: self.range.map(turned),
            finding: self.finding.turned(),
        }
    }
}

/// How an entry stands to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Surely faster, perhaps by more than the precision.
    Faster,
    /// Surely faster, and surely by less than the precision.
    SlightlyFaster,
    /// Equal within the precision; which of them is faster can't be told.
    Equal,
    /// Surely slower, and surely by less than the precision.
    SlightlySlower,
    /// Surely slower, perhaps by more than the precision.
    Slower,
    /// Neither told apart nor equal within the precision.
    Open,
}

impl Finding {
    /// Whether the first is surely faster, by however little.
    #[must_use]
    pub fn is_faster(self) -> bool {
        matches!(self, Self::Faster | Self::SlightlyFaster)
    }

    /// Whether the first is surely slower, by however little.
    #[must_use]
    pub fn is_slower(self) -> bool {
        matches!(self, Self::Slower | Self::SlightlySlower)
    }

    /// Whether one is surely faster, by however little.
    #[must_use]
    pub fn is_difference(self) -> bool {
        self.is_faster() || self.is_slower()
    }

    /// Whether they surely differ by less than the precision.
    #[must_use]
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

    fn new(is_apart: bool, is_equal: bool, is_faster: bool) -> Self {
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

/// The places that an entry can have. `best <= worst`; they are the same where nothing is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Best, from 1.
    pub best: usize,
    /// Worst, at most the number of entries observed.
    pub worst: usize,
}

/// What the noise consists of: standard deviations of logarithms, so 0.05 is about 5 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Of the windows of one process, as measured.
    pub windows: f64,
    /// Of those, without what all windows of a round share.
    pub in_rounds: f64,
    /// Of those, adjusted by the machine reference too. The same where nothing was adjusted.
    pub adjusted: f64,
    /// Between processes, beyond what their windows explain. `None` with one process.
    pub processes: Option<f64>,
}
