//! The result of `load`: one window on one address, or several rates.

mod curve;
mod export;
mod hdr;
mod of_run;
mod outcomes;
mod pair;
pub(crate) mod points;
mod tail;
mod verdict;

use rpcbench_record::{AddressFigures, Latency, Measured, Pacing, SATURATED, Tls};

use crate::columns::Column;
use crate::connections;
use crate::document::{Block, Content, Document, Part, Table};
use crate::doubt::doubts;
use crate::figures::{ServerFigures, share};
use crate::format::{self, NOTHING};
use crate::spectrum::{draw, spectrum};
use crate::words;

pub use curve::{LoadCurve, LoadPoint, PointVerdict};
pub use hdr::load_hdr;
pub use of_run::{Capacity, Load};
use outcomes::{checked, examples, outcomes};
pub use pair::LoadPair;
pub use tail::{AllCalls, Bound};
pub use verdict::cut_short;
use verdict::{exceeded, lateness, limits, overload};

/// The legend of the columns of times.
const HOW_TO_READ: &str =
    "response: from due; service: from sent; send lag: from due to sent; of ok calls";
/// The legend of the column for failed calls.
const ALL_CALLS: &str =
    "all calls: response, where failed calls count as infinitely slow; > marks a lower bound";

/// Names and values.
type Pairs = Vec<(String, String)>;

impl<'a> Document<'a> {
    /// The document of one window.
    pub fn of_load(load: &'a Load) -> Self {
        let mut times = vec![Content::Table(times(load))];
        if times[0].is_empty() {
            times.clear();
        } else {
            times.push(Content::Prose(legend(load)));
        }
        let bars = load.measured.latency.as_ref().map(spectrum).unwrap_or_default();
        let blocks = vec![
            Block::titled("Summary", vec![pairs(summary(load))]),
            Block::titled("Times", times),
            Block::titled("Response times of ok calls", vec![Content::Drawing(draw(&bars))]),
            Block::titled("Outcomes", vec![outcomes(load)]),
            Block::titled("Addresses", vec![Content::Table(addresses(load))]),
            Block::list("Errors seen", examples(load).into_iter()),
        ];
        Self {
            origin: Some(words::origin(&load.header)),
            parts: vec![Part { title: Some(title(load)), blocks, ..Part::default() }],
            warnings: warnings(load),
            ..Self::new(load.name(), load)
        }
    }
}

fn title(load: &Load) -> String {
    format!("{}: {} {}", load.address, load.protocol, words::load(&load.workload, load.protocol))
}

/// The result in one sentence: `20.0k calls/s, p50 90.7 us, p99 1.18 ms, no call failed: ok`.
pub(crate) fn headline(load: &Load) -> String {
    let rate = load.figures().map_or(0.0, |figures| figures.calls_per_s.value);
    let times = load.measured.latency.as_ref().map(|latency| {
        let [p50, p99] = [("p50", latency.p50_ns), ("p99", latency.p99_ns)]
            .map(|(name, ns)| format::duration_near(ns as f64, &limits(load, name)));
        format!(", p50 {p50}, p99 {p99}")
    });
    let failed = match load.measured.outcomes.errors() {
        0 => "no call failed".to_owned(),
        failed => format!("{} failed", format::plural(failed, "call")),
    };
    let rate = format::si_near(rate, &limits(load, "rate"));
    let times = times.unwrap_or_default();
    format!("{rate} calls/s{times}, {failed}: {}", load.verdict())
}

fn pairs(pairs: Pairs) -> Content {
    let (names, values) = pairs.into_iter().unzip();
    let columns = vec![Column::new("", false, names), Column::new("", false, values)];
    Content::Table(Table { columns, tones: Vec::new() })
}

fn summary(load: &Load) -> Pairs {
    let measured = &load.measured;
    let Some(figures) = load.figures() else { return Vec::new() };
    let awake = Some(figures.client.awake_share).filter(|share| *share >= 0.005);
    let awake = awake.map(|share| format!(", waiting awake {}", format::percent(share)));
    let client = format!(
        "{} of {}{}",
        format::percent(figures.client.cpu_share),
        format::plural(u64::from(measured.client.threads), "thread"),
        awake.unwrap_or_default(),
    );
    let busiest = format!(
        "{} of a CPU: the busiest thread, waiting for a CPU included",
        format::percent_near(figures.client.busiest_share, &[SATURATED]),
    );
    let pacing = measured.pacing.map(|pacing| {
        let [due, late, held_back] = [pacing.due, pacing.late, pacing.held_back].map(format::count);
        let late_share = format::percent_near(pacing.late_share(), &[Pacing::LATE_SHARE]);
        let held_share = format::percent(share(pacing.held_back as f64, pacing.due as f64));
        format!("{due} due, {late} ({late_share}) sent late, {held_back} ({held_share}) held back")
    });
    let capacity = load.capacity.map(|capacity| {
        format!(
            "{} calls/s, closed loop of {}{}",
            format::si(capacity.calls_per_s),
            format::duration_ns(capacity.window_ns as f64),
            if capacity.client_bound { ", client-bound" } else { "" }
        )
    });
    let errors = format::percent_near(measured.outcomes.error_share(), &limits(load, "errors"));
    let labels = load.header.plan.labels.to_string();
    let lines = [
        ("labels", Some(labels).filter(|labels| !labels.is_empty())),
        ("calls", Some(format::count(figures.outcomes.total()))),
        ("time", Some(format::duration_ns(measured.window_ns as f64))),
        ("ok calls/s", Some(format::si_near(figures.calls_per_s.value, &limits(load, "rate")))),
        ("connections/s", figures.churn.as_ref().map(|it| format::si(it.connections_per_s))),
        ("TLS", load.tls.as_ref().map(tls)),
        ("handshakes", handshakes(measured)),
        ("records", figures.records_per_reply.map(|it| format!("{it:.2} of TLS a reply"))),
        ("errors", Some(errors)),
        ("received", bytes_per_s(load, measured.bytes_in, (measured.replies_in, "a reply"))),
        ("sent", bytes_per_s(load, measured.bytes_out, (measured.requests_out, "a request"))),
        ("checked", checked(load)),
        ("pacing", pacing),
        ("capacity", capacity),
    ];
    let verdict = load.verdict().to_string();
    let end = [("client CPU", client), ("client busy", busiest), ("verdict", verdict)];
    let end = end.map(|(name, value)| (name, Some(value)));
    let server = figures.server.as_ref().map(|server| server_lines(load, server));
    let lines = lines.into_iter().chain(server.unwrap_or_default()).chain(end);
    lines.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// `TLS 1.3, TLS_AES_128_GCM_SHA256, X25519, ALPN h2; verified by ca.pem; 50 full handshakes`.
fn tls(tls: &Tls) -> String {
    let full = format::plural(tls.full_handshakes, "full handshake");
    let resumed =
        (tls.resumed_handshakes > 0).then(|| format!(", {} resumed", tls.resumed_handshakes));
    let (agreed, resumed) = (words::agreed(tls), resumed.unwrap_or_default());
    format!("{agreed}; verified by {}; {full}{resumed}", tls.verified_by)
}

/// `1,200 full, 34,000 resumed, in the window`. `None` without any.
fn handshakes(Measured { opening, .. }: &Measured) -> Option<String> {
    let counted = [(&opening.full_handshake, "full"), (&opening.resumed_handshake, "resumed")];
    let parts: Vec<String> = counted
        .iter()
        .filter_map(|(latency, kind)| {
            Some(format!("{} {kind}", format::count(latency.as_ref()?.count)))
        })
        .collect();
    (!parts.is_empty()).then(|| format!("{}, in the window", parts.join(", ")))
}

/// `1.2 MiB/s, 123 B a reply`, from this number of messages. `None` for records without byte counts. With fewer messages than
/// connections there is no average, as the bytes that the protocol adds per connection would outweigh the messages.
fn bytes_per_s(load: &Load, bytes: u64, (messages, of): (u64, &str)) -> Option<String> {
    let per_s = share(bytes as f64 * 1e9, load.measured.window_ns as f64);
    let has_average = messages >= u64::from(load.workload.connections);
    let each = bytes.checked_div(messages).filter(|_| has_average);
    let each = each.map(|each| format!(", {} {of}", format::bytes(each)));
    let each = each.unwrap_or_default();
    (bytes > 0).then(|| format!("{}/s{each}", format::bytes(per_s as u64)))
}

/// CPU time, memory and threads of the server.
fn server_lines(load: &Load, server: &ServerFigures) -> Vec<(&'static str, Option<String>)> {
    let used = load.measured.server.as_ref();
    let seconds = |s: f64| format::duration_ns(s * 1e9);
    let cpu = format!(
        "{} of {}: {} user, {} system",
        format::percent_near(server.cpu_share, &[SATURATED]),
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

/// The steps of opening TLS connections. Without TLS, a connect has one step.
fn steps(Measured { opening, .. }: &Measured) -> impl Iterator<Item = (&'static str, &Latency)> {
    let handshakes =
        [("TLS full", &opening.full_handshake), ("TLS resumed", &opening.resumed_handshake)];
    let has_tls = handshakes.iter().any(|(_, latency)| latency.is_some());
    let around = |latency| Some(latency).filter(|_| has_tls).and_then(Option::as_ref);
    let [first, last] = [("TCP", &opening.tcp), ("first byte", &opening.first_byte)]
        .map(|(title, latency)| Some((title, around(latency)?)));
    let handshakes = handshakes.map(|(title, latency)| Some((title, latency.as_ref()?)));
    [first].into_iter().chain(handshakes).chain([last]).flatten()
}

/// A row per figure and a column per kind of time. Empty if no call was answered or failed.
fn times(load: &Load) -> Table {
    type Of = fn(&Latency) -> f64;
    type OfAll = fn(&AllCalls) -> Bound;
    const ROWS: [(&str, Of, OfAll); 8] = [
        ("min", |l| l.min_ns as f64, AllCalls::min),
        ("mean", |l| l.mean_ns, AllCalls::mean),
        ("p50", |l| l.p50_ns as f64, |all| all.quantile(500_000)),
        ("p90", |l| l.p90_ns as f64, |all| all.quantile(900_000)),
        ("p95", |l| l.p95_ns as f64, |all| all.quantile(950_000)),
        ("p99", |l| l.p99_ns as f64, |all| all.quantile(990_000)),
        ("p99.9", |l| l.p999_ns as f64, |all| all.quantile(999_000)),
        ("max", |l| l.max_ns as f64, AllCalls::max),
    ];
    let measured = &load.measured;
    let all = (measured.outcomes.errors() > 0).then(|| AllCalls::of(measured)).flatten();
    if measured.latency.is_none() && all.is_none() {
        return Table::default();
    }
    let column = |title, latency: Option<&Latency>| {
        let text = |name, of: Of| {
            let text = |it| format::duration_near(of(it), &limits(load, name));
            latency.map_or(NOTHING.to_owned(), text)
        };
        Column::new(title, true, ROWS.iter().map(|(name, of, _)| text(name, *of)).collect())
    };
    let names = ROWS.iter().map(|(name, ..)| (*name).to_owned()).collect();
    let mut columns = vec![Column::new("", false, names)];
    columns.extend(load.times().map(|(title, _, latency)| column(title, latency)));
    columns.extend(measured.connect.as_ref().map(|connect| column("connect", Some(connect))));
    columns.extend(steps(measured).map(|(title, latency)| column(title, Some(latency))));
    columns.extend(all.map(|all| {
        let cells = ROWS.iter().map(|(name, _, of)| of(&all).near(&limits(load, name)));
        Column::new("all calls", true, cells.collect())
    }));
    Table { columns, tones: Vec::new() }
}

/// A row per server address, if there are several.
fn addresses(load: &Load) -> Table {
    let all = &load.measured.addresses;
    if all.is_empty() {
        return Table::default();
    }
    let column = |title, text: &dyn Fn(&AddressFigures) -> String| {
        Column::new(title, title != "address", all.iter().map(text).collect())
    };
    let time = |ns: Option<u64>| ns.map_or(NOTHING.to_owned(), |ns| format::duration_ns(ns as f64));
    let columns = vec![
        column("address", &|it| it.address.clone()),
        column("calls", &|it| format::count(it.calls)),
        column("errors", &|it| format::percent(share(it.failed as f64, it.calls as f64))),
        column("p50", &|it| time(it.p50_ns)),
        column("p99", &|it| time(it.p99_ns)),
        column("max", &|it| time(it.max_ns)),
    ];
    Table { columns, tones: Vec::new() }
}

fn legend(load: &Load) -> Vec<String> {
    let failed = load.measured.outcomes.errors() > 0;
    let lines = std::iter::once(HOW_TO_READ).chain(failed.then_some(ALL_CALLS));
    lines.map(str::to_owned).collect()
}

/// The warnings of a load, most important first.
fn warnings(load: &Load) -> Vec<String> {
    let doubts = doubts(&load.measured, &load.workload).into_iter();
    let mut lines: Vec<String> = doubts.map(|doubt| format!("suspect: {doubt}")).collect();
    let connections = [connections::fault, connections::note].map(|of| of(&[&load.measured]));
    lines.extend(connections.into_iter().flatten());
    lines.extend([cut_short(load), lateness(load), overload(load)].into_iter().flatten());
    lines.extend(exceeded(load).into_iter().map(|limit| format!("limit exceeded: {limit}")));
    lines.extend(load.placement_notes.iter().cloned());
    if verdict::busiest(load) >= SATURATED {
        let remedy = verdict::more_threads(load);
        lines.push(format!("the client was the limit, the server can do more; {remedy}"));
    }
    lines.extend(load.header.plan.warnings.iter().cloned());
    lines
}
