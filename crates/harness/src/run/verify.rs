//! Checking a server without measuring it.

use rpcbench_contract::cases::CheckReport;
use rpcbench_record::Failure;

use super::guest::{Guest, Trouble};
use super::interrupt::StopNow;
use super::lab::Lab;
use super::prepare::{BuildState, Candidate};

/// What came of checking a server.
#[derive(Clone, Debug)]
pub enum Verified {
    /// Every case was tried.
    Checked(CheckReport),
    /// It can't be checked on this machine.
    Skipped {
        /// What is missing and what to install, one line.
        reason: String,
    },
    /// It never got as far, or did not last.
    Failed(Failure),
}

/// Starts a server as a run would, tries every conformance case on it, and stops it.
///
/// # Errors
/// When the run is to stop now.
pub fn verify(lab: &Lab, candidate: &Candidate) -> Result<Verified, StopNow> {
    match &candidate.build {
        BuildState::Skipped { reason } => return Ok(Verified::Skipped { reason: reason.clone() }),
        BuildState::Failed(failure) => return Ok(Verified::Failed(failure.clone())),
        BuildState::Built(_) => {}
    }
    let checked = Guest::start(lab, &candidate.entry).and_then(|mut guest| {
        let report = guest.check(lab)?;
        guest.stop()?;
        Ok(report)
    });
    match checked {
        Ok(report) => Ok(Verified::Checked(report)),
        Err(Trouble::Server(failure)) => Ok(Verified::Failed(failure)),
        Err(Trouble::Stop(stop)) => Err(stop),
    }
}
