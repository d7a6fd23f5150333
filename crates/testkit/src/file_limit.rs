//! The limit on open files.

use std::io;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Open files for servers with more than 10,000 connections.
const WANTED: u64 = 32_768;

/// Raises this process's limit on open files to the hard limit, or further if that is low and the process is privileged.
pub fn raise_file_limit() -> io::Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    let set = |files| setrlimit(Resource::RLIMIT_NOFILE, files, files);
    Ok(set(hard.max(WANTED)).or_else(|_| set(hard))?)
}
