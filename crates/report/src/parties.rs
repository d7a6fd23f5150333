//! Wording for the two sides of a call.
//!
//! By default, sentences in reports describe a server under test, with the client's threads generating the load. If clients are
//! measured, the reference server or a server under test answers, and the words are swapped.

use std::borrow::Cow;

use rpcbench_record::{Plan, PlannedServer, Role};

/// Words about servers, with their replacements. If one is the beginning of another, the longer comes first.
type Swaps = [(&'static str, &'static str)];

/// For a run of clients.
const CLIENTS: &Swaps = &[
    ("reference server", "reference server"),
    ("server-bound", "at its limit"),
    ("client-bound", "reference-bound"),
    ("client threads", "threads of the reference server"),
    ("client thread", "thread of the reference server"),
    ("load threads", "threads of the reference server"),
    ("load thread", "thread of the reference server"),
    ("servers", "clients"),
    ("Servers", "Clients"),
    ("server", "client"),
    ("Server", "Client"),
    ("client CPU", "reference CPU"),
    ("client", "reference server"),
];

/// For a run of clients that call servers under test.
const PAIRS: &Swaps = &[
    ("server-bound", "at its limit"),
    ("client-bound", "server-bound"),
    ("client threads", "CPUs of each server"),
    ("client thread", "CPU of each server"),
    ("load threads", "CPUs of the server"),
    ("load thread", "CPU of the server"),
    ("servers", "clients"),
    ("Servers", "Clients"),
    ("server", "client"),
    ("Server", "Client"),
    ("client", "server"),
];

/// The side under test, and the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parties {
    /// A server; the other side is rpcbench.
    Server,
    /// A client; the other side is the reference server.
    Client,
    /// A client; the other side is a server under test.
    Pair,
}

impl Parties {
    /// The parties of an entry.
    pub(crate) fn of(entry: &PlannedServer) -> Self {
        match (entry.role, &entry.counterpart) {
            (Role::Server, _) => Self::Server,
            (Role::Client, None) => Self::Client,
            (Role::Client, Some(_)) => Self::Pair,
        }
    }

    /// The parties of a run.
    pub(crate) fn of_run(plan: &Plan) -> Self {
        plan.servers.first().map_or(Self::Server, Self::of)
    }

    /// Rewords a sentence for these parties.
    pub(crate) fn words(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Server => text.into(),
            Self::Client => swapped(text, CLIENTS).into(),
            Self::Pair => swapped(text, PAIRS).into(),
        }
    }

    /// The same for a column title.
    pub(crate) fn title(self, title: Cow<'static, str>) -> Cow<'static, str> {
        match (self, &*title) {
            (Self::Client | Self::Pair, "server") => "client".into(),
            (Self::Client | Self::Pair, "server CPU") => "client CPU".into(),
            (Self::Client, "client CPU") => "reference CPU".into(),
            (Self::Pair, "client CPU") => "server CPU".into(),
            (Self::Pair, "calls/cpu-s") => "calls/client-cpu-s".into(),
            _ => title,
        }
    }
}

fn swapped(text: &str, swaps: &Swaps) -> String {
    let mut words = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        // Names such as go-server are not split.
        let begins =
            !words.ends_with(|before: char| before.is_alphanumeric() || "-_".contains(before));
        let whole = |word: &str| {
            let after = rest.strip_prefix(word)?;
            (!after.starts_with(|c: char| c.is_alphanumeric() || "-_".contains(c))).then_some(after)
        };
        let found = swaps.iter().find_map(|(word, other)| Some((other, whole(word)?)));
        match found.filter(|_| begins) {
            Some((other, after)) => {
                words.push_str(other);
                rest = after;
            }
            None => {
                words.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subject_and_counterpart_swap_in_a_run_of_clients() {
        let clients = |text| Parties::Client.words(text).into_owned();
        for (servers, expected) in [
            (
                "the busiest client thread was at 95 % of a CPU, the server at 60 % of its limit",
                "the busiest thread of the reference server was at 95 % of a CPU, the client at 60 % of its limit",
            ),
            ("1 CPU per server", "1 CPU per client"),
            (
                "server-bound: good, the server was the bottleneck",
                "at its limit: good, the client was the bottleneck",
            ),
            ("the server's CPUs (go-server)", "the client's CPUs (go-server)"),
            ("the reference server answered 9", "the reference server answered 9"),
            ("client and server shared CPU 0", "reference server and client shared CPU 0"),
        ] {
            assert_eq!(clients(servers), expected);
            assert_eq!(Parties::Server.words(servers), servers);
        }
        assert_eq!(Parties::Client.title("client CPU".into()), "reference CPU");
    }

    #[test]
    fn both_sides_of_a_pair_are_under_test() {
        let pair = |text| Parties::Pair.words(text).into_owned();
        assert_eq!(
            pair("the busiest client thread was at 95 % of a CPU, the server at 60 % of its limit"),
            "the busiest CPU of each server was at 95 % of a CPU, the client at 60 % of its limit"
        );
        assert_eq!(pair("closed loop, 1 client thread"), "closed loop, 1 CPU of each server");
        assert_eq!(Parties::Pair.title("client CPU".into()), "server CPU");
    }
}
