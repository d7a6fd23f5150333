//! `rpcbench compare`.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use rpcbench_harness::manifest::Selection;
use rpcbench_harness::spec::RunSpec;
use rpcbench_report::{ChangeLimit, CompareOptions, ComparedFigure};

use super::Format;
use super::values::seed;

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
  rpcbench compare loads/monday loads/tuesday             Two loads of the same calls

Changes in machine speed between two runs widen the ranges; a change shared by four or more servers counts as the machine's. Two builds of a server alternate in one run, \
which shows much smaller changes.

A folder with one record in it stands for that record. Exits with 1 if a limit is exceeded or, with limits, if a server failed in the new run; with 2 if there is nothing to compare; \
with 3 if a limit can't be judged: a server was not measured or has no rank, or the runs can't see a change as small as the limit."
)]
pub struct CompareArgs {
    /// Folders of the earlier run and of the later one; with --build, servers by name or glob
    #[arg(value_name = "RUN or SERVER", required = true)]
    names: Vec<String>,
    /// Build to measure, twice, the old one first: a folder with servers/ in it, or a git revision
    #[arg(long = "build", value_name = "TREE")]
    builds: Vec<String>,
    /// Also compare this figure, by title or export field, such as p99 or memory_peak_bytes; repeatable
    #[arg(long = "figure", value_name = "NAME")]
    pub figures: Vec<ComparedFigure>,
    /// Exit with 1 if a figure clearly changed by more than this, such as 'calls_per_server_cpu_s<-5%' or 'p99_ns>+10%'
    #[arg(long, value_name = "LIMIT")]
    pub fail_if: Vec<ChangeLimit>,
    /// Compare runs even if machines, limits or workloads differ
    #[arg(long)]
    pub force: bool,
    /// How the changes are printed
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Format,
    /// Also write the changes and their records to this file, as an HTML page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Suite of workloads and limits for builds: one of `rpcbench list suites`, or a file such as mine.toml
    #[arg(long, value_name = "NAME", default_value = "quick", requires = "builds")]
    pub suite: String,
    /// Seed of payloads and of the order of windows [default: random, and recorded]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = seed, requires = "builds")]
    pub seed: Option<u64>,
    /// Folder in which runs are created
    #[arg(long, value_name = "DIR", default_value = "results", requires = "builds")]
    pub results: PathBuf,
    /// Run servers as last built
    #[arg(long, requires = "builds")]
    pub no_build: bool,
    /// Values in place of the suite's; for two runs, only the precision.
    #[command(flatten)]
    spec: RunSpec,
}

/// What is compared.
#[derive(Debug)]
pub enum Compared<'a> {
    /// An earlier run and a later one.
    Runs(&'a Path, &'a Path),
    /// The builds of one run.
    Run(&'a Path),
    /// Builds to measure.
    Builds {
        /// As typed, the old one first.
        builds: [&'a str; 2],
        selection: Selection,
        spec: Box<RunSpec>,
    },
}

impl CompareArgs {
    /// What to compare.
    pub fn compared(&self) -> anyhow::Result<Compared<'_>> {
        match self.builds.as_slice() {
            [] => self.finished(),
            [old, new] => Ok(Compared::Builds {
                builds: [old, new],
                selection: Selection::named(self.names.clone()),
                spec: Box::new(self.spec.clone()),
            }),
            builds => bail!(
                "{} --build; two are needed, the old one first, such as --build HEAD --build .",
                builds.len()
            ),
        }
    }

    /// The runs to compare, as typed; none if builds are compared.
    pub fn runs(&self) -> &[String] {
        if self.builds.is_empty() { &self.names } else { &[] }
    }

    fn finished(&self) -> anyhow::Result<Compared<'_>> {
        let mut rest = self.spec.clone();
        rest.suite.precision = None;
        if rest != RunSpec::default() {
            bail!(
                "of a suite's options, only --precision applies to finished runs; --duration, --rounds and the like need two --build"
            );
        }
        match self.names.as_slice() {
            [run] => Ok(Compared::Run(Path::new(run))),
            [old, new] => Ok(Compared::Runs(Path::new(old), Path::new(new))),
            names => bail!(
                "{} runs: name two, the earlier one first; to compare servers of one run, see its table",
                names.len()
            ),
        }
    }

    /// The figures to compare, those of limits included.
    pub fn options(&self) -> CompareOptions {
        let mut figures: Vec<ComparedFigure> = Vec::new();
        for figure in self.figures.iter().copied().chain(self.fail_if.iter().map(|it| it.figure)) {
            if !figures.contains(&figure) {
                figures.push(figure);
            }
        }
        let precision = self.spec.suite.precision.as_ref().map(|precision| precision.value.0);
        CompareOptions { figures, precision, limits: self.fail_if.clone() }
    }
}
