//! The folders of runs.

use std::io;
use std::path::{Path, PathBuf};

use rpcbench_clock as clock;

use super::SetupError;
use crate::error::probe_folder;

/// Refuses a folder in which runs can't be created.
pub(super) fn check_results(folder: &Path) -> Result<(), SetupError> {
    let refused =
        |why: String| SetupError::Refused(format!("--results {}: {why}", folder.display()));
    let above = folder.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    if !above.is_dir() {
        let what = if above == folder { "it".to_owned() } else { above.display().to_string() };
        return Err(refused(format!("{what} is a file; name a folder")));
    }
    probe_folder(above).map_err(|error| {
        // Without the name of the probe.
        refused(format!("can't be written: {}", io::Error::from(error.kind())))
    })
}

/// A folder named after the time, with `-2` and so on if it exists.
pub(super) fn new_run(results: &Path) -> Result<PathBuf, SetupError> {
    let name = clock::wall().to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%dT%H-%M-%S");
    let name = name.to_string();
    let mut names = std::iter::once(name.clone()).chain((2..).map(|n| format!("{name}-{n}")));
    let folder = names.find_map(|name| {
        let folder = results.join(name);
        (!folder.exists()).then_some(folder)
    });
    folder.ok_or_else(|| SetupError::Refused("no free name for the run's folder".to_owned()))
}
