//! The sentences around a table, shared by the terminal and Markdown.

use rpcbench_record::{Fresh, Limits, Plan, WarmUp, Workload};

use crate::cell::Row;
use crate::format;
use crate::summary::{Conclusion, Table};

/// How to read a table: at most six lines.
pub(crate) const HOW_TO_READ: [&str; 6] = [
    "calls/s: right answers a second, mean of the trials, ± half its 95 % interval; = marks ties.",
    "p50 to max: response times of all trials at full load, where the mean is in flight / rate.",
    "calls/cpu-s: right answers for each second of server CPU time: the price of a call.",
    "server CPU: share of its limit. client CPU: share of the load threads.",
    "server-bound: the server was the limit. unclear: neither side was, or both. Others: not ranked.",
    "peak mem: page cache apart. steady: warm-up until calls/cpu-s were flat.",
];

/// Last lines of evidence that are shown for a row.
const EVIDENCE_LINES: usize = 10;

/// What was asked of the servers, and what they were given.
pub(crate) fn heading(plan: &Plan, table: &Table) -> [String; 2] {
    let w = &table.workload;
    let name = match plan.suite == w.name {
        true => w.name.clone(),
        false => format!("{} / {}", plan.suite, w.name),
    };
    let load = format!("{name}: {}", load(w));
    let process = match plan.fresh {
        Fresh::Kept => "in one process",
        Fresh::EachTrial => "each in a fresh process",
    };
    let trials = trials(plan, w);
    let setting = format!(
        "{} a server; warm-up {}; {} of {}, {process}; seed {}",
        limits(plan.limits),
        warm_up(w.warm_up),
        format::plural(u64::from(trials), "trial"),
        format::length_ms(w.window.length_ms()),
        plan.seed,
    );
    [load, setting]
}

/// `grpc text:100, 50 connections, 1,000 calls in flight, closed loop, 1 client thread`.
pub(crate) fn load(w: &Workload) -> String {
    format!(
        "{} {}, {}, {} in flight, {}, {}",
        w.protocol,
        w.shape,
        format::plural(u64::from(w.connections), "connection"),
        format::plural(u64::from(w.in_flight), "call"),
        w.law,
        format::plural(u64::from(w.client_threads), "client thread"),
    )
}

fn trials(plan: &Plan, workload: &Workload) -> u32 {
    let numbers = plan.order.iter().filter(|t| t.workload == workload.name).map(|t| t.number);
    numbers.max().unwrap_or_default()
}

fn limits(limits: Limits) -> String {
    let cpus = format::plural(u64::from(limits.cpus), "CPU");
    match limits.memory_bytes {
        Some(bytes) => format!("{cpus}, {}", format::bytes(bytes)),
        None => format!("{cpus}, all memory"),
    }
}

fn warm_up(warm_up: WarmUp) -> String {
    match warm_up {
        WarmUp::UntilSteady { least_ms, cap_ms } => {
            let least = match least_ms {
                0 => String::new(),
                least => format!("{} at least and ", format::length_ms(least)),
            };
            let cap = cap_ms.map(|cap| format!(", {} at most", format::length_ms(cap)));
            format!("{least}until steady{}", cap.unwrap_or_default())
        }
        WarmUp::Fixed { length_ms: 0 } => "none".to_owned(),
        WarmUp::Fixed { length_ms } => format::length_ms(length_ms),
    }
}

/// Who won, one sentence. `None` where nothing can be said.
pub(crate) fn conclusion(conclusion: &Conclusion) -> Option<String> {
    match conclusion {
        Conclusion::Winner { entry, next, ratio } => {
            Some(format!("{entry} wins: {ratio:.2} times the calls/s of {next}."))
        }
        Conclusion::Tie { entries } => Some(format!(
            "A tie at the top: {}. Their intervals overlap, so more trials may tell them apart.",
            entries.join(", ")
        )),
        Conclusion::Open => None,
    }
}

/// A row outside the ranking, and why.
pub(crate) struct Unranked {
    pub(crate) entry: String,
    pub(crate) verdict: &'static str,
    pub(crate) reason: String,
    pub(crate) evidence: Vec<String>,
}

pub(crate) fn unranked(table: &Table) -> Vec<Unranked> {
    table.rows.iter().filter_map(unranked_row).collect()
}

fn unranked_row(row: &Row) -> Option<Unranked> {
    let reason = row.verdict.reason()?;
    let from = row.evidence.len().saturating_sub(EVIDENCE_LINES);
    Some(Unranked {
        entry: row.server.entry.clone(),
        verdict: row.verdict.name(),
        reason,
        evidence: row.evidence[from..].to_vec(),
    })
}

/// Notes on rows, each with the entries that it concerns.
pub(crate) fn notes(table: &Table) -> Vec<String> {
    let mut grouped: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in &table.rows {
        for note in &row.notes {
            match grouped.iter_mut().find(|(known, _)| known == note) {
                Some((_, entries)) => entries.push(&row.server.entry),
                None => grouped.push((note, vec![&row.server.entry])),
            }
        }
    }
    let whose = |entries: &[&str]| match entries.len() {
        n if n > 1 && n == table.rows.len() => "all".to_owned(),
        _ => entries.join(", "),
    };
    grouped.iter().map(|(note, entries)| format!("{}: {note}", whose(entries))).collect()
}
