//! Serves or checks one server without measuring it.

use std::path::PathBuf;

use rpcbench_clock::{self as clock, Nanos};
use rpcbench_contract::Method;
use rpcbench_contract::cases::CheckReport;
use rpcbench_record::{CallHeader, Failure, Isolation, Readiness};

use super::context::{Context, Environment};
use super::loaded_server::{LoadedServer, StepError, failure};
use super::subject::Subject;
use crate::interrupt::StopNow;
use crate::load::CallOptions;
use crate::placement::Endpoint;

/// Interval of checks that the server still runs.
const POLL: Nanos = Nanos::from_millis(100);

/// A server that answers.
#[derive(Debug)]
pub struct Served<'a> {
    /// The server's endpoint.
    pub endpoint: &'a Endpoint,
    /// The process id. `None` if it is unknown, or not of this machine.
    pub pid: Option<u32>,
    /// The server's isolation.
    pub isolation: Isolation,
    /// File with the certificate of the authority that issued the server's. `None` without TLS.
    pub authority_file: Option<PathBuf>,
}

/// Starts a server, calls `ready` once it answers correctly, and stops it when the interrupt is raised. Fails if it exits
/// earlier.
pub fn serve(
    environment: &Environment,
    subject: &Subject<'_>,
    options: &CallOptions,
    ready: impl FnOnce(&Served<'_>),
) -> Result<(), Failure> {
    match subject.readiness_for(options.tls) {
        Readiness::Skipped { reason } => return Err(failure(reason)),
        Readiness::Failed(failure) => return Err(failure),
        Readiness::Ready => {}
    }
    let mut server = match start(environment, subject, options) {
        Ok(server) => server,
        Err(StepError::Server(failure)) => return Err(failure),
        Err(StepError::Stop(_)) => return Ok(()),
    };
    let running = &server.running;
    let (endpoint, pid, isolation) = (running.endpoint(), running.pid(), running.isolation());
    let authority_file = running.authority_file();
    ready(&Served { endpoint, pid, isolation, authority_file });
    while environment.interrupt.wait_until(clock::now() + POLL).is_ok() {
        server.alive("while it served")?;
    }
    server.stop()
}

/// The result of checking a server.
#[derive(Clone, Debug)]
pub enum Verified {
    /// Every case was tried.
    Checked(CheckReport),
    /// It can't be checked on this machine.
    Skipped {
        /// The missing tool and how to install it, one line.
        reason: String,
    },
    /// It did not start, or exited too early.
    Failed(Failure),
}

/// Starts a server as a run does, tries every conformance case on it, and stops it.
pub fn verify(
    environment: &Environment,
    subject: &Subject<'_>,
    options: &CallOptions,
) -> Result<Verified, StopNow> {
    match subject.readiness_for(options.tls) {
        Readiness::Skipped { reason } => return Ok(Verified::Skipped { reason }),
        Readiness::Failed(failure) => return Ok(Verified::Failed(failure)),
        Readiness::Ready => {}
    }
    let checked = start(environment, subject, options).and_then(|mut server| {
        let report = server.check(&Method::SERVED)?;
        server.stop()?;
        Ok(report)
    });
    match checked {
        Ok(report) => Ok(Verified::Checked(report)),
        Err(StepError::Server(failure)) => Ok(Verified::Failed(failure)),
        Err(StepError::Stop(stop)) => Err(stop),
    }
}

fn start<'a>(
    environment: &'a Environment,
    subject: &'a Subject<'a>,
    options: &CallOptions,
) -> Result<LoadedServer<'a>, StepError> {
    if let Some(problem) = CallHeader::problem_under(&options.headers, subject.protocol) {
        return Err(failure(format!("{}: {problem}", subject.protocol)).into());
    }
    let (context, running) =
        (Context::unobserved(environment), subject.placement.start(1, options.tls));
    LoadedServer::start(context, (subject, 1), options.clone(), running)
}
