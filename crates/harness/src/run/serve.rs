//! Runs one server as a run does, for the user to load.

use rpcbench_clock::{self as clock, Nanos};
use rpcbench_record::{Failure, Isolation, Readiness};

use super::context::Environment;
use super::loaded_server::{LoadedServer, StepError, failure};
use super::subject::Subject;
use crate::load::CallOptions;
use crate::placement::Endpoint;

/// How often to ask whether the server still runs.
const POLL: Nanos = Nanos::from_millis(100);

/// A server that answers.
#[derive(Debug)]
pub struct Served<'a> {
    /// Where it listens.
    pub endpoint: &'a Endpoint,
    /// Its process. `None` if it is not of this machine.
    pub pid: Option<u32>,
    /// How it is isolated.
    pub isolation: Isolation,
}

/// Starts a server, calls `ready` once it answers correctly, and stops it when the interrupt is raised. Fails if it ends on
/// its own.
pub fn serve(
    environment: &Environment,
    subject: &Subject<'_>,
    ready: impl FnOnce(&Served<'_>),
) -> Result<(), Failure> {
    match &subject.readiness {
        Readiness::Skipped { reason } => {
            return Err(failure(reason));
        }
        Readiness::Failed(failure) => return Err(failure.clone()),
        Readiness::Ready => {}
    }
    let mut target = match LoadedServer::start(
        environment,
        subject,
        CallOptions::default(),
        subject.placement.start(1),
    ) {
        Ok(target) => target,
        Err(StepError::Server(failure)) => return Err(failure),
        Err(StepError::Stop(_)) => return Ok(()),
    };
    ready(&target.served());
    while environment.interrupt.wait_until(clock::now() + POLL).is_ok() {
        target.alive("while it served")?;
    }
    target.stop()
}
