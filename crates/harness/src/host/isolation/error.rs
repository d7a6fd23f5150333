//! What can go wrong with a group.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a group can't be made, used or removed.
#[derive(Debug, Error)]
pub enum IsolationError {
    /// A cgroup file can't be read.
    #[error("{}: can't be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A cgroup file reads as something unexpected.
    #[error("{}: unexpected content '{text}'", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What it holds.
        text: String,
    },
    /// A cgroup file lacks a line.
    #[error("{}: no number after '{key}'", path.display())]
    NoNumber {
        /// The file.
        path: PathBuf,
        /// What the line should begin with.
        key: String,
    },
    /// The kernel refused a setting.
    #[error("{}: the kernel refused '{value}': {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What was written.
        value: String,
        /// What the system said.
        source: io::Error,
    },
    /// A group can't be made.
    #[error("{}: can't be made: {source}", path.display())]
    Create {
        /// The group's folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A group still exists although everything in it was killed.
    #[error("{}: can't be removed: {source}", path.display())]
    Remove {
        /// The group's folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Some process did not freeze, thaw or die in time.
    #[error("the processes of {group} are not {state} after {seconds} s")]
    Stuck {
        /// The group's name.
        group: String,
        /// `frozen`, `thawed` or `dead`.
        state: &'static str,
        /// Time limit.
        seconds: u64,
    },
    /// A process can't be signalled.
    #[error("process {pid} can't be signalled: {source}")]
    Signal {
        /// Its id.
        pid: i32,
        /// What the system said.
        source: io::Error,
    },
    /// The processes of the machine can't be listed.
    #[error("the processes in /proc can't be listed: {0}")]
    Processes(#[from] procfs::ProcError),
}
