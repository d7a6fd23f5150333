//! The keys of a workload.

use clap::Args;
use rpcbench_contract::Shape;
use rpcbench_record::{
    Authority, CallHeader, ConnectionLife, Content, Threshold, TlsMode, WarmUp, Workload,
};
use serde::Deserialize;

use super::arrivals::{Loads, rate_shown};
use super::or;
use super::resolve::SpecSource;
use super::values::{ArrivalsValue, RateValue, WarmUpValue, WorkloadName};
use crate::config::{Calls, ConfigError, Count, Given, Length, NonZeroLength};
use crate::search::Sweep;

/// A workload as written in a suite, and as options of `run`, `compare` and `load`. What is not given is `None`.
#[derive(Args, Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
#[command(next_help_heading = "Workload")]
pub struct WorkloadSpec {
    /// Its name within the suite; the suite's name by default.
    #[arg(skip)]
    pub name: Option<Given<WorkloadName>>,
    /// What a call carries: text:N (N bytes), record, dto or tree
    #[arg(long, value_name = "SHAPE")]
    pub shape: Option<Given<Shape>>,
    /// Connections
    #[arg(short, long, value_name = "N", allow_hyphen_values = true)]
    pub connections: Option<Given<Count>>,
    /// Calls that a connection carries before the client closes it and opens another: long (all), short (one) or
    /// calls:N
    #[arg(long, value_name = "LIFE")]
    pub connection_life: Option<Given<ConnectionLife>>,
    /// Calls in flight on each connection; in open loop, an upper limit. json, connect and thrift carry one at a
    /// time, and get more connections instead: so as many calls are in flight under every protocol
    #[arg(short = 'm', long, value_name = "N", allow_hyphen_values = true)]
    pub in_flight_per_connection: Option<Given<Count>>,
    /// When calls come due: closed, constant:RATE, poisson:RATE, ramp:FROM..TO/LENGTH or
    /// steps:FROM..TO+STEP/LENGTH; RATE in calls a second, or a share of the server's capacity, such as 40%
    #[arg(long, value_name = "ARRIVALS")]
    pub arrivals: Option<Given<ArrivalsValue>>,
    /// Calls a second over all connections, evenly spaced; short for --arrivals constant:RATE
    #[arg(short, long, value_name = "RATE", allow_hyphen_values = true)]
    pub rate: Option<Given<RateValue>>,
    /// Load at each of these rates: FROM..TO+STEP, in calls a second, such as 1k..10k+1k, or in shares of the server's
    /// capacity, such as 10%..90%
    #[arg(long, value_name = "RATES")]
    pub sweep: Option<Given<Sweep>>,
    /// Search for the highest rate that meets this, such as 'p99<10ms' or 'errors<0.1%'. It starts at half the
    /// capacity, or at the given rate; arrivals are Poisson unless --arrivals says otherwise
    #[arg(long, value_name = "THRESHOLD")]
    pub find_max: Option<Given<Threshold>>,
    /// Length of the measured window
    #[arg(short = 'z', long, value_name = "LENGTH", allow_hyphen_values = true)]
    pub duration: Option<Given<NonZeroLength>>,
    /// End the window after this many calls instead of a length of time
    #[arg(short = 'n', long, value_name = "N", allow_hyphen_values = true)]
    pub calls: Option<Given<Calls>>,
    /// See [`WarmUpOptions::warmup`].
    #[arg(skip)]
    pub warmup: Option<Given<WarmUpValue>>,
    /// See [`WarmUpOptions::warmup_min`].
    #[arg(skip)]
    pub warmup_min: Option<Given<Length>>,
    /// See [`WarmUpOptions::warmup_max`].
    #[arg(skip)]
    pub warmup_max: Option<Given<NonZeroLength>>,
    /// See [`WarmUpOptions::settle`].
    #[arg(skip)]
    pub settle: Option<Given<Length>>,
    /// A call that gets no reply within this time fails [default: 10s]
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    pub timeout: Option<Given<NonZeroLength>>,
    /// How long to wait for replies to calls in flight at the end of a window [default: 5s, and at most the timeout]
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    pub grace: Option<Given<NonZeroLength>>,
    /// Time limit for connecting: for all connections before a load, and for each that is replaced during it [default: 10s]
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    pub connect_timeout: Option<Given<NonZeroLength>>,
    /// Threads that make the load, each with its own CPU if there are enough [default: 1]
    #[arg(short = 't', long, value_name = "N", allow_hyphen_values = true)]
    pub client_threads: Option<Given<Count>>,
    /// Send calls on a connection before earlier ones are answered, even under json, connect and thrift [default there: a
    /// connection for each call in flight]
    #[arg(long, num_args = 0, default_missing_value = "true")]
    pub pipelining: Option<Given<bool>>,
    /// Header of every call (metadata in gRPC); repeatable. The record omits the values of authorization, cookies and other
    /// secrets
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    pub header: Vec<Given<CallHeader>>,
    /// Host that calls name instead of the server's address, such as api.example.org: Host in HTTP/1.1, :authority in
    /// HTTP/2
    #[arg(long, value_name = "HOST")]
    pub authority: Option<Given<Authority>>,
    /// See [`TlsOption::tls`].
    #[arg(skip)]
    pub tls: Option<Given<TlsMode>>,
}

/// How the servers of a run are warmed. `rpcbench load` starts no server, and has no such options.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Workload")]
pub struct WarmUpOptions {
    /// Warm-up: until-steady, none, a length such as 30s, or calls:N/CLIENTS
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    pub warmup: Option<Given<WarmUpValue>>,
    /// Minimum warm-up time
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    pub warmup_min: Option<Given<Length>>,
    /// Maximum warm-up time; a server that is not steady by then is still warming
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    pub warmup_max: Option<Given<NonZeroLength>>,
    /// Load before each window, after other servers had the CPUs [quick: 100ms]
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    pub settle: Option<Given<Length>>,
}

/// TLS of servers that rpcbench starts. `rpcbench load` has separate options.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Workload")]
pub struct TlsOption {
    /// TLS on all connections: true, false, or no-resumption (a full handshake each); servers get a certificate
    /// made for the run [default: false]
    #[arg(
        long,
        value_name = "MODE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub tls: Option<Given<TlsMode>>,
}

impl WorkloadSpec {
    /// True if it defines when calls come due.
    pub(crate) fn has_arrivals(&self) -> bool {
        self.arrivals.is_some()
            || self.rate.is_some()
            || self.sweep.is_some()
            || self.find_max.is_some()
    }

    /// Merges this spec over `below`. Keys that belong together are replaced together: arrivals and their rates, the end of a
    /// window, a warm-up and its bounds.
    pub(crate) fn layered_on(&self, below: &Self) -> Self {
        let arrivals = if self.has_arrivals() { self } else { below };
        let window = if self.duration.is_some() || self.calls.is_some() { self } else { below };
        let warmup = if self.warmup.is_some() { self } else { below };
        Self {
            name: or(&self.name, &below.name),
            shape: or(&self.shape, &below.shape),
            connections: or(&self.connections, &below.connections),
            connection_life: or(&self.connection_life, &below.connection_life),
            in_flight_per_connection: or(
                &self.in_flight_per_connection,
                &below.in_flight_per_connection,
            ),
            arrivals: arrivals.arrivals.clone(),
            rate: arrivals.rate.clone(),
            sweep: arrivals.sweep.clone(),
            find_max: arrivals.find_max.clone(),
            duration: window.duration.clone(),
            calls: window.calls.clone(),
            warmup: warmup.warmup.clone(),
            warmup_min: or(&self.warmup_min, &warmup.warmup_min),
            warmup_max: or(&self.warmup_max, &warmup.warmup_max),
            settle: or(&self.settle, &below.settle),
            timeout: or(&self.timeout, &below.timeout),
            grace: or(&self.grace, &below.grace),
            connect_timeout: or(&self.connect_timeout, &below.connect_timeout),
            client_threads: or(&self.client_threads, &below.client_threads),
            pipelining: or(&self.pipelining, &below.pipelining),
            header: if self.header.is_empty() { below } else { self }.header.clone(),
            authority: or(&self.authority, &below.authority),
            tls: or(&self.tls, &below.tls),
        }
    }

    /// The resolved workloads: one, or one for each rate of a sweep.
    pub(crate) fn resolve(&self, setting: SpecSource<'_>) -> Result<Vec<Workload>, ConfigError> {
        let shape = setting.require(&self.shape, "shape")?.value;
        let connections = setting.require(&self.connections, "connections")?;
        let loads = Loads::of(self, setting)?;
        let life = self.connection_life.as_ref().map(|life| life.value).unwrap_or_default();
        let connections = connections.value.0;
        let (timeout_ms, grace_ms) = self.waits(setting)?;
        let settle = self.settle.as_ref().map(|settle| settle.value.ms());
        let connect = self.connect_timeout.as_ref().map(|timeout| timeout.value.ms());
        let load = Workload {
            name: self.workload_name(setting),
            content: Content::Shape(shape.to_string()),
            connections,
            connection_life: life,
            in_flight: self.total_in_flight(connections, &loads, setting)?,
            arrivals: loads.arrivals,
            find_max: loads.find_max,
            warm_up: self.checked_warm_up(setting)?,
            settle_ms: settle.unwrap_or(Workload::SETTLE_MS),
            window: self.checked_window(setting)?,
            timeout_ms,
            grace_ms,
            connect_timeout_ms: connect.unwrap_or(Workload::CONNECT_TIMEOUT_MS),
            client_threads: self.client_threads.as_ref().map_or(1, |threads| threads.value.0),
            pipelining: self.checked_pipelining(setting)?,
            headers: self.header.iter().map(|header| header.value.clone()).collect(),
            authority: self.authority.as_ref().map(|host| host.value.clone()),
            tls: self.tls.as_ref().map(|tls| tls.value).unwrap_or_default(),
            keepalive: None,
        };
        self.check(&load, setting)?;
        let workloads = loads.each(load);
        match workloads.iter().find_map(Workload::rate_problem) {
            Some(problem) => {
                Err(ConfigError::value(rate_shown(self, setting).unwrap_or_default(), problem))
            }
            None => Ok(workloads),
        }
    }

    /// The default layer of `rpcbench load`.
    pub(crate) fn load_defaults() -> Self {
        const WINDOW: &str = "10s";
        let count = |number, text: &str| Some(Given::by_default(Count(number), text));
        let warmup = WarmUpValue(WarmUp::Fixed { length_ms: 0 });
        Self {
            shape: Some(Given::by_default(Shape::Text(100), "--shape text:100")),
            connections: count(50, "--connections 50"),
            duration: WINDOW.parse().ok().map(|it| Given::by_default(it, "--duration 10s")),
            // A closed loop at full load could harm the server.
            warmup: Some(Given::by_default(warmup, "--warmup none")),
            ..Self::default()
        }
    }
}
