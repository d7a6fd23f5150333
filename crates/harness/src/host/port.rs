//! The processes that serve a port of this machine: the owners of its sockets.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::net::SocketAddr;

use procfs::net::{TcpNetEntry, TcpState, tcp, tcp6};
use procfs::process::Process;
use rustix::process::{Pid, getuid};

use super::channels::{self, Peer};
use super::holders::{Held, Holders};
use super::isolation::{Counted, uncounted_processes};
use crate::error::about;

/// An owner of a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// A process, or a thread of one.
    Process { pid: i32, program: String },
    /// A process of this user that this process can't inspect.
    Hidden(u32),
    /// Another machine or network namespace, at this address.
    Remote(SocketAddr),
    /// The other end of a Unix socket that no visible process holds; the socket's inode.
    Invisible(u64),
    /// No process of this machine listens; something forwards connections before they reach a socket.
    Unknown,
}

impl Owner {
    fn process(pid: i32) -> Self {
        Self::Process { pid, program: program(pid) }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process { pid, program } => write!(f, "process {pid} ({program})"),
            Self::Hidden(user) => write!(f, "a hidden process of user {user}"),
            Self::Remote(address) => write!(f, "{address}"),
            Self::Invisible(inode) => write!(f, "an invisible process behind Unix socket {inode}"),
            Self::Unknown => write!(f, "no process of this machine"),
        }
    }
}

/// Processes outside `own` that serve the address: owners of its sockets; the other ends of TCP connections made by `own`, or of
/// other channels ([`channels`]); processes counted in only a part of the group; and processes started by `own`, or listed in
/// `started`. A process must be found twice, since processes start and end during a scan.
pub fn foreign_owners(
    address: SocketAddr,
    own: &dyn Counted,
    started: &dyn Fn() -> Vec<Pid>,
) -> io::Result<Vec<Owner>> {
    twice(|| {
        let all = sockets()?;
        let own_pids = own.pids()?.into_iter().map(|pid| pid.as_raw_pid()).collect();
        let connections = channels::connections(&own_pids);
        let holders = Holders::scan()?;
        let (serving, others): (Vec<_>, Vec<_>) =
            all.iter().partition(|socket| serves(socket.local_address, address));
        let mut found = owners(&holders, &serving, &own_pids);
        found.extend(channels::peers(&own_pids, &holders, &connections).into_iter().map(|it| {
            match it {
                Peer::Process(pid) => Owner::process(pid),
                Peer::Invisible(inode) => Owner::Invisible(inode),
            }
        }));
        found.extend(own.partly_counted()?.into_iter().map(|id| Owner::process(id.as_raw_pid())));
        found.extend(uncounted_processes(&own_pids, &started())?.map(Owner::process));
        if !serving.iter().any(|socket| socket.state == TcpState::Listen) {
            found.push(Owner::Unknown);
        }
        found.extend(called(&holders, &all, &others, &own_pids));
        Ok(found)
    })
}

/// Owners of the other ends of connections that `own` have made. `made`: candidates for such connections.
fn called(
    holders: &Holders,
    all: &[TcpNetEntry],
    made: &[&TcpNetEntry],
    own: &BTreeSet<i32>,
) -> Vec<Owner> {
    let is_made = |socket: &&&TcpNetEntry| {
        let held = Held::Socket(socket.inode);
        socket.state == TcpState::Established && holders.any_holds(own, &held)
    };
    let mut found = Vec::new();
    for made in made.iter().filter(is_made) {
        let (local, remote) = (made.local_address, canonical(made.remote_address));
        let is_peer = |peer: &&TcpNetEntry| {
            canonical(peer.local_address) == remote
                && canonical(peer.remote_address) == canonical(local)
        };
        let mut far_ends = Vec::from_iter(all.iter().find(is_peer));
        if far_ends.is_empty() {
            // The connection may be waiting to be accepted.
            let listens = |it: &&TcpNetEntry| {
                it.state == TcpState::Listen && serves(it.local_address, remote)
            };
            far_ends.extend(all.iter().filter(listens));
        }
        match far_ends.as_slice() {
            [] => found.push(Owner::Remote(remote)),
            far_ends => found.extend(owners(holders, far_ends, own)),
        }
    }
    found
}

/// The error if processes outside `own` serve the address. `started`: processes known to be started by the server.
pub fn served_by_others(
    address: SocketAddr,
    own: &dyn Counted,
    started: &dyn Fn() -> Vec<Pid>,
) -> io::Result<Option<String>> {
    let owners = foreign_owners(address, own, started)?;
    Ok((!owners.is_empty()).then(|| {
        format!(
            "{address} is served by {}, not by the server's own processes alone, so what that uses is not measured; \
             start the server in the foreground, not with `docker run` or through a service manager",
            list(&owners)
        )
    }))
}

/// The error if an address is still served after its server was stopped.
pub fn still_served(address: SocketAddr) -> Option<String> {
    let owners = listeners(address).unwrap_or_default();
    (!owners.is_empty()).then(|| {
        format!(
            "{address} is still served by {} after the server was stopped; end that, and start the server in the \
             foreground, not with `docker run` or through a service manager",
            list(&owners)
        )
    })
}

fn list(owners: &[Owner]) -> String {
    owners.iter().map(Owner::to_string).collect::<Vec<_>>().join(" and ")
}

/// The addresses at which `own` listen.
pub fn listening(own: &dyn Counted) -> io::Result<Vec<SocketAddr>> {
    let mut all = sockets()?;
    all.retain(|socket| socket.state == TcpState::Listen);
    let holders = Holders::scan()?;
    let own = own.pids()?.into_iter().map(|pid| pid.as_raw_pid()).collect();
    all.retain(|socket| holders.any_holds(&own, &Held::Socket(socket.inode)));
    let mut found: Vec<SocketAddr> = all.iter().map(|it| canonical(it.local_address)).collect();
    found.sort();
    found.dedup();
    Ok(found)
}

/// The owners of sockets that listen on an address.
pub fn listeners(address: SocketAddr) -> io::Result<Vec<Owner>> {
    twice(|| {
        let mut all = sockets()?;
        all.retain(|it| it.state == TcpState::Listen && serves(it.local_address, address));
        Ok(owners(&Holders::scan()?, &Vec::from_iter(&all), &BTreeSet::new()))
    })
}

fn twice(scan: impl Fn() -> io::Result<Vec<Owner>>) -> io::Result<Vec<Owner>> {
    let mut found = scan()?;
    if !found.is_empty() {
        let again = scan()?;
        found.retain(|owner| again.contains(owner));
        found.sort();
        found.dedup();
    }
    Ok(found)
}

/// The TCP sockets of this machine that belong to a process. Connections that wait to be accepted have no inode, and closing ones
/// have no process.
fn sockets() -> io::Result<Vec<TcpNetEntry>> {
    let all = tcp().map_err(io::Error::other).map_err(about("the sockets of this machine"))?;
    // Missing if IPv6 is off.
    let all = all.into_iter().chain(tcp6().unwrap_or_default());
    Ok(all.filter(|socket| socket.inode != 0).collect())
}

pub(super) fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// True if a socket with this local address gets what is sent to `address`: it listens or was accepted there.
pub(super) fn serves(local: SocketAddr, address: SocketAddr) -> bool {
    let local = canonical(local);
    local.port() == address.port() && (local.ip() == address.ip() || local.ip().is_unspecified())
}

/// The owners of the sockets, except `own`. A socket without a visible owner belongs to another process if all files of `own` can
/// be read and another user created it.
fn owners(holders: &Holders, sockets: &[&TcpNetEntry], own: &BTreeSet<i32>) -> Vec<Owner> {
    let all: Vec<Held> = sockets.iter().map(|it| Held::Socket(it.inode)).collect();
    let mut others: Vec<Owner> = holders.others(&all, own).map(Owner::process).collect();
    if own.is_disjoint(&holders.closed) {
        let users: BTreeSet<u32> = sockets
            .iter()
            .filter(|it| it.uid != getuid().as_raw() && !holders.is_held(&Held::Socket(it.inode)))
            .map(|it| it.uid)
            .collect();
        others.extend(users.into_iter().map(Owner::Hidden));
    }
    others
}

fn program(pid: i32) -> String {
    let stat = Process::new(pid).and_then(|process| process.stat());
    stat.map_or_else(|_| "unknown program".to_owned(), |stat| stat.comm)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::io::{BufRead as _, BufReader};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command, Stdio};

    use rustix::fs::{Uid, fchown};
    use rustix::process::{Signal, kill_process};
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

    use super::*;
    use crate::host::marked::marked;
    use crate::host::readings::{CpuTime, MemoryUse};

    struct Family(Vec<Pid>);

    impl Counted for Family {
        fn pids(&self) -> io::Result<Vec<Pid>> {
            Ok(self.0.clone())
        }

        fn cpu(&self) -> io::Result<CpuTime> {
            Ok(CpuTime::default())
        }

        fn memory(&self) -> io::Result<MemoryUse> {
            Ok(MemoryUse::default())
        }
    }

    /// A process that holds a listening socket as its standard input.
    fn holder(listener: &TcpListener) -> Child {
        let socket = listener.as_fd().try_clone_to_owned().unwrap();
        Command::new("sleep").arg("60").stdin(Stdio::from(socket)).spawn().unwrap()
    }

    #[test]
    fn connection_that_waits_to_be_accepted_leads_to_its_listener() {
        let bind = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (front, inner) = (bind(), bind());
        let address = front.local_addr().unwrap();
        let made = TcpStream::connect(inner.local_addr().unwrap()).unwrap();
        let mut outside = holder(&inner);
        let mut own = Command::new("sleep");
        own.arg("60").stdin(Stdio::from(OwnedFd::from(front)));
        own.stdout(Stdio::from(OwnedFd::from(inner))).stderr(Stdio::from(OwnedFd::from(made)));
        let mut child = own.spawn().unwrap();
        drop(own);
        let pids = [&outside, &child].map(Pid::from_child);
        let of = |own: &[Pid]| foreign_owners(address, &Family(own.to_vec()), &Vec::new).unwrap();
        let (both, one) = (of(&pids), of(&pids[1..]));
        for child in [&mut outside, &mut child] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(both, []);
        assert_eq!(one.len(), 1, "{one:?}");
        assert!(matches!(one[0], Owner::Process { pid, .. } if pid == pids[0].as_raw_pid()));
    }

    /// A child, and an orphan that only the mark reveals.
    #[test]
    fn processes_started_outside_of_the_group_show_it() {
        const MARK: &str = "RPCBENCH_TEST_MARK";
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let script = "sleep 60 >&- & echo $!; (sleep 60 >&- & echo $!); exec sleep 60";
        let mut server = Command::new("sh");
        server.args(["-c", script]).env(MARK, address.to_string()).stdin(OwnedFd::from(listener));
        let mut server = server.stdout(Stdio::piped()).spawn().unwrap();
        let started = BufReader::new(server.stdout.as_mut().unwrap()).lines().take(2);
        let started: Vec<Pid> =
            started.map(|pid| Pid::from_raw(pid.unwrap().parse().unwrap()).unwrap()).collect();
        let own = Pid::from_child(&server);
        let of = |own: Vec<Pid>, started: &dyn Fn() -> Vec<Pid>| {
            let found = foreign_owners(address, &Family(own), started).unwrap();
            let pid = |owner| match owner {
                Owner::Process { pid, .. } => Pid::from_raw(pid),
                _ => None,
            };
            found.into_iter().map(pid).collect::<Option<HashSet<Pid>>>().unwrap()
        };
        let marked = || marked(MARK, &address.to_string());
        let all = of(vec![own], &marked);
        let child = of(vec![own], &Vec::new);
        let inside = of([vec![own], started.clone()].concat(), &marked);
        started.iter().for_each(|pid| kill_process(*pid, Signal::KILL).unwrap());
        server.kill().unwrap();
        server.wait().unwrap();
        assert_eq!(all, started.iter().copied().collect());
        assert_eq!(child, HashSet::from([started[0]]));
        assert_eq!(inside, HashSet::new());
    }

    #[test]
    fn listening_socket_that_another_process_holds_too_shows_it() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let mut children = [holder(&listener), holder(&listener)];
        drop(listener);
        let pids = [0, 1].map(|at: usize| Pid::from_child(&children[at]));
        let of = |own: &[Pid]| foreign_owners(address, &Family(own.to_vec()), &Vec::new).unwrap();
        let (inside, one_outside) = (of(&pids), of(&pids[..1]));
        let after = listeners(address).unwrap();
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let owner = |pid: Pid| Owner::Process { pid: pid.as_raw_pid(), program: "sleep".into() };
        assert_eq!(inside, []);
        assert_eq!(one_outside, [owner(pids[1])]);
        assert_eq!(after.len(), 2, "{after:?}");
        assert_eq!(listeners(address).unwrap(), []);
        assert_eq!(of(&pids), [Owner::Unknown]);
    }

    /// Like rpcbench in a container, next to a server's container with a different user.
    #[test]
    fn unreadable_files_of_other_users_are_no_evidence() {
        if !getuid().is_root() {
            return;
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        fchown(&listener, Some(Uid::from_raw(65_534)), None).unwrap();
        let mut server = Command::new("sleep");
        let server = server.arg("60").uid(65_534).stdin(Stdio::from(OwnedFd::from(listener)));
        let mut server = server.spawn().unwrap();
        let pid = Pid::from_child(&server);
        // Capabilities are per thread.
        let found = std::thread::spawn(move || {
            let mut all = capabilities(None).unwrap();
            all.effective.remove(CapabilitySet::SYS_PTRACE);
            set_capabilities(None, all).unwrap();
            foreign_owners(address, &Family(vec![pid]), &Vec::new)
        });
        let found = found.join().unwrap();
        server.kill().unwrap();
        server.wait().unwrap();
        assert_eq!(found.unwrap(), []);
    }

    /// A process that holds one end of a connection as its standard input.
    #[test]
    fn connection_to_another_process_shows_it() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let backend = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let made = TcpStream::connect(backend.local_addr().unwrap()).unwrap();
        let (accepted, _) = backend.accept().unwrap();
        let mut server = Command::new("sleep");
        server.arg("60").stdin(Stdio::from(OwnedFd::from(listener.try_clone().unwrap())));
        let mut server = server.stdout(Stdio::from(OwnedFd::from(made))).spawn().unwrap();
        let mut other = Command::new("sleep");
        let mut other =
            other.arg("60").stdin(Stdio::from(OwnedFd::from(accepted))).spawn().unwrap();
        let pids = [Pid::from_child(&server), Pid::from_child(&other)];
        let address = listener.local_addr().unwrap();
        drop(listener);
        let of = |own: &[Pid]| foreign_owners(address, &Family(own.to_vec()), &Vec::new).unwrap();
        let (with, without) = (of(&pids), of(&pids[..1]));
        for child in [&mut server, &mut other] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(with, []);
        let program = "sleep".to_owned();
        assert_eq!(without, [Owner::Process { pid: pids[1].as_raw_pid(), program }]);
    }
}
