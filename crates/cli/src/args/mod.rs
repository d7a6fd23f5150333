//! The command line, as typed. Nothing here touches a file, the terminal or the environment.

mod compare;
pub mod foreign;
mod labels;
mod load;
mod run;
mod simple;
mod table;
#[cfg(test)]
mod tests;
mod values;

use std::path::PathBuf;

use clap::{Args, ColorChoice, Parser, Subcommand, ValueEnum};

pub use compare::{CompareArgs, Compared};
pub use load::LoadArgs;
pub use run::RunArgs;
pub use simple::{
    BuildArgs, CheckArgs, CompletionsArgs, DoctorArgs, HistoryArgs, ListArgs, ListWhat, NewArgs,
    NewWhat, ReportArgs, ServeArgs, Whose,
};
pub use table::TableArgs;
pub use values::{CallsFile, CallsFormat};

/// Benchmarks RPC stacks: which serves your calls fastest, cheapest and most steadily, on this machine.
#[derive(Debug, Parser)]
#[command(name = "rpcbench", version, max_term_width = 100)]
#[command(after_help = "\
Examples:
  rpcbench run                                    Compare up to twelve representative servers
  rpcbench run go-grpc 'java-*' --precision 2%    Compare some of them, more closely
  rpcbench load 127.0.0.1:50051                   Load a running server
  rpcbench compare results/monday results/tuesday
  rpcbench compare --build HEAD --build . go-grpc
  rpcbench doctor                                 Check this machine

Exit codes: 0 done, 1 a check or a limit failed, 2 could not run, 3 can't tell, 4 load gave up.")]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: Command,
}

/// Options that every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// Print more; -vv prints every step
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Colour the output; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// Folder with servers/ and suites/ [default: the nearest above the current folder or the program]
    #[arg(long, global = true, value_name = "DIR")]
    pub root: Option<PathBuf>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Build, check, warm and measure servers, and compare them
    Run(Box<RunArgs>),
    /// Check that servers implement the contract, without measuring them
    Check(CheckArgs),
    /// Build the servers whose toolchains are installed
    Build(BuildArgs),
    /// Create a server from a template
    New(NewArgs),
    /// List servers and suites, and what can't run here and why
    List(ListArgs),
    /// Check this machine and say how to fix what is wrong
    Doctor(DoctorArgs),
    /// Show an earlier run
    Report(ReportArgs),
    /// Compare two runs or builds: faster, slower, the same, or can't tell
    Compare(Box<CompareArgs>),
    /// Show how figures changed from run to run
    History(HistoryArgs),
    /// Start one server under limits, and print how to load it
    Serve(ServeArgs),
    /// Load one running server, at an address
    Load(Box<LoadArgs>),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for the terminal
    #[default]
    Table,
    /// Markdown, all columns
    Markdown,
    /// JSON, every figure, units in the names
    Json,
    /// CSV, a row for each server and workload
    Csv,
}
