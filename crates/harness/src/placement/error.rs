//! What can go wrong with a placement.

use std::io;
use std::net::IpAddr;
use std::path::PathBuf;

use rpcbench_record::Failure;
use thiserror::Error;

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
    /// The command of its manifest can't be started.
    #[error("{error}; correct 'run.command' in {}", manifest.display())]
    Command {
        /// The command line, and what the system said.
        error: ProcessError,
        /// The manifest.
        manifest: PathBuf,
    },
    /// Its runtime's log can't be read.
    #[error(transparent)]
    Runtime(#[from] RuntimeLogError),
    /// There is no free port.
    #[error("no free port on {host}: {source}")]
    Port {
        /// The interface.
        host: IpAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The process to watch does not exist.
    #[error(
        "process {pid} can't be watched: {source}; give the id of the server's process on this machine"
    )]
    Watch {
        /// As given.
        pid: u32,
        /// What the system said.
        source: io::Error,
    },
    /// The machine's counters can't be read.
    #[error("/proc/stat can't be read: {0}")]
    Stat(io::Error),
    /// The machine reference can't run.
    #[error("the machine reference can't run: {0}")]
    Reference(io::Error),
    /// The CPUs of this process are unknown, or it can't be moved to some of them.
    #[error("the CPUs of this process: {0}")]
    Cpus(io::Error),
    /// The folder of the servers' logs can't be written.
    #[error("{}: the servers' logs can't be written: {source}", folder.display())]
    Logs {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Unmanaged servers are not started.
    #[error("an unmanaged server can't be started; `rpcbench load` measures it")]
    NotStarted,
}

impl From<PlacementError> for Failure {
    fn from(error: PlacementError) -> Self {
        Self { reason: error.to_string(), log_tail: Vec::new() }
    }
}
