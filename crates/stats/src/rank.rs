//! Places in a table, with honest ties.

use crate::Interval;

/// A place in a table where more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// 1 for the best.
    pub place: u32,
    /// Whether some other interval overlaps this one, so that their order may be chance.
    pub tied: bool,
}

/// The rank of each interval, in the order given; higher is better.
///
/// An interval's place is 1 + the number of intervals that lie wholly above it. "Overlaps" does not carry
/// over: where A overlaps B and B overlaps C, A may still lie wholly above C. Then A and B share place 1,
/// C has place 2, and all three are marked as tied.
#[must_use]
pub fn ranks(intervals: &[Interval]) -> Vec<Rank> {
    intervals.iter().enumerate().map(|(at, own)| rank(at, own, intervals)).collect()
}

fn rank(at: usize, own: &Interval, all: &[Interval]) -> Rank {
    let above = all.iter().filter(|other| other.is_above(own)).count();
    let tied = all.iter().enumerate().any(|(other, its)| other != at && its.overlaps(own));
    Rank { place: u32::try_from(above).unwrap_or(u32::MAX).saturating_add(1), tied }
}
