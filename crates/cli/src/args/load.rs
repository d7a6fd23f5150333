//! `rpcbench load`.

use std::path::{Path, PathBuf};

use clap::Args;
use rpcbench_engine::TlsClient;
use rpcbench_harness::calls::{CallKind, CallSpec, ConnectSpec, LoadAddress, TlsSpec};
use rpcbench_harness::spec::{
    ConfigError, Given, Length, NonZeroLength, WarmUpValue, WorkloadSpec, load_workloads,
};
use rpcbench_record::{Figure, Protocol, Threshold, WarmUp, Workload};

use super::Format;
use super::labels::LabelArgs;
use super::values::{CallsFile, process, seed};

#[derive(Args, Debug)]
#[command(
    mut_arg("in_flight_per_connection", |arg| arg.help(IN_FLIGHT)),
    mut_arg("shape", |arg| arg.help("What a call carries: text:N (N bytes), record, dto or tree [default: text:100]")),
    mut_arg("connections", |arg| arg.help("Connections [default: 50]")),
    mut_arg("header", |arg| arg.help(HEADER)),
    mut_arg("duration", |arg| arg.help("Length of the measured window [default: 10s]")),
    after_help = "\
Examples:
  rpcbench load 127.0.0.1:50051
  rpcbench load 127.0.0.1:50051 --shape record -c 100 -m 1 -z 30s
  rpcbench load 127.0.0.1:50051 --list                    What the server offers, by reflection
  rpcbench load 127.0.0.1:50051 --call Orders/Get -d @get.json --once
  rpcbench load 127.0.0.1:50051 --call Orders/Get -d @get.json --proto orders.proto
  rpcbench load http://127.0.0.1:8080/items?page=1        Any URL
  rpcbench load http://127.0.0.1:8080/items/7 -X PUT -d @item.json --ok 200,404
  rpcbench load https://127.0.0.1:8443/ --cacert ca.pem   Over TLS
  rpcbench load '[::1]:50051' --warmup 5s --format json
  rpcbench load 127.0.0.1:50051 -n 100000                 100,000 calls, however long they take
  rpcbench load 127.0.0.1:50051 --pid 4242                The server's CPU time and memory, too
  rpcbench load 127.0.0.1:50051 -H 'x-trace: 7'           A header on every call
  rpcbench load 127.0.0.1:50051 --connection-life short   A connection for each call
  rpcbench load 127.0.0.1:50051 --rate 20k                20,000 calls a second in open loop
  rpcbench load 127.0.0.1:50051 --arrivals poisson:40%    40 % of its capacity, measured first
  rpcbench load 127.0.0.1:50051 --arrivals ramp:1k..50k/1m --duration 1m
  rpcbench load 127.0.0.1:50051 --find-max 'p99<10ms'     The highest rate that keeps it
  rpcbench load 127.0.0.1:50051 --sweep 10%..90% --duration 5s
  rpcbench load 127.0.0.1:50051 --rate 5k --fail-if 'p99>20ms' --fail-if 'errors>0.1%'
  rpcbench load 127.0.0.1:50051 --out results/monday --hdr run.hlog --log calls.parquet

Without --call or a URL, the server must implement rpcbench's contract: contract/README.md.
Exit codes: 0 done, 1 a check or a limit failed (calls failed, a limit of --fail-if was exceeded, or the \
client fell behind its own schedule), 2 could not run, or could not write a file, 4 a limit of --stop-if ended the load."
)]
pub struct LoadArgs {
    /// Where the server listens, HOST:PORT, unix:PATH, grpc://HOST:PORT or grpcs://HOST:PORT; or a URL, such as
    /// http://127.0.0.1:8080/path
    #[arg(value_name = "ADDRESS")]
    pub address: LoadAddress,
    /// How calls travel, such as grpc or json [default: grpc, to a URL http]
    #[arg(long, value_name = "PROTOCOL")]
    protocol: Option<Protocol>,
    /// Process id of the server, if it runs on this machine: shows its CPU time, memory, threads and context switches
    /// over the window, with its child processes
    #[arg(long, value_name = "PID", allow_hyphen_values = true, value_parser = process)]
    pub pid: Option<u32>,
    /// Load before the measured window: none, or a length such as 5s
    #[arg(long, value_name = "LENGTH", default_value = "1s", allow_hyphen_values = true, value_parser = lead)]
    warmup: Length,
    /// Seed of payloads and random arrivals
    #[arg(long, value_name = "N", default_value_t = 1, allow_hyphen_values = true, value_parser = seed)]
    pub seed: u64,
    #[command(flatten)]
    pub call: CallSpec,
    #[command(flatten)]
    pub connect: ConnectSpec,
    #[command(flatten)]
    tls: TlsSpec,
    #[command(flatten)]
    workload: WorkloadSpec,
    #[command(flatten)]
    pub results: ResultArgs,
}

const HEADER: &str = "Header of every call (metadata in gRPC); repeatable. ${NAME} in its value is an environment variable. The \
                      record omits what comes from the environment, and the values of authorization, cookies and other secrets";

const IN_FLIGHT: &str = "Calls in flight on each connection; in open loop, an upper limit [default: 20, in open loop 100; under \
                         json, connect and thrift 1, and no more than a connection lives for]";

/// What the command prints and writes.
#[derive(Args, Debug)]
#[command(next_help_heading = "Results")]
pub struct ResultArgs {
    /// How the results are printed
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
    /// Exit with 1 if this is true, such as 'p99>20ms', 'max>1s', 'errors>0.1%' or 'rate<1000'; repeatable. A limit
    /// on errors also allows failed calls up to it
    #[arg(long, value_name = "THRESHOLD", conflicts_with_all = SEVERAL)]
    pub fail_if: Vec<Threshold>,
    /// Write the record to this folder, as `rpcbench run` does; `rpcbench report DIR` shows it again
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write an HdrHistogram log to this file
    #[arg(long, value_name = "FILE", conflicts_with_all = SEVERAL)]
    pub hdr: Option<PathBuf>,
    /// Write every measured call to this file, FILE.parquet or FILE.csv
    #[arg(long, value_name = "FILE", conflicts_with_all = SEVERAL)]
    pub log: Option<CallsFile>,
    /// End the load as soon as this is true of the window so far, such as 'errors>5%' or 'p99>2s'; exit with 4. It is checked
    /// each --interval; repeatable
    #[arg(long, value_name = "THRESHOLD", conflicts_with_all = SEVERAL)]
    pub stop_if: Vec<Threshold>,
    /// Write a line of JSON to this file each --interval: calls, errors, percentiles, rate, calls in flight
    #[arg(long, value_name = "FILE", conflicts_with_all = SEVERAL)]
    pub interval_file: Option<PathBuf>,
    /// How often --interval-file gets a line and --stop-if is checked
    #[arg(long, value_name = "LENGTH", default_value = "1s", allow_hyphen_values = true)]
    pub interval: NonZeroLength,
    #[command(flatten)]
    pub labels: LabelArgs,
    /// Print no progress
    #[arg(short, long)]
    pub quiet: bool,
}

/// Options that make several loads of one.
const SEVERAL: [&str; 2] = ["find_max", "sweep"];

/// Parses the length of the load before a window.
fn lead(text: &str) -> Result<Length, String> {
    match text.parse::<WarmUpValue>()?.0 {
        WarmUp::Fixed { .. } => text.parse().or(Ok(Length::ZERO)),
        WarmUp::Calls { .. } => {
            Err("a load is warmed for a length of time; give one such as 5s".to_owned())
        }
        WarmUp::UntilSteady { .. } => Err(
            "only a server that rpcbench starts is warmed until it is steady; give a length such as 30s"
                .to_owned(),
        ),
    }
}

impl LoadArgs {
    /// The loads, in order; before them the one that measures the capacity, if a rate is a share of it.
    pub fn workloads(&self) -> Result<Vec<Workload>, ConfigError> {
        self.results.check()?;
        self.check_inspection()?;
        let settle = Some(Given::by_default(self.warmup, "--warmup"));
        let spec = WorkloadSpec { settle, ..self.workload.clone() };
        let protocol = self.protocol()?;
        match (self.call.kind(&self.address), &spec.shape) {
            (CallKind::Contract, _) | (_, None) => load_workloads(&spec, protocol),
            (_, Some(shape)) => {
                let remedy = "a shape is of rpcbench's contract; give --data, or leave it out";
                let address = self.address.to_string();
                Err(ConfigError::contradiction(format!("--shape {}", shape.value), address, remedy))
            }
        }
    }

    /// Refuses results of a load if none is made.
    fn check_inspection(&self) -> Result<(), ConfigError> {
        match (self.results.of_load(), self.call.inspection()?) {
            (Some(option), Some(inspection)) => {
                let remedy =
                    "it makes no load, which alone has such results; leave one of them out";
                let (option, inspection) = (option.to_owned(), inspection.option().to_owned());
                Err(ConfigError::contradiction(option, inspection, remedy))
            }
            _ => Ok(()),
        }
    }

    /// What speaks TLS with the server. `None` if nothing has to. `key_log`: the file of `SSLKEYLOGFILE`.
    pub fn tls(&self, key_log: Option<&Path>) -> Result<Option<TlsClient>, ConfigError> {
        let (_, own) = self.call.server(&self.address);
        let given = self.workload.authority.as_ref().map(|given| given.value.as_str().to_owned());
        let authority = given.unwrap_or(own);
        self.tls.client(&self.address, &authority, self.protocol()?, key_log)
    }

    /// How calls travel.
    pub fn protocol(&self) -> Result<Protocol, ConfigError> {
        self.call.protocol(&self.address, self.protocol)
    }
}

impl ResultArgs {
    /// The first given option that only a load has results for.
    fn of_load(&self) -> Option<&'static str> {
        let all = [
            (self.format != Format::default(), "--format"),
            (!self.fail_if.is_empty(), "--fail-if"),
            (self.out.is_some(), "--out"),
            (self.hdr.is_some(), "--hdr"),
            (self.log.is_some(), "--log"),
            (!self.stop_if.is_empty(), "--stop-if"),
            (self.interval_file.is_some(), "--interval-file"),
        ];
        all.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
    }

    /// Refuses to write two results to one file, and limits that are unknown before a window ends.
    fn check(&self) -> Result<(), ConfigError> {
        if let Some(limit) = self.stop_if.iter().find(|limit| limit.figure() == Figure::Rate) {
            let problem = "the rate is known when the window has ended; give --fail-if";
            return Err(ConfigError::value(format!("--stop-if {limit}"), problem));
        }
        if self.interval.ms() < 100 {
            let problem = "shorter intervals would cost the load time; give at least 100ms";
            return Err(ConfigError::value(
                format!("--interval {}ms", self.interval.ms()),
                problem,
            ));
        }
        let log = self.log.as_ref().map(|log| log.path.as_path());
        let files = [
            ("--out", self.out.as_deref()),
            ("--hdr", self.hdr.as_deref()),
            ("--interval-file", self.interval_file.as_deref()),
            ("--log", log),
        ];
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

fn same(first: &str, second: &str, path: &Path) -> ConfigError {
    let option = |name: &str| format!("{name} {}", path.display());
    let remedy = "two results can't be written to one file; give each its own";
    ConfigError::contradiction(option(first), option(second), remedy)
}
