//! Commands of a few options.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::Shell;
use rpcbench_harness::load::CallOptions;
use rpcbench_harness::manifest::Selection;
use rpcbench_harness::spec::{Count, Memory};
use rpcbench_record::{
    Authority, CallHeader, ContractProtocol, PlacementKind, Price, Protocol, TlsMode, units,
};

use super::values::port;
use super::{Format, TableArgs};

fn placements(what_runs: &str) -> String {
    format!("Where {what_runs}: {}", PlacementKind::HELP)
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench check
  rpcbench check go-grpc 'java-*'
  rpcbench check --all
  rpcbench check --tls go-grpc                 The same over TLS

Exits with 1 if a server breaks the contract.")]
pub struct CheckArgs {
    #[command(flatten)]
    pub selection: Selection,
    #[arg(long = "in", value_name = "PLACEMENT", default_value_t, help = placements("servers and clients run"))]
    pub placement: PlacementKind,
    /// Check servers as last built
    #[arg(long)]
    pub no_build: bool,
    #[command(flatten)]
    pub calls: CallArgs,
}

/// What calls carry.
#[derive(Args, Debug)]
pub struct CallArgs {
    /// Header field of every call, gRPC metadata included, such as 'x-trace: 7'; repeatable
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    headers: Vec<CallHeader>,
    /// Host that calls name instead of the server's address
    #[arg(long, value_name = "HOST")]
    authority: Option<Authority>,
    /// Reach servers over TLS; they get a certificate that is made for this
    #[arg(long)]
    tls: bool,
}

impl CallArgs {
    pub fn options(&self) -> CallOptions {
        let Self { headers, authority, .. } = self;
        CallOptions { headers: headers.clone(), authority: authority.clone(), tls: self.tls() }
    }

    /// Whether connections have TLS.
    pub fn tls(&self) -> TlsMode {
        if self.tls { TlsMode::On } else { TlsMode::Off }
    }
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench build
  rpcbench build rust-tonic
  rpcbench build --in docker go-grpc           Build its image
  rpcbench build --lock go-gin                 Update its lock file
  rpcbench build --clients                     Build client libraries

Builds only what has changed.")]
pub struct BuildArgs {
    #[command(flatten)]
    pub selection: Selection,
    #[arg(long = "in", value_name = "PLACEMENT", default_value_t, help = placements("servers and clients run"))]
    pub placement: PlacementKind,
    /// Update lock files, and build nothing
    #[arg(long, conflicts_with = "placement")]
    pub lock: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench new server go echo
  rpcbench new server python grpclib --protocol grpc
  rpcbench new client go fasthttp

CONTRIBUTING.md and clients/README.md have the next steps.")]
pub struct NewArgs {
    /// What to create
    #[command(subcommand)]
    pub what: NewWhat,
}

/// What `rpcbench new` creates.
#[derive(Debug, Subcommand)]
pub enum NewWhat {
    /// Create the folder of a server that builds and says what is missing
    Server(NewFolder),
    /// The same for a client program
    Client(NewFolder),
}

#[derive(Args, Debug)]
pub struct NewFolder {
    /// Language: a folder in servers/ or clients/
    #[arg(value_name = "LANGUAGE")]
    pub language: String,
    /// Library, which names the new folder
    #[arg(value_name = "LIBRARY")]
    pub library: String,
    /// Protocol of its calls
    #[arg(long, value_name = "PROTOCOL", default_value_t = ContractProtocol(Protocol::Json))]
    pub protocol: ContractProtocol,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench serve go-grpc
  rpcbench serve java-grpc@zgc --port 7000 --cpus 2 --memory 1G
  rpcbench serve go-connect:json

Prints the server's address when it is ready, and on standard error the command that loads it. Ctrl-C ends it.")]
pub struct ServeArgs {
    /// The server; NAME@VARIANT is a variant, NAME:PROTOCOL one protocol of several
    #[arg(value_name = "SERVER")]
    pub server: String,
    /// Port to listen on, on the loopback interface
    #[arg(long, value_name = "PORT", default_value_t = 50051, allow_hyphen_values = true, value_parser = port)]
    pub port: u16,
    /// CPUs for the server
    #[arg(long, value_name = "N", default_value = "1", allow_hyphen_values = true)]
    pub cpus: Count,
    /// Memory limit of the server, such as 512M or 2G (M means MiB)
    #[arg(long, value_name = "SIZE", default_value = "512M", allow_hyphen_values = true)]
    pub memory: Memory,
    #[arg(long = "in", value_name = "PLACEMENT", default_value_t, help = placements("the server runs"))]
    pub placement: PlacementKind,
    /// Run the server as last built
    #[arg(long)]
    pub no_build: bool,
    #[command(flatten)]
    pub calls: CallArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench list
  rpcbench list suites
  rpcbench list clients                        Client libraries that can be measured
  rpcbench list --matrix                       Which language speaks which protocol")]
pub struct ListArgs {
    /// What to list [default: all]
    #[arg(value_enum, value_name = "WHAT")]
    what: Option<ListWhat>,
    /// The same as `clients`, in the words of other commands
    #[arg(long, hide = true, conflicts_with_all = ["what", "matrix"])]
    clients: bool,
    /// Print languages against protocols: existing servers, and why others are missing
    #[arg(long, conflicts_with = "what")]
    pub matrix: bool,
}

impl ListArgs {
    /// What to list. `None`: all.
    pub fn what(&self) -> Option<ListWhat> {
        self.what.or(self.clients.then_some(ListWhat::Clients))
    }
}

/// What `rpcbench list` lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListWhat {
    /// Servers, their variants and versions, and whether they can run here
    Servers,
    /// Client libraries, as servers are listed
    Clients,
    /// Suites and their workloads
    Suites,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench doctor
  rpcbench doctor --noise
  rpcbench doctor --missing")]
pub struct DoctorArgs {
    /// Also measure how far two entries of the same server differ on this machine; takes up to six minutes
    #[arg(long)]
    pub noise: bool,
    /// Print only missing toolchains, for scripts: one per line, tab-separated, '-' if empty: language, toolchain, version
    /// found, version needed, Debian packages, what to install
    #[arg(
        long,
        value_name = "WHOSE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all",
        conflicts_with = "noise"
    )]
    pub missing: Option<Whose>,
}

/// Whose toolchains `rpcbench doctor --missing` looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Whose {
    /// Every server's
    All,
    /// Those of the servers that `rpcbench run` compares without arguments
    Default,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench report                                The newest run
  rpcbench report results/2026-03-01T12-00-00
  rpcbench report results/2026-03-01T12-00-00 --wide
  rpcbench report results/2026-03-01T12-00-00 --columns place,server,calls/cpu-s,p99.9
  rpcbench report results/2026-03-01T12-00-00 --format markdown
  rpcbench report results/2026-03-01T12-00-00 --html report.html
  rpcbench report results/2026-03-01T12-00-00 --price 0.04/cpu-hour,0.005/GiB-hour
  rpcbench report results/monday                 A load that --out wrote")]
pub struct ReportArgs {
    /// Folder of the run, or of the load that `rpcbench load --out` wrote; several with --html [default: the newest run]
    #[arg(value_name = "RECORD")]
    pub runs: Vec<PathBuf>,
    /// Folder with the newest run, if none is named
    #[arg(long, value_name = "DIR", default_value = "results", conflicts_with = "runs")]
    pub results: PathBuf,
    /// How the results are printed
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
    /// Write a self-contained HTML page instead of printing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "wide", "columns", "sort", "group_by"])]
    pub html: Option<PathBuf>,
    /// Show what a million calls cost at these prices: 0.04/cpu-hour, 0.005/GiB-hour or both, separated by a comma; a
    /// currency may precede each, as in '$0.04/cpu-hour' [default: the run's own prices]
    #[arg(long, value_name = "PRICES", allow_hyphen_values = true)]
    pub price: Option<Price>,
    #[command(flatten)]
    pub table: TableArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench history                               All runs in results/, cell by cell
  rpcbench history results go-grpc               One server in all its variants
  rpcbench history nightly go-grpc --format csv > go-grpc.csv")]
pub struct HistoryArgs {
    /// Folder with runs
    #[arg(value_name = "DIR", default_value = "results")]
    pub results: PathBuf,
    /// Only these servers or entries, by name [default: all]
    #[arg(value_name = "SERVER")]
    pub servers: Vec<String>,
    /// Ignore changes up to this [default: 5%]
    #[arg(long, value_name = "PERCENT", value_parser = units::share)]
    pub precision: Option<f64>,
    /// How the history is printed
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench completions bash > ~/.local/share/bash-completion/completions/rpcbench
  rpcbench completions fish > ~/.config/fish/completions/rpcbench.fish")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}
