//! Load generators.
//!
//! The run loop knows a load by these traits only: [`LoadGenerator`] opens its connections, and [`LoadSession`] is what is then
//! started, measured and ended. A generator belongs to an entry: [`InProcess`] loads servers, [`ClientPrograms`] are entries
//! themselves. Another kind, such as another machine, is another file here. What crosses the traits is plain data, so that it
//! can travel. Instants are of this process's monotonic clock; a generator with another clock converts them.

mod client_program;
mod contract;
mod in_process;
pub mod room;

use std::sync::Arc;
use std::time::Duration;

use rpcbench_clock::Nanos;
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

/// The load to put on a server.
#[derive(Clone, Copy, Debug)]
pub struct LoadRequest<'a> {
    /// The server's endpoint.
    pub endpoint: &'a Endpoint,
    /// How calls travel.
    pub protocol: Protocol,
    /// Connections, calls in flight, what calls carry.
    pub workload: &'a Workload,
    /// Seed of payloads and of random arrivals.
    pub seed: u64,
    /// True if measured calls go to the log of calls, if any.
    pub logged: bool,
    /// Which requests of the workload's shape it sends.
    pub requests: Requests,
    /// True if the load may be frozen between slices of its windows.
    pub takes_turns: bool,
    /// The program that makes the load, if it is a client under test.
    pub program: Option<&'a Arc<Program>>,
    /// The server that such a program calls. `None`: the reference server.
    pub counterpart: Option<&'a Endpoint>,
}

/// Requests of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requests {
    /// The usual ones.
    Usual,
    /// The usual ones, and spot checks.
    WithSpotChecks,
    /// This many that no load sends, each once. Those of different numbers differ.
    Fresh {
        /// A number.
        number: u32,
        /// How many.
        count: u32,
    },
}

/// Options of single calls, the same as of a load's calls.
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

/// The reason why a load can't be opened or continue.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The run stops now.
    #[error("stopped before it was over")]
    Stopped,
    /// The load failed.
    #[error("{0}")]
    Failed(String),
}

/// Makes load.
pub trait LoadGenerator {
    /// Opens every connection of a load. `progress` gets the number of open connections several times a second. Fails if some
    /// connection can't be opened in time, or the run stops: until all are open, the first Ctrl-C is enough.
    fn open(
        &self,
        request: &LoadRequest<'_>,
        interrupt: &Interrupt,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Box<dyn LoadSession>, LoadError>;

    /// A client for single calls: readiness and conformance.
    fn caller(
        &self,
        endpoint: &Endpoint,
        protocol: Protocol,
        options: &CallOptions,
        timeout: Duration,
    ) -> Box<dyn Caller>;

    /// True if the connections of `workload` fit next to those that are open now.
    fn has_room(&self, workload: &Workload, protocol: Protocol) -> bool;
}

/// A load with open connections: started and ended any number of times. It opens as a closed loop, which warms a server at
/// full load. Dropping it closes the connections. Once it has failed, or the run stops, its methods fail.
pub trait LoadSession {
    /// What its connections agreed on for TLS. `None` without TLS.
    fn tls(&self) -> Option<Tls> {
        None
    }

    /// From the next start on, calls come due by `arrivals`, whose rate must be known. Fails while the load is on.
    fn set_arrivals(&mut self, arrivals: Arrivals) -> Result<(), LoadError>;

    /// Starts the load, to be ended by [`Self::pause`].
    fn start(&mut self) -> Result<(), LoadError>;

    /// Starts the load if it is not on, and measures the calls that come due in `window`, which opens at `from`. To be ended
    /// by [`Self::finish`]. Returns the window's end: [`Nanos::NEVER`] for a number of calls, see [`Self::is_drained`].
    fn measure(&mut self, from: Nanos, window: Window) -> Result<Nanos, LoadError>;

    /// Ends the window now, as if it had been planned so.
    fn cut(&mut self) -> Result<(), LoadError>;

    /// Ends the window at `end` instead, which lies ahead as its present end does.
    fn end_at(&mut self, end: Nanos) -> Result<(), LoadError>;

    /// Measures the calls that come due in the future `slice` as well, a part of a window, while a closed loop is on. Its last
    /// slice is followed by [`Self::finish`], which leaves the load on.
    fn measure_part(&mut self, slice: Span, is_last: bool) -> Result<(), LoadError>;

    /// Its turn ends: calls stay in flight, nothing times out, and it takes no CPU time until [`Self::enter`]. Only that, or
    /// its end, may follow.
    fn leave(&mut self) -> Result<(), LoadError>;

    /// It is its turn again.
    fn enter(&mut self) -> Result<(), LoadError>;

    /// Waits for the window's end and its last calls, and ends the load. Fails if no window is measured.
    fn finish(&mut self) -> Result<Measurement, LoadError>;

    /// Ends the load and waits for its last calls. Fails if the load is not on.
    fn pause(&mut self) -> Result<Unmeasured, LoadError>;

    /// Makes a few hundred calls over the open connections, whose right outcome is known, malformed ones among them, and
    /// waits for their ends. Returns all calls so far that were not measured. Fails while the load is on.
    fn spot_check(&mut self) -> Result<Unmeasured, LoadError>;

    /// Calls so far.
    fn progress(&self) -> Result<Progress, LoadError>;

    /// The state of the load and of its window so far. Costs the load threads a copy of their histograms.
    fn sample(&self) -> Result<Sample, LoadError>;

    /// True if the window is over and all its calls have ended.
    fn is_drained(&self) -> Result<bool, LoadError>;

    /// Average time in which all calls in flight were answered once, in the latest load. `None` before the first.
    fn cycle(&self) -> Option<Nanos>;
}
