//! The best of each protocol, language or server, and how they compare.

use std::fmt;
use std::str::FromStr;

use itertools::Itertools as _;
use rpcbench_record::{ParseError, PlannedServer};

use crate::conclusion::{ends, saving, unit};
use crate::format;
use crate::row::Row;
use crate::standings::{Pair, Standings};
use crate::summary::Table;

/// The criterion that rows are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// The protocol.
    Protocol,
    /// The server's language.
    Language,
    /// The server, across its protocols and variants.
    Server,
}

impl GroupBy {
    const ALL: [Self; 3] = [Self::Protocol, Self::Language, Self::Server];

    /// Name in options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Protocol => "protocol",
            Self::Language => "language",
            Self::Server => "server",
        }
    }

    fn key(self, server: &PlannedServer) -> String {
        match self {
            Self::Protocol => server.protocol.name().to_owned(),
            Self::Language => server.language.clone(),
            Self::Server => server.server.clone(),
        }
    }
}

impl fmt::Display for GroupBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for GroupBy {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let found = Self::ALL.into_iter().find(|group| group.name() == text);
        found.ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            ParseError(format!("rows can't be grouped by '{text}'; use {known}"))
        })
    }
}

/// The fastest ranked row of a protocol, language or server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GroupLeader<'a> {
    pub name: String,
    /// The fastest row, as measured.
    pub best: &'a Row,
    /// The best of all groups compared with this row. `None` for the best group.
    pub against: Option<&'a Pair>,
}

/// The groups of a table's ranked rows, fastest first.
pub(crate) fn groups(table: &Table, by: GroupBy) -> Vec<GroupLeader<'_>> {
    let Some(standings) = &table.standings else { return Vec::new() };
    grouped(table.rows.iter(), standings, by)
}

fn grouped<'a>(
    rows: impl Iterator<Item = &'a Row>,
    standings: &'a Standings,
    by: GroupBy,
) -> Vec<GroupLeader<'a>> {
    let mut groups: Vec<GroupLeader<'a>> = Vec::new();
    for row in rows.filter(|row| row.place.is_some()) {
        let name = by.key(&row.server);
        if groups.iter().all(|group| group.name != name) {
            let first = groups.first().map(|group| &group.best.server.entry);
            let against = first.and_then(|first| standings.pair(first, &row.server.entry));
            groups.push(GroupLeader { name, best: row, against });
        }
    }
    groups
}

/// The lines of `--group-by`: each group with its best entry, and how that compares with the best of all.
pub(crate) fn lines(table: &Table, by: GroupBy) -> Vec<String> {
    let line = |group: &GroupLeader<'_>| {
        let speed = group.best.ranked().map(|estimate| format::si(estimate.value));
        let best = format!(
            "{}: {} at {} {}",
            group.name,
            group.best.server.entry,
            speed.unwrap_or_default(),
            unit(group.best.by)
        );
        match group.against {
            None => best,
            Some(pair) => format!("{best}, {} of the first{}", share(pair), unsure(pair)),
        }
    };
    groups(table, by).iter().map(line).collect()
}

/// `71 % (69 to 73 %)`: the second's figure as a share of the first's.
fn share(pair: &Pair) -> String {
    let percent = |ratio: f64| format::near(100.0 / ratio, 0, &[100.0]);
    let ends = pair.range.map_or_else(String::new, |range| {
        format!(" ({} to {} %)", percent(range.high), percent(range.low))
    });
    format!("{} %{ends}", percent(pair.ratio))
}

fn unsure(pair: &Pair) -> &'static str {
    match (pair.is_open(), pair.finding.is_equal()) {
        (true, _) => "; too close to call",
        (false, true) => "; equal",
        (false, false) => "",
    }
}

/// For each language with several protocols, a sentence for each pair: `In go, grpc (go-grpc) is 1.4x json (go-net-http) (1.3 to
/// 1.5)`.
pub(crate) fn protocols_by_language(table: &Table) -> Vec<String> {
    let Some(standings) = &table.standings else { return Vec::new() };
    let mut lines = Vec::new();
    for language in groups(table, GroupBy::Language) {
        let of_language = |row: &&Row| row.server.language == language.name;
        let protocols =
            grouped(table.rows.iter().filter(of_language), standings, GroupBy::Protocol);
        let pairs = protocols.iter().tuple_combinations();
        let pairs = pairs.filter_map(|(one, other)| compared(one, other, standings));
        lines.extend(pairs.map(|pair| format!("In {}, {pair}.", language.name)));
    }
    lines
}

fn compared(
    first: &GroupLeader<'_>,
    other: &GroupLeader<'_>,
    standings: &Standings,
) -> Option<String> {
    let pair = standings.pair(&first.best.server.entry, &other.best.server.entry)?;
    let (first, second) = (named(first), named(other));
    Some(match (pair.is_open(), pair.finding.is_equal()) {
        (true, _) => format!("{first} and {second} are too close to call"),
        (false, true) => format!("{first} and {second} are equal"),
        (false, false) => {
            let ratio = format::si_near(pair.ratio, &[1.0]);
            let saving = saving(pair, standings);
            format!("{first} is {ratio}x {second}{}{saving}", ends(pair.range))
        }
    })
}

/// `json (go-net-http)`.
fn named(group: &GroupLeader<'_>) -> String {
    format!("{} ({})", group.name, group.best.server.entry)
}
