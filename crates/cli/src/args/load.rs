//! `rpcbench load`.

use std::path::{Path, PathBuf};

use clap::Args;
use rpcbench_contract::Shape;
use rpcbench_harness::search::Sweep;
use rpcbench_harness::suite::{Overrides, Suite, SuiteError};
use rpcbench_record::{Arrivals, Fresh, Limits, Rate, Threshold, WarmUp, Window, Workload};

use super::Format;
use super::values::{Address, ArrivalsArg, CallsFile, Kind, count, length, rate, warm_up};

/// Calls in flight on a connection of a closed loop where the number is not given.
const IN_FLIGHT_EACH: u32 = 20;
/// The same in an open loop: at most so many, so that a server that stalls for long does not take all memory.
const IN_FLIGHT_EACH_OPEN: u32 = 100;
/// Time for the last calls unless told otherwise, milliseconds.
const GRACE_MS: u64 = 5000;

/// Where a search begins.
const HALF: Rate = Rate::OfCapacity(50);

/// `rpcbench load`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench load 127.0.0.1:50051
  rpcbench load 127.0.0.1:50051 --shape record --connections 100 --in-flight 100 --duration 30s
  rpcbench load '[::1]:50051' --warmup 5s --format json
  rpcbench load 127.0.0.1:50051 --rate 20k                   20,000 calls a second, whatever comes back
  rpcbench load 127.0.0.1:50051 --arrivals poisson:40%            40 % of its capacity, measured first
  rpcbench load 127.0.0.1:50051 --arrivals ramp:1k..50k/1m --duration 1m
  rpcbench load 127.0.0.1:50051 --rate 5k --fail-if 'p99>20ms' --fail-if 'errors>0.1%'
  rpcbench load 127.0.0.1:50051 --out run.json --hdr run.hlog --log calls.parquet
  rpcbench load 127.0.0.1:50051 --find-max 'p99<10ms'        The highest rate that keeps it
  rpcbench load 127.0.0.1:50051 --sweep 10%..90% --duration 5s

The server must offer rpcbench's contract, contract/echo.proto.
Exit codes: 0 done, 1 a verdict against (calls failed, a limit of --fail-if was exceeded, or the
client fell behind its own schedule), 2 could not run, or could not write a file.")]
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
    /// Calls in flight over all connections; in an open loop, at most so many [default: 20 for each, 100 in an open loop]
    #[arg(short = 'n', long, value_name = "N", value_parser = count)]
    pub in_flight: Option<u32>,
    /// When calls come due: closed, constant:RATE, poisson:RATE, ramp:FROM..TO/LENGTH or
    /// steps:FROM..TO+STEP/LENGTH; RATE in calls a second, or as 40% of the capacity [default: closed]
    #[arg(long, value_name = "ARRIVALS")]
    pub arrivals: Option<ArrivalsArg>,
    /// Calls a second over all connections, at equal distances; short for --arrivals constant:RATE
    #[arg(short, long, value_name = "RATE", value_parser = rate)]
    pub rate: Option<Rate>,
    /// Length of the measured window
    #[arg(short, long, value_name = "LENGTH", default_value = "10s", value_parser = length)]
    pub duration: u64,
    /// Load before the measured window: none, or a length such as 5s
    #[arg(long, value_name = "LENGTH", default_value = "1s", value_parser = fixed_warm_up)]
    pub warmup: WarmUp,
    /// A call unanswered for this long has failed
    #[arg(long, value_name = "LENGTH", default_value = "10s", value_parser = length)]
    pub timeout: u64,
    /// How long calls in flight at the end may still be answered [default: 5s, and at most the timeout]
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub grace: Option<u64>,
    /// Threads that make the load
    #[arg(short = 't', long, visible_alias = "threads", value_name = "N", default_value_t = 1, value_parser = count)]
    pub client_threads: u32,
    /// Seed of the payloads, and of random arrivals
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Several loads in place of one.
    #[command(flatten)]
    pub several: SeveralArgs,
    /// What the command prints, and where it writes.
    #[command(flatten)]
    pub results: ResultArgs,
}

/// Several loads in place of one.
#[derive(Args, Debug)]
#[command(next_help_heading = "Several loads")]
pub struct SeveralArgs {
    /// Search for the highest rate that keeps this, such as 'p99<10ms' or 'errors<0.1%'. It begins at half the
    /// capacity, or at the rate that is given; arrivals are Poisson unless --arrivals says otherwise
    #[arg(long, value_name = "THRESHOLD", conflicts_with_all = ["sweep", "fail_if", "out", "hdr", "log"])]
    pub find_max: Option<Threshold>,
    /// Load at each of these rates: FROM..TO+STEP, as 10%..90% of the capacity or 1k..10k+1k calls a second
    #[arg(long, value_name = "RATES", conflicts_with_all = ["rate", "fail_if", "out", "hdr", "log"])]
    pub sweep: Option<Sweep>,
}

impl SeveralArgs {
    /// The rate of the first load, where none is given. `None`: there is one load.
    fn first(&self) -> Option<Rate> {
        let swept = self.sweep.as_ref().and_then(|sweep| sweep.rates().first().copied());
        swept.or(self.find_max.map(|_| HALF))
    }
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
    /// Write the record of the load, JSON, to this file; one that is there is replaced
    #[arg(long, value_name = "FILE")]
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
    /// The load as asked for.
    ///
    /// # Errors
    /// If options contradict each other.
    pub fn workload(&self) -> Result<Workload, SuiteError> {
        self.results.check()?;
        let arrivals = self.arrivals()?;
        let each = if arrivals.is_open() { IN_FLIGHT_EACH_OPEN } else { IN_FLIGHT_EACH };
        let in_flight = self.in_flight.unwrap_or_else(|| self.connections.saturating_mul(each));
        let workload = Workload {
            name: "load".to_owned(),
            shape: self.shape.to_string(),
            connections: self.connections,
            in_flight,
            // A suite measures a capacity of its own; here the command itself does.
            arrivals: if arrivals.needs_capacity() { Arrivals::Closed } else { arrivals },
            find_max: None,
            warm_up: self.warmup,
            window: Window::Duration { length_ms: self.duration },
            timeout_ms: self.timeout,
            grace_ms: self.grace.unwrap_or(GRACE_MS.min(self.timeout)),
            client_threads: self.client_threads,
        };
        let typed = Overrides {
            connections: Some(self.connections),
            in_flight: Some(in_flight),
            duration_ms: Some(self.duration),
            timeout_ms: Some(self.timeout),
            grace_ms: self.grace,
            client_threads: Some(self.client_threads),
            ..Overrides::default()
        };
        let one = Suite {
            name: "load".to_owned(),
            path: PathBuf::new(),
            description: String::new(),
            trials: 1,
            fresh: Fresh::Kept,
            protocols: None,
            limits: Limits { cpus: 1, memory_bytes: None },
            workloads: vec![workload],
        };
        let mut checked = one.with(&typed)?;
        let find_max = self.several.find_max;
        Ok(Workload { arrivals, find_max, ..checked.workloads.remove(0) })
    }

    /// When calls come due, from `--arrivals` and `--rate`.
    fn arrivals(&self) -> Result<Arrivals, SuiteError> {
        let several = self.several.first();
        match (self.arrivals, self.rate.or(several)) {
            (None, None) => Ok(Arrivals::Closed),
            (None, Some(rate)) if several.is_some() => Ok(Arrivals::Poisson { rate }),
            (None, Some(rate)) => Ok(Arrivals::Constant { rate }),
            (Some(ArrivalsArg::Kind(kind)), Some(rate)) => Ok(kind.at(rate)),
            (Some(ArrivalsArg::Kind(kind)), None) => Err(SuiteError::Value {
                given: format!("--arrivals {kind}"),
                problem: format!("needs a rate: write --arrivals {kind}:RATE, or add --rate RATE"),
            }),
            (Some(ArrivalsArg::Whole(arrivals)), _) => self.whole(arrivals),
        }
    }

    /// An arrival process that leaves nothing open.
    fn whole(&self, arrivals: Arrivals) -> Result<Arrivals, SuiteError> {
        let one_rate = matches!(arrivals, Arrivals::Constant { .. } | Arrivals::Poisson { .. });
        let (first, remedy) = match (self.rate, &self.several) {
            (Some(rate), _) if arrivals == Arrivals::Closed => (
                format!("--rate {rate}"),
                "a closed loop has no rate of its own; leave one of them out",
            ),
            (Some(rate), _) => {
                (format!("--rate {rate}"), "it has its rate already; leave one of them out")
            }
            (None, SeveralArgs { sweep: Some(sweep), .. }) => (
                format!("--sweep {sweep}"),
                "a sweep sets the rates; write --arrivals poisson or --arrivals constant",
            ),
            (None, SeveralArgs { find_max: Some(limit), .. }) if !one_rate => (
                format!("--find-max {limit}"),
                "a search needs one rate; write --arrivals poisson or --arrivals constant",
            ),
            _ => return Ok(arrivals),
        };
        Err(contradiction(first, format!("--arrivals {arrivals}"), remedy))
    }
}

impl ResultArgs {
    /// Refuses to write two things to one file.
    fn check(&self) -> Result<(), SuiteError> {
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

fn same(first: &str, second: &str, path: &Path) -> SuiteError {
    contradiction(
        format!("{first} {}", path.display()),
        format!("{second} {}", path.display()),
        "two things can't be written to one file; give each its own",
    )
}

fn contradiction(first: String, second: String, remedy: &'static str) -> SuiteError {
    SuiteError::Contradiction { first, second, remedy }
}

impl Kind {
    /// The arrival process with that rate.
    fn at(self, rate: Rate) -> Arrivals {
        match self {
            Self::Constant => Arrivals::Constant { rate },
            Self::Poisson => Arrivals::Poisson { rate },
        }
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
