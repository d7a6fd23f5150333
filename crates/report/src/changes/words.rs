//! The sentences of a comparison.

use rpcbench_record::Header;
use rpcbench_stats::Finding;

use super::{Change, Changes, Difference};
use crate::format;
use crate::words::began;

/// Maximum changes named in the headline.
const NAMED: usize = 5;

/// `-7.9 %`, from a ratio, with enough digits to show whether it is above or below 1.
pub(crate) fn change(ratio: f64) -> String {
    change_near(ratio, &[])
}

/// The same next to limits of the ratio.
pub(super) fn change_near(ratio: f64, limits: &[f64]) -> String {
    /// Changes below this are rounding errors.
    const NONE: f64 = 1e-7;
    let ratio = if (ratio - 1.0).abs() < NONE { 1.0 } else { ratio };
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let limits: Vec<f64> = limits.iter().copied().chain([1.0]).map(percent).collect();
    let decimals = usize::from(percent(ratio).abs() < 9.95);
    let sign = if ratio < 1.0 { "" } else { "+" };
    format!("{sign}{} %", format::near(percent(ratio), decimals, &limits))
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

/// True if the change is computed from values other than those in the reports.
pub(crate) fn is_compared_by_others(row: &Change) -> bool {
    let shown = |value| row.figure.show(value);
    [row.old, row.new].map(shown) != row.compared.map(shown)
}

/// Names the values from which changes are computed. `None` if they are those in the reports.
pub(crate) fn basis(rows: &[Change]) -> Option<String> {
    if !rows.iter().any(is_compared_by_others) {
        return None;
    }
    let (name, meaning) = match rows.iter().any(|row| row.corrected) {
        true => ("corrected", ", corrected to one state of the machine"),
        false => ("compared", ""),
    };
    Some(format!(
        "old, new: as each run's own report shows them. {name}: means over processes{meaning}; change, range and finding are \
         of these."
    ))
}

/// True if `of` differs between rows.
pub(super) fn differ<'a>(rows: &'a [Change], of: impl Fn(&'a Change) -> &'a str) -> bool {
    rows.windows(2).any(|pair| of(&pair[0]) != of(&pair[1]))
}

/// A name unique among the rows: `go-grpc`, `go-grpc, short`, `go-grpc, p99`.
pub(crate) fn name(row: &Change, rows: &[Change]) -> String {
    let mut words = vec![row.entry.as_str()];
    words.extend(differ(rows, |row| &row.workload).then_some(row.workload.as_str()));
    words.extend(differ(rows, |row| row.figure.title()).then_some(row.figure.title()));
    words.join(", ")
}

/// The answer: the change shared by all, and a line per certain change, largest first.
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
        lines.push(format!("The two {two} share nothing that can be compared."));
    }
    lines.extend(rest(changes));
    lines
}

/// Independent servers seldom change by the same amount.
fn common(changes: &Changes) -> Option<String> {
    let common = changes.common.filter(|it| it.ln().abs() > changes.precision.ln_1p() / 2.0)?;
    Some(format!(
        "All cells changed together, by a median of {}: a change shared by four or more servers counts as the machine's \
         and is removed below. Measure old and new in one run to be sure.",
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

/// The numbers of unchanged and of undecided figures.
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

/// Limits of the comparison, most important first.
pub(crate) fn warnings(changes: &Changes) -> Vec<String> {
    let mut lines: Vec<String> = changes
        .differences
        .iter()
        .map(|Difference { field, old, new, forbids }| {
            let what = format!("{field}: {old}, now {new}");
            match forbids {
                true => format!("{what}; servers can't be compared across this"),
                false => what,
            }
        })
        .collect();
    if changes.builds.is_none() {
        // Within a run the machine is the same for both.
        lines.extend(machine(changes).filter(|_| changes.common.is_none()));
    }
    lines
}

fn machine(changes: &Changes) -> Option<String> {
    let Some(machine) = changes.machine else {
        return Some(
            "a run lacks the machine reference, so changes of the machine can't be separated from changes of the servers"
                .to_owned(),
        );
    };
    Some(format!(
        "by its reference the machine was {} in the new run, so ranges are that much wider",
        slower(machine)
    ))
}

/// `3.1 % slower`, from a ratio of times.
fn slower(ratio: f64) -> String {
    let by = format::percent((ratio - 1.0).abs());
    format!("{by} {}", if ratio < 1.0 { "faster" } else { "slower" })
}

/// The smallest detectable change, and which values changed.
pub(crate) fn resolution(changes: &Changes) -> Vec<String> {
    let mut halves: Vec<f64> =
        changes.rows.iter().filter_map(|row| Some(row.range?.high / row.ratio)).collect();
    halves.sort_by(f64::total_cmp);
    let mut lines = Vec::new();
    match halves.get(halves.len() / 2) {
        Some(half) => {
            let more = match changes.builds {
                Some(_) => "a finer precision and more time",
                None => "more processes of each server in both runs",
            };
            let least = format::percent(half - 1.0);
            lines.push(format!("The smallest detectable change is {least}; to see smaller ones, use {more}."));
        }
        None if changes.rows.is_empty() => {}
        None => lines.push(
            "Runs with one window of each server can't show changes: how much windows differ is unknown."
                .to_owned(),
        ),
    }
    lines.extend(basis(&changes.rows));
    lines
}
