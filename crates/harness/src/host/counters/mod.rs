//! What the kernel counts about server, client and machine.

mod machine;
mod server;

pub use machine::MachineReading;
pub use server::{Counters, CpuReading, Meter};

use procfs::ProcError;
use thiserror::Error;

use crate::host::isolation::IsolationError;

/// Why counters can't be read.
#[derive(Debug, Error)]
pub enum CounterError {
    /// The server's group can't tell.
    #[error(transparent)]
    Group(#[from] IsolationError),
    /// `/proc` can't tell.
    #[error("the kernel's counters can't be read: {0}")]
    Proc(#[from] ProcError),
}
