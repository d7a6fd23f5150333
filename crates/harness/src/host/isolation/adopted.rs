//! Groups created by another program.

use std::io;

use rpcbench_record::IsolationMode;
use rustix::process::Pid;

use super::mounts::Mounts;
use super::{Backend, GroupLimits, v1, v2};

/// A group created by another program. It is read, frozen and thawed, but not limited or removed.
#[derive(Debug)]
pub struct Adopted {
    /// Reads and freezes the group's processes.
    pub backend: Box<dyn Backend>,
    /// Version 2 or 1.
    pub mode: IsolationMode,
    /// The limits in force, as reported by the kernel.
    pub limits: GroupLimits,
    /// True if this process may freeze it.
    pub can_freeze: bool,
}

impl Adopted {
    /// The group of the process `pid`. Its path must contain `id`, the id of the container. Fails if the process is not in such a
    /// group, or this process can't see the group.
    pub fn of(pid: Pid, id: &str) -> io::Result<Self> {
        let mounts = Mounts::of_process(pid, id).map_err(io::Error::other)?;
        let adopted = match v2::adopt(&mounts) {
            Some(adopted) => adopted,
            None => v1::adopt(&mounts).map_err(io::Error::other)?,
        }?;
        match adopted.backend.pids()?.contains(&pid) {
            true => Ok(adopted),
            false => Err(io::Error::other(
                "its cgroup is not visible here; rpcbench needs the machine's cgroup namespace (--cgroupns host)",
            )),
        }
    }
}
