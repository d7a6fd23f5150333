//! Groups that another program made.

use std::io;

use rpcbench_record::IsolationMode;
use rustix::process::Pid;

use super::mounts::Mounts;
use super::{Backend, GroupLimits, v1, v2};

/// A group made by someone else. It is read, frozen and thawed, but neither limited nor removed.
#[derive(Debug)]
pub struct Adopted {
    /// Reads and freezes the group's processes.
    pub backend: Box<dyn Backend>,
    /// Version 2 or 1.
    pub mode: IsolationMode,
    /// The limits in force, as the kernel says.
    pub limits: GroupLimits,
    /// True if this process may freeze it.
    pub can_freeze: bool,
}

impl Adopted {
    /// The group of the process `pid`, whose path must contain `id`, the group's. Fails if the process is not in such a
    /// group, or the group is hidden from this process.
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
