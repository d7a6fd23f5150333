//! Messages between rpcbench and a client program: contract/clients.md.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// A message to the program.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Command<'a> {
    Open {
        target: String,
        protocol: String,
        shape: &'a str,
        requests: &'a Path,
        connections: u32,
        in_flight: u32,
        timeout_ns: u64,
        calls_per_connection: u64,
    },
    Start {
        at_ns: u64,
        calls: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        schedule: Option<&'a Path>,
        #[serde(skip_serializing_if = "Option::is_none")]
        in_flight_max: Option<u32>,
    },
    Stop {
        at_ns: u64,
    },
    Close,
}

/// A program's introduction.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Hello {
    /// Version of the protocol.
    pub version: u32,
    /// The language's folder.
    pub language: String,
    /// Name of the library, for readers.
    pub library: String,
    /// Version of the library.
    pub library_version: String,
    /// Name and version of the runtime.
    pub runtime: String,
    /// How the program checks replies, in a sentence.
    pub checks: String,
    /// Time on the program's monotonic clock when it sent the message.
    pub clock_ns: u64,
}

/// A message from the program.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Report {
    Hello(Hello),
    Opened { connections: u32 },
    Failed { error: String },
    Ack {},
    Stopped { calls: u64 },
}
