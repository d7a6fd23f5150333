//! `rpcbench compare`.

use std::path::{Path, PathBuf};

use clap::Args;
use rpcbench_harness::manifest::Selection;
use rpcbench_harness::suite::Overrides;
use rpcbench_report::{ChangeLimit, CompareOptions, ComparedFigure};
use thiserror::Error;

use super::Format;
use super::load::LoadError;
use super::run::WorkloadArgs;
use super::values::seed;

/// `rpcbench compare`.
#[derive(Args, Debug)]
#[command(
    override_usage = "\
rpcbench compare [OPTIONS] OLD NEW
       rpcbench compare [OPTIONS] --build OLD --build NEW SERVER...",
    after_help = "\
Examples:
  rpcbench compare results/2026-03-01T12-00-00 results/2026-03-02T12-00-00
  rpcbench compare results/monday results/tuesday --figure p99 --figure memory_peak_bytes
  rpcbench compare results/main results/branch --fail-if 'calls_per_server_cpu_s<-5%'
  rpcbench compare results/main results/branch --html changes.html
  rpcbench compare --build HEAD --build . go-grpc         What did I just make faster?
  rpcbench compare --build v1.2 --build ../next go-grpc --precision 2% --max-time 20m
  rpcbench compare results/2026-03-03T12-00-00            A run of two builds, shown again

What the machine did between two runs counts as error, and what four servers or more did alike as the machine. Two builds of a server are measured in one run, \
in turn, which shows much smaller changes. Exits with 1 if a limit is broken, with 2 if there is nothing to compare."
)]
pub struct CompareArgs {
    /// Folders of the earlier run and of the later one; with --build, servers by name or glob
    #[arg(value_name = "RUN or SERVER", required = true)]
    names: Vec<String>,
    /// Measure this build beside another; the old one comes first. A folder with servers/ in it, or a git revision
    #[arg(long = "build", value_name = "TREE")]
    builds: Vec<String>,
    /// Compare this figure too, by title or export field, such as p99 or memory_peak_bytes
    #[arg(long = "figure", value_name = "NAME")]
    pub figures: Vec<ComparedFigure>,
    /// Exit with 1 if a figure surely changed, and by more than this, such as 'calls_per_server_cpu_s<-5%' or
    /// 'p99_ns>+10%'
    #[arg(long, value_name = "LIMIT")]
    pub fail_if: Vec<ChangeLimit>,
    /// Compare runs of different machines, limits or workloads too
    #[arg(long)]
    pub force: bool,
    /// How the changes are printed
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
    /// Write the changes and the records behind them as a page to this file too
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Suite that gives the workloads and limits of builds: one of `rpcbench list suites`, or a file such as mine.toml
    #[arg(long, value_name = "NAME", default_value = "quick", requires = "builds")]
    pub suite: String,
    /// Seed of payloads and of the order of trials [default: drawn anew, and recorded]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = seed, requires = "builds")]
    pub seed: Option<u64>,
    /// Folder in which the run of builds gets a folder of its own
    #[arg(long, value_name = "DIR", default_value = "results", requires = "builds")]
    pub results: PathBuf,
    /// Run servers as they were built before
    #[arg(long, requires = "builds")]
    pub no_build: bool,
    /// What to change in the suite; of two runs, only the precision.
    #[command(flatten)]
    workload: WorkloadArgs,
}

/// What is compared.
#[derive(Debug)]
pub enum Compared<'a> {
    /// An earlier run and a later one.
    Runs(&'a Path, &'a Path),
    /// The builds that a run has measured.
    Run(&'a Path),
    /// Builds that are to be measured.
    Builds {
        /// The old one and the new one, as typed.
        builds: [&'a str; 2],
        /// Which of their servers.
        selection: Selection,
        /// What to change in the suite.
        overrides: Box<Overrides>,
    },
}

/// Why the words make no comparison.
#[derive(Debug, Error)]
pub enum CompareError {
    /// Builds come in twos.
    #[error("{0} --build: give two, the old one first, such as --build HEAD --build .")]
    Builds(usize),
    /// So do runs.
    #[error(
        "{0} runs: name two, the earlier one first; to compare servers of one run, see its table"
    )]
    Runs(usize),
    /// Runs are as they were made.
    #[error(
        "only --precision says how runs are compared; --duration, --rounds and the like need two --build"
    )]
    Made,
    /// Options of a run that contradict each other.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl CompareArgs {
    /// What is to be compared.
    ///
    /// # Errors
    /// If the words make no comparison.
    pub fn compared(&self) -> Result<Compared<'_>, CompareError> {
        let overrides = Box::new(self.workload.overrides()?);
        match self.builds.as_slice() {
            [] => self.runs(&overrides),
            [old, new] => Ok(Compared::Builds {
                builds: [old, new],
                selection: Selection::named(self.names.clone()),
                overrides,
            }),
            builds => Err(CompareError::Builds(builds.len())),
        }
    }

    fn runs(&self, overrides: &Overrides) -> Result<Compared<'_>, CompareError> {
        if (Overrides { precision: None, ..overrides.clone() }) != Overrides::default() {
            return Err(CompareError::Made);
        }
        match self.names.as_slice() {
            [run] => Ok(Compared::Run(Path::new(run))),
            [old, new] => Ok(Compared::Runs(Path::new(old), Path::new(new))),
            names => Err(CompareError::Runs(names.len())),
        }
    }

    /// What is asked of the runs: the figures of limits as well.
    #[must_use]
    pub fn options(&self) -> CompareOptions {
        let mut figures: Vec<ComparedFigure> = Vec::new();
        for figure in self.figures.iter().copied().chain(self.fail_if.iter().map(|it| it.figure)) {
            if !figures.contains(&figure) {
                figures.push(figure);
            }
        }
        CompareOptions { figures, precision: self.workload.precision }
    }
}
