//! Why a load ends before it should.

use std::io;

use crate::address::ServerAddress;
use crate::file_limit::FileLimit;
use crate::plan::PlanError;

/// Why a load can't be opened, or can't continue.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The plan contradicts itself, or its protocol can't send the target's headers.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Some connection could not be opened in time.
    #[error("{open} of {wanted} connections to {address} opened within {seconds} s{}", problem.as_ref().map(|p| format!("; the first that did not: {p}")).unwrap_or_default())]
    Connect {
        /// The server's address.
        address: ServerAddress,
        /// Connections that are open.
        open: usize,
        /// Connections planned.
        wanted: u32,
        /// The time limit.
        seconds: f64,
        /// Why the first one failed.
        problem: Option<String>,
    },
    /// A system call of a load thread failed.
    #[error("load thread can't continue: {0}")]
    Thread(#[from] io::Error),
    /// Too few open files are allowed for these connections.
    #[error(transparent)]
    Files(#[from] FileLimit),
    /// Not possible while a load is running.
    #[error("a load is running; end it first")]
    Loading,
    /// There is no load to end, or no measured span to wait for.
    #[error("no load is running, or no span of it is measured; start it and measure a span first")]
    NotLoading,
    /// The wait was given up. The session is no longer usable.
    #[error("stopped before it finished")]
    GivenUp,
    /// A load thread is gone.
    #[error("a load thread ended unexpectedly; please report this")]
    Lost,
}
