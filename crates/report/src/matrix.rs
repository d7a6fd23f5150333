//! Clients against the servers that they call: the limit of each pair.

use itertools::Itertools as _;
use rpcbench_record::PlannedServer;

use crate::columns::Column;
use crate::document::{Block, Content, Table as Grid};
use crate::format::{self, NOTHING};
use crate::row::Row;
use crate::summary::Table;
use crate::verdict::VerdictKind;

/// The side that was the limit of a pair.
pub(crate) fn limit(row: &Row) -> Option<&'static str> {
    row.server.counterpart.as_ref()?;
    match row.verdict.kind {
        VerdictKind::AtItsLimit => Some("client"),
        VerdictKind::ServerBound => Some("server"),
        VerdictKind::Unclear => Some("neither"),
        _ => None,
    }
}

/// A row per client and a column per server: calls per second, and the limit or else the verdict. `None` in runs without pairs.
pub(crate) fn block(table: &Table) -> Option<Block> {
    let pairs: Vec<(String, &String, &Row)> = table
        .rows
        .iter()
        .filter_map(|row| Some((client(&row.server)?, row.server.counterpart.as_ref()?, row)))
        .collect();
    let clients: Vec<&String> = pairs.iter().map(|(client, ..)| client).unique().collect();
    let servers: Vec<&String> = pairs.iter().map(|(_, server, _)| *server).unique().collect();
    let cell = |client: &String, server: &String| {
        let pair = pairs.iter().find(|it| it.0 == *client && it.1 == server);
        pair.map_or_else(|| NOTHING.to_owned(), |(.., row)| shown(row))
    };
    let names = clients.iter().map(|client| (*client).clone()).collect();
    let mut columns = vec![Column::new("client", false, names)];
    columns.extend(servers.iter().map(|server| {
        let cells = clients.iter().map(|client| cell(client, server)).collect();
        Column::new(format!("to {server}"), true, cells)
    }));
    let grid = Content::Table(Grid { columns, tones: Vec::new() });
    (!pairs.is_empty()).then(|| Block::titled("Calls per second, and the limit", vec![grid]))
}

/// `31.7k client`.
fn shown(row: &Row) -> String {
    let figures = row.figures.as_ref().filter(|_| !row.verdict.is_failed());
    let calls = figures.map(|figures| format::si(figures.calls_per_s.value));
    let limit = limit(row).unwrap_or_else(|| row.verdict.name());
    calls.map_or_else(|| limit.to_owned(), |calls| format!("{calls} {limit}"))
}

/// The entry without the server that it calls. `None` for an entry that is not a pair.
pub(crate) fn client(entry: &PlannedServer) -> Option<String> {
    let called = format!("+{}", entry.counterpart.as_ref()?);
    Some(entry.entry.replacen(&called, "", 1))
}
