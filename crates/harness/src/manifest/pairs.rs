//! Clients with the servers that they call.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::Entry;
use crate::config::ConfigError;

/// The servers to pair clients with.
#[derive(Clone, Copy, Debug)]
pub enum Partners<'a> {
    /// For each client, the server of the same name, or else of the same language. If a language has several servers of the
    /// client's protocol, the one that `rpcbench run` uses by default, or else the first.
    OfLanguage(&'a [Entry]),
    /// All of these that speak the client's protocol.
    Each(&'a [Entry]),
}

impl<'a> Partners<'a> {
    fn of(self, client: &Entry) -> Vec<&'a Entry> {
        let speaks = |server: &&Entry| server.protocol == client.protocol;
        match self {
            Self::Each(servers) => servers.iter().filter(speaks).collect(),
            Self::OfLanguage(servers) => {
                let is_own = |it: &&Entry| it.server.language == client.server.language;
                let own = || servers.iter().filter(speaks).filter(is_own);
                let is_namesake = |it: &&Entry| it.server.name == client.server.name;
                let best = own().min_by_key(|it| (!is_namesake(it), !it.is_representative()));
                best.into_iter().collect()
            }
        }
    }
}

/// Pairs each client with each of its partners, in the order of the clients. Also returns the clients without partners.
pub fn pairs(
    clients: Vec<Entry>,
    partners: Partners<'_>,
) -> Result<(Vec<Entry>, Vec<Entry>), ConfigError> {
    let (mut pairs, mut alone) = (Vec::new(), Vec::new());
    for client in clients {
        let called = partners.of(&client);
        for server in &called {
            // Each pair has its own server processes; the copy makes their names unique.
            let copy = NonZeroU32::MIN.saturating_add(pairs.len() as u32);
            let counterpart = Some(Arc::new(Entry { copy, ..(*server).clone() }));
            pairs.push(Entry { counterpart, ..client.clone() });
        }
        if called.is_empty() {
            alone.push(client);
        }
    }
    match pairs.is_empty() {
        false => Ok((pairs, alone)),
        true => Err(ConfigError(
            "none of these servers speaks a protocol of these clients; name others after --servers (see `rpcbench list \
             --matrix`), or leave --servers out for the reference server"
                .to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use rpcbench_record::Protocol;

    use super::super::Server;
    use super::*;

    fn entry(language: &str, library: &str, protocol: Protocol) -> Entry {
        let name = format!("{language}-{library}");
        let own = |server: &Arc<Server>| {
            let protocols = vec![protocol];
            Server { language: language.to_owned(), protocols, ..(**server).clone() }
        };
        let entry = Entry::existing(name, protocol);
        Entry { server: own(&entry.server).into(), ..entry }
    }

    fn names(clients: &[Entry], partners: Partners<'_>) -> (Vec<String>, Vec<String>) {
        let (pairs, alone) = pairs(clients.to_vec(), partners).unwrap();
        let names = |of: Vec<Entry>| of.iter().map(Entry::name).collect();
        (names(pairs), names(alone))
    }

    #[test]
    fn clients_are_paired_with_servers_of_their_protocol() {
        use Protocol::{Grpc, Json, Thrift};
        let clients =
            [entry("go", "grpc", Grpc), entry("java", "grpc", Grpc), entry("go", "http", Json)];
        let servers =
            [entry("go", "grpc", Grpc), entry("java", "grpc", Grpc), entry("go", "thrift", Thrift)];
        let (all, alone) = names(&clients, Partners::Each(&servers));
        let expected =
            ["go-grpc+go-grpc", "go-grpc+java-grpc", "java-grpc+go-grpc", "java-grpc+java-grpc"];
        assert_eq!(
            (all, alone),
            (expected.map(str::to_owned).to_vec(), vec!["go-http".to_owned()])
        );
        let more = [&[entry("go", "aaa", Grpc), entry("go", "gin", Json)], &servers[..]].concat();
        let (own, _) = names(&clients, Partners::OfLanguage(&more));
        assert_eq!(own, ["go-grpc+go-grpc", "java-grpc+java-grpc", "go-http+go-gin"]);
        let refused = pairs(clients[2..].to_vec(), Partners::Each(&servers)).unwrap_err();
        assert!(refused.to_string().starts_with("none of these servers speaks"), "{refused}");
    }

    #[test]
    fn servers_of_pairs_have_different_names() {
        let server = entry("go", "grpc", Protocol::Grpc);
        let clients = [server.clone(), entry("java", "grpc", Protocol::Grpc)];
        let (pairs, _) = pairs(clients.to_vec(), Partners::Each(&[server])).unwrap();
        let names: Vec<String> =
            pairs.iter().filter_map(|pair| Some(pair.counterpart.as_ref()?.name())).collect();
        assert_eq!(names, ["go-grpc", "go-grpc#2"]);
    }
}
