//! Channels other than TCP that carry work from one process to another: Unix sockets, connected UDP sockets, pipes, terminals and
//! shared memory.
//!
//! Other channels leave no trace in /proc: UDP sockets when neither is connected, vsock, message queues, regular files that one
//! side writes and the other reads, and memory that another process reads. They are detected only if the server started the
//! process at the other end ([`super::port::foreign_owners`]).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::PathBuf;

use procfs::net::{UdpNetEntry, udp, udp6};
use procfs::process::{MMPermissions, MMapPath, MemoryMap, Process};

use super::holders::{Held, Holders};
use super::port::{canonical, serves};
use super::unix_peers::unix_peers;

/// The process at the other end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Peer {
    Process(i32),
    /// An invisible process, which holds this socket.
    Invisible(u64),
}

/// The inodes of connected sockets, each with the inode of its other end on this machine.
pub(super) struct Connections {
    unix: BTreeMap<u64, u64>,
    udp: Vec<(u64, u64)>,
}

/// Must be called before the owners of the sockets are read, since sockets of a finished call soon disappear.
pub(super) fn connections(own: &BTreeSet<i32>) -> Connections {
    Connections { unix: unix_peers(own), udp: udp_peers() }
}

/// Processes at the other end of a channel from one of `own`, except `own` and this process.
pub(super) fn peers(
    own: &BTreeSet<i32>,
    holders: &Holders,
    connections: &Connections,
) -> BTreeSet<Peer> {
    let mut found = BTreeSet::new();
    let mut far_ends = Vec::new();
    let all = holders.of(own);
    for held in &all {
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
            // A duplicate of standard output, for a log.
            Held::Pipe(inode) if all.contains(&Held::Output(*inode)) => {}
            Held::Pipe(inode) => far_ends.extend([Held::Pipe(*inode), Held::Output(*inode)]),
            Held::NamedPipe { .. } | Held::Terminal { .. } => far_ends.push((*held).clone()),
            Held::Output(_) => {}
        }
    }
    found.extend(holders.others(&far_ends, own).map(Peer::Process));
    found.extend(memory_sharers(own, holders).into_iter().map(Peer::Process));
    found
}

/// Pairs of UDP sockets of which one is connected to the other, in both directions.
fn udp_peers() -> Vec<(u64, u64)> {
    let all: Vec<UdpNetEntry> =
        [udp(), udp6()].into_iter().flat_map(Result::unwrap_or_default).collect();
    let connected = all.iter().filter(|it| it.remote_address.port() != 0);
    let pairs = connected.filter_map(|near| {
        let remote = canonical(near.remote_address);
        Some((near.inode, all.iter().find(|far| serves(far.local_address, remote))?.inode))
    });
    pairs.flat_map(|(near, far)| [(near, far), (far, near)]).collect()
}

/// The processes other than `own` that have mapped memory to which one of `own` has a shared writable mapping.
fn memory_sharers(own: &BTreeSet<i32>, holders: &Holders) -> Vec<i32> {
    let shared: HashSet<_> = own.iter().flat_map(|pid| shared_maps(*pid)).collect();
    if shared.is_empty() {
        return Vec::new();
    }
    let shares = |pid: &i32| shared_maps(*pid).any(|it| shared.contains(&it));
    holders.other_pids(own).filter(shares).collect()
}

/// Device and inode of a process's shared writable mappings.
fn shared_maps(pid: i32) -> impl Iterator<Item = ((i32, i32), u64)> {
    let maps = Process::new(pid).and_then(|process| process.maps());
    let maps = maps.map(|maps| maps.0).unwrap_or_default().into_iter();
    maps.filter(is_shared).map(|map| (map.dev, map.inode))
}

fn is_shared(map: &MemoryMap) -> bool {
    let is_character_device =
        |path: &PathBuf| fs::metadata(path).is_ok_and(|it| it.file_type().is_char_device());
    let is_device = matches!(&map.pathname, MMapPath::Path(path)
        if path.starts_with("/dev") && is_character_device(path));
    map.perms.contains(MMPermissions::SHARED | MMPermissions::WRITE) && map.inode != 0 && !is_device
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read as _;
    use std::net::{Ipv4Addr, UdpSocket};
    use std::os::fd::{AsRawFd as _, OwnedFd};
    use std::os::unix::fs::OpenOptionsExt as _;
    use std::os::unix::net::UnixStream;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    use procfs::FromBufRead as _;
    use procfs::process::MemoryMaps;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;
    use crate::host::holders::terminal_of;

    /// A process with these as its standard input and output.
    fn holder(input: impl Into<Stdio>, output: impl Into<Stdio>) -> Child {
        Command::new("sleep").arg("60").stdin(input).stdout(output).spawn().unwrap()
    }

    /// True if the second process is found at the other end of a channel from the first one.
    fn finds(children: [Child; 2]) -> bool {
        let pids = children.each_ref().map(|child| child.id() as i32);
        let of = |own: &[i32]| {
            let own = own.iter().copied().collect();
            let connections = connections(&own);
            peers(&own, &Holders::scan().unwrap(), &connections)
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
    fn udp_socket_leads_to_its_other_end_if_either_is_connected() {
        let pair = || {
            let [near, far] = [(); 2].map(|()| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
            near.connect(far.local_addr().unwrap()).unwrap();
            [near, far].map(|socket| holder(OwnedFd::from(socket), Stdio::null()))
        };
        assert!(finds(pair()));
        let [near, far] = pair();
        assert!(finds([far, near]));
    }

    #[test]
    fn named_pipe_leads_to_its_other_end_without_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let open = || File::options().read(true).write(true).open(&path).unwrap();
        let [near, far] = [open(), open()];
        fs::remove_file(&path).unwrap();
        assert!(finds([holder(near, Stdio::null()), holder(far, Stdio::null())]));
    }

    #[test]
    fn terminal_leads_to_its_other_side() {
        let open = |path: &str| {
            let mut options = File::options();
            options.read(true).write(true).custom_flags(libc::O_NOCTTY).open(path).unwrap()
        };
        let pair = || {
            let master = open("/dev/ptmx");
            // SAFETY: it takes an open file.
            assert_eq!(unsafe { libc::unlockpt(master.as_raw_fd()) }, 0);
            let this = std::process::id().cast_signed();
            let number = terminal_of(this, master.as_raw_fd()).unwrap();
            [open(&format!("/dev/pts/{number}")), master].map(|file| holder(file, Stdio::null()))
        };
        assert!(finds(pair()));
        let [slave, master] = pair();
        assert!(finds([master, slave]));
    }

    #[test]
    fn pipe_leads_to_its_other_end_unless_it_is_an_output() {
        let (read, write) = std::io::pipe().unwrap();
        assert!(finds([holder(read, Stdio::null()), holder(Stdio::null(), write)]));
        let (read, write) = std::io::pipe().unwrap();
        // Web servers hold their log a second time, at another descriptor.
        let again = write.try_clone().unwrap();
        assert!(!finds([holder(again, write), holder(read, Stdio::null())]));
    }

    #[test]
    fn memory_of_devices_is_not_shared() {
        let is_shared = |path: &str| {
            let line = format!("7f0000000000-7f0000001000 rw-s 00000000 00:17 5 {path}\n");
            MemoryMaps::from_buf_read(line.as_bytes()).unwrap().0.iter().all(is_shared)
        };
        assert!(!is_shared("/dev/null"));
        assert!(is_shared("/dev/zero (deleted)") && is_shared("/dev/hugepages/heap"));
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
