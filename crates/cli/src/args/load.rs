//! `rpcbench load`.

use std::path::PathBuf;

use clap::Args;
use rpcbench_contract::Shape;
use rpcbench_harness::suite::{Overrides, Suite, SuiteError};
use rpcbench_record::{Fresh, Law, Limits, Protocol, WarmUp, Window, Workload};

use super::Format;
use super::values::{Address, count, length, warm_up};

/// Calls in flight on a connection where the number is not given.
const IN_FLIGHT_EACH: u32 = 20;

/// `rpcbench load`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench load 127.0.0.1:50051
  rpcbench load 127.0.0.1:50051 --shape record --connections 100 --in-flight 100 --duration 30s
  rpcbench load '[::1]:50051' --warmup 5s --format json

The server must offer rpcbench's contract, contract/echo.proto.")]
pub struct LoadArgs {
    /// Where the server listens: HOST:PORT
    #[arg(value_name = "ADDRESS")]
    pub address: Address,
    /// What a call carries: text:N (N bytes), record, dto or tree
    #[arg(long, value_name = "SHAPE", default_value = "text:100")]
    pub shape: Shape,
    /// Connections
    #[arg(short, long, value_name = "N", default_value_t = 50, value_parser = count)]
    pub connections: u32,
    /// Calls in flight over all connections [default: 20 for each]
    #[arg(short = 'n', long, value_name = "N", value_parser = count)]
    pub in_flight: Option<u32>,
    /// Length of the measured window
    #[arg(short, long, value_name = "LENGTH", default_value = "10s", value_parser = length)]
    pub duration: u64,
    /// Load before the measured window: none, or a length such as 5s
    #[arg(long, value_name = "LENGTH", default_value = "1s", value_parser = fixed_warm_up)]
    pub warmup: WarmUp,
    /// A call unanswered for this long has failed
    #[arg(long, value_name = "LENGTH", default_value = "10s", value_parser = length)]
    pub timeout: u64,
    /// How long calls in flight at the end may still be answered
    #[arg(long, value_name = "LENGTH", default_value = "5s", value_parser = length)]
    pub grace: u64,
    /// Threads that make the load
    #[arg(short = 't', long, visible_alias = "threads", value_name = "N", default_value_t = 1, value_parser = count)]
    pub client_threads: u32,
    /// Seed of the payloads
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How the results are printed
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

impl LoadArgs {
    /// The load as asked for.
    ///
    /// # Errors
    /// If options contradict each other.
    pub fn workload(&self) -> Result<Workload, SuiteError> {
        let in_flight =
            self.in_flight.unwrap_or_else(|| self.connections.saturating_mul(IN_FLIGHT_EACH));
        let workload = Workload {
            name: "load".to_owned(),
            protocol: Protocol::Grpc,
            shape: self.shape.to_string(),
            connections: self.connections,
            in_flight,
            law: Law::Closed,
            warm_up: self.warmup,
            window: Window::Duration { length_ms: self.duration },
            timeout_ms: self.timeout,
            grace_ms: self.grace,
            client_threads: self.client_threads,
        };
        let typed = Overrides {
            connections: Some(self.connections),
            in_flight: Some(in_flight),
            duration_ms: Some(self.duration),
            timeout_ms: Some(self.timeout),
            grace_ms: Some(self.grace),
            client_threads: Some(self.client_threads),
            ..Overrides::default()
        };
        let one = Suite {
            name: "load".to_owned(),
            path: PathBuf::new(),
            description: String::new(),
            trials: 1,
            fresh: Fresh::Kept,
            limits: Limits { cpus: 1, memory_bytes: None },
            workloads: vec![workload],
        };
        let mut checked = one.with(&typed)?;
        Ok(checked.workloads.remove(0))
    }
}

fn fixed_warm_up(text: &str) -> Result<WarmUp, String> {
    match warm_up(text)? {
        WarmUp::UntilSteady { .. } => {
            Err("a server that rpcbench did not start can't be watched until it is steady; \
                 give a length such as 30s"
                .to_owned())
        }
        fixed @ WarmUp::Fixed { .. } => Ok(fixed),
    }
}
