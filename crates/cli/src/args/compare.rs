//! `rpcbench compare`.

use std::path::PathBuf;

use clap::Args;
use rpcbench_record::units;
use rpcbench_report::{Asked, ChangeLimit, ComparedFigure};

use super::Format;

/// `rpcbench compare`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rpcbench compare results/2026-03-01T12-00-00 results/2026-03-02T12-00-00
  rpcbench compare results/monday results/tuesday --figure p99 --figure memory_peak_bytes
  rpcbench compare results/main results/branch --format markdown --fail-if 'calls_per_server_cpu_s<-5%'

Two runs share no rounds, so what the machine did between them counts as error: to tell small changes, measure old and
new in one run. Exits with 1 if a limit is broken, with 2 if the runs can't be compared.")]
pub struct CompareArgs {
    /// Folder of the earlier run
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// Folder of the later run
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// Compare this figure too, by title or export field, such as p99 or memory_peak_bytes
    #[arg(long = "figure", value_name = "NAME")]
    pub figures: Vec<ComparedFigure>,
    /// Changes up to this count as none
    #[arg(long, value_name = "PERCENT", value_parser = units::share, default_value = "5%")]
    pub precision: f64,
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
}

impl CompareArgs {
    /// What is asked of the runs: the figures of limits as well.
    #[must_use]
    pub fn asked(&self) -> Asked {
        let mut figures: Vec<ComparedFigure> = Vec::new();
        for figure in self.figures.iter().copied().chain(self.fail_if.iter().map(|it| it.figure)) {
            if !figures.contains(&figure) {
                figures.push(figure);
            }
        }
        Asked { figures, precision: self.precision }
    }
}
