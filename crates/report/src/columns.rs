//! The columns of a table, shared by the terminal and Markdown.

use rpcbench_stats::Rank;

use crate::cell::Row;
use crate::figures::{Figures, Response, ServerFigures};
use crate::format::{self, NOTHING};

/// A column.
pub(crate) struct Column {
    pub(crate) title: &'static str,
    /// Numbers stand right, words left.
    pub(crate) align: Align,
    /// Columns with the highest number go first where a terminal is narrow; 0 never goes.
    pub(crate) spare: u8,
    pub(crate) cell: fn(&Row) -> String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

const fn number(title: &'static str, spare: u8, cell: fn(&Row) -> String) -> Column {
    Column { title, align: Align::Right, spare, cell }
}

const fn word(title: &'static str, cell: fn(&Row) -> String) -> Column {
    Column { title, align: Align::Left, spare: 0, cell }
}

/// Every column of a ranking, in order.
pub(crate) const RANKING: [Column; 17] = [
    number("#", 0, rank),
    word("server", |row| row.server.entry.clone()),
    number("calls/s", 0, |row| row.rate().map_or_else(nothing, |rate| format::si(rate.mean))),
    number("±", 2, |row| {
        row.rate().and_then(|rate| rate.half_width()).map_or_else(nothing, format::percent)
    }),
    number("p50", 1, |row| response(row, |r| r.p50_ns)),
    number("p90", 10, |row| response(row, |r| r.p90_ns)),
    number("p95", 9, |row| response(row, |r| r.p95_ns)),
    number("p99", 0, |row| response(row, |r| r.p99_ns)),
    number("p99.9", 6, |row| response(row, |r| r.p999_ns)),
    number("max", 8, |row| response(row, |r| r.max_ns)),
    number("errors", 4, errors),
    number("server CPU", 3, |row| server(row, |s| format::percent(s.cpu_share))),
    number("calls/cpu-s", 1, |row| {
        server(row, |s| s.calls_per_cpu_s.map_or_else(nothing, |e| format::si(e.mean)))
    }),
    number("peak mem", 5, |row| server(row, |s| format::bytes(s.memory_peak_bytes))),
    number("client CPU", 7, |row| figure(row, |f| format::percent(f.client.cpu_share))),
    number("steady", 6, |row| match row.steady_after_ms {
        None => nothing(),
        Some(0) => "at once".to_owned(),
        Some(ms) => format::duration_ns(ms as f64 * 1e6),
    }),
    word("verdict", |row| row.verdict.to_string()),
];

/// Every column of response times over load, in order.
pub(crate) const CURVE: [Column; 13] = [
    word("server", |row| row.server.entry.clone()),
    number("load", 0, load),
    number("offered/s", 1, |row| row.offered_per_s.map_or_else(nothing, format::si)),
    number("calls/s", 5, |row| figure(row, |f| format::si(f.calls_per_s.mean))),
    number("p50", 0, |row| response(row, |r| r.p50_ns)),
    number("p90", 4, |row| response(row, |r| r.p90_ns)),
    number("p99", 0, |row| response(row, |r| r.p99_ns)),
    number("p99.9", 0, |row| response(row, |r| r.p999_ns)),
    number("max", 3, |row| response(row, |r| r.max_ns)),
    number("errors", 2, errors),
    number("server CPU", 6, |row| server(row, |s| format::percent(s.cpu_share))),
    number("client CPU", 7, |row| figure(row, |f| format::percent(f.client.cpu_share))),
    word("verdict", |row| row.verdict.to_string()),
];

/// What is offered, of the entry's own capacity.
fn load(row: &Row) -> String {
    let share = row.offered_per_s.zip(row.capacity_per_s).map(|(rate, capacity)| rate / capacity);
    share.map_or_else(nothing, format::percent)
}

fn nothing() -> String {
    NOTHING.to_owned()
}

fn rank(row: &Row) -> String {
    match row.rank {
        Some(Rank { place, tied: true }) => format!("={place}"),
        Some(Rank { place, tied: false }) => place.to_string(),
        None => nothing(),
    }
}

fn errors(row: &Row) -> String {
    figure(row, |f| match f.outcomes.errors() {
        0 => "0".to_owned(),
        _ => format::percent(f.error_share()),
    })
}

fn figure(row: &Row, of: fn(&Figures) -> String) -> String {
    row.figures.as_ref().map_or_else(nothing, of)
}

fn response(row: &Row, of: fn(&Response) -> u64) -> String {
    row.figures
        .as_ref()
        .and_then(|f| f.response.as_ref())
        .map_or_else(nothing, |r| format::duration_ns(of(r) as f64))
}

fn server(row: &Row, of: impl Fn(&ServerFigures) -> String) -> String {
    row.figures.as_ref().and_then(|f| f.server.as_ref()).map_or_else(nothing, of)
}
