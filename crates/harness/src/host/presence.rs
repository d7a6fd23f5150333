//! Lets runs on this machine see each other, so that contention for the same CPUs is not mistaken for slow servers.
//!
//! Each run binds an abstract Unix socket whose name contains its CPUs. That needs no rights and no file, and ends with the
//! process. Runs in another network namespace, such as a container's, are not visible.

use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

const PREFIX: &str = "rpcbench-run";

/// The announcement of a run. Dropping it withdraws the announcement.
#[derive(Debug)]
pub struct Presence {
    name: Name,
    _socket: UnixDatagram,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Name {
    pid: u32,
    /// Distinguishes processes with the same id in different containers.
    nonce: u32,
    cpus: Vec<u32>,
}

/// Another run on some of the same CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rival {
    /// Process id of the run, in its own namespace.
    pub pid: u32,
    /// The CPUs that both use.
    pub cpus: Vec<u32>,
}

impl Presence {
    /// Announces that this process measures on `cpus`.
    pub fn announce(cpus: &[u32]) -> io::Result<Self> {
        let name = Name { pid: std::process::id(), nonce: rand::random(), cpus: cpus.to_vec() };
        let address = SocketAddr::from_abstract_name(name.to_string())?;
        Ok(Self { name, _socket: UnixDatagram::bind_addr(&address)? })
    }

    /// The other runs that use some of the same CPUs now. Empty if the system can't list sockets.
    pub fn rivals(&self) -> Vec<Rival> {
        let sockets = procfs::net::unix().unwrap_or_default();
        // The list prefixes abstract names with @.
        let names = sockets.iter().filter_map(|socket| socket.path.as_deref()?.to_str());
        self.name.rivals(names.filter_map(|path| Name::parse(path.strip_prefix('@')?)))
    }
}

impl Name {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.strip_prefix(PREFIX)?.strip_prefix('/')?.split('/');
        let mut number = || parts.next()?.parse().ok();
        let (pid, nonce) = (number()?, number()?);
        let cpus = parts.next()?.split(',').map(|cpu| cpu.parse().ok()).collect::<Option<_>>()?;
        Some(Self { pid, nonce, cpus })
    }

    fn rivals(&self, all: impl Iterator<Item = Self>) -> Vec<Rival> {
        let both = |cpus: Vec<u32>| cpus.into_iter().filter(|cpu| self.cpus.contains(cpu));
        all.filter(|other| (other.pid, other.nonce) != (self.pid, self.nonce))
            .map(|other| Rival { pid: other.pid, cpus: both(other.cpus).collect() })
            .filter(|rival| !rival.cpus.is_empty())
            .collect()
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cpus: Vec<String> = self.cpus.iter().map(u32::to_string).collect();
        write!(f, "{PREFIX}/{}/{}/{}", self.pid, self.nonce, cpus.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(nonce: u32, cpus: &[u32]) -> Name {
        Name { pid: 7, nonce, cpus: cpus.to_vec() }
    }

    #[test]
    fn names_are_written_and_parsed() {
        let name = name(1, &[0, 3]);
        assert_eq!(name.to_string(), "rpcbench-run/7/1/0,3");
        assert_eq!(Name::parse("rpcbench-run/7/1/0,3"), Some(name));
        for other in ["rpcbench", "rpcbench-run/7", "rpcbench-run/7/1/", "rpcbench-run/7/1/0,x"] {
            assert_eq!(Name::parse(other), None, "{other}");
        }
    }

    #[test]
    fn rivals_have_a_cpu_in_common() {
        let all = [name(1, &[0, 1]), name(2, &[2, 3]), name(3, &[1, 2])];
        let rivals = name(1, &[0, 1]).rivals(all.into_iter());
        assert_eq!(rivals, [Rival { pid: 7, cpus: vec![1] }]);
    }

    /// Uses CPU numbers that no machine has, to avoid interfering with real runs.
    #[test]
    fn run_is_seen_until_it_ends() {
        let first = Presence::announce(&[70_001, 70_002]).unwrap();
        assert_eq!(first.rivals(), []);
        let second = Presence::announce(&[70_002]).unwrap();
        let seen = Rival { pid: std::process::id(), cpus: vec![70_002] };
        assert_eq!((first.rivals(), second.rivals()), (vec![seen.clone()], vec![seen]));
        drop(second);
        assert_eq!(first.rivals(), []);
    }
}
