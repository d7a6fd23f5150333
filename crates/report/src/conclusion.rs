//! Names the winner, in sentences.

use std::time::Duration;

use indexmap::IndexMap;
use itertools::Itertools as _;
use rpcbench_record::{RankedBy, Slicing, units};
use rpcbench_stats::Range;
use schemars::JsonSchema;
use serde::Serialize;

use crate::format;
use crate::row::Row;
use crate::standings::{Pair, Standings};
use crate::summary::Table;

/// Which of the ranked entries is fastest.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Conclusion {
    /// One entry is faster than all others.
    Fastest {
        /// Name of the entry.
        entry: String,
    },
    /// The fastest entries are equal within the precision.
    Equal {
        /// Names of these entries, the fastest measured first.
        entries: Vec<String>,
    },
    /// Undecided between several entries.
    Open {
        /// Names of these entries, the fastest measured first.
        entries: Vec<String>,
    },
    /// Only one entry is ranked.
    Alone {
        /// Name of the entry.
        entry: String,
    },
    /// No entry is ranked.
    Nothing,
}

impl Conclusion {
    /// The conclusion from ranked rows, in order of speed.
    pub(crate) fn of(ranked: &[&Row], standings: &Standings) -> Self {
        let name = |row: &Row| row.server.entry.clone();
        let (leader, next) = match ranked {
            [] => return Self::Nothing,
            [only] => return Self::Alone { entry: name(only) },
            [leader, next, ..] => (name(leader), name(next)),
        };
        let of_leader = || standings.pairs.iter().filter(|pair| pair.first == leader);
        let rivals = || of_leader().filter(|pair| !pair.is_decided());
        match standings.pair(&leader, &next) {
            Some(pair) if rivals().next().is_none() => Self::Fastest { entry: pair.first.clone() },
            _ => {
                let others = rivals().map(|pair| pair.second.clone());
                let entries = std::iter::once(leader.clone()).chain(others).collect();
                match rivals().all(|pair| pair.finding.is_equal()) {
                    true => Self::Equal { entries },
                    false => Self::Open { entries },
                }
            }
        }
    }
}

/// The unit of the figure that ranks entries, as in columns.
pub(crate) fn unit(by: RankedBy) -> &'static str {
    match by {
        RankedBy::CallsPerCpuSecond => "calls/cpu-s",
        RankedBy::CallsPerSecond | RankedBy::HighestRate => "calls/s",
    }
}

/// The lines above a table: which entry won, by how much and how certainly. Empty if nothing was measured, or if each entry has
/// its own load.
pub(crate) fn headline(table: &Table) -> Vec<String> {
    let Some(standings) = &table.standings else { return Vec::new() };
    let won = match &table.conclusion {
        Conclusion::Fastest { entry } => fastest(entry, standings),
        Conclusion::Equal { entries } => Some(equal(entries, standings)),
        Conclusion::Open { entries } => Some(open(entries, standings)),
        Conclusion::Alone { entry } => alone(entry, table),
        Conclusion::Nothing => None,
    };
    let nothing = (won.is_none() && !table.rows.is_empty()).then(|| unranked(table));
    won.into_iter().chain(nothing).chain(fastest_seen(table)).collect()
}

/// `no server could be ranked: 2 failed, 1 suspect`.
fn unranked(table: &Table) -> String {
    let mut counts: IndexMap<&str, usize> = IndexMap::new();
    for row in &table.rows {
        *counts.entry(row.verdict.name()).or_default() += 1;
    }
    let counts = counts.iter().map(|(verdict, count)| format!("{count} {verdict}")).join(", ");
    format!("no server could be ranked: {counts}")
}

fn equal(entries: &[String], standings: &Standings) -> String {
    let (names, decided) = (names(entries), decided_pairs(standings));
    format!("{names} are fastest: equal within {}{decided}", precision(standings))
}

/// The first pair is the fastest and the next entry.
fn fastest(entry: &str, standings: &Standings) -> Option<String> {
    let pair = standings.pairs.iter().find(|pair| pair.first == entry)?;
    let mut limits = vec![1.0];
    let slightly = match pair.finding.is_equal() {
        true => {
            limits.push(1.0 + standings.precision);
            format!(", less than {} faster", precision(standings))
        }
        false => String::new(),
    };
    Some(format!(
        "{entry} is fastest: {}x {}{}{}{slightly}{}",
        format::si_near(pair.ratio, &limits),
        pair.second,
        ends(pair.range),
        saving(pair, standings),
        certainty(standings)
    ))
}

/// ` (1.31 to 1.53)`, from the range of a ratio; empty if unknown. Has enough digits to show which side of 1 both ends are on.
pub(crate) fn ends(range: Option<Range>) -> String {
    between(range, &[1.0])
}

/// The saving of the first entry of a pair. Empty without a price of CPU time.
pub(crate) fn saving(pair: &Pair, standings: &Standings) -> String {
    match standings.shows_savings {
        true => cost_change(pair.ratio, pair.range),
        false => String::new(),
    }
}

/// `, 38 % less CPU cost (29 to 46 %)`, from a ratio of calls/cpu-s and its interval.
fn cost_change(ratio: f64, range: Option<Range>) -> String {
    let percent = |ratio: f64| format::near(100.0 * (1.0 - 1.0 / ratio).abs(), 0, &[0.0, 100.0]);
    let ends = |near, far| format!(" ({} to {} %)", percent(near), percent(far));
    let (word, ends) = match ratio >= 1.0 {
        true => ("less", range.map(|it| ends(it.low, it.high))),
        false => ("more", range.map(|it| ends(it.high, it.low))),
    };
    format!(", {} % {word} CPU cost{}", percent(ratio), ends.unwrap_or_default())
}

fn between(range: Option<Range>, limits: &[f64]) -> String {
    range.map_or_else(String::new, |Range { low, high }| {
        format!(" ({} to {})", format::si_near(low, limits), format::si_near(high, limits))
    })
}

/// `; 8 of 10 pairs differ clearly, 1 equal within 5 %`; empty for a single pair.
fn certainty(standings: &Standings) -> String {
    if standings.pairs.len() < 2 {
        return String::new();
    }
    let equal = |pair: &&Pair| pair.finding.is_equal() && !pair.is_decided();
    let equal = match standings.pairs.iter().filter(equal).count() {
        0 => String::new(),
        equal => format!(", {equal} equal within {}", precision(standings)),
    };
    format!("{}{equal}", decided_pairs(standings))
}

/// `; 8 of 10 pairs differ clearly`; empty for a single pair, and if the noise is unknown.
fn decided_pairs(standings: &Standings) -> String {
    let decided = standings.pairs.iter().filter(|pair| pair.is_decided()).count();
    match standings.pairs.len() {
        0 | 1 => String::new(),
        _ if standings.resolution.is_none() => String::new(),
        all if decided == all => format!("; all {all} pairs differ clearly"),
        all => format!("; {decided} of {all} pairs differ clearly"),
    }
}

fn open(entries: &[String], standings: &Standings) -> String {
    let why = match standings.resolution {
        None => "one window of each is too few to tell",
        Some(_) => "too close to call",
    };
    let (names, decided) = (names(entries), decided_pairs(standings));
    format!("{names} lead; {why}{decided}{}", settling(entries, standings))
}

/// The number of further processes that would settle the comparison.
fn settling(entries: &[String], standings: &Standings) -> String {
    let leader = entries.first().map(String::as_str).unwrap_or_default();
    let rivals = entries.iter().skip(1).filter_map(|other| standings.pair(leader, other));
    let open: Vec<&Pair> = rivals.filter(|pair| pair.is_open() && pair.range.is_some()).collect();
    if open.is_empty() {
        return String::new();
    }
    let each: Option<Vec<usize>> =
        open.iter().map(|pair| standings.processes_to_settle(pair)).collect();
    match each.and_then(|each| each.into_iter().max()) {
        Some(1) => ". About one more process of each should settle it".to_owned(),
        Some(more) => format!(". About {more} more processes of each should settle it"),
        None => ". Settling it would take more than 100 processes of each".to_owned(),
    }
}

fn alone(entry: &str, table: &Table) -> Option<String> {
    let row = table.rows.iter().find(|row| row.server.entry == entry)?;
    let ranked = row.ranked()?;
    let range = between(ranked.range, &[]);
    Some(format!("{entry}: {} {}{range}", format::si(ranked.value), unit(row.by)))
}

/// The fastest row, if its verdict excludes it from the ranking.
fn fastest_seen(table: &Table) -> Option<String> {
    let row = table.rows.first().filter(|row| row.place.is_none() && !row.verdict.is_failed())?;
    Some(format!(
        "fastest seen: {} at {} {}, but {}",
        row.server.entry,
        format::si(row.ranked()?.value),
        unit(row.by),
        row.verdict.name()
    ))
}

/// Names in a sentence: `a, b and c`, `a, b, c and 4 others`.
fn names(entries: &[String]) -> String {
    const SHOWN: usize = 4;
    let rest = entries.len().saturating_sub(SHOWN - 1);
    match entries {
        [] => String::new(),
        [only] => only.clone(),
        [all @ .., last] if entries.len() <= SHOWN => format!("{} and {last}", all.join(", ")),
        _ => format!("{} and {rest} others", entries[..SHOWN - 1].join(", ")),
    }
}

/// The lines below a table: what this run could decide, and what a longer run would.
pub(crate) fn resolution(table: &Table) -> Vec<String> {
    let Some(standings) = &table.standings else { return Vec::new() };
    let groups = equals(table, standings).iter().map(|entries| names(entries)).join("; ");
    let equal =
        (!groups.is_empty()).then(|| format!("Equal within {}: {groups}.", precision(standings)));
    let how = how(&table.slicings);
    [equal, smallest(standings), how].into_iter().flatten().collect()
}

fn how(slicings: &[Slicing]) -> Option<String> {
    let all = lengths(slicings.iter().map(Slicing::length_ns))?;
    let counted = lengths(slicings.iter().map(|it| it.counted_ns))?;
    Some(format!(
        "All were measured in the same seconds: they took turns, in slices of {all}, of which the last {counted} count."
    ))
}

/// `150ms`, or `150ms to 300ms`, from nanoseconds.
fn lengths(ns: impl Iterator<Item = u64>) -> Option<String> {
    let length = |ns| units::length(Duration::from_nanos(ns));
    let (shortest, longest) = ns.minmax().into_option()?;
    Some(match shortest == longest {
        true => length(longest),
        false => format!("{} to {}", length(shortest), length(longest)),
    })
}

/// `5 %`.
fn precision(standings: &Standings) -> String {
    format!("{} %", (standings.precision * 1000.0).round() / 10.0)
}

fn smallest(standings: &Standings) -> Option<String> {
    let seen = seen(standings.resolution?, standings.precision);
    if standings.resolution? <= standings.precision {
        return Some(seen);
    }
    let precision = precision(standings);
    let all = standings.processes_for(standings.precision);
    let all = all.map_or_else(|| "more than 100".to_owned(), |all| format!("about {all}"));
    Some(format!("{seen}; seeing {precision} would take {all} processes of each server."))
}

/// The smallest visible difference, a fraction. Written as a limit above 100 %.
fn seen(smallest: f64, precision: f64) -> String {
    let share = format::percent_near(smallest, &[precision]);
    if smallest <= precision {
        format!("Differences of {share} and more can be seen in this run.")
    } else if smallest > 1.0 {
        "Not even differences of 100 % can be seen in this run".to_owned()
    } else {
        format!("Differences below {share} can't be seen in this run")
    }
}

/// Groups of neighbours that are all equal, without the group that the conclusion names.
fn equals(table: &Table, standings: &Standings) -> Vec<Vec<String>> {
    let ranked = table.rows.iter().filter(|row| row.place.is_some());
    let mut groups: Vec<Vec<String>> = Vec::new();
    for entry in ranked.map(|row| &row.server.entry) {
        let equal = |other: &String| {
            standings.pair(other, entry).is_some_and(|pair| pair.finding.is_equal())
        };
        match groups.last_mut() {
            Some(group) if group.iter().all(equal) => group.push(entry.clone()),
            _ => groups.push(vec![entry.clone()]),
        }
    }
    let named = |group: &Vec<String>| matches!(&table.conclusion, Conclusion::Equal { entries } if entries == group);
    groups.retain(|group| group.len() > 1 && !named(group));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_ends_show_side_of_one() {
        let shown = |low, high| ends(Some(Range { low, high }));
        assert_eq!(shown(1.31, 1.53), " (1.31 to 1.53)");
        assert_eq!(shown(1.003, 2.6), " (1.003 to 2.60)");
        assert_eq!(shown(0.9996, 2.6), " (0.9996 to 2.60)");
        assert_eq!(shown(0.5, 0.99996), " (0.500 to 0.99996)");
        assert_eq!(ends(None), "");
    }

    #[test]
    fn cpu_ratio_is_shown_as_saving() {
        let range = |low, high| Some(Range { low, high });
        assert_eq!(cost_change(1.6, range(1.4, 1.85)), ", 38 % less CPU cost (29 to 46 %)");
        assert_eq!(cost_change(0.5, range(0.4, 0.8)), ", 100 % more CPU cost (25 to 150 %)");
        assert_eq!(cost_change(1.003, None), ", 0.3 % less CPU cost");
        assert_eq!(cost_change(500.0, None), ", 99.8 % less CPU cost");
    }

    #[test]
    fn huge_resolution_is_shown_as_limit() {
        assert_eq!(seen(0.02, 0.05), "Differences of 2.0 % and more can be seen in this run.");
        assert_eq!(seen(0.2, 0.05), "Differences below 20 % can't be seen in this run");
        assert_eq!(seen(404_201.45, 0.05), "Not even differences of 100 % can be seen in this run");
    }
}
