//! The sentences around a table.

use std::collections::BTreeSet;

use indexmap::{IndexMap, IndexSet};
use itertools::Itertools as _;
use rpcbench_record::{
    Arrivals, ConnectionLife, Header, Limits, PerSecond, Plan, Protocol, RankedBy, Rate, Tls,
    TlsMode, Workload,
};

use crate::curve::{Results, is_given};
use crate::format;
use crate::row::Row;
use crate::standings::Standings;
use crate::summary::{Summary, Table};

/// How to read a ranking, after the lines that depend on what ranks it.
const RANKING: [&str; 3] = [
    "p50, p99: response times at full load, where the mean is in flight / rate.",
    "memory: the peak since the conformance check, excluding page cache.",
    "server-bound: good, the server was the bottleneck. unclear: neither side was, or both were.",
];

/// How to read pairs of clients and servers, in their own words.
pub(crate) const PAIRS: [&str; 3] = [
    "Calls per second, and the limit: the side that had no CPU time left; neither: no side, or both.",
    "calls/client-cpu-s, calls/server-cpu-s: correct answers per second of CPU time of that side. Only the side that was the limit shows what it can do.",
    "A client and its server have no place together: compare clients with the same server, or servers with the same client.",
];

/// How to read costs.
const COST: &str = "cost/M calls: at the price above, of the CPU time that a million calls use and of the peak memory for as long as they take.";

/// How to read response times over load.
const CURVE: [&str; 4] = [
    "offered/s: calls that came due per second, whether or not earlier ones had finished.",
    "load: offered/s as a share of the entry's own capacity in a closed loop.",
    "p50 to max under a load: response times over all trials, from when a call came due.",
    "ok: calls came due on time and the server kept up. Otherwise these are not its response times at that load.",
];

/// How to read a ranking of searches.
const SEARCH: [&str; 2] = [
    "p50 to verdict of a search: one window of each trial, at the rate it found.",
    "ok: calls came due on time and the server kept up.",
];

/// How to read times of connections that carry a limited number of calls.
const CHURN: [&str; 3] = [
    "connect: until the connection is open, including HTTP/2 settings; call: from there to the answer.",
    "TCP, TLS full or resumed, first byte: the steps of it; first byte: HTTP/2 settings, otherwise the first reply.",
    "p50, p99 next to them: what the caller waits, connect and call together.",
];

/// Start of a run, to the minute.
pub(crate) fn began(header: &Header) -> String {
    header.started.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// When, where and with which version a run was measured.
pub(crate) fn origin(header: &Header) -> String {
    let machine = &header.machines.client;
    let labels = Some(header.plan.labels.to_string()).filter(|labels| !labels.is_empty());
    format!(
        "{}{} on {}, {} of {}, {}, {}, Linux {}{}; rpcbench {}",
        labels.map(|labels| format!("{labels}: ")).unwrap_or_default(),
        began(header),
        machine.cpu.model,
        format::plural(u64::from(machine.cpu.logical), "CPU"),
        format::plural(u64::from(machine.cpu.cores), "core"),
        format::bytes(machine.memory_bytes),
        machine.os,
        machine.kernel,
        header.machines.engine.as_ref().map(|it| format!(", {it}")).unwrap_or_default(),
        header.tool,
    )
}

/// The legend of words and columns.
pub(crate) fn how_to_read(summary: &Summary) -> Vec<String> {
    let shown = || summary.tables.iter().filter(|table| !table.rows.is_empty());
    let standings = shown().filter_map(|table| table.standings.as_ref());
    let lines = standings.flat_map(places).unique();
    let any = |of: fn(&Workload) -> bool| shown().any(|table| of(&table.workload));
    let ranking = any(|w| !w.arrivals.is_open()).then_some(&RANKING[..]);
    let search = any(|w| w.find_max.is_some()).then_some(&SEARCH[..]);
    let curve = any(is_given).then_some(&CURVE[..]);
    let churn = any(|w| !w.connection_life.is_long()).then_some(&CHURN[..]);
    let cost = summary.header.plan.price.as_ref().map(|_| &[COST][..]);
    let rest = [ranking, cost, churn, search, curve].into_iter().flatten().flatten();
    lines.chain(rest.map(|line| (*line).to_owned())).collect()
}

/// The legend of places and of the ranking figure.
fn places(standings: &Standings) -> [String; 2] {
    let (column, meaning) = match standings.by {
        RankedBy::CallsPerCpuSecond => {
            ("calls/cpu-s", "correct answers per second of server CPU time")
        }
        RankedBy::CallsPerSecond => ("calls/s", "correct answers per second"),
        RankedBy::HighestRate => ("highest calls/s", "the highest rate within the limit"),
    };
    [
        format!("place: by {column}; a range if undecided, - if unranked; see the verdict."),
        format!("{column}: {meaning}. Two entries differ clearly if their x ± y do not overlap."),
    ]
}

/// A note on rows whose mean and robust mean differ by more than a pair needs to be separated.
const STALLS: &str = "a few stalls decide its figure";

/// Lines of evidence shown for a row; the last ones are kept.
const EVIDENCE_LINES: usize = 10;

/// The load, and the servers' limits.
pub(crate) fn heading(plan: &Plan, of: &Results) -> [String; 2] {
    let tables = match of {
        Results::Ranking(table) => std::slice::from_ref(table),
        Results::Curve(curve) => curve.tables.as_slice(),
    };
    let (Some(first), Some(last)) = (tables.first(), tables.last()) else {
        return Default::default();
    };
    let (w, last) = (&first.workload, &last.workload);
    let name = match (plan.suite == w.name, w.name == last.name) {
        (true, _) => w.name.clone(),
        (false, true) => format!("{} / {}", plan.suite, w.name),
        (false, false) => format!("{} / {} to {}", plan.suite, w.name, last.name),
    };
    let spoken: BTreeSet<Protocol> = plan.servers.iter().map(|server| server.protocol).collect();
    let under = under(w, &spoken, &arrivals_between(w, last));
    let load = format!("{name}: {}{under}", protocols(&spoken));
    let price = plan.price.as_ref().map(|price| format!("; price {price}")).unwrap_or_default();
    let setting = format!(
        "{} per server; warm-up {}; {}; seed {}{price}",
        limits(plan.limits),
        w.warm_up,
        trials(plan, w),
        plan.seed,
    );
    [load, setting]
}

/// `grpc ` if all entries use one protocol. Otherwise each row names its own.
fn protocols(spoken: &BTreeSet<Protocol>) -> String {
    match spoken.first() {
        Some(only) if spoken.len() == 1 => format!("{only} "),
        _ => String::new(),
    }
}

/// `text:100, 50 connections, 1,000 calls in flight, closed loop, 1 client thread`.
pub(crate) fn load(w: &Workload, protocol: Protocol) -> String {
    under(w, &[protocol].into(), &arrivals(w.arrivals))
}

fn under(w: &Workload, spoken: &BTreeSet<Protocol>, arrivals: &str) -> String {
    let at_most = if w.arrivals.is_open() { " at most" } else { "" };
    format!(
        "{}, {}{}, {} in flight{at_most}, {}, {}{}",
        w.content,
        connections(w, spoken),
        life(w.connection_life),
        format::plural(u64::from(w.in_flight), "call"),
        arrivals,
        format::plural(u64::from(w.client_threads), "client thread"),
        tls(w.tls),
    )
}

/// `, TLS`; empty without TLS.
fn tls(mode: TlsMode) -> &'static str {
    match mode {
        TlsMode::Off => "",
        TlsMode::On => ", TLS",
        TlsMode::NoResumption => ", TLS without resumption",
    }
}

/// `TLS 1.3, TLS_AES_128_GCM_SHA256, X25519, ALPN h2`.
pub(crate) fn agreed(tls: &Tls) -> String {
    let alpn = tls.alpn.as_ref().map(|alpn| format!("ALPN {alpn}"));
    let agreed = [Some(tls.version.clone()), Some(tls.suite.clone()), tls.group.clone(), alpn];
    agreed.into_iter().flatten().join(", ")
}

/// `50 connections`; `50 connections (json: 1,000)` if a protocol has another number.
pub(crate) fn connections(w: &Workload, spoken: &BTreeSet<Protocol>) -> String {
    let under = |protocol: &Protocol| w.connections_under(*protocol);
    let all: BTreeSet<u32> = spoken.iter().map(under).collect();
    if let (Some(only), 1) = (all.first(), all.len()) {
        return format::plural(u64::from(*only), "connection");
    }
    let others = spoken.iter().filter(|protocol| under(protocol) != w.connections);
    let others = others
        .map(|protocol| format!("{protocol}: {}", format::count(u64::from(under(protocol)))))
        .join(", ");
    format!("{} ({others})", format::plural(u64::from(w.connections), "connection"))
}

/// ` for 1 call each`; empty for long connections.
fn life(life: ConnectionLife) -> String {
    let calls = life.calls().map(|calls| format::plural(u64::from(calls), "call"));
    calls.map_or_else(String::new, |calls| format!(" for {calls} each"))
}

/// The arrivals of workloads that differ in rate, from the first to the last: `open loop, Poisson arrivals at 10 % to 90 % of
/// capacity`. For a search, what it searches for.
fn arrivals_between(first: &Workload, last: &Workload) -> String {
    match (first.arrivals, last.arrivals, first.find_max) {
        (Arrivals::Constant { .. }, _, Some(threshold)) => {
            format!("open loop, highest constant rate with {threshold}")
        }
        (_, _, Some(threshold)) => {
            format!("open loop, highest rate of Poisson arrivals with {threshold}")
        }
        (Arrivals::Constant { rate: from }, Arrivals::Constant { rate: to }, None)
        | (Arrivals::Poisson { rate: from }, Arrivals::Poisson { rate: to }, None)
            if from != to =>
        {
            let from = match from {
                Rate::PerSecond(rate) => format::si(rate.get()),
                Rate::OfCapacity(percent) => format!("{percent} %"),
            };
            arrivals(last.arrivals).replacen(" at ", &format!(" at {from} to "), 1)
        }
        (own, ..) => arrivals(own),
    }
}

fn per_s(rate: PerSecond) -> String {
    format!("{} calls/s", format::si(rate.get()))
}

fn rate(rate: Rate) -> String {
    match rate {
        Rate::PerSecond(rate) => per_s(rate),
        Rate::OfCapacity(percent) => format!("{percent} % of capacity"),
    }
}

/// `closed loop`; `open loop, Poisson arrivals at 1,000 calls/s`.
pub(crate) fn arrivals(arrivals: Arrivals) -> String {
    match arrivals {
        Arrivals::Closed => "closed loop".to_owned(),
        Arrivals::Constant { rate: r } => format!("open loop, constant at {}", rate(r)),
        Arrivals::Poisson { rate: r } => format!("open loop, Poisson arrivals at {}", rate(r)),
        Arrivals::Ramp { from, to, over_ms } => format!(
            "open loop, ramp from {} to {} over {}",
            per_s(from),
            per_s(to),
            format::length_ms(over_ms)
        ),
        Arrivals::Steps { from, to, by, every_ms } => format!(
            "open loop, steps of {} from {} to {}, each {}",
            per_s(by),
            per_s(from),
            per_s(to),
            format::length_ms(every_ms)
        ),
    }
}

/// `3 trials of 3 s, in one process`; `at most 64 trials of 500 ms, in 4 processes`.
fn trials(plan: &Plan, workload: &Workload) -> String {
    let of_load = || plan.order.iter().filter(|t| t.workload == workload.name);
    let trials = of_load().map(|t| t.number).max().unwrap_or_default();
    let first = plan.first_processes();
    let processes = match of_load().map(|t| t.process).max().unwrap_or_default() {
        most if most > first => format!("in {first} to {}", format::plural(most.into(), "process")),
        0 | 1 => "in one process".to_owned(),
        processes if processes == trials => "each in a fresh process".to_owned(),
        processes => format!("in {}", format::plural(processes.into(), "process")),
    };
    let at_most = if plan.stopping.is_some() { "at most " } else { "" };
    let trials = format::plural(u64::from(trials), "trial");
    let agreement = plan.stopping.and_then(|stopping| stopping.agreement).map(|share| {
        let share = format::percent(share);
        format!(", until two in a row have standard deviations within {share}")
    });
    let agreement = agreement.unwrap_or_default();
    format!("{at_most}{trials} of {}, {processes}{agreement}", workload.window)
}

fn limits(limits: Limits) -> String {
    let cpus = format::plural(u64::from(limits.cpus), "CPU");
    match limits.memory_bytes {
        Some(bytes) => format!("{cpus}, {}", format::bytes(bytes)),
        None => format!("{cpus}, all memory"),
    }
}

/// A row outside the ranking, with the reason.
#[derive(Clone, Debug)]
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
    let reason = row.verdict.reason.clone()?;
    let from = row.evidence.len().saturating_sub(EVIDENCE_LINES);
    Some(Unranked {
        entry: row.server.entry.clone(),
        verdict: row.verdict.name(),
        reason,
        evidence: row.evidence[from..].to_vec(),
    })
}

pub(crate) fn notes<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<String> {
    let rows: Vec<&Row> = rows.into_iter().collect();
    let mut grouped: IndexMap<&str, IndexSet<&str>> = IndexMap::new();
    for row in &rows {
        let stalls = row.stalls_decide.then_some(STALLS);
        for note in row.notes.iter().map(String::as_str).chain(stalls) {
            grouped.entry(note).or_default().insert(&row.server.entry);
        }
    }
    let all: BTreeSet<&str> = rows.iter().map(|row| row.server.entry.as_str()).collect();
    let whose = |entries: &IndexSet<&str>| match entries.len() {
        n if n > 1 && n == all.len() => "all".to_owned(),
        _ => entries.iter().join(", "),
    };
    grouped.iter().map(|(note, entries)| format!("{}: {note}", whose(entries))).collect()
}
