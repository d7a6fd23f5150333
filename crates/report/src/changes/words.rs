//! What two runs say, in words.

use rpcbench_record::Header;
use rpcbench_stats::Finding;

use super::{Change, Changes, Difference};
use crate::format;
use crate::words::began;

/// Changes that the headline names.
const NAMED: usize = 5;

/// `-7.9 %`, of a ratio.
pub(crate) fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    match percent.abs() < 9.95 {
        true => format!("{percent:+.1} %"),
        false => format!("{percent:+.0} %"),
    }
}

/// `-11 % to -4.4 %`.
pub(super) fn range(row: &Change) -> Option<String> {
    let range = row.range?;
    Some(format!("{} to {}", change(range.low), change(range.high)))
}

/// `2026-03-01 12:00 UTC, rpcbench 0.1.0 (4f2a9c1), quick`.
pub(crate) fn origin(header: &Header) -> String {
    format!("{}, rpcbench {}, {}", began(header), header.tool, header.plan.suite)
}

/// Whether rows differ in it.
pub(super) fn differ<'a>(rows: &'a [Change], of: impl Fn(&'a Change) -> &'a str) -> bool {
    rows.windows(2).any(|pair| of(&pair[0]) != of(&pair[1]))
}

/// Tells a row from the others: `go-grpc`, `go-grpc, short`, `go-grpc, p99`.
pub(crate) fn name(row: &Change, rows: &[Change]) -> String {
    let mut words = vec![row.entry.as_str()];
    words.extend(differ(rows, |row| &row.workload).then_some(row.workload.as_str()));
    words.extend(differ(rows, |row| row.figure.title()).then_some(row.figure.title()));
    words.join(", ")
}

/// The answer: what all did alike, and a line for each change that is sure, the largest first.
pub(crate) fn headline(changes: &Changes) -> Vec<String> {
    let mut sure: Vec<&Change> =
        changes.rows.iter().filter(|row| row.finding.is_difference()).collect();
    sure.sort_by(|a, b| b.ratio.ln().abs().total_cmp(&a.ratio.ln().abs()));
    let mut lines: Vec<String> = common(changes).into_iter().collect();
    lines.extend(sure.iter().take(NAMED).map(|row| sentence(row, &changes.rows)));
    if sure.len() > NAMED {
        lines.push(format!("{} more changed, see below.", sure.len() - NAMED));
    }
    if changes.rows.is_empty() {
        let two = if changes.builds.is_some() { "builds" } else { "runs" };
        lines.push(format!("The two {two} have nothing in common that can be compared."));
    }
    lines.extend(rest(changes));
    lines
}

/// Servers that have nothing to do with each other seldom change alike.
fn common(changes: &Changes) -> Option<String> {
    let common = changes.common.filter(|it| it.ln().abs() > changes.precision.ln_1p() / 2.0)?;
    Some(format!(
        "All cells moved together, by {} in the middle: the machine, or something that all servers share. Two runs can't \
         tell which, so it is taken out of what follows; measure old and new in one run.",
        change(common)
    ))
}

/// `go-grpc is slower: calls/cpu-s -7.9 % (-11 % to -4.4 %).`
fn sentence(row: &Change, rows: &[Change]) -> String {
    let under = match differ(rows, |row| &row.workload) {
        true => format!(" under {}", row.workload),
        false => String::new(),
    };
    let range = range(row).map(|range| format!(" ({range})")).unwrap_or_default();
    format!(
        "{}{under} is {}: {} {}{range}.",
        row.entry,
        row.figure.word(row.finding),
        row.figure.title(),
        change(row.ratio)
    )
}

/// How many did not change, as far as is known.
fn rest(changes: &Changes) -> Option<String> {
    let count = |finding| changes.rows.iter().filter(|row| row.finding == finding).count();
    let (same, open) = (count(Finding::Equal), count(Finding::Open));
    let within = format::percent(changes.precision);
    match (same, open) {
        (0, 0) => None,
        (_, 0) => Some(format!("Same within {within}: {same} of {}.", changes.rows.len())),
        (0, _) => Some(format!("Can't tell: {open} of {}.", changes.rows.len())),
        _ => Some(format!(
            "Same within {within}: {same} of {}; can't tell: {open}.",
            changes.rows.len()
        )),
    }
}

/// What limits the worth of it, most important first.
pub(crate) fn warnings(changes: &Changes) -> Vec<String> {
    let mut lines: Vec<String> = changes
        .differences
        .iter()
        .map(|Difference { field, old, new, forbids }| {
            let what = format!("{field}: {old}, now {new}");
            match forbids {
                true => format!("{what}; no difference between servers can be told from it"),
                false => what,
            }
        })
        .collect();
    if changes.builds.is_none() {
        // In one run the machine is the same for both.
        lines.extend(machine(changes).filter(|_| changes.common.is_none()));
    }
    lines
}

fn machine(changes: &Changes) -> Option<String> {
    let Some(machine) = changes.machine else {
        return Some(
            "not both runs have a machine reference: what the machine did between them can't be told from what the \
             servers did"
                .to_owned(),
        );
    };
    let slower = slower(machine);
    (!changes.adjusted).then(|| {
        format!(
            "by its reference the machine was {slower} in the new run, and figures can't be adjusted for it: ranges \
             are wider by as much"
        )
    })
}

/// `3.1 % slower`, of a ratio of times.
fn slower(ratio: f64) -> String {
    let by = format::percent((ratio - 1.0).abs());
    format!("{by} {}", if ratio < 1.0 { "faster" } else { "slower" })
}

/// The smallest change that the runs tell, and how the machine was.
pub(crate) fn resolution(changes: &Changes) -> Vec<String> {
    let mut halves: Vec<f64> =
        changes.rows.iter().filter_map(|row| Some(row.range?.high / row.ratio)).collect();
    halves.sort_by(f64::total_cmp);
    let mut lines = Vec::new();
    match halves.get(halves.len() / 2) {
        Some(half) => {
            let (runs, more) = match changes.builds {
                Some(_) => ("this run tells", "a finer --precision with more --max-time tells"),
                None => ("these runs tell", "more processes of each server in both tell"),
            };
            let least = format::percent(half - 1.0);
            lines.push(format!("The smallest change that {runs} is {least}; {more} smaller ones."));
        }
        None if changes.rows.is_empty() => {}
        None => lines.push(
            "A run with one process of each server tells nothing of changes: runs differ by as much as processes do."
                .to_owned(),
        ),
    }
    if let Some(machine) = changes.machine.filter(|_| changes.adjusted) {
        let slower = slower(machine);
        lines.push(format!(
            "By its reference the machine was {slower} in the new run; figures are adjusted for it."
        ));
    }
    lines
}
