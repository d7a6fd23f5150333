//! Checks a server without measuring it.

use rpcbench_contract::cases::CheckReport;
use rpcbench_record::{Failure, Readiness};

use super::context::Environment;
use super::interrupt::StopNow;
use super::loaded_server::{LoadedServer, StepError};
use super::subject::Subject;
use crate::load::CallOptions;

/// The result of checking a server.
#[derive(Clone, Debug)]
pub enum Verified {
    /// Every case was tried.
    Checked(CheckReport),
    /// It can't be checked on this machine.
    Skipped {
        /// What is missing and what to install, one line.
        reason: String,
    },
    /// It did not start, or ended too early.
    Failed(Failure),
}

/// Starts a server as a run does, tries every conformance case on it, and stops it.
pub fn verify(environment: &Environment, subject: &Subject<'_>) -> Result<Verified, StopNow> {
    match &subject.readiness {
        Readiness::Skipped { reason } => return Ok(Verified::Skipped { reason: reason.clone() }),
        Readiness::Failed(failure) => return Ok(Verified::Failed(failure.clone())),
        Readiness::Ready => {}
    }
    let checked = LoadedServer::start(
        environment,
        subject,
        CallOptions::default(),
        subject.placement.start(1),
    )
    .and_then(|mut target| {
        let report = target.check(environment)?;
        target.stop()?;
        Ok(report)
    });
    match checked {
        Ok(report) => Ok(Verified::Checked(report)),
        Err(StepError::Server(failure)) => Ok(Verified::Failed(failure)),
        Err(StepError::Stop(stop)) => Err(stop),
    }
}
