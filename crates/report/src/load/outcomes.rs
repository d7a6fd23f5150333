//! How the calls of a load ended, with examples of failed calls.

use rpcbench_record::{Content as WorkloadContent, FailureKind, Measured};

use super::Load;
use crate::columns::Column;
use crate::document::{Content, Table};
use crate::figures::share;
use crate::format::{self, NOTHING};

/// A row per outcome, with response times if any call failed.
pub(super) fn outcomes(load: &Load) -> Content {
    let outcomes = &load.measured.outcomes;
    let part = |n: u64| {
        let part = share(n as f64, outcomes.total() as f64);
        format!("{} ({})", format::count(n), format::percent(part))
    };
    let errors = outcomes.errors_by_kind(load.protocol);
    let mut names = vec![ok_name(load).to_owned()];
    let mut counts = vec![format::count(outcomes.ok)];
    for (kind, n) in &errors {
        names.push(kind.clone());
        counts.push(part(*n));
    }
    let mut columns = vec![Column::new("", false, names.clone()), Column::new("", false, counts)];
    let failures = &load.measured.failures;
    if !failures.is_empty() {
        let ok = load.measured.latency.as_ref();
        let column = |title, of_ok: Option<u64>, of: fn(&FailureKind) -> u64| {
            let failed = names.iter().skip(1).map(|name| {
                failures.iter().find(|kind| kind.words(load.protocol) == *name).map(of)
            });
            let times = std::iter::once(of_ok).chain(failed);
            let shown = |ns: u64| format::duration_ns(ns as f64);
            let cells = times.map(|ns| ns.map_or(NOTHING.to_owned(), shown));
            Column::new(title, true, cells.collect())
        };
        columns.push(column("p50", ok.map(|ok| ok.p50_ns), |kind| kind.p50_ns));
        columns.push(column("p99", ok.map(|ok| ok.p99_ns), |kind| kind.p99_ns));
    }
    Content::Table(Table { columns, tones: Vec::new() })
}

/// A line for each example of a failed call.
pub(super) fn examples(load: &Load) -> Vec<String> {
    let measured = &load.measured;
    if measured.failures.is_empty() {
        return measured.error_examples.clone();
    }
    let lines = measured.failures.iter().flat_map(|kind| {
        let words = kind.words(load.protocol);
        let line = move |said: String| {
            if said.is_empty() { words.clone() } else { format!("{words}: {said}") }
        };
        kind.examples.iter().map(move |example| line(example.to_string()))
    });
    lines.collect()
}

/// The checks on calls of the user's service: `status of all calls; $.state of 970; 1 reply decoded`.
pub(super) fn checked(load: &Load) -> Option<String> {
    let call = load.workload.content.call()?;
    let checks = load.measured.checks;
    let expected = call
        .expect
        .iter()
        .map(|text| format!("{} of {}", path_of(text), format::count(checks.expected)));
    let decoded = call.decoded_one_in.map(|one_in| match checks.decoded {
        // From an older record.
        0 => format!("one reply in {} decoded", format::count(one_in.into())),
        replies => format!("{} of the replies decoded", format::count(replies)),
    });
    let all = std::iter::once("status of all calls".to_owned()).chain(expected).chain(decoded);
    Some(all.collect::<Vec<_>>().join("; "))
}

/// The path at the beginning of an expectation.
fn path_of(expectation: &str) -> &str {
    let mut is_quoted = false;
    let end = expectation.find(|c| {
        is_quoted ^= c == '"';
        !is_quoted && matches!(c, ' ' | '=' | '!')
    });
    &expectation[..end.unwrap_or(expectation.len())]
}

/// The name of ok calls: `ok (status)` if not every reply was checked.
fn ok_name(load: &Load) -> &'static str {
    let Measured { outcomes, checks, .. } = &load.measured;
    match &load.workload.content {
        WorkloadContent::Shape(_) => "ok",
        WorkloadContent::Call(_) if outcomes.ok > 0 && checks.expected >= outcomes.ok => "ok",
        WorkloadContent::Call(_) => "ok (status)",
    }
}
