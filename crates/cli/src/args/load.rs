//! `rpcbench load`.

use std::path::{Path, PathBuf};

use clap::Args;
use rpcbench_contract::Shape;
use rpcbench_harness::search::{Sweep, at_rate};
use rpcbench_record::units::length_ms;
use rpcbench_record::{
    Arrivals, ConnectionLife, Protocol, Rate, Threshold, WarmUp, Window, Workload,
};

use super::Format;
use super::arrivals::Asked;
use super::values::{
    Address, ArrivalsArg, CallsFile, Renamed, calls, count, length, process, rate, seed, warm_up,
};

/// Calls in flight on a connection of a closed loop where the number is not given.
const IN_FLIGHT_EACH: u32 = 20;
/// The same in an open loop: at most so many, so that a server that stalls for long does not take all memory.
const IN_FLIGHT_EACH_OPEN: u32 = 100;
/// Time for the last calls unless told otherwise, milliseconds.
const GRACE_MS: u64 = 5000;

/// Shortest window, milliseconds: one slice of its series.
const SHORTEST_WINDOW_MS: u64 = 100;
/// Longest window, milliseconds: each slice of its series has a place in memory.
const LONGEST_WINDOW_MS: u64 = 48 * 3_600_000;

/// Name of the workload that finds a capacity.
const CAPACITY: &str = "capacity";
/// How long a closed loop runs before the capacity is measured, and how long that is measured, milliseconds.
const CAPACITY_SETTLE_MS: u64 = 1000;
const CAPACITY_WINDOW_MS: u64 = 3000;

/// Options of `rpcbench load` that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// A value that can't be.
    #[error("{given}: {problem}")]
    Value {
        /// The option and its value.
        given: String,
        /// What is wrong, and what to write.
        problem: String,
    },
    /// Two that exclude each other.
    #[error("{first} contradicts {second}: {remedy}")]
    Contradiction {
        /// The first.
        first: String,
        /// The second.
        second: String,
        /// What to do.
        remedy: &'static str,
    },
}

/// `rpcbench load`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench load 127.0.0.1:50051
  rpcbench load 127.0.0.1:50051 --shape record -c 100 -m 1 -z 30s
  rpcbench load '[::1]:50051' --warmup 5s --format json
  rpcbench load 127.0.0.1:50051 -n 100000                 100,000 calls, however long they take
  rpcbench load 127.0.0.1:50051 --pid 4242                The server's CPU time and memory, too
  rpcbench load 127.0.0.1:50051 --connection-life short   A connection for each call
  rpcbench load 127.0.0.1:50051 --rate 20k                20,000 calls a second, come what may
  rpcbench load 127.0.0.1:50051 --arrivals poisson:40%    40 % of its capacity, measured first
  rpcbench load 127.0.0.1:50051 --arrivals ramp:1k..50k/1m --duration 1m
  rpcbench load 127.0.0.1:50051 --find-max 'p99<10ms'     The highest rate that keeps it
  rpcbench load 127.0.0.1:50051 --sweep 10%..90% --duration 5s
  rpcbench load 127.0.0.1:50051 --rate 5k --fail-if 'p99>20ms' --fail-if 'errors>0.1%'
  rpcbench load 127.0.0.1:50051 --out results/monday --hdr run.hlog --log calls.parquet

The server must offer rpcbench's contract: contract/README.md.
Exit codes: 0 done, 1 a verdict against (calls failed, a limit of --fail-if was exceeded, or the \
client fell behind its own schedule), 2 could not run, or could not write a file.")]
pub struct LoadArgs {
    /// Where the server listens: HOST:PORT or unix:PATH
    #[arg(value_name = "ADDRESS")]
    pub address: Address,
    /// What a call carries: text:N (N bytes), record, dto or tree
    #[arg(long, value_name = "SHAPE", default_value = "text:100")]
    pub shape: Shape,
    /// How calls travel, such as grpc or json
    #[arg(long, value_name = "PROTOCOL", default_value_t)]
    pub protocol: Protocol,
    /// Process id of the server, if it runs on this machine: its CPU time, memory, threads and context switches over
    /// the window are shown, those of its child processes included
    #[arg(long, value_name = "PID", allow_hyphen_values = true, value_parser = process)]
    pub pid: Option<u32>,
    /// Connections
    #[arg(short, long, value_name = "N", default_value_t = 50, allow_hyphen_values = true, value_parser = count)]
    pub connections: u32,
    /// How many calls a connection carries before the client ends it and opens another: long (all), short (one) or
    /// calls:N
    #[arg(long, value_name = "LIFE", default_value_t)]
    pub connection_life: ConnectionLife,
    /// Calls in flight on each connection; in an open loop, at most so many [default: 20, in an open loop 100; under
    /// json and thrift 1, and no more than a connection lives for]
    #[arg(short = 'm', long, value_name = "N", allow_hyphen_values = true, value_parser = count)]
    pub in_flight: Option<u32>,
    /// Send calls on a connection before those ahead of them are answered, under a protocol that otherwise takes one at
    /// a time
    #[arg(long)]
    pub pipelining: bool,
    /// When calls come due: closed, constant:RATE, poisson:RATE, ramp:FROM..TO/LENGTH or
    /// steps:FROM..TO+STEP/LENGTH; RATE in calls a second, or as 40% of the capacity [default: closed]
    #[arg(long, value_name = "ARRIVALS")]
    pub arrivals: Option<ArrivalsArg>,
    /// Calls a second over all connections, at equal distances; short for --arrivals constant:RATE
    #[arg(short, long, value_name = "RATE", allow_hyphen_values = true, value_parser = rate)]
    pub rate: Option<Rate>,
    /// Length of the measured window
    #[arg(short = 'z', short_alias = 'd', long, value_name = "LENGTH", default_value = "10s", allow_hyphen_values = true, value_parser = length)]
    pub duration: u64,
    /// Calls to make in the measured window, in place of a length: it ends with the last of them
    #[arg(short = 'n', long, value_name = "N", conflicts_with_all = ["duration", "find_max", "sweep"], allow_hyphen_values = true, value_parser = calls)]
    pub calls: Option<u64>,
    /// Load before the measured window: none, or a length such as 5s
    #[arg(long, value_name = "LENGTH", default_value = "1s", allow_hyphen_values = true, value_parser = lead)]
    pub warmup: u64,
    /// A call unanswered for this long has failed
    #[arg(long, value_name = "LENGTH", default_value = "10s", allow_hyphen_values = true, value_parser = length)]
    pub timeout: u64,
    /// How long opening all connections may take
    #[arg(long, value_name = "LENGTH", default_value = "10s", allow_hyphen_values = true, value_parser = length)]
    pub connect_timeout: u64,
    /// How long calls in flight at the end may still be answered [default: 5s, and at most the timeout]
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true, value_parser = length)]
    pub grace: Option<u64>,
    /// Threads that make the load
    #[arg(short, long, value_name = "N", default_value_t = 1, allow_hyphen_values = true, value_parser = count)]
    pub threads: u32,
    /// Seed of the payloads, and of random arrivals
    #[arg(long, value_name = "N", default_value_t = 1, allow_hyphen_values = true, value_parser = seed)]
    pub seed: u64,
    /// Several loads in place of one.
    #[command(flatten)]
    pub several: SeveralArgs,
    /// What the command prints, and where it writes.
    #[command(flatten)]
    pub results: ResultArgs,
    /// Names that options had.
    #[command(flatten)]
    renamed: RenamedArgs,
}

/// Names that options had before, refused with the new one.
#[derive(Args, Debug)]
struct RenamedArgs {
    /// See --arrivals
    #[arg(long, hide = true, value_parser = Renamed("--arrivals"))]
    law: Option<String>,
    /// See --threads
    #[arg(long, hide = true, value_parser = Renamed("--threads"))]
    client_threads: Option<String>,
}

/// Several loads in place of one.
#[derive(Args, Debug)]
#[command(next_help_heading = "Several loads")]
pub struct SeveralArgs {
    /// Search for the highest rate that keeps this, such as 'p99<10ms' or 'errors<0.1%'. It begins at half the
    /// capacity, or at the rate that is given; arrivals are Poisson unless --arrivals says otherwise
    #[arg(long, value_name = "THRESHOLD", conflicts_with_all = ["sweep", "fail_if", "hdr", "log"])]
    pub find_max: Option<Threshold>,
    /// Load at each of these rates: FROM..TO+STEP, as 10%..90% of the capacity or 1k..10k+1k calls a second
    #[arg(long, value_name = "RATES", conflicts_with_all = ["rate", "fail_if", "hdr", "log"])]
    pub sweep: Option<Sweep>,
}

/// What the command prints, and where it writes.
#[derive(Args, Debug)]
#[command(next_help_heading = "Results")]
pub struct ResultArgs {
    /// How the results are printed
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
    /// Exit with 1 if this comes true, such as 'p99>20ms', 'max>1s', 'errors>0.1%' or 'rate<1000'; may be
    /// given several times. With a limit on errors, calls that fail within it are no verdict against
    #[arg(long, value_name = "THRESHOLD")]
    pub fail_if: Vec<Threshold>,
    /// Write the record to this folder, as `rpcbench run` does; `rpcbench report DIR` shows it again
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write the distributions to this file, as an HdrHistogram log
    #[arg(long, value_name = "FILE")]
    pub hdr: Option<PathBuf>,
    /// Write every measured call to this file, FILE.parquet or FILE.csv
    #[arg(long, value_name = "FILE")]
    pub log: Option<CallsFile>,
    /// Show nothing while the load is on
    #[arg(short, long)]
    pub quiet: bool,
}

impl LoadArgs {
    /// The loads as asked for, in order; before them the one that finds the capacity, if any takes a share of it.
    ///
    /// # Errors
    /// If options contradict each other.
    pub fn workloads(&self) -> Result<Vec<Workload>, LoadError> {
        self.check()?;
        let load = self.load()?;
        self.check_rate(&load)?;
        let mut workloads = match &self.several.sweep {
            None => vec![load],
            Some(sweep) => swept(&load, sweep),
        };
        if workloads.iter().any(|workload| workload.arrivals.needs_capacity()) {
            let capacity = Workload {
                name: CAPACITY.to_owned(),
                arrivals: Arrivals::Closed,
                find_max: None,
                settle_ms: CAPACITY_SETTLE_MS,
                window: Window::Duration { length_ms: CAPACITY_WINDOW_MS },
                ..workloads[0].clone()
            };
            workloads.insert(0, capacity);
        }
        Ok(workloads)
    }

    fn window(&self) -> Window {
        let length = Window::Duration { length_ms: self.duration };
        self.calls.map_or(length, |calls| Window::Calls { calls })
    }

    fn load(&self) -> Result<Workload, LoadError> {
        let arrivals = self.asked().arrivals()?;
        let default = match arrivals.is_open() {
            _ if self.one_at_a_time() => 1,
            true => IN_FLIGHT_EACH_OPEN,
            false => IN_FLIGHT_EACH,
        };
        let most = self.connection_life.calls().unwrap_or(u32::MAX);
        let each = self.in_flight.unwrap_or(default.min(most));
        let in_flight = self.connections.checked_mul(each).ok_or_else(|| LoadError::Value {
            given: format!("--in-flight {each}"),
            problem: format!(
                "on each of {} connections is more than {} calls in all; give fewer",
                self.connections,
                u32::MAX
            ),
        })?;
        Ok(Workload {
            name: "load".to_owned(),
            shape: self.shape.to_string(),
            connections: self.connections,
            connection_life: self.connection_life,
            in_flight,
            arrivals,
            find_max: self.several.find_max,
            // Nobody knows what a closed loop at full load would do to it.
            warm_up: WarmUp::Fixed { length_ms: 0 },
            settle_ms: self.warmup,
            window: self.window(),
            timeout_ms: self.timeout,
            grace_ms: self.grace.unwrap_or(GRACE_MS.min(self.timeout)),
            client_threads: self.threads,
            pipelining: self.pipelining,
        })
    }

    /// Whether a call waits on its connection until the one before it is answered.
    fn one_at_a_time(&self) -> bool {
        self.protocol.takes_one_call_at_a_time() && !self.pipelining
    }

    /// Refuses values that can't be, alone or together.
    fn check(&self) -> Result<(), LoadError> {
        self.results.check()?;
        let bad = |problem: &str| {
            let given = format!("--duration {}", length_ms(self.duration));
            Err(LoadError::Value { given, problem: problem.to_owned() })
        };
        if self.duration < SHORTEST_WINDOW_MS {
            return bad("must be at least 100ms, one slice of its series");
        }
        if self.duration > LONGEST_WINDOW_MS {
            return bad("must be at most 48h: every 100ms of it has a place in memory");
        }
        if self.connections < self.threads {
            return Err(contradiction(
                format!("--connections {}", self.connections),
                format!("--threads {}", self.threads),
                "every thread needs a connection; raise the first or lower the second",
            ));
        }
        self.check_pipelining()?;
        self.check_connection_life()?;
        if let Some(grace) = self.grace.filter(|grace| *grace > self.timeout) {
            return Err(contradiction(
                format!("--timeout {}", length_ms(self.timeout)),
                format!("--grace {}", length_ms(grace)),
                "no call is waited for beyond its timeout; raise the first or lower the second",
            ));
        }
        Ok(())
    }

    fn check_rate(&self, load: &Workload) -> Result<(), LoadError> {
        let peaks = self.several.sweep.iter().flat_map(Sweep::rates);
        let peaks = peaks.filter_map(|rate| at_rate(load.arrivals, *rate));
        for arrivals in peaks.chain([load.arrivals]) {
            let load = Workload { arrivals, ..load.clone() };
            if let Some(problem) = load.rate_problem() {
                return Err(LoadError::Value { given: format!("--arrivals {arrivals}"), problem });
            }
        }
        Ok(())
    }

    fn check_pipelining(&self) -> Result<(), LoadError> {
        let protocol = format!("--protocol {}", self.protocol);
        if self.pipelining && !self.protocol.takes_one_call_at_a_time() {
            let remedy =
                "it has many calls in flight on a connection anyway; leave --pipelining out";
            return Err(contradiction("--pipelining".to_owned(), protocol, remedy));
        }
        match self.in_flight {
            Some(each) if each > 1 && self.one_at_a_time() => Err(contradiction(
                format!("--in-flight {each}"),
                protocol,
                "a connection takes one call at a time; give more --connections, or --pipelining",
            )),
            _ => Ok(()),
        }
    }

    fn check_connection_life(&self) -> Result<(), LoadError> {
        let life = self.connection_life;
        match (self.in_flight, life.calls()) {
            (Some(each), Some(most)) if each > most => Err(contradiction(
                format!("--in-flight {each}"),
                format!("--connection-life {life}"),
                "a connection can't have more calls in flight than it lives for; lower the first, or give a longer life",
            )),
            _ => Ok(()),
        }
    }

    fn asked(&self) -> Asked<'_> {
        let SeveralArgs { find_max, sweep } = &self.several;
        let (arrivals, rate, find_max) = (self.arrivals, self.rate, *find_max);
        Asked { arrivals, rate, find_max, sweep: sweep.as_ref() }
    }
}

impl ResultArgs {
    /// Refuses to write two things to one file.
    fn check(&self) -> Result<(), LoadError> {
        let log = self.log.as_ref().map(|log| log.path.as_path());
        let files =
            [("--out", self.out.as_deref()), ("--hdr", self.hdr.as_deref()), ("--log", log)];
        for (at, (first, one)) in files.iter().enumerate() {
            for (second, other) in &files[..at] {
                if let (Some(one), true) = (one, one.is_some() && one == other) {
                    return Err(same(first, second, one));
                }
            }
        }
        Ok(())
    }
}

fn same(first: &str, second: &str, path: &Path) -> LoadError {
    contradiction(
        format!("{first} {}", path.display()),
        format!("{second} {}", path.display()),
        "two things can't be written to one file; give each its own",
    )
}

pub(super) fn contradiction(first: String, second: String, remedy: &'static str) -> LoadError {
    LoadError::Contradiction { first, second, remedy }
}

/// A load at each rate of a sweep.
fn swept(load: &Workload, sweep: &Sweep) -> Vec<Workload> {
    let at = |rate: &Rate| {
        let name = format!("{}-{}", load.name, rate.to_string().trim_end_matches('%'));
        Some(Workload { name, arrivals: at_rate(load.arrivals, *rate)?, ..load.clone() })
    };
    sweep.rates().iter().filter_map(at).collect()
}

/// A length of load before a window, milliseconds.
fn lead(text: &str) -> Result<u64, String> {
    match warm_up(text)? {
        WarmUp::Fixed { length_ms } => Ok(length_ms),
        WarmUp::Calls { .. } => {
            Err("a load is warmed for a length of time; give one such as 5s".to_owned())
        }
        WarmUp::UntilSteady { .. } => {
            Err("a server that rpcbench did not start can't be watched until it is steady; \
                 give a length such as 30s"
                .to_owned())
        }
    }
}
