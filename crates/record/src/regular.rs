//! Files that others can replace: opened without blocking, read up to a limit, and never written through a link.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

use crate::units;

/// The bytes of a regular file of at most `limit` bytes.
///
/// # Errors
/// If the file can't be read, is longer, or is a folder, a pipe, a socket or a device.
pub fn read_bytes(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_to_end(open(path)?, limit)
}

/// Reads to the end, at most `limit` bytes.
///
/// # Errors
/// If reading fails, or there are more bytes.
pub fn read_to_end(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("longer than {}", units::bytes(limit))));
    }
    Ok(bytes)
}

/// The text of a regular file of at most `limit` bytes.
///
/// # Errors
/// As [`read_bytes`], and if it is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let invalid =
        |_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8");
    String::from_utf8(read_bytes(path, limit)?).map_err(invalid)
}

/// The bytes of a file named by the user, at most `limit`. It may be a pipe with a writer.
///
/// # Errors
/// If the file can't be read, is longer, is a folder, or is a pipe without a writer.
pub fn read_named(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    // Otherwise opening a pipe would block until it has a writer.
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::Error::other("it is a folder; give a file"));
    }
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    let bytes = read_to_end(file, limit)?;
    match kind.is_fifo() && bytes.is_empty() {
        true => Err(io::Error::other("nothing writes to this pipe; start what does first")),
        false => Ok(bytes),
    }
}

/// Opens a regular file. If a named pipe is in its place, does not wait for its writer.
///
/// # Errors
/// If the file can't be opened, or is a pipe, a socket or a device. Opening a folder succeeds; reading it fails.
pub fn open(path: &Path) -> io::Result<File> {
    checked(OpenOptions::new().read(true), OFlags::NONBLOCK, path)
}

/// Opens a regular file for appending, and creates it if missing. Does not follow links.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    checked(OpenOptions::new().create(true).append(true), flags, path)
}

/// Creates an empty file, replacing an existing file, link or pipe.
///
/// # Errors
/// If the old file can't be removed or the new one can't be created.
pub fn recreate(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => OpenOptions::new().read(true).append(true).create_new(true).open(path),
    }
}

/// Writes a file, replacing an existing file, link or pipe.
///
/// # Errors
/// As [`recreate`], and if it can't be written.
pub fn replace(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    recreate(path)?.write_all(bytes.as_ref())
}

fn checked(options: &mut OpenOptions, flags: OFlags, path: &Path) -> io::Result<File> {
    let refused = || io::Error::other("not a regular file");
    let file = options.custom_flags(flags.bits() as i32).open(path).map_err(|error| {
        // A socket, or a pipe without a reader.
        if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) { refused() } else { error }
    })?;
    let kind = file.metadata()?;
    if kind.is_file() || kind.is_dir() { Ok(file) } else { Err(refused()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_bytes_as_allowed_are_read() {
        assert_eq!(read_to_end(&b"abc"[..], 3).unwrap(), b"abc");
        let refusal = read_to_end(io::repeat(b'a'), 3).unwrap_err();
        assert_eq!(refusal.to_string(), "longer than 3 B");
    }
}
