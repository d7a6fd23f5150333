//! Measures which differences runs detect on this machine, by runs of real servers and of the testkit's, whose differences are
//! known.
//!
//! `design` says what is run and what must be found, `trees` makes costlier builds, `judge` judges a run, `change` a comparison
//! of two, `alone` servers in a table and alone, `halves` those of windows, `noise` says what each part of the
//! model removes, and `render` prints tables.

mod alone;
mod change;
mod design;
mod halves;
mod judge;
mod noise;
mod render;
mod results;
#[cfg(test)]
mod tests;
mod trees;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::table::Style;
use design::{DESIGNS, Experiment, REAL};
use render::render;
use results::{Results, alone_in, folder_of, folders};
use trees::BuildPair;

/// Measures which differences runs detect on this machine, with servers whose differences are known
///
/// Results accumulate: each call adds runs to the folder and judges all of them. A run takes two to six minutes.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only this kind of run; may be repeated [default: those of real servers]
    #[arg(long = "design", value_name = "DESIGN", value_delimiter = ',', value_parser = design())]
    designs: Vec<Experiment>,
    /// Runs of each kind to add; 0 judges existing ones
    #[arg(long, value_name = "N", default_value_t = 1)]
    runs: u32,
    /// After a run of `bench`, also load each of its servers alone, without a break
    #[arg(long)]
    alone: bool,
    /// How the tables are printed
    #[arg(long, default_value = "text")]
    format: Style,
    /// Folder of the runs
    #[arg(long, value_name = "DIR", default_value = "results/resolution")]
    results: PathBuf,
    /// Folder with rpcbench and rpcbench-testkit
    #[arg(long, value_name = "DIR", default_value = "target/release")]
    programs: PathBuf,
    /// Folder with the real servers
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,
    /// Folder with the testkit's servers
    #[arg(long, value_name = "DIR", default_value = "crates/testkit/root")]
    testkit: PathBuf,
    /// Folder with a build of them whose calls cost 5 % more
    #[arg(long, value_name = "DIR", default_value = "crates/testkit/costlier-5")]
    costlier_5: PathBuf,
    /// The suite; each kind of run sets its own time
    #[arg(long, value_name = "FILE", default_value = "suites/quick.toml")]
    suite: PathBuf,
}

fn design() -> impl TypedValueParser<Value = Experiment> {
    PossibleValuesParser::new(DESIGNS.map(|design| design.spec().name)).try_map(|name| {
        let named = DESIGNS.into_iter().find(|design| design.spec().name == name);
        named.ok_or("unknown design")
    })
}

/// The tables, and whether every bar is met.
pub fn run(arguments: &Arguments) -> anyhow::Result<(String, bool)> {
    let designs = if arguments.designs.is_empty() { REAL } else { &arguments.designs };
    for _ in 0..arguments.runs {
        for design in designs {
            measure(arguments, *design)?;
        }
    }
    let results = Results::read(&arguments.results)?;
    Ok((render(&results, arguments.format), results.is_met()))
}

/// Makes one run. Its progress goes to stderr.
fn measure(arguments: &Arguments, design: Experiment) -> anyhow::Result<()> {
    let trees = BuildPair {
        real: arguments.root.clone(),
        testkit: arguments.testkit.clone(),
        costlier_testkit: arguments.costlier_5.clone(),
        made: arguments.results.clone(),
    };
    trees.make(design)?;
    let folder = folder_of(&arguments.results, design);
    rpcbench(arguments, &design.arguments(&trees), &folder)?;
    if arguments.alone && design == Experiment::Bench {
        let bench = folders(&folder)?.pop().context("no run was recorded")?;
        let name = bench.file_name().context("a run without a name")?;
        for entry in alone::levels(&rpcbench_record::read(&bench)?).keys() {
            let mut words = vec!["--root".into(), trees.real.clone(), "run".into(), entry.into()];
            words.extend(alone::WINDOW.map(PathBuf::from));
            rpcbench(arguments, &words, &alone_in(&arguments.results).join(name))?;
        }
    }
    Ok(())
}

fn rpcbench(arguments: &Arguments, words: &[PathBuf], results: &Path) -> anyhow::Result<()> {
    let program = arguments.programs.join("rpcbench");
    let mut command = Command::new(&program);
    command
        .args(words)
        .arg("--suite")
        .arg(&arguments.suite)
        .arg("--results")
        .arg(results)
        .env("RPCBENCH_TESTKIT", fs::canonicalize(arguments.programs.join("rpcbench-testkit"))?)
        .stdout(io::stderr());
    let status = command.status().with_context(|| program.display().to_string())?;
    anyhow::ensure!(status.success(), "{} ended with {status}", program.display());
    Ok(())
}
