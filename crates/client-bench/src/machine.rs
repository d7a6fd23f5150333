//! The machine that the figures are of.

use procfs::prelude::*;
use procfs::{CpuInfo, ProcError, sys::kernel::Version};
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity};

/// What the heading of the table says about it.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The CPU's name.
    pub cpu: String,
    /// Logical CPUs.
    pub cpus: usize,
    /// The kernel's release.
    pub kernel: String,
}

impl Machine {
    /// This one.
    ///
    /// # Errors
    /// If /proc can't be read.
    pub fn read() -> Result<Self, ProcError> {
        let info = CpuInfo::current()?;
        let Version { major, minor, patch } = Version::current()?;
        Ok(Self {
            cpu: info.model_name(0).unwrap_or(std::env::consts::ARCH).to_owned(),
            cpus: info.num_cores(),
            kernel: format!("{major}.{minor}.{patch}"),
        })
    }
}

/// The CPUs that client and server are pinned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpus {
    /// The client's.
    pub client: usize,
    /// The server's.
    pub server: usize,
}

/// The first two CPUs that this process may use; the second is missing where there is only one.
///
/// # Errors
/// If the kernel does not tell.
pub fn first_cpus() -> Result<(usize, Option<usize>), Errno> {
    let allowed = sched_getaffinity(None)?;
    let mut cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
    Ok((cpus.next().unwrap_or(0), cpus.next()))
}
