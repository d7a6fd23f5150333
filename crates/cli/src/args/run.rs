//! `rpcbench run`.

use std::path::PathBuf;

use clap::Args;
use rpcbench_contract::Shape;
use rpcbench_harness::search::Sweep;
use rpcbench_harness::suite::{Loads, Overrides};
use rpcbench_harness::units;
use rpcbench_record::{ConnectionLife, Rate, Threshold, WarmUp};

use super::arrivals::Asked;
use super::load::LoadError;
use super::values::{ArrivalsArg, Renamed, calls, count, length, memory, rate, seed, warm_up};
use super::{Format, SelectionArgs, TableArgs};

/// `rpcbench run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench run
  rpcbench run go-grpc 'java-*' --precision 2% --max-time 20m --cpus 1 --memory 512M
  rpcbench run go-grpc go-grpc                 The same server twice: how far do equals differ?
  rpcbench run --suite one-core 'java-grpc@*'
  rpcbench run --language go                   Everything there is in Go, whatever the protocol
  rpcbench run --suite latency go-grpc         Response times at 10 to 90 % of its capacity
  rpcbench run --suite slo go-grpc             The highest rate that keeps p99 below 10 ms
  rpcbench run --suite short-connections go-grpc go-thrift
  rpcbench run --rate 5k --duration 10s        Response times at 5,000 calls a second
  rpcbench run --sweep 10%..90% --duration 3s  Response times over load
  rpcbench run --suite mine.toml               A suite of your own
  rpcbench run --warmup 30s --shape record --connections 10 --in-flight 100
  rpcbench run --resume results/2026-03-01T12-00-00")]
pub struct RunArgs {
    /// Which servers.
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Suite that gives the workloads and limits: one of `rpcbench list suites`, or a file such as mine.toml
    #[arg(long, value_name = "NAME", default_value = "quick")]
    pub suite: String,
    /// Seed of payloads and of the order of trials [default: drawn anew, and recorded]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = seed)]
    pub seed: Option<u64>,
    /// How the results are printed
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
    /// Columns of the table.
    #[command(flatten)]
    pub table: TableArgs,
    /// Folder in which the run gets a folder of its own
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results: PathBuf,
    /// Go on with an interrupted run, as it was planned
    #[arg(long, value_name = "DIR", conflicts_with_all = PLANNING)]
    pub resume: Option<PathBuf>,
    /// Where the suite gives servers more CPUs than this machine has, give them fewer; the record says so
    #[arg(long, conflicts_with = "cpus")]
    pub scale_to_machine: bool,
    /// Run servers as they were built before
    #[arg(long)]
    pub no_build: bool,
    /// What to change in the suite.
    #[command(flatten)]
    pub workload: WorkloadArgs,
}

/// Everything that makes a plan, which a resumed run has already.
const PLANNING: [&str; 32] = [
    "servers",
    "protocol",
    "language",
    "all",
    "suite",
    "seed",
    "results",
    "processes",
    "rounds",
    "precision",
    "max_time",
    "cpus",
    "memory",
    "shape",
    "arrivals",
    "rate",
    "find_max",
    "sweep",
    "connections",
    "connection_life",
    "in_flight",
    "calls",
    "scale_to_machine",
    "warmup",
    "warmup_min",
    "warmup_max",
    "settle",
    "duration",
    "timeout",
    "grace",
    "client_threads",
    "pipelining",
];

/// Values that replace the suite's, in each of its workloads.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "In place of the suite's values")]
pub struct WorkloadArgs {
    /// Go on until servers are told apart, or known to be equal within this [quick: 5%]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, value_parser = units::share)]
    pub precision: Option<f64>,
    /// End after this long at the latest, such as 10m [quick: 6m]
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true, value_parser = length)]
    pub max_time: Option<u64>,
    /// Processes of each server, exactly so many; an interval needs two, a narrow one more
    #[arg(long, value_name = "N", value_parser = count, conflicts_with = "precision")]
    pub processes: Option<u32>,
    /// Windows in which each process is measured; it is frozen while others run
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = count)]
    pub rounds: Option<u32>,
    /// Length of a trial's measured window, such as 10s
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true, value_parser = length)]
    pub duration: Option<u64>,
    /// Calls of a trial, in place of a length: its window ends with the last of them
    #[arg(long, value_name = "N", conflicts_with = "duration", allow_hyphen_values = true, value_parser = calls)]
    pub calls: Option<u64>,
    /// Warm-up: until-steady, none, a length such as 30s, or calls:N/CLIENTS
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true, value_parser = warm_up)]
    pub warmup: Option<WarmUp>,
    /// Call no server steady before this
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true, value_parser = length)]
    pub warmup_min: Option<u64>,
    /// Give up on a server that is not steady after this
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true, value_parser = length)]
    pub warmup_max: Option<u64>,
    /// Load before each window, after other servers had the CPUs [quick: 150ms]
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true, value_parser = length)]
    pub settle: Option<u64>,
    /// CPUs that a server may use
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = count)]
    pub cpus: Option<u32>,
    /// Memory that a server may use, such as 512M or 2G (M means MiB)
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = memory)]
    pub memory: Option<u64>,
    /// Connections
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = count)]
    pub connections: Option<u32>,
    /// How many calls a connection carries before the client ends it: long (all), short (one) or calls:N
    #[arg(long, value_name = "LIFE")]
    pub connection_life: Option<ConnectionLife>,
    /// Calls in flight over all connections, at least one for each
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = count)]
    pub in_flight: Option<u32>,
    /// What a call carries: text:N (N bytes), record, dto or tree
    #[arg(long, value_name = "SHAPE")]
    pub shape: Option<Shape>,
    /// When calls come due: closed, constant:RATE, poisson:RATE, ramp:FROM..TO/LENGTH or
    /// steps:FROM..TO+STEP/LENGTH; RATE in calls a second, or as 40% of each server's capacity
    #[arg(long, value_name = "ARRIVALS")]
    pub arrivals: Option<ArrivalsArg>,
    /// Calls a second over all connections, at equal distances; short for --arrivals constant:RATE
    #[arg(short, long, value_name = "RATE", allow_hyphen_values = true, value_parser = rate)]
    pub rate: Option<Rate>,
    /// Search for the highest rate that keeps this, such as 'p99<10ms' or 'errors<0.1%'
    #[arg(long, value_name = "THRESHOLD", conflicts_with = "sweep")]
    pub find_max: Option<Threshold>,
    /// Load at each of these rates: FROM..TO+STEP, as 10%..90% of each server's capacity or 1k..10k+1k calls a second
    #[arg(long, value_name = "RATES", conflicts_with = "rate")]
    pub sweep: Option<Sweep>,
    /// See --arrivals
    #[arg(long, hide = true, value_parser = Renamed("--arrivals"))]
    law: Option<String>,
    /// Ask servers for statistics of their runtimes: garbage collections, pauses, allocation; empty for those whose
    /// runtime has none
    #[arg(long)]
    pub runtime_statistics: bool,
    /// Write every call of each window as Parquet below calls/ in the run's folder, and draw each server's last window
    #[arg(long)]
    pub log_calls: bool,
    /// A call unanswered for this long has failed
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true, value_parser = length)]
    pub timeout: Option<u64>,
    /// How long calls in flight at the end of a trial may still be answered
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true, value_parser = length)]
    pub grace: Option<u64>,
    /// Threads that make the load, each with a CPU of its own where there are enough
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = count)]
    pub client_threads: Option<u32>,
    /// Send calls on a connection before those ahead of them are answered, even under json and thrift [default
    /// there: a connection for each call in flight]
    #[arg(long)]
    pub pipelining: bool,
}

impl WorkloadArgs {
    /// As the planner takes them.
    ///
    /// # Errors
    /// If options contradict each other.
    pub fn overrides(&self) -> Result<Overrides, LoadError> {
        Ok(Overrides {
            loads: self.loads()?,
            processes: self.processes,
            rounds: self.rounds,
            precision: self.precision,
            max_time_ms: self.max_time,
            scaled_from: None,
            runtime_statistics: self.runtime_statistics,
            log_calls: self.log_calls,
            calls: self.calls,
            cpus: self.cpus,
            memory_bytes: self.memory,
            shape: self.shape,
            connections: self.connections,
            connection_life: self.connection_life,
            in_flight: self.in_flight,
            warm_up: self.warmup,
            warm_up_least_ms: self.warmup_min,
            warm_up_cap_ms: self.warmup_max,
            settle_ms: self.settle,
            duration_ms: self.duration,
            timeout_ms: self.timeout,
            grace_ms: self.grace,
            client_threads: self.client_threads,
            pipelining: self.pipelining,
        })
    }

    /// The loads that are to take the place of the suite's.
    fn loads(&self) -> Result<Option<Loads>, LoadError> {
        let (arrivals, rate, find_max) = (self.arrivals, self.rate, self.find_max);
        let asked = Asked { arrivals, rate, find_max, sweep: self.sweep.as_ref() };
        if !asked.is_any() {
            return Ok(None);
        }
        let arrivals = asked.arrivals()?;
        Ok(Some(Loads { arrivals, find_max, sweep: self.sweep.clone() }))
    }
}
