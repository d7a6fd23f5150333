//! Measures which differences runs detect on this machine, with real runs of servers whose differences are known.
//!
//! `design` says what is run and what must be found, `judge` judges a run, `change` a comparison of two, `noise` says what
//! each part of the model removes, and `render` prints tables.

mod change;
mod design;
mod judge;
mod noise;
mod render;
mod results;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::table::Style;
use design::{DESIGNS, Design, Trees};
use render::render;
use results::Results;

/// Measures which differences runs detect on this machine, with servers that are equal or of which one is costlier
///
/// Results accumulate: each call adds runs to the folder and judges all of them.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only this kind of run; may be repeated [default: all]
    #[arg(long = "design", value_name = "DESIGN", value_delimiter = ',', value_parser = design())]
    designs: Vec<Design>,
    /// Runs of each kind to add; 0 judges existing ones
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
    /// The suite; each kind of run sets its own time
    #[arg(long, value_name = "FILE", default_value = "suites/quick.toml")]
    suite: PathBuf,
}

fn design() -> impl TypedValueParser<Value = Design> {
    PossibleValuesParser::new(DESIGNS.map(|design| design.spec().name)).try_map(|name| {
        let named = DESIGNS.into_iter().find(|design| design.spec().name == name);
        named.ok_or("unknown design")
    })
}

/// The tables, and whether every bar is met.
pub fn run(arguments: &Arguments) -> anyhow::Result<(String, bool)> {
    let designs = if arguments.designs.is_empty() { &DESIGNS[..] } else { &arguments.designs };
    for _ in 0..arguments.runs {
        for design in designs {
            measure(arguments, *design)?;
        }
    }
    let results = Results::read(&arguments.results)?;
    Ok((render(&results, arguments.format), results.is_met()))
}

/// Makes one run. Its progress goes to stderr.
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
