//! Reads regular files only: opening a named pipe in the place of one would block.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The bytes of a regular file.
///
/// # Errors
/// If it can't be read, or is a folder, a pipe, a socket or a device.
pub fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    check(path)?;
    fs::read(path)
}

/// The text of a regular file.
///
/// # Errors
/// As [`read_bytes`], and if it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    check(path)?;
    fs::read_to_string(path)
}

/// Opens a regular file.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    check(path)?;
    File::open(path)
}

/// Refuses what exists and is no regular file.
pub(crate) fn check(path: &Path) -> io::Result<()> {
    let kind = fs::metadata(path)?;
    match kind.is_file() || kind.is_dir() {
        // The error for a folder is the system's.
        true => Ok(()),
        false => Err(io::Error::other("not a regular file")),
    }
}
