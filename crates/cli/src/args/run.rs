//! `rpcbench run`.

use std::path::PathBuf;

use clap::Args;
use rpcbench_harness::manifest::Selection;
use rpcbench_harness::run::SliceLength;
use rpcbench_harness::spec::RunSpec;

use super::labels::LabelArgs;
use super::values::seed;
use super::{Format, TableArgs};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench run
  rpcbench run go-grpc 'java-*' --precision 2% --max-time 20m --cpus 1 --memory 512M
  rpcbench run go-grpc go-grpc                 The same server twice: how noisy is this machine?
  rpcbench run --suite one-core 'java-grpc@*'
  rpcbench run --language go                   All servers in Go, under all protocols
  rpcbench run --suite latency go-grpc         Response times at 10 to 90 % of its capacity
  rpcbench run --suite slo go-grpc             The highest rate that keeps p99 below 10 ms
  rpcbench run --suite short-connections go-grpc go-thrift
  rpcbench run --clients 'go-*'                Client libraries in place of servers
  rpcbench run --clients 'go-*' --servers      The same, each calling a server in its language
  rpcbench run --clients go-grpc node-grpc-js --servers go-grpc rust-tonic
  rpcbench run --tls go-grpc java-grpc         Over TLS
  rpcbench run --rate 5k --duration 10s        Response times at 5,000 calls a second
  rpcbench run --sweep 10%..90% --duration 3s  Response times over load
  rpcbench run --suite mine.toml               Your own suite
  rpcbench run --warmup 30s --shape record -c 10 -m 10
  rpcbench run --resume results/2026-03-01T12-00-00")]
pub struct RunArgs {
    #[command(flatten)]
    pub selection: Selection,
    #[command(flatten)]
    pub plan: PlanArgs,
    /// How the results are printed
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
    #[command(flatten)]
    pub table: TableArgs,
    /// Resume an interrupted run, as planned
    #[arg(long, value_name = "DIR", conflicts_with_all = PLANNED)]
    pub resume: Option<PathBuf>,
    /// Slices of the rounds in turn, for experiments with their length: 50+70,1000+1000 (docs/evidence.md)
    #[arg(long, value_name = "MS+MS", value_delimiter = ',', hide = true)]
    pub slices: Vec<SliceLength>,
    #[command(flatten)]
    pub labels: LabelArgs,
    /// Run servers as last built
    #[arg(long)]
    pub no_build: bool,
    #[command(flatten)]
    pub spec: RunSpec,
}

/// The groups of options that make a plan, which a resumed run has already. clap names each after its struct.
const PLANNED: [&str; 8] = [
    "Selection",
    "PlanArgs",
    "LabelArgs",
    "SuiteSpec",
    "LimitsSpec",
    "WorkloadSpec",
    "WarmUpOptions",
    "TlsOption",
];

/// The suite, and how it becomes a plan.
#[derive(Args, Debug)]
pub struct PlanArgs {
    /// Suite of workloads and limits: one of `rpcbench list suites`, or a file such as mine.toml. Options below replace
    /// its values
    #[arg(long, value_name = "NAME", default_value = "quick")]
    pub suite: String,
    /// Servers that the clients call, by name or glob, in place of the reference server: each client with each server of its
    /// protocol [default without names: the one of the client's name, or one in its language]
    #[arg(long, value_name = "SERVER", num_args = 0.., requires = "clients")]
    pub servers: Option<Vec<String>>,
    /// Seed of payloads and of the order of windows [default: random, and recorded]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = seed)]
    pub seed: Option<u64>,
    /// Folder in which runs are created
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results: PathBuf,
    /// If the suite gives servers more CPUs than this machine has, give them fewer; the record says so
    #[arg(long, conflicts_with = "cpus")]
    pub scale_to_machine: bool,
}
