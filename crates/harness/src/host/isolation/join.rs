//! Enters a group between fork and exec.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::PathBuf;

use rustix::thread::{CpuSet, sched_setaffinity};

use super::files::refused;
use crate::host::cpus::{cpu_set, every_cpu};

/// Puts a child process into a group: open files and a CPU mask.
#[derive(Debug)]
pub struct Joiner {
    procs_files: Vec<File>,
    cpus: CpuSet,
}

impl Joiner {
    pub(super) fn new(procs_files: Vec<PathBuf>, cpus: &[u32]) -> io::Result<Self> {
        let open =
            |path: PathBuf| OpenOptions::new().write(true).open(&path).map_err(refused(&path, "0"));
        let procs_files: Vec<File> = procs_files.into_iter().map(open).collect::<Result<_, _>>()?;
        // No CPU mask in a cgroup: the group's CPUs may change, and the mask would still restrict the process.
        let cpus = if procs_files.is_empty() { cpu_set(cpus) } else { every_cpu() };
        Ok(Self { procs_files, cpus })
    }

    /// Moves the calling process into the group and onto its CPUs.
    ///
    /// Async-signal-safe: system calls on prepared values, no allocation, no lock.
    pub fn enter(&self) -> io::Result<()> {
        for file in &self.procs_files {
            // `0` means the writing process.
            rustix::io::write(file, b"0")?;
        }
        sched_setaffinity(None, &self.cpus)?;
        Ok(())
    }
}
