//! Whether a server's figure depends on the others in its table.

use std::collections::BTreeMap;
use std::path::Path;

use rpcbench_record::Run;
use rpcbench_report::summary;
use rpcbench_stats::median;

use super::results::folders;

/// Largest difference from 1 of the median ratio.
pub const BAR: f64 = 0.03;
/// Windows of a server that is alone: one that is as long as a dozen in the table.
pub const WINDOW: [&str; 8] =
    ["--processes", "1", "--rounds", "1", "--duration", "12s", "--max-time", "3m"];

/// What a server did in the table, relative to what it did alone right after.
#[derive(Clone, Debug, PartialEq)]
pub struct SoloRun {
    pub entry: String,
    /// Of each run: its figure in the table divided by that alone.
    pub ratios: Vec<f64>,
}

impl SoloRun {
    pub fn median(&self) -> Option<f64> {
        median(self.ratios.clone())
    }

    pub fn is_met(&self) -> bool {
        self.median().is_some_and(|ratio| (ratio - 1.0).abs() <= BAR)
    }
}

/// The ranking figures of a run, by entry.
pub fn levels(run: &Run) -> BTreeMap<String, f64> {
    let rows = summary(run).tables.into_iter().flat_map(|table| table.rows);
    rows.filter_map(|row| Some((row.server.entry.clone(), row.ranked()?.value))).collect()
}

/// Compares runs with those of single servers, whose folders are in the folder `alone` under the name of the run.
pub fn compare(runs: &[(String, Run)], alone: &Path) -> anyhow::Result<Vec<SoloRun>> {
    let mut ratios: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (name, run) in runs {
        let together = levels(run);
        for folder in folders(&alone.join(name))? {
            for (entry, level) in levels(&rpcbench_record::read(&folder)?) {
                let ratio = together.get(&entry).map(|it| it / level);
                ratios.entry(entry).or_default().extend(ratio);
            }
        }
    }
    Ok(ratios.into_iter().map(|(entry, ratios)| SoloRun { entry, ratios }).collect())
}
