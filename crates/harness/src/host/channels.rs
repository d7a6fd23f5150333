//! Channels other than TCP that carry work from one process to another: Unix sockets, connected UDP sockets, pipes and shared
//! memory.
//!
//! Channels without a trace in /proc are not seen: UDP sockets that are not connected, vsock, regular files that are written and
//! read. The minimum CPU time per call catches those.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use procfs::net::{UdpNetEntry, udp, udp6};
use procfs::process::{MMPermissions, MMapPath, MemoryMap, Process};

use super::holders::{Held, Holders};
use super::unix_peers::unix_peers;

/// The process at the other end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Peer {
    Process(i32),
    /// A process that can't be seen holds this socket.
    Invisible(u64),
}

/// The inodes of connected sockets, each with that of its other end on this machine.
pub(super) struct Connections {
    unix: BTreeMap<u64, u64>,
    udp: Vec<(u64, u64)>,
}

/// Read before the owners of the sockets: those of an answered call are soon gone.
pub(super) fn connections(own: &BTreeSet<i32>) -> Connections {
    Connections { unix: unix_peers(own), udp: udp_peers() }
}

/// The processes other than `own` and this one that a channel leads to from one of `own`.
pub(super) fn peers(
    own: &BTreeSet<i32>,
    holders: &Holders,
    connections: &Connections,
) -> BTreeSet<Peer> {
    let mut found = BTreeSet::new();
    let mut far_ends = Vec::new();
    for held in holders.of(own) {
        match held {
            Held::Socket(inode) => {
                if let Some(peer) = connections.unix.get(inode) {
                    let far_end = Held::Socket(*peer);
                    if holders.closed.is_empty() && !holders.is_held(&far_end) {
                        found.insert(Peer::Invisible(*peer));
                    }
                    far_ends.push(far_end);
                }
                let udp = connections.udp.iter().filter(|(near, _)| near == inode);
                far_ends.extend(udp.map(|(_, far)| Held::Socket(*far)));
            }
            Held::Pipe(inode) => far_ends.extend([Held::Pipe(*inode), Held::Output(*inode)]),
            Held::File(path) if is_fifo(path) => far_ends.push(held.clone()),
            Held::Output(_) | Held::File(_) => {}
        }
    }
    found.extend(holders.others(&far_ends, own).map(Peer::Process));
    found.extend(memory_sharers(own, holders).into_iter().map(Peer::Process));
    found
}

fn is_fifo(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.file_type().is_fifo())
}

fn udp_peers() -> Vec<(u64, u64)> {
    let all: Vec<UdpNetEntry> =
        [udp(), udp6()].into_iter().flat_map(Result::unwrap_or_default).collect();
    let canonical = |it: SocketAddr| SocketAddr::new(it.ip().to_canonical(), it.port());
    let receives = |it: &&UdpNetEntry, address: SocketAddr| {
        let own = canonical(it.local_address);
        own.port() == address.port() && (own.ip() == address.ip() || own.ip().is_unspecified())
    };
    let connected = all.iter().filter(|it| it.remote_address.port() != 0);
    let pairs = connected.filter_map(|near| {
        let remote = canonical(near.remote_address);
        Some((near.inode, all.iter().find(|far| receives(far, remote))?.inode))
    });
    pairs.collect()
}

/// The processes other than `own` that have mapped memory which one of `own` has mapped to write and to share.
fn memory_sharers(own: &BTreeSet<i32>, holders: &Holders) -> Vec<i32> {
    let shared: HashSet<_> = own.iter().flat_map(|pid| shared_maps(*pid)).collect();
    if shared.is_empty() {
        return Vec::new();
    }
    let shares = |pid: &i32| shared_maps(*pid).any(|it| shared.contains(&it));
    holders.strangers(own).filter(shares).collect()
}

/// Device and inode of the mappings of a process that others can write to.
fn shared_maps(pid: i32) -> impl Iterator<Item = ((i32, i32), u64)> {
    let maps = Process::new(pid).and_then(|process| process.maps());
    let maps = maps.map(|maps| maps.0).unwrap_or_default().into_iter();
    maps.filter(is_shared).map(|map| (map.dev, map.inode))
}

fn is_shared(map: &MemoryMap) -> bool {
    let is_device = matches!(&map.pathname, MMapPath::Path(path)
        if path.starts_with("/dev") && !path.starts_with("/dev/shm") && !path.starts_with("/dev/zero (deleted)"));
    map.perms.contains(MMPermissions::SHARED | MMPermissions::WRITE) && map.inode != 0 && !is_device
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::{Ipv4Addr, UdpSocket};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A process with these as its standard input and output.
    fn holder(input: impl Into<Stdio>, output: impl Into<Stdio>) -> Child {
        Command::new("sleep").arg("60").stdin(input).stdout(output).spawn().unwrap()
    }

    /// True if the second process is found at the other end of a channel from the first.
    fn finds(children: [Child; 2]) -> bool {
        let pids = children.each_ref().map(|child| child.id() as i32);
        let of = |own: &[i32]| {
            let own = own.iter().copied().collect();
            let connections = connections(&own);
            peers(&own, &Holders::look().unwrap(), &connections)
        };
        let (both, first) = (of(&pids), of(&pids[..1]));
        for mut child in children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(both, BTreeSet::new());
        let found = BTreeSet::from([Peer::Process(pids[1])]);
        assert!(first.is_empty() || first == found, "{first:?} of {pids:?}");
        !first.is_empty()
    }

    #[test]
    fn unix_socket_leads_to_its_other_end() {
        let (near, far) = UnixStream::pair().unwrap();
        let [near, far] = [near, far].map(OwnedFd::from);
        assert!(finds([holder(near, Stdio::null()), holder(far, Stdio::null())]));
    }

    #[test]
    fn connected_udp_socket_leads_to_its_other_end() {
        let [near, far] = [(); 2].map(|()| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        near.connect(far.local_addr().unwrap()).unwrap();
        let [near, far] = [near, far].map(OwnedFd::from);
        assert!(finds([holder(near, Stdio::null()), holder(far, Stdio::null())]));
    }

    #[test]
    fn pipe_leads_to_its_other_end_unless_it_is_an_output() {
        let (read, write) = std::io::pipe().unwrap();
        assert!(finds([holder(read, Stdio::null()), holder(Stdio::null(), write)]));
        let (read, write) = std::io::pipe().unwrap();
        assert!(!finds([holder(Stdio::null(), write), holder(read, Stdio::null())]));
    }

    #[test]
    fn shared_memory_leads_to_those_who_mapped_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("memory");
        fs::write(&file, [0; 4096]).unwrap();
        let maps = |path: &Path| {
            const MAP: &str = "import mmap, sys\nfile = open(sys.argv[1], 'r+b')\n\
                 memory = mmap.mmap(file.fileno(), 4096)\nprint(flush=True)\nsys.stdin.read()";
            let mut command = Command::new("python3");
            let command = command.arg("-c").arg(MAP).arg(path);
            let mut child =
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python3");
            child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
            child
        };
        let other = folder.path().join("other");
        fs::write(&other, [0; 4096]).unwrap();
        assert!(finds([maps(&file), maps(&file)]));
        assert!(!finds([maps(&file), maps(&other)]));
    }
}
