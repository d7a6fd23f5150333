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
    /// A server under test, which counts no calls. Its placement knows what it uses.
    Server { address: String },
}

impl Called {
    /// The server at an endpoint, or else a new reference server with a thread for each of `cpus`.
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

    /// The calls and connections that it has seen so far. `None` if it does not count them.
    pub fn seen(&self) -> Option<Counted> {
        match self {
            Self::Reference(server) => Some(server.counted()),
            Self::Server { .. } => None,
        }
    }

    /// What its threads have used so far. Empty if they are not of this process.
    pub fn usage(&self) -> io::Result<Vec<ThreadTime>> {
        match self {
            Self::Reference(server) => server.usage(),
            Self::Server { .. } => Ok(Vec::new()),
        }
    }
}
