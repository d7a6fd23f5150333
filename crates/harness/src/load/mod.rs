//! Load generators.
//!
//! The run loop knows only two traits: [`LoadGenerator`] opens the connections of a load, and [`LoadSession`] starts, measures
//! and ends it. A generator belongs to an entry: [`InProcess`] loads servers, and [`ClientPrograms`] runs entries that are
//! clients. Another kind, such as load from another machine, is another file here. Only plain data crosses the traits, so that it
//! can be sent over a network. Instants are on this process's monotonic clock; a generator with a different clock converts them.

mod client_program;
mod contract;
mod in_process;
pub mod room;

use std::sync::Arc;
use std::time::Duration;

use rpcbench_clock::Nanos;
use rpcbench_contract::Passes;
use rpcbench_contract::cases::Caller;
use rpcbench_record::{Arrivals, Authority, CallHeader, Protocol, Tls, TlsMode, Window, Workload};

use crate::interrupt::Interrupt;
use crate::placement::Endpoint;

pub use client_program::{ClientPrograms, Hello, Program, check_client, client_problem};
pub use contract::{EchoClient, EchoPayload};
pub use in_process::InProcess;
pub use rpcbench_clock::Span;
pub use rpcbench_engine::{Measurement, Progress, Sample};
pub use rpcbench_record::Unmeasured;

/// A load on a server.
#[derive(Clone, Copy, Debug)]
pub struct LoadRequest<'a> {
    /// The server's endpoint.
    pub endpoint: &'a Endpoint,
    /// Protocol of the calls.
    pub protocol: Protocol,
    /// Connections, calls in flight, content of calls.
    pub workload: &'a Workload,
    /// Seed of payloads and of random arrivals.
    pub seed: u64,
    /// True if measured calls are written to the call log, if any.
    pub logged: bool,
    /// Which requests of the workload's shape to send.
    pub requests: Requests,
    /// True if the load may be frozen between slices of its windows.
    pub takes_turns: bool,
    /// The program that generates the load, if a client is under test.
    pub program: Option<&'a Arc<Program>>,
    /// The server that the program calls. `None`: the reference server.
    pub counterpart: Option<&'a Endpoint>,
}

/// Requests of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requests {
    /// The usual requests.
    Usual,
    /// The usual requests, and spot checks.
    WithSpotChecks,
    /// The usual requests and others, in passes.
    Passes(Passes),
}

/// Options of single calls, the same as for calls of a load.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// HTTP header fields; metadata in gRPC.
    pub headers: Vec<CallHeader>,
    /// Host name in requests. `None`: the endpoint's.
    pub authority: Option<Authority>,
    /// Whether connections have TLS.
    pub tls: TlsMode,
}

impl From<&Workload> for CallOptions {
    fn from(workload: &Workload) -> Self {
        let Workload { headers, authority, tls, .. } = workload.clone();
        Self { headers, authority, tls }
    }
}

/// Why a load can't be opened or continue.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The run must stop now.
    #[error("stopped before it finished")]
    Stopped,
    /// The load failed.
    #[error("{0}")]
    Failed(String),
}

/// Opens loads.
pub trait LoadGenerator {
    /// Opens all connections of a load. `progress` receives the number of open connections several times a second. Fails if a
    /// connection can't be opened in time, or the run is stopped; until all are open, the first Ctrl-C is enough.
    fn open(
        &self,
        request: &LoadRequest<'_>,
        interrupt: &Interrupt,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Box<dyn LoadSession>, LoadError>;

    /// A client for single calls, to check readiness and conformance.
    fn caller(
        &self,
        endpoint: &Endpoint,
        protocol: Protocol,
        options: &CallOptions,
        timeout: Duration,
    ) -> Box<dyn Caller> {
        let server = endpoint.connection(protocol, options.authority.as_ref());
        Box::new(EchoClient::new(server, options.headers.clone(), timeout))
    }

    /// True if there is room for the connections of `workload` in addition to those open now.
    fn has_room(&self, workload: &Workload, protocol: Protocol) -> bool;
}

/// A load with open connections, which can be started and ended any number of times. It begins as a closed loop, which warms a
/// server at full load. Dropping it closes the connections. Once the load has failed, or the run is stopped, all methods fail.
pub trait LoadSession {
    /// The negotiated TLS parameters of the connections. `None` without TLS.
    fn tls(&self) -> Option<Tls> {
        None
    }

    /// Sets the arrivals from the next start on. Their rate must be known. Fails while the load is running.
    fn set_arrivals(&mut self, arrivals: Arrivals) -> Result<(), LoadError>;

    /// Starts the load. [`Self::pause`] ends it.
    fn start(&mut self) -> Result<(), LoadError>;

    /// Starts the load if it is not running, and measures the calls that come due in `window`, which opens at `from`.
    /// [`Self::finish`] ends it. Returns the window's end: [`Nanos::NEVER`] for a number of calls, see [`Self::is_drained`].
    fn measure(&mut self, from: Nanos, window: Window) -> Result<Nanos, LoadError>;

    /// Ends the window now, as if this had been its planned end.
    fn cut(&mut self) -> Result<(), LoadError>;

    /// Moves the window's end to `end`. Both the old and the new end must be in the future.
    fn end_at(&mut self, end: Nanos) -> Result<(), LoadError>;

    /// Also measures the calls that come due in `slice`, a future part of a window, while a closed loop is running. After the
    /// last slice of a window, [`Self::finish`] must follow, which leaves the load running.
    fn measure_part(&mut self, slice: Span, is_last: bool) -> Result<(), LoadError>;

    /// Ends the load's turn: calls stay in flight, nothing times out, and the load uses no CPU time until [`Self::enter`]. Only
    /// that, or the end of the load, may follow.
    fn leave(&mut self) -> Result<(), LoadError>;

    /// Begins the load's next turn.
    fn enter(&mut self) -> Result<(), LoadError>;

    /// Waits for the window's end and its last calls, and ends the load. Fails if no window is being measured.
    fn finish(&mut self) -> Result<Measurement, LoadError>;

    /// Ends the load and waits for its last calls. Fails if the load is not running.
    fn pause(&mut self) -> Result<Unmeasured, LoadError>;

    /// Makes a few hundred calls with known results, some of them malformed, over the open connections, and waits until they end.
    /// Returns all calls so far that were not measured. Fails while the load is running.
    fn spot_check(&mut self) -> Result<Unmeasured, LoadError>;

    /// Number of calls so far.
    fn progress(&self) -> Result<Progress, LoadError>;

    /// The state of the load and of its window so far. The load threads must copy their histograms for it.
    fn sample(&self) -> Result<Sample, LoadError>;

    /// True if the window is over and all its calls have ended.
    fn is_drained(&self) -> Result<bool, LoadError>;

    /// Average time in which every call in flight is answered once, in the latest load. `None` before the first.
    fn cycle(&self) -> Option<Nanos>;
}
