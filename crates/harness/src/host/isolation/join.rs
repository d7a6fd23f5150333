//! Entering a group between fork and exec.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::PathBuf;

use rustix::thread::{CpuSet, sched_setaffinity};

use super::IsolationError;

/// Everything prepared that a child needs to enter a group: open files and a CPU mask.
#[derive(Debug)]
pub struct Joiner {
    doors: Vec<File>,
    cpus: CpuSet,
}

impl Joiner {
    pub(super) fn new(doors: Vec<PathBuf>, cpus: &[u32]) -> Result<Self, IsolationError> {
        let open = |path: PathBuf| {
            let file = OpenOptions::new().write(true).open(&path);
            file.map_err(|source| IsolationError::Write { path, value: "0".to_owned(), source })
        };
        let mut mask = CpuSet::new();
        for cpu in cpus.iter().filter(|cpu| (**cpu as usize) < CpuSet::MAX_CPU) {
            mask.set(*cpu as usize);
        }
        Ok(Self { doors: doors.into_iter().map(open).collect::<Result<_, _>>()?, cpus: mask })
    }

    /// Moves the calling process into the group and onto its CPUs.
    ///
    /// Async-signal-safe: system calls on what was prepared, no allocation, no lock.
    ///
    /// # Errors
    /// What the system says.
    pub fn enter(&self) -> io::Result<()> {
        for door in &self.doors {
            // `0` is whoever writes it.
            rustix::io::write(door, b"0")?;
        }
        sched_setaffinity(None, &self.cpus)?;
        Ok(())
    }
}
