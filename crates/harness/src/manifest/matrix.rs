//! The matrix of languages and protocols: existing servers, and why others are missing.

use std::collections::BTreeSet;

use rpcbench_record::{Protocol, Transport};

use super::Server;
use super::layers::MissingEntry;

/// Languages in rows, protocols in columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// The protocols of all existing and missing servers.
    pub protocols: Vec<Protocol>,
    /// One for each language, by name.
    pub rows: Vec<MatrixRow>,
}

/// The servers of one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixRow {
    /// As people write it: `C++`.
    pub language: String,
    /// One for each protocol.
    pub cells: Vec<MatrixCell>,
    /// Names of the servers with TLS, sorted. Protocols are listed if only some offer it.
    pub with_tls: Vec<String>,
    /// Names of the servers without TLS, sorted, and why.
    pub without_tls: Vec<(String, String)>,
}

/// The servers of one language for one protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatrixCell {
    /// Names of the servers, sorted, with a remark if they can't run as processes. At least one.
    Servers(Vec<String>),
    /// No server, and why. `None` if the reason is unknown.
    Missing(Option<String>),
}

pub(super) fn matrix<'a>(
    servers: impl Iterator<Item = &'a Server> + Clone,
    missing: &[MissingEntry],
) -> Matrix {
    let spoken = servers.clone().flat_map(|server| &server.protocols);
    let lacked = missing.iter().flat_map(|missing| &missing.protocols);
    let protocols: BTreeSet<Protocol> = spoken.chain(lacked).copied().map(column).collect();
    let titles = servers.clone().map(|server| &server.language_title);
    let lacking = missing.iter().map(|missing| &missing.language);
    let languages: BTreeSet<&String> = titles.chain(lacking).collect();
    let row = |language: &String| {
        let own: Vec<&Server> =
            servers.clone().filter(|it| it.language_title == *language).collect();
        let cell = |protocol: &Protocol| {
            let speaks = |it: &&&Server| it.protocols.iter().any(|it| column(*it) == *protocol);
            let named = |server: &&Server| match server.build.container_only {
                true => format!("{} (container only)", server.name),
                false => server.name.clone(),
            };
            let names: Vec<String> = own.iter().filter(speaks).map(named).collect();
            if !names.is_empty() {
                return MatrixCell::Servers(names);
            }
            let mut lacking = missing.iter().filter(|it| it.language == *language);
            let found = lacking.find(|it| it.protocols.contains(protocol));
            MatrixCell::Missing(found.map(|missing| missing.reason.clone()))
        };
        let without_tls = |it: &&Server| Some((it.name.clone(), it.no_tls.clone()?));
        MatrixRow {
            language: language.clone(),
            with_tls: own.iter().filter_map(|it| with_tls(it)).collect(),
            without_tls: own.iter().filter_map(without_tls).collect(),
            cells: protocols.iter().map(cell).collect(),
        }
    };
    Matrix {
        rows: languages.into_iter().map(row).collect(),
        protocols: protocols.into_iter().collect(),
    }
}

/// `go-grpc`, `x-y (grpc)`. `None` without TLS.
fn with_tls(server: &Server) -> Option<String> {
    let Server { name, protocols, tls, .. } = server;
    let listed = || tls.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match tls.len() {
        0 => None,
        all if all == protocols.len() => Some(name.clone()),
        _ => Some(format!("{name} ({})", listed())),
    }
}

/// The column that a protocol belongs to: Thrift's transports and encodings share one.
fn column(protocol: Protocol) -> Protocol {
    match protocol.spec().transport {
        Transport::ThriftFramed | Transport::ThriftBuffered => Protocol::Thrift,
        _ => protocol,
    }
}
