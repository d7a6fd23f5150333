//! The server that a client program calls.

use std::io;

use rpcbench_record::Protocol;
use rpcbench_reference::{Counted, ReferenceServer, ThreadTime};

use crate::placement::Endpoint;

/// The counterpart of a program.
#[derive(Debug)]
pub(super) enum Called {
    /// rpcbench's own server.
    Reference(ReferenceServer),
    /// A server under test. It does not count calls, and its placement measures its usage.
    Server { address: String },
}

impl Called {
    /// The server at an endpoint. Without one, starts a reference server with one thread for each of `cpus`.
    pub fn of(endpoint: Option<&Endpoint>, protocol: Protocol, cpus: &[u32]) -> io::Result<Self> {
        match endpoint {
            Some(server) => Ok(Self::Server { address: server.authority.clone() }),
            None => Ok(Self::Reference(ReferenceServer::start(protocol, cpus)?)),
        }
    }

    /// `127.0.0.1:50051`.
    pub fn address(&self) -> String {
        match self {
            Self::Reference(server) => server.address().to_string(),
            Self::Server { address } => address.clone(),
        }
    }

    /// The calls and connections counted so far. `None` if the server does not count.
    pub fn seen(&self) -> Option<Counted> {
        match self {
            Self::Reference(server) => Some(server.counted()),
            Self::Server { .. } => None,
        }
    }

    /// CPU time of the server's threads so far. Empty if they are not in this process.
    pub fn usage(&self) -> io::Result<Vec<ThreadTime>> {
        match self {
            Self::Reference(server) => server.usage(),
            Self::Server { .. } => Ok(Vec::new()),
        }
    }
}
