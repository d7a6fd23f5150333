//! What can go wrong with a placement.

use std::io;

use rpcbench_record::Failure;
use thiserror::Error;

use crate::host::counters::CounterError;
use crate::host::isolation::IsolationError;
use crate::host::process::ProcessError;
use crate::host::runtime_log::RuntimeLogError;

/// Why a server can't be placed, watched or ended.
#[derive(Debug, Error)]
pub enum PlacementError {
    /// Its group failed.
    #[error(transparent)]
    Group(#[from] IsolationError),
    /// Its process failed.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// Its program can't be started, as its manifest has it.
    #[error("{error}; correct 'run.command' in {}", manifest.display())]
    Command {
        /// What the system said of which command line.
        error: ProcessError,
        /// The manifest.
        manifest: std::path::PathBuf,
    },
    /// Its counters can't be read.
    #[error(transparent)]
    Counters(#[from] CounterError),
    /// What its runtime tells can't be read.
    #[error(transparent)]
    Runtime(#[from] RuntimeLogError),
    /// There is no port for it.
    #[error("no free port on {host}: {source}")]
    Port {
        /// The interface.
        host: std::net::IpAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A process that was named is not there.
    #[error(
        "process {pid} can't be watched: {source}; give the id of the server's process on this machine"
    )]
    Watch {
        /// As given.
        pid: u32,
        /// What the system said.
        source: io::Error,
    },
}

impl From<PlacementError> for Failure {
    fn from(error: PlacementError) -> Self {
        Self { reason: error.to_string(), log_tail: Vec::new() }
    }
}
