//! The result of `load`: one window against one address.

mod curve;
mod export;
mod hdr;
pub(crate) mod page;
mod tail;
mod verdict;
mod view;

use rpcbench_record::Latency;

use crate::connections;
use crate::figures::{ServerFigures, share};
use crate::format::{self, NOTHING};
use crate::spectrum::{draw, spectrum};
use crate::text::{BOLD, PLAIN, Style, prose};
use crate::verdict::SATURATED;
use crate::words;

pub use curve::{
    LoadCurve, LoadPoint, PointVerdict, curve_csv, curve_json, curve_markdown, curve_text, found,
};
pub use export::{load_csv, load_json};
pub use hdr::load_hdr;
pub use tail::{AllCalls, Bound};
pub use verdict::cut_short;
use verdict::{exceeded, lateness, overload};
pub use view::{Capacity, Load, LoadView};

/// What the columns of times are.
const HOW_TO_READ: &str =
    "response: from due; service: from sent; send lag: from due to sent; of ok calls";
/// The same, for the column that is there where calls failed.
const ALL_CALLS: &str =
    "all calls: response, a failed call being one without end; > is all that is known";

/// Names and values, a line each.
type Lines = Vec<(String, String)>;

fn summary(load: &Load) -> Lines {
    let measured = &load.measured;
    let Some(figures) = load.figures() else { return Vec::new() };
    let awake = Some(figures.client.awake_share).filter(|share| *share >= 0.005);
    let awake = awake.map(|share| format!(", waiting awake {}", format::percent(share)));
    let client = format!(
        "{} of {}, the busiest at {}{}",
        format::percent(figures.client.cpu_share),
        format::plural(u64::from(measured.client.threads), "thread"),
        format::percent(figures.client.busiest_share),
        awake.unwrap_or_default(),
    );
    let pacing = measured.pacing.map(|pacing| {
        let of_due = |n: u64| {
            let part = format::percent(share(n as f64, pacing.due as f64));
            format!("{} ({part})", format::count(n))
        };
        format!(
            "{} due, {} sent late, {} held back",
            format::count(pacing.due),
            of_due(pacing.late),
            of_due(pacing.held_back)
        )
    });
    let capacity = load.capacity.map(|capacity| {
        format!(
            "{} calls/s, closed loop of {}{}",
            format::si(capacity.calls_per_s),
            format::duration_ns(capacity.window_ns as f64),
            if capacity.client_bound { ", client-bound" } else { "" }
        )
    });
    let lines = [
        ("calls", Some(format::count(figures.outcomes.total()))),
        ("time", Some(format::duration_ns(measured.window_ns as f64))),
        ("ok calls/s", Some(format::si(figures.calls_per_s.value))),
        ("connections/s", figures.lives.as_ref().map(|it| format::si(it.connections_per_s))),
        ("errors", Some(format::percent(figures.error_share()))),
        ("pacing", pacing),
        ("capacity", capacity),
    ];
    let end = [("client CPU", Some(client)), ("verdict", Some(load.verdict().to_string()))];
    let server = figures.server.as_ref().map(|server| server_lines(load, server));
    let lines = lines.into_iter().chain(server.unwrap_or_default()).chain(end);
    lines.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// What the server used, where it can be seen.
fn server_lines(load: &Load, server: &ServerFigures) -> Vec<(&'static str, Option<String>)> {
    let used = load.measured.server.as_ref();
    let seconds = |s: f64| format::duration_ns(s * 1e9);
    let cpu = format!(
        "{} of {}: {} user, {} system",
        format::percent(server.cpu_share),
        format::plural(u64::from(load.header.plan.limits.cpus), "CPU"),
        seconds(server.cpu_user_s),
        seconds(server.cpu_system_s)
    );
    let memory = format!(
        "{}, at most {}",
        format::bytes(server.memory_anon_bytes),
        format::bytes(server.memory_peak_bytes)
    );
    let threads = used.map(|used| {
        format!(
            "{}, {} voluntary and {} involuntary context switches",
            format::count(u64::from(used.threads)),
            format::count(used.switches_voluntary),
            format::count(used.switches_involuntary)
        )
    });
    vec![
        ("calls/cpu-s", server.calls_per_cpu_s.map(|price| format::si(price.value))),
        ("server CPU", Some(cpu)),
        ("server memory", Some(memory)),
        ("server threads", threads),
    ]
}

/// A header and a row for each figure; the columns are kinds of time.
fn times(load: &Load) -> Vec<Vec<String>> {
    let measured = &load.measured;
    let all = (measured.outcomes.errors() > 0).then(|| AllCalls::of(measured)).flatten();
    let mut parts = vec![
        ("response", measured.latency.as_ref()),
        ("service", measured.service.as_ref()),
        ("send lag", measured.send_lag.as_ref()),
    ];
    parts.extend(measured.connect.as_ref().map(|connect| ("connect", Some(connect))));
    if parts[0].1.is_none() && all.is_none() {
        return Vec::new();
    }
    type Of = fn(&Latency) -> f64;
    type OfAll = fn(&AllCalls) -> Bound;
    let rows: [(&str, Of, OfAll); 8] = [
        ("min", |l| l.min_ns as f64, AllCalls::min),
        ("mean", |l| l.mean_ns, AllCalls::mean),
        ("p50", |l| l.p50_ns as f64, |all| all.quantile(500_000)),
        ("p90", |l| l.p90_ns as f64, |all| all.quantile(900_000)),
        ("p95", |l| l.p95_ns as f64, |all| all.quantile(950_000)),
        ("p99", |l| l.p99_ns as f64, |all| all.quantile(990_000)),
        ("p99.9", |l| l.p999_ns as f64, |all| all.quantile(999_000)),
        ("max", |l| l.max_ns as f64, AllCalls::max),
    ];
    let mut header = vec![String::new()];
    header.extend(parts.iter().map(|(title, _)| (*title).to_owned()));
    header.extend(all.as_ref().map(|_| "all calls".to_owned()));
    let row = |(name, of, of_all): (&str, Of, OfAll)| {
        let mut row = vec![name.to_owned()];
        row.extend(parts.iter().map(|(_, part)| {
            part.map_or_else(|| NOTHING.to_owned(), |part| format::duration_ns(of(part)))
        }));
        row.extend(all.as_ref().map(|all| of_all(all).to_string()));
        row
    };
    std::iter::once(header).chain(rows.into_iter().map(row)).collect()
}

fn legend(load: &Load) -> Vec<&'static str> {
    let failed = load.measured.outcomes.errors() > 0;
    std::iter::once(HOW_TO_READ).chain(failed.then_some(ALL_CALLS)).collect()
}

fn bars(load: &Load) -> Vec<String> {
    let bars = load.measured.latency.as_ref().map(spectrum);
    draw(&bars.unwrap_or_default())
}

fn outcomes(load: &Load) -> Lines {
    let outcomes = &load.measured.outcomes;
    let part = |n: u64| {
        let part = share(n as f64, outcomes.total() as f64);
        format!("{} ({})", format::count(n), format::percent(part))
    };
    let mut lines = vec![("ok".to_owned(), format::count(outcomes.ok))];
    lines.extend(
        outcomes.errors_by_kind(load.protocol).into_iter().map(|(kind, n)| (kind, part(n))),
    );
    lines
}

/// Sentences that a reader must not miss.
fn remarks(load: &Load) -> Vec<String> {
    let doubts = verdict::contradictions(load).into_iter();
    let mut remarks: Vec<String> = doubts.map(|doubt| format!("suspect: {doubt}")).collect();
    let connections = [connections::fault, connections::note].map(|of| of(&[&load.measured]));
    remarks.extend(connections.into_iter().flatten());
    remarks.extend(cut_short(load));
    remarks.extend(lateness(load));
    remarks.extend(overload(load));
    remarks.extend(exceeded(load).into_iter().map(|limit| format!("limit exceeded: {limit}")));
    if verdict::busiest(load) >= SATURATED {
        remarks.push(
            "the client was the limit, the server may do more; take more --threads".to_owned(),
        );
    }
    remarks
}

/// A load for a terminal, ending in a line feed.
#[must_use]
pub fn load_text(load: &Load, style: Style) -> String {
    let mut out = headline(&title(load), style);
    out.push_str(&section("Summary", &aligned(summary(load)), style));
    let table = grid(&times(load));
    out.push_str(&section("Times", &table, style));
    if !table.is_empty() {
        legend(load).iter().for_each(|line| note(&mut out, line, style));
    }
    out.push_str(&section("Response times of ok calls", &bars(load), style));
    out.push_str(&section("Outcomes", &aligned(outcomes(load)), style));
    out.push_str(&notes("Errors seen", &load.measured.error_examples, style));
    out.push_str(&notes("Warnings", &remarks(load), style));
    out
}

/// The first line, or as many as the terminal needs for it.
fn headline(title: &str, style: Style) -> String {
    let mut out = String::new();
    prose(&mut out, title, BOLD, style);
    out
}

/// A line of a section, broken at words.
fn note(out: &mut String, line: &str, style: Style) {
    prose(out, &format!("  {line}"), PLAIN, style);
}

/// A section of sentences.
fn notes(title: &str, lines: &[String], style: Style) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", style.title(title));
    lines.iter().for_each(|line| note(&mut out, line, style));
    out
}

fn aligned(lines: Lines) -> Vec<String> {
    let names = lines.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    lines.iter().map(|(name, value)| format!("{name:names$}  {value}")).collect()
}

/// The first column stands left, the others right.
fn grid(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns).map(width).collect();
    rows.iter()
        .map(|row| {
            let cells = row.iter().zip(&widths).enumerate();
            let cells = cells.map(|(column, (cell, width))| match column {
                0 => format!("{cell:width$}"),
                _ => format!("  {cell:>width$}"),
            });
            cells.collect()
        })
        .collect()
}

fn section(title: &str, lines: &[String], style: Style) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    format!("\n{}\n{lines}", style.title(title))
}

/// A load as Markdown, ending in a line feed.
#[must_use]
pub fn load_markdown(load: &Load) -> String {
    let mut out = format!("# {}\n", title(load));
    let block = |title: &str, lines: Lines| {
        let lines: String = lines.iter().map(|(n, value)| format!("| {n} | {value} |\n")).collect();
        format!("\n## {title}\n\n| | |\n|---|---:|\n{lines}")
    };
    out.push_str(&block("Summary", summary(load)));
    if let Some((header, rows)) = times(load).split_first() {
        let line = |cells: &Vec<String>| format!("| {} |\n", cells.join(" | "));
        let rule = format!("|---|{}\n", "---:|".repeat(header.len() - 1));
        let rows: String = rows.iter().map(line).collect();
        let legend = legend(load).join(".\n");
        out.push_str(&format!("\n## Times\n\n{}{rule}{rows}\n{legend}.\n", line(header)));
    }
    let bars = bars(load);
    if !bars.is_empty() {
        let bars = bars.join("\n");
        out.push_str(&format!("\n## Response times of ok calls\n\n```\n{bars}\n```\n"));
    }
    out.push_str(&block("Outcomes", outcomes(load)));
    for (title, lines) in
        [("Errors seen", &load.measured.error_examples), ("Warnings", &remarks(load))]
    {
        if !lines.is_empty() {
            let lines: String = lines.iter().map(|line| format!("- {line}\n")).collect();
            out.push_str(&format!("\n## {title}\n\n{lines}"));
        }
    }
    out
}

fn title(load: &Load) -> String {
    format!("{}: {} {}", load.address, load.protocol, words::load(&load.workload, load.protocol))
}
