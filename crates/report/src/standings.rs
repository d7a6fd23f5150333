//! Comparison of a table's entries.

use rpcbench_record::{RankedBy, Run, Workload, observations};
use rpcbench_stats::{
    Comparison, Finding, Observation, Pair as Found, Question, Range, RankRange, Spread, compare,
};

use crate::row::Row;
use crate::warming::counted;

/// Maximum processes per server to recommend for a longer run.
const MAX_PROCESSES: usize = 100;

/// Two ranked entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The faster one, as measured.
    pub first: String,
    /// The other.
    pub second: String,
    /// The first entry's figure divided by the second's.
    pub ratio: f64,
    /// Interval of the ratio. The intervals of all pairs hold simultaneously. `None` if the noise is unknown.
    pub range: Option<Range>,
    /// Finding about the first compared with the second.
    pub finding: Finding,
}

impl Pair {
    /// True if it is decided which of the two is faster.
    pub fn is_decided(&self) -> bool {
        self.finding.is_difference()
    }

    /// True if the pair is undecided.
    pub fn is_open(&self) -> bool {
        self.finding == Finding::Open
    }
}

/// The comparison of a table's ranked entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Standings {
    /// The figure that ranks the entries.
    pub by: RankedBy,
    /// Difference up to which two entries count as equal, a share.
    pub precision: f64,
    /// True to show ratios also as savings: CPU time has a price, and entries are ranked by calls per CPU time.
    pub(crate) shows_savings: bool,
    /// All pairs: those of the fastest entry, then those of the next one with slower ones, and so on.
    pub pairs: Vec<Pair>,
    /// The smallest detectable difference, a share. `None` if the run can detect none.
    pub resolution: Option<f64>,
    /// Processes of the entry with the fewest.
    pub processes: usize,
    /// The widest bracket of the entries' searches.
    bracket: f64,
    /// Predicts the resolution with other numbers of processes.
    comparison: Comparison,
}

impl Standings {
    /// The pair of two entries, in any order.
    pub fn pair(&self, one: &str, other: &str) -> Option<&Pair> {
        let of = |pair: &&Pair, a, b| pair.first == a && pair.second == b;
        self.pairs.iter().find(|pair| of(pair, one, other) || of(pair, other, one))
    }

    /// The approximate number of processes of each entry needed to detect a difference of this share. `None` if it takes more
    /// than 100, or if the noise is unknown.
    pub fn processes_for(&self, share: f64) -> Option<usize> {
        let sees = |processes: usize| {
            let least = self.comparison.resolution_after(processes);
            least.is_some_and(|least| (1.0 + least) * self.bracket - 1.0 <= share)
        };
        if !sees(MAX_PROCESSES) {
            return None;
        }
        let (mut few, mut enough) = (1, MAX_PROCESSES);
        while enough - few > 1 {
            let between = few.midpoint(enough);
            if sees(between) { enough = between } else { few = between }
        }
        Some(enough)
    }

    /// The approximate number of further processes of each entry needed to decide which entry of a pair is faster, or that they
    /// are equal. `None` as in [`Self::processes_for`].
    pub fn processes_to_settle(&self, pair: &Pair) -> Option<usize> {
        let apart = pair.ratio.ln().abs();
        let needed = apart.max(self.precision.ln_1p() - apart);
        let all = self.processes_for(needed.exp_m1())?;
        Some(all.saturating_sub(self.processes).max(1))
    }

    /// The noise of the windows.
    pub(crate) fn spread(&self) -> Option<Spread> {
        self.comparison.spread()
    }

    fn place(&self, entry: &str, ranked: usize) -> RankRange {
        let (mut faster, mut slower) = (0, 0);
        for pair in self.pairs.iter().filter(|pair| pair.is_decided()) {
            let (ahead, behind) = match pair.finding.is_faster() {
                true => (&pair.first, &pair.second),
                false => (&pair.second, &pair.first),
            };
            faster += usize::from(behind == entry);
            slower += usize::from(ahead == entry);
        }
        RankRange { best: 1 + faster, worst: ranked - slower }
    }
}

/// Estimates the error of all rows' figures. Competing entries are analysed together, so that their windows share the estimate of
/// the noise. Other entries are analysed alone.
pub(crate) fn estimate(rows: &mut [Row], run: &Run, workload: &Workload) {
    for by in [RankedBy::CallsPerCpuSecond, RankedBy::CallsPerSecond, RankedBy::HighestRate] {
        let observations = counted(observations(run, workload, by), rows);
        let (ranked, others): (Vec<&mut Row>, Vec<&mut Row>) =
            rows.iter_mut().partition(|row| row.verdict.is_ranked());
        let alone = others.into_iter().map(|row| vec![row]);
        for mut group in std::iter::once(ranked).chain(alone) {
            let comparison = comparison(&observations, &members(&group), run, workload, 1);
            for (at, row) in group.iter_mut().enumerate() {
                if let Some(estimate) = comparison.estimate(at) {
                    row.apply_estimate(by, &estimate);
                }
            }
        }
    }
}

/// Compares the competing rows, which are sorted by speed, and assigns their places.
pub(crate) fn rank(rows: &mut [Row], run: &Run, workload: &Workload, by: RankedBy) -> Standings {
    let observations = counted(observations(run, workload, by), rows);
    let mut ranked: Vec<&mut Row> = rows.iter_mut().filter(|row| row.competes()).collect();
    let comparison = comparison(&observations, &members(&ranked), run, workload, 1);
    let precision = run.header.plan.precision();
    let count = ranked.len();
    let each = (0..count).flat_map(|first| (first + 1..count).map(move |second| (first, second)));
    let pairs = each.filter_map(|(first, second)| {
        let found = comparison.pair(first, second)?;
        Some(pair(found, ranked[first], ranked[second], precision))
    });
    let processes = (0..count).filter_map(|at| Some(comparison.estimate(at)?.processes));
    let bracket = match by {
        RankedBy::HighestRate => ranked.iter().map(|row| row.bracket).fold(1.0, f64::max),
        RankedBy::CallsPerCpuSecond | RankedBy::CallsPerSecond => 1.0,
    };
    let standings = Standings {
        by,
        precision,
        shows_savings: by == RankedBy::CallsPerCpuSecond
            && run.header.plan.price.as_ref().is_some_and(|price| price.cpu_hour.is_some()),
        pairs: pairs.collect(),
        resolution: comparison.resolution().map(|least| (1.0 + least) * bracket - 1.0),
        processes: processes.min().unwrap_or_default(),
        bracket,
        comparison,
    };
    let leader = ranked.first().map(|row| row.server.entry.clone()).unwrap_or_default();
    for (at, row) in ranked.iter_mut().enumerate() {
        let known = standings.comparison.estimate(at);
        row.stalls_decide = known.is_some_and(|known| known.stalls_decide);
        row.place = Some(standings.place(&row.server.entry, count));
        row.leader = standings.pair(&leader, &row.server.entry).cloned();
    }
    standings
}

/// Compares two rows. A search only brackets its limit, so the range is widened.
fn pair(found: Found, first: &Row, second: &Row, precision: f64) -> Pair {
    let range = found
        .range
        .map(|range| Range { low: range.low / second.bracket, high: range.high * first.bracket });
    let finding = match first.by {
        RankedBy::HighestRate => finding(range, precision),
        RankedBy::CallsPerCpuSecond | RankedBy::CallsPerSecond => found.finding,
    };
    Pair {
        first: first.server.entry.clone(),
        second: second.server.entry.clone(),
        ratio: found.ratio,
        range,
        finding,
    }
}

fn members(rows: &[&mut Row]) -> Vec<usize> {
    rows.iter().map(|row| row.number).collect()
}

/// Compares the given entries of a run, in the given order. The `figures` compared share the error.
pub(crate) fn comparison(
    observations: &[Observation],
    members: &[usize],
    run: &Run,
    workload: &Workload,
    figures: usize,
) -> Comparison {
    let own = observations.iter().filter_map(|observation| {
        let entry = members.iter().position(|member| *member == observation.entry)?;
        Some(Observation { entry, ..*observation })
    });
    let question = run.question(&workload.name);
    let error = (1.0 - question.confidence) / figures.max(1) as f64;
    let question = Question { confidence: 1.0 - error, ..question };
    compare(&own.collect::<Vec<_>>(), members.len(), &question)
}

/// The finding that follows from a range.
pub(crate) fn finding(range: Option<Range>, precision: f64) -> Finding {
    let Some(Range { low, high }) = range else { return Finding::Open };
    let equal = low > 1.0 / (1.0 + precision) && high < 1.0 + precision;
    Finding::new(low > 1.0 || high < 1.0, equal, low > 1.0)
}

/// A finding's name in exports.
pub(crate) fn finding_name(finding: Finding) -> &'static str {
    match finding {
        Finding::Faster => "faster",
        Finding::SlightlyFaster => "slightly faster",
        Finding::Equal => "equal",
        Finding::SlightlySlower => "slightly slower",
        Finding::Slower => "slower",
        Finding::Open => "open",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Standings in which the first of each decided pair is faster.
    fn standings(decided: &[(&str, &str)], open: &[(&str, &str)]) -> Standings {
        let pair = |finding| {
            move |(first, second): &(&str, &str)| Pair {
                first: (*first).to_owned(),
                second: (*second).to_owned(),
                ratio: 1.1,
                range: None,
                finding,
            }
        };
        let decided = decided.iter().map(pair(Finding::Faster));
        let comparison = compare(&[], 0, &Question::default());
        Standings {
            by: RankedBy::CallsPerSecond,
            precision: 0.05,
            shows_savings: false,
            pairs: decided.chain(open.iter().map(pair(Finding::Open))).collect(),
            resolution: None,
            processes: 2,
            bracket: 1.0,
            comparison,
        }
    }

    fn places(standings: &Standings, entries: &str) -> Vec<(usize, usize)> {
        let names = entries.split_whitespace();
        let places = names.map(|entry| standings.place(entry, entries.split_whitespace().count()));
        places.map(|place| (place.best, place.worst)).collect()
    }

    #[test]
    fn clearly_different_entries_have_own_places() {
        let all = standings(&[("a", "b"), ("a", "c"), ("b", "c")], &[]);
        assert_eq!(places(&all, "a b c"), [(1, 1), (2, 2), (3, 3)]);
        assert_eq!(places(&standings(&[], &[]), "a"), [(1, 1)]);
    }

    #[test]
    fn open_pairs_do_not_chain() {
        let chain = standings(&[("a", "c")], &[("a", "b"), ("b", "c")]);
        assert_eq!(places(&chain, "a b c"), [(1, 2), (1, 3), (2, 3)]);
    }

    #[test]
    fn open_pair_below_keeps_best_place() {
        let below = standings(&[("a", "b"), ("a", "c")], &[("b", "c")]);
        assert_eq!(places(&below, "a b c"), [(1, 1), (2, 3), (2, 3)]);
    }

    #[test]
    fn finding_follows_from_range() {
        let of = |low, high| finding(Some(Range { low, high }), 0.05);
        assert_eq!(of(1.01, 1.10), Finding::Faster);
        assert_eq!(of(1.01, 1.04), Finding::SlightlyFaster);
        assert_eq!(of(0.96, 1.04), Finding::Equal);
        assert_eq!(of(0.94, 1.04), Finding::Open);
        assert_eq!(of(0.96, 0.99), Finding::SlightlySlower);
        assert_eq!(of(0.90, 0.99), Finding::Slower);
        assert_eq!(finding(None, 0.05), Finding::Open);
    }
}
