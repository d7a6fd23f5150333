//! Judges all runs in a folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rpcbench_record::Run;

use super::alone::{self, SoloRun};
use super::change::Compared;
use super::design::{DESIGNS, Experiment};
use super::halves::{HalfWindows, halves};
use super::judge::{Judged, Score};

/// The runs in a folder, judged separately and as `rpcbench compare` compares them: with the last `equal` run before, or the
/// new build with the old one.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// By design, oldest first.
    pub runs: Vec<Judged>,
    /// Of the testkit's servers and of builds, in the same order.
    pub compared: Vec<Compared>,
    /// Servers in tables and alone.
    pub alone: Vec<SoloRun>,
    /// Of the windows in tables, by entry.
    pub halves: BTreeMap<String, HalfWindows>,
}

/// Where a design's runs are.
pub fn folder_of(results: &Path, design: Experiment) -> PathBuf {
    results.join(design.spec().name)
}

/// Where runs of single servers are, in a folder for each run of [`Experiment::Bench`].
pub fn alone_in(results: &Path) -> PathBuf {
    results.join("alone")
}

/// The folders of runs in a folder, oldest first. None if there is no such folder.
pub fn folders(of: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(of) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(|| of.display().to_string())?,
    };
    let entries = entries.map(|it| Ok(it?.path())).collect::<std::io::Result<Vec<_>>>()?;
    let mut runs: Vec<PathBuf> =
        entries.into_iter().filter(|it| it.join("run.json").is_file()).collect();
    runs.sort();
    Ok(runs)
}

fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The runs in a folder with their names, oldest first.
fn read(folder: &Path) -> anyhow::Result<Vec<(String, Run)>> {
    let runs = folders(folder)?.into_iter();
    runs.map(|run| Ok((name(&run), rpcbench_record::read(&run)?))).collect()
}

impl Results {
    pub fn read(from: &Path) -> anyhow::Result<Self> {
        let mut results = Self::default();
        let equal = read(&folder_of(from, Experiment::Equal))?;
        for design in DESIGNS {
            let runs = read(&folder_of(from, design))?;
            for (name, run) in &runs {
                results.add(name, design, run, &equal);
            }
            if design == Experiment::Bench {
                results.alone = alone::compare(&runs, &alone_in(from))?;
                results.halves = halves(runs.iter().map(|(_, run)| run));
            }
        }
        Ok(results)
    }

    /// `equal` are the runs of equal entries of the testkit, oldest first.
    fn add(&mut self, name: &str, design: Experiment, run: &Run, equal: &[(String, Run)]) {
        let Some(judged) = Judged::of(name, design, run) else { return };
        self.runs.push(judged);
        let base = equal.iter().rfind(|(earlier, _)| &**earlier < name);
        self.compared.extend(match (design.spec().build, base) {
            (Some(_), _) => Compared::builds(name, design, run),
            (None, Some((base, earlier))) if !design.is_real() => {
                Compared::of((base, earlier), (name, run), design)
            }
            (None, _) => None,
        });
    }

    /// How many runs or pairs of a design are right. `None` without any.
    pub fn score(&self, design: Experiment) -> Option<Score> {
        let own = self.runs.iter().filter(|run| run.design == design);
        Score::of(own.map(Judged::score), design.spec().bar)
    }

    /// How many comparisons of runs of a design are right. `None` without any, and for a design without a bar.
    pub fn score_compared(&self, design: Experiment) -> Option<Score> {
        let own = self.compared.iter().filter(|compared| compared.design == design);
        Score::of(own.map(|it| (usize::from(it.is_right()), 1)), design.bar_compared()?)
    }

    pub fn is_met(&self) -> bool {
        let scores = |design| [self.score(design), self.score_compared(design)];
        DESIGNS.into_iter().flat_map(scores).flatten().all(Score::is_met)
            && self.alone.iter().all(SoloRun::is_met)
            && self.halves.values().all(HalfWindows::is_met)
    }
}
