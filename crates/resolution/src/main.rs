//! `rpcbench-resolution`: makes runs of servers whose differences are known, and says how often the runs were right.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::Context as _;
use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rpcbench_resolution::design::{DESIGNS, Design, Trees};
use rpcbench_resolution::render::{Style, render};
use rpcbench_resolution::results::Results;

/// Shows which differences runs tell on this machine: real runs of six servers that are equal, or of which one is costlier
///
/// Runs add up: each call makes some more, and tells what all in the folder come to.
///
/// Exit code: 0 when every bar is met, 1 when one is not, 2 when it could not run.
#[derive(Parser)]
#[command(name = "rpcbench-resolution", version, max_term_width = 100)]
struct Arguments {
    /// Only this kind of run; may be given several times [default: all]
    #[arg(long = "design", value_name = "DESIGN", value_delimiter = ',', value_parser = design())]
    designs: Vec<Design>,
    /// More runs of each kind; 0 only tells what there is
    #[arg(long, value_name = "N", default_value_t = 1)]
    runs: u32,
    /// How the tables are printed
    #[arg(long, default_value = "text")]
    format: Style,
    /// Folder of the runs
    #[arg(long, value_name = "DIR", default_value = "results/resolution")]
    results: PathBuf,
    /// Folder with rpcbench and rpcbench-testkit
    #[arg(long, value_name = "DIR", default_value = "target/release")]
    programs: PathBuf,
    /// Folder with the testkit's servers
    #[arg(long, value_name = "DIR", default_value = "crates/testkit/root")]
    root: PathBuf,
    /// Folder with a build of them whose calls cost 5 % more
    #[arg(long, value_name = "DIR", default_value = "crates/testkit/costlier-5")]
    costlier_5: PathBuf,
    /// The suite, but for its time
    #[arg(long, value_name = "FILE", default_value = "suites/quick.toml")]
    suite: PathBuf,
}

fn design() -> impl TypedValueParser<Value = Design> {
    PossibleValuesParser::new(DESIGNS.map(Design::name)).try_map(|name| {
        let named = DESIGNS.into_iter().find(|design| design.name() == name);
        named.ok_or("there is no such design")
    })
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            let _ = writeln!(io::stderr(), "rpcbench-resolution: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let designs = if arguments.designs.is_empty() { &DESIGNS[..] } else { &arguments.designs };
    for _ in 0..arguments.runs {
        for design in designs {
            measure(arguments, *design)?;
        }
    }
    let results = Results::read(&arguments.results)?;
    write!(io::stdout(), "{}", render(&results, arguments.format))?;
    Ok(results.is_met())
}

/// Makes one run, whose progress goes to stderr.
fn measure(arguments: &Arguments, design: Design) -> anyhow::Result<()> {
    let program = arguments.programs.join("rpcbench");
    let mut command = Command::new(&program);
    let trees = Trees { testkit: &arguments.root, costlier_5: &arguments.costlier_5 };
    command
        .args(design.arguments(trees))
        .arg("--suite")
        .arg(&arguments.suite)
        .arg("--results")
        .arg(&arguments.results)
        .env("RPCBENCH_TESTKIT", fs::canonicalize(arguments.programs.join("rpcbench-testkit"))?)
        .stdout(io::stderr());
    let status = command.status().with_context(|| program.display().to_string())?;
    anyhow::ensure!(status.success(), "{} ended with {status}", program.display());
    Ok(())
}
