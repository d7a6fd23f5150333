//! What can go wrong with a placement.

use std::io;

use rpcbench_record::Failure;

/// Why a server can't be placed, watched or ended: what is wrong, with the value, and what to do.
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
