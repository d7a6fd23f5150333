//! Isolates a server without cgroups, by CPU affinity and signals.

use std::io;

use procfs::process::Stat;
use rpcbench_record::IsolationMode;
use rustix::process::{Pid, Signal};

use super::files::await_state;
use super::tree::ProcessTree;
use super::{Backend, Counted, GroupLimits, signals};
use crate::host::readings::{CpuTime, MemoryUse};

#[derive(Debug)]
pub(super) struct GroupFactory;

impl super::GroupFactory for GroupFactory {
    fn mode(&self) -> IsolationMode {
        IsolationMode::Affinity
    }

    fn create(&self, label: &str, _: &GroupLimits) -> io::Result<Box<dyn Backend>> {
        Ok(Box::new(Group { name: label.to_owned(), tree: None }))
    }
}

/// The processes of one server.
#[derive(Debug)]
struct Group {
    name: String,
    tree: Option<ProcessTree>,
}

impl Group {
    fn stats(&self) -> io::Result<Vec<Stat>> {
        self.tree.as_ref().map_or(Ok(Vec::new()), ProcessTree::stats)
    }
}

impl Counted for Group {
    fn pids(&self) -> io::Result<Vec<Pid>> {
        self.tree.as_ref().map_or(Ok(Vec::new()), ProcessTree::pids)
    }

    fn cpu(&self) -> io::Result<CpuTime> {
        self.tree.as_ref().map_or(Ok(CpuTime::default()), ProcessTree::cpu)
    }

    fn memory(&self) -> io::Result<MemoryUse> {
        self.tree.as_ref().map_or(Ok(MemoryUse::default()), ProcessTree::memory)
    }
}

impl Backend for Group {
    fn adopt(&mut self, leader: Pid) {
        self.tree = Some(ProcessTree::of(leader));
    }

    fn freezes_fast(&self) -> bool {
        false
    }

    fn freeze(&self) -> io::Result<()> {
        signals::freeze(&self.name, self)
    }

    fn thaw(&self) -> io::Result<()> {
        signals::thaw(&self.name, self)
    }

    fn kill(&self) -> io::Result<()> {
        await_state(&self.name, "dead", || {
            let mut alive = self.stats()?;
            alive.retain(|stat| !"ZXx".contains(stat.state));
            for stat in &alive {
                Pid::from_raw(stat.pid).map_or(Ok(()), |pid| signals::send(pid, Signal::KILL))?;
            }
            Ok(alive.is_empty())
        })
    }
}
