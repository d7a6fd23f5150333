//! The limit of open files.

use std::io;

/// Open files for servers with more than 10,000 connections.
const WANTED: libc::rlim_t = 32_768;

/// Raises this process's limit of open files to the hard limit, or further if that is low and the process is privileged.
///
/// # Errors
/// If the limit can't be read or raised.
pub fn raise_file_limit() -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is valid for writing and outlives the call.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let raised = limit.rlim_max.max(WANTED);
    if set(raised).is_ok() {
        return Ok(());
    }
    set(limit.rlim_max)
}

fn set(files: libc::rlim_t) -> io::Result<()> {
    let limit = libc::rlimit { rlim_cur: files, rlim_max: files };
    // SAFETY: `limit` is valid for reading and outlives the call.
    match unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
