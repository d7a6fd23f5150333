//! Client libraries as load generators: programs that report each call, and the reference server that answers.
//!
//! A program is placed, limited and counted like a server; contract/clients.md defines its behaviour. The engine's own recorder
//! cuts windows from the program's records, so nothing depends on timely answers. A program that takes turns is frozen, and its
//! records are converted to a clock that stops meanwhile. Instead of spot checks, the reference server's count of calls must
//! agree with the program's after each load.

mod agreement;
mod called;
mod cases;
mod frame;
mod message;
mod program;
mod records;
mod schedule;
mod session;
#[cfg(test)]
mod tests;
mod usage;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rpcbench_clock::{self as clock, Nanos};
use rpcbench_contract::{Corpus, Profile, Shape};
use rpcbench_engine::{CallLog, file_limit};
use rpcbench_record::{Content, PlannedServer, Protocol, Workload, units};
use rpcbench_reference::ReferenceServer;

use super::{LoadError, LoadGenerator, LoadRequest, LoadSession};
use crate::interrupt::Interrupt;
use agreement::Allowed;
use called::Called;
use message::Command;
use records::Counted;
use session::{ProgramSession, Setting};

pub use cases::check_client;
pub use message::Hello;
pub use program::Program;

/// How long a program may take to report a call, in addition to the call's own limit.
const REPORTING: Nanos = Nanos::from_millis(5000);
/// Added to the timeouts of a program that is frozen between its turns, since its library's clock keeps running. Longer than any
/// run. The harness enforces the real timeout in own time.
const FROZEN: Nanos = Nanos::from_millis(24 * 3600 * 1000);

/// Runs client programs, each of which calls a server under test or its own reference server.
#[derive(Debug)]
pub struct ClientPrograms {
    /// CPUs of the reference servers' threads. Empty: any.
    pub cpus: Vec<u32>,
    /// Receives every measured call.
    pub call_log: Option<CallLog>,
}

/// For `map_err`: converts an I/O error.
fn failed(error: io::Error) -> LoadError {
    LoadError::Failed(error.to_string())
}

/// Why a client can't generate this load. `None` if it can.
pub fn client_problem(workload: &Workload, client: &PlannedServer) -> Option<String> {
    let protocol = client.protocol;
    let (connections, all) = (workload.connections_under(protocol), workload.in_flight);
    if client.counterpart.is_none() && !ReferenceServer::PROTOCOLS.contains(&protocol) {
        let spoken = ReferenceServer::PROTOCOLS.map(|it| it.to_string()).join(", ");
        return Some(format!("the reference server, which clients call, speaks only {spoken}"));
    }
    if !all.is_multiple_of(connections) {
        return Some(format!(
            "{all} calls in flight don't divide evenly among {connections} connections, as they must for clients; choose \
             a multiple"
        ));
    }
    if !workload.headers.is_empty() || workload.authority.is_some() {
        return Some(
            "clients send no header fields and no host of yours; leave them out".to_owned(),
        );
    }
    None
}

/// The shape that calls carry, parsed.
fn shape(content: &Content) -> Result<Shape, LoadError> {
    let Content::Shape(name) = content else {
        return Err(LoadError::Failed("clients make calls of the contract only".to_owned()));
    };
    name.parse().map_err(|error| LoadError::Failed(format!("{name}: {error}")))
}

/// The encoded requests, each prefixed with its length.
fn requests(corpus: &Corpus) -> Vec<u8> {
    let mut bytes = Vec::new();
    for index in 0..corpus.len() {
        let request = corpus.request(index);
        bytes.extend_from_slice(&(request.len() as u32).to_le_bytes());
        bytes.extend_from_slice(request);
    }
    bytes
}

/// How a program should open its connections.
struct Opening<'a> {
    target: String,
    protocol: Protocol,
    corpus: &'a Corpus,
    allowed: Allowed,
    /// Calls in flight on each connection.
    in_flight: u32,
    timeout: Nanos,
    connect_timeout: Duration,
}

/// Makes a program open its connections, and returns how many it reports as open.
fn open(program: &Program, interrupt: &Interrupt, opening: &Opening<'_>) -> Result<u32, LoadError> {
    let Opening { corpus, allowed, connect_timeout, .. } = *opening;
    let Allowed { connections, calls_per_connection, .. } = allowed;
    let requests = program.write("requests", &requests(corpus))?;
    program.send(&Command::Open {
        target: opening.target.clone(),
        protocol: opening.protocol.to_string(),
        shape: &corpus.method().name().to_lowercase(),
        requests: &requests,
        connections,
        in_flight: opening.in_flight,
        timeout_ns: opening.timeout.0,
        calls_per_connection,
    })?;
    let late = format!("its connections are not open after {}", units::length(connect_timeout));
    let deadline = clock::now() + connect_timeout.into();
    let opened = program.wait(deadline, interrupt, &late, |state| state.opened.take())?;
    match opened.map_err(LoadError::Failed)? {
        // A pool opens connections with its first calls, and reports 0.
        opened if opened == 0 || opened == connections => Ok(opened),
        opened => {
            let problem = format!("it opened {opened} connections, not {connections}");
            Err(LoadError::Failed(problem))
        }
    }
}

impl LoadGenerator for ClientPrograms {
    fn open(
        &self,
        request: &LoadRequest<'_>,
        interrupt: &Interrupt,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Box<dyn LoadSession>, LoadError> {
        let LoadRequest { protocol, workload, seed, logged, takes_turns, .. } = *request;
        let program = request.program.ok_or_else(|| {
            LoadError::Failed("it is not a client program, or has not connected".to_owned())
        })?;
        let shape = shape(&workload.content)?;
        let connections = workload.connections_under(protocol);
        let called = Called::of(request.counterpart, protocol, &self.cpus).map_err(failed)?;
        let timeout = Nanos::from_millis(workload.timeout_ms);
        let (kept_here, asked) =
            if takes_turns { (timeout, timeout + FROZEN) } else { (Nanos::NEVER, timeout) };
        let log = self.call_log.clone().filter(|_| logged);
        program.count(Counted::new(protocol, log, kept_here));
        let calls_per_connection = workload.connection_life.calls().unwrap_or(0).into();
        let allowed = Allowed::new(connections, calls_per_connection);
        let opening = Opening {
            target: called.address(),
            protocol,
            corpus: &Corpus::for_clients(&shape, seed, Profile::of(protocol).encoding),
            allowed,
            in_flight: workload.in_flight / connections,
            timeout: asked,
            connect_timeout: Duration::from_millis(workload.connect_timeout_ms),
        };
        let opened = open(program, interrupt, &opening)?;
        progress(opened.into());
        let setting = Setting {
            interrupt: interrupt.clone(),
            slots: workload.in_flight,
            allowed: allowed.opened(opened),
            seed,
            report_timeout: Nanos::from_millis(workload.timeout_ms + workload.grace_ms) + REPORTING,
        };
        Ok(Box::new(ProgramSession::new(Arc::clone(program), called, setting)))
    }

    fn has_room(&self, workload: &Workload, protocol: Protocol) -> bool {
        // The reference server's ends of the connections are open files of this process.
        file_limit::reserve(workload.connections_under(protocol), 1).is_ok()
    }
}
