//! Commands of a few options.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::Shell;

use super::{Format, SelectionArgs, TableArgs};

/// `rpcbench check`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench check
  rpcbench check go-grpc 'java-*'
  rpcbench check --all

Exits with 1 if a server breaks the contract.")]
pub struct CheckArgs {
    /// Which servers.
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Check servers as they were built before
    #[arg(long)]
    pub no_build: bool,
}

/// `rpcbench build`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench build
  rpcbench build rust-tonic

What did not change since it was built is not built again.")]
pub struct BuildArgs {
    /// Which servers.
    #[command(flatten)]
    pub selection: SelectionArgs,
}

/// `rpcbench list`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench list
  rpcbench list suites
  rpcbench list --matrix                       Which language speaks which protocol")]
pub struct ListArgs {
    /// What to list [default: both]
    #[arg(value_enum, value_name = "WHAT")]
    pub what: Option<ListWhat>,
    /// Print languages against protocols: the servers there are, and what is in the way of those that are missing
    #[arg(long, conflicts_with = "what")]
    pub matrix: bool,
}

/// What `rpcbench list` lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListWhat {
    /// Servers, their variants and versions, and whether they can run here
    Servers,
    /// Suites and their workloads
    Suites,
}

/// `rpcbench doctor`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench doctor
  rpcbench doctor --noise
  rpcbench doctor --missing")]
pub struct DoctorArgs {
    /// Measure too how far this machine lets equal things differ; takes about a minute
    #[arg(long)]
    pub noise: bool,
    /// Print only the toolchains that are missing, for scripts: one a line, fields divided by tabs and '-' where
    /// there is nothing. Language, toolchain, version found, version needed, Debian packages, what to install
    #[arg(long, conflicts_with = "noise")]
    pub missing: bool,
}

/// `rpcbench report`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench report results/2026-03-01T12-00-00
  rpcbench report results/2026-03-01T12-00-00 --wide
  rpcbench report results/2026-03-01T12-00-00 --columns place,server,calls/cpu-s,p99.9
  rpcbench report results/2026-03-01T12-00-00 --format markdown
  rpcbench report results/2026-03-01T12-00-00 --html report.html
  rpcbench report results/monday                 A load that --out wrote")]
pub struct ReportArgs {
    /// Folder of the run, or of the load that `rpcbench load --out` wrote; several with --html
    #[arg(value_name = "RECORD", required = true)]
    pub runs: Vec<PathBuf>,
    /// How the results are printed
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
    /// Write one HTML page, which needs no network, instead of printing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "wide", "columns", "sort", "group_by"])]
    pub html: Option<PathBuf>,
    /// Columns of the table.
    #[command(flatten)]
    pub table: TableArgs,
}

/// `rpcbench completions`.
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
