//! Judges all runs in a folder.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use rpcbench_record::Run;

use super::change::Compared;
use super::design::{DESIGNS, Design};
use super::judge::{Judged, Score};

/// The runs in a folder, judged separately and as `rpcbench compare` compares them: with the last `equal` run before, or the
/// new build with the old one.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Oldest first.
    pub runs: Vec<Judged>,
    /// In the same order, from the first `equal` run on.
    pub compared: Vec<Compared>,
}

impl Results {
    /// Reads a folder. Runs without a known design are left out.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
        let mut folders = entries.collect::<Result<Vec<_>, _>>()?;
        folders.retain(|folder| folder.path().join("run.json").is_file());
        folders.sort_by_key(fs::DirEntry::file_name);
        let (mut results, mut base) = (Self::default(), None);
        for folder in folders {
            let name = folder.file_name().to_string_lossy().into_owned();
            results.add(name, rpcbench_record::read(&folder.path())?, &mut base);
        }
        Ok(results)
    }

    /// `base` is the last run of equal entries so far.
    fn add(&mut self, name: String, run: Run, base: &mut Option<(String, Run)>) {
        let Some(judged) = Judged::of(&name, &run) else { return };
        self.compared.extend(match (judged.design, &*base) {
            (Design::Builds5, _) => Compared::builds(&name, &run),
            (_, Some((base, earlier))) => Compared::of((base, earlier), (&name, &run)),
            (_, None) => None,
        });
        if judged.design == Design::Equal {
            *base = Some((name, run));
        }
        self.runs.push(judged);
    }

    /// How many runs of a design are right. `None` without any.
    pub fn score(&self, design: Design) -> Option<Score> {
        let own = self.runs.iter().filter(|run| run.design == design);
        Score::of(own.map(Judged::is_right), design.spec().bar)
    }

    /// How many comparisons of runs of a design are right. `None` without any, and for a design without a bar.
    pub fn score_compared(&self, design: Design) -> Option<Score> {
        let own = self.compared.iter().filter(|compared| compared.design == design);
        Score::of(own.map(Compared::is_right), design.bar_compared()?)
    }

    pub fn is_met(&self) -> bool {
        let scores = |design| [self.score(design), self.score_compared(design)];
        DESIGNS.into_iter().flat_map(scores).flatten().all(Score::is_met)
    }
}
