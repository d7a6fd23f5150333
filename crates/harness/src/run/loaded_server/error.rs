//! The reason why a step did not succeed.

use rpcbench_record::Failure;

use super::pair::failure_of_server;
use crate::interrupt::StopNow;
use crate::load::LoadError;
use crate::placement::PlacementError;
use crate::run::subject::Subject;

#[derive(Debug)]
pub(in crate::run) enum StepError {
    /// The server is at fault, and is not measured any further.
    Server(Failure),
    /// The run stops now.
    Stop(StopNow),
}

impl From<Failure> for StepError {
    fn from(failure: Failure) -> Self {
        Self::Server(failure)
    }
}

impl From<StopNow> for StepError {
    fn from(stop: StopNow) -> Self {
        Self::Stop(stop)
    }
}

impl From<PlacementError> for StepError {
    fn from(error: PlacementError) -> Self {
        Self::Server(error.into())
    }
}

impl From<LoadError> for StepError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Stopped => StopNow.into(),
            LoadError::Failed(reason) => failure(reason).into(),
        }
    }
}

impl StepError {
    /// The same, as an error of the client that calls this server.
    pub fn of_server(self, server: &Subject<'_>) -> Self {
        match self {
            Self::Server(failure) => Self::Server(failure_of_server(server, failure)),
            stop => stop,
        }
    }
}

/// A failure without log lines.
pub(in crate::run) fn failure(reason: impl Into<String>) -> Failure {
    Failure { reason: reason.into(), log_tail: Vec::new() }
}
