//! The two sides of a call, in words.
//!
//! In sentences of reports, the server is measured, and the client's threads make the load. In a run of clients, the client is
//! measured, and the reference server answers: the words swap.

use std::borrow::Cow;

use rpcbench_record::Role;

/// Words about servers, and what replaces them in a run of clients. Of two that begin alike, the longer comes first.
const CLIENTS: [(&str, &str); 13] = [
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

/// A sentence in the words of a run of this role.
pub(crate) fn words(role: Role, text: &str) -> Cow<'_, str> {
    match role {
        Role::Server => text.into(),
        Role::Client => swapped(text).into(),
    }
}

/// The same for the title of a column.
pub(crate) fn title(role: Role, title: &'static str) -> &'static str {
    match (role, title) {
        (Role::Client, "server") => "client",
        (Role::Client, "server CPU") => "client CPU",
        (Role::Client, "client CPU") => "reference CPU",
        _ => title,
    }
}

fn swapped(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        // Names such as go-server keep their parts.
        let begins =
            !words.ends_with(|before: char| before.is_alphanumeric() || "-_".contains(before));
        let whole = |word: &str| {
            let after = rest.strip_prefix(word)?;
            (!after.starts_with(|c: char| c.is_alphanumeric() || "-_".contains(c))).then_some(after)
        };
        let found = CLIENTS.iter().find_map(|(word, other)| Some((other, whole(word)?)));
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
        let clients = |text| words(Role::Client, text).into_owned();
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
            assert_eq!(words(Role::Server, servers), servers);
        }
        assert_eq!(title(Role::Client, "client CPU"), "reference CPU");
    }
}
