//! Adds context to I/O errors.

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::Path;

/// For `map_err`: prefixes an error with the path or value that it is about.
pub(crate) fn about<E: Into<io::Error>>(what: impl Display) -> impl FnOnce(E) -> io::Error {
    move |error| {
        let error = error.into();
        io::Error::new(error.kind(), format!("{what}: {error}"))
    }
}

/// Checks that files can be created in a folder, by creating one and removing it.
pub(crate) fn probe_folder(folder: &Path) -> io::Result<()> {
    let probe = folder.join(format!(".writable-{}", std::process::id()));
    fs::write(&probe, "")?;
    fs::remove_file(probe)
}
