//! Errors of placements.

use std::io;

use rpcbench_record::Failure;

/// Why a server can't be placed, watched or stopped: the problem, the value and the remedy.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct PlacementError(pub String);

impl From<io::Error> for PlacementError {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<PlacementError> for Failure {
    fn from(error: PlacementError) -> Self {
        Self { reason: error.0, log_tail: Vec::new() }
    }
}
