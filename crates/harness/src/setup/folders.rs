//! The folders of runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rpcbench_clock as clock;

use super::SetupError;
use crate::error::probe_folder;

/// Fails if runs can't be created in a folder.
pub(super) fn check_results(folder: &Path) -> Result<(), SetupError> {
    let above = folder.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    if !above.is_dir() {
        let what = if above == folder { "it".to_owned() } else { above.display().to_string() };
        return Err(refused(folder, &format!("{what} is a file; name a folder")));
    }
    // The error omits the name of the probe.
    probe_folder(above).map_err(|error| unwritable(folder, &error.kind().into()))
}

/// Creates a folder named after the time, with `-2` and so on if it exists.
pub(super) fn new_run(results: &Path) -> Result<PathBuf, SetupError> {
    fs::create_dir_all(results).map_err(|error| unwritable(results, &error))?;
    let name = clock::wall().to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%dT%H-%M-%S");
    let name = name.to_string();
    let mut names = std::iter::once(name.clone()).chain((2..).map(|n| format!("{name}-{n}")));
    let created = names.find_map(|name| {
        let folder = results.join(name);
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
            created => Some(created.map(|()| folder)),
        }
    });
    created
        .unwrap_or(Err(io::ErrorKind::AlreadyExists.into()))
        .map_err(|error| unwritable(results, &error))
}

fn unwritable(results: &Path, error: &io::Error) -> SetupError {
    refused(results, &format!("can't be written: {error}"))
}

fn refused(results: &Path, why: &str) -> SetupError {
    SetupError::Refused(format!("--results {}: {why}", results.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_second_have_different_folders() {
        let results = tempfile::tempdir().unwrap();
        let folders = [(); 3].map(|()| new_run(&results.path().join("new")).unwrap());
        assert!(folders.iter().all(|folder| folder.is_dir()));
        assert!(folders[0] != folders[1] && folders[1] != folders[2]);
    }
}
