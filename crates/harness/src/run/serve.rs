//! One server, started as a run would start it, for whoever wants to load it.

use rpcbench_engine::clock::{self, Nanos};
use rpcbench_record::{Failure, Isolation, Readiness};

use super::environment::Environment;
use super::subject::Subject;
use super::target::{Target, Trouble};
use crate::placement::Endpoint;

/// How often it is asked whether the server still runs.
const ASK: Nanos = Nanos::from_millis(100);

/// A server that answers.
#[derive(Debug)]
pub struct Served<'a> {
    /// Where it listens.
    pub endpoint: &'a Endpoint,
    /// Its process. `None` where it is not of this machine.
    pub pid: Option<u32>,
    /// How it is kept apart.
    pub isolation: Isolation,
}

/// Starts a server, says so to `tell` as soon as it gives a right answer, and stops it when the interrupt is raised.
///
/// # Errors
/// If it can't be started, or ends by itself.
pub fn serve(
    environment: &Environment,
    subject: &Subject<'_>,
    tell: impl FnOnce(&Served<'_>),
) -> Result<(), Failure> {
    match &subject.readiness {
        Readiness::Skipped { reason } => {
            return Err(Failure { reason: reason.clone(), log_tail: Vec::new() });
        }
        Readiness::Failed(failure) => return Err(failure.clone()),
        Readiness::Ready => {}
    }
    let mut target = match Target::start(environment, subject) {
        Ok(target) => target,
        Err(Trouble::Server(failure)) => return Err(failure),
        Err(Trouble::Stop(_)) => return Ok(()),
    };
    tell(&target.served());
    while environment.interrupt.wait_until(clock::now() + ASK).is_ok() {
        target.alive("while it served")?;
    }
    target.stop()
}
