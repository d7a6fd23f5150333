//! All runs in a folder, judged.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use rpcbench_record::Run;

use crate::change::Compared;
use crate::design::{DESIGNS, Design};
use crate::judge::{Judged, Score};

/// What the runs in a folder said, each by itself and as `rpcbench compare` tells it: beside the last
/// `equal` one before it, or its new build beside the old one.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Oldest first.
    pub runs: Vec<Judged>,
    /// In the same order. What came before the first `equal` run is left out.
    pub compared: Vec<Compared>,
}

impl Results {
    /// Reads a folder; runs of no design are left out.
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

    /// How many runs of a design were right. `None` without one.
    pub fn score(&self, design: Design) -> Option<Score> {
        let own = self.runs.iter().filter(|run| run.design == design);
        Score::of(own.map(Judged::is_right), design.bar())
    }

    /// How many comparisons of runs of a design were right. `None` without one, and for a design of which nothing is asked.
    pub fn score_compared(&self, design: Design) -> Option<Score> {
        let own = self.compared.iter().filter(|compared| compared.design == design);
        Score::of(own.map(Compared::is_right), design.bar_compared()?)
    }

    /// Whether enough of everything was right.
    pub fn is_met(&self) -> bool {
        let scores = |design| [self.score(design), self.score_compared(design)];
        DESIGNS.into_iter().flat_map(scores).flatten().all(Score::is_met)
    }
}
