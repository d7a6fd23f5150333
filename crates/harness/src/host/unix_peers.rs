//! The other ends of Unix sockets, as listed by the kernel over netlink (sock_diag(7)).

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd as _;
use std::thread;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, netlink, recv, send, socket};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Message types and flags of netlink(7) and sock_diag(7).
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const REQUEST_AND_DUMP: u16 = 0x301;
/// Requests the other end.
const UDIAG_SHOW_PEER: u32 = 4;
/// Attribute with the inode of the other end.
const UNIX_DIAG_PEER: u16 = 2;
/// Lengths: the header of a message, the data before the attributes in a reply, the header of an attribute.
const HEADER: usize = 16;
const SOCKET: usize = 16;
const ATTRIBUTE: usize = 4;
/// The kernel sends at most this much at a time.
const BUFFER: usize = 64 << 10;

/// The inode of each connected Unix socket in the network namespaces of this process and of `own`, with the inode of its other
/// end. Namespaces that this process can't enter are left out.
pub(super) fn unix_peers(own: &BTreeSet<i32>) -> BTreeMap<u64, u64> {
    let mut peers = dump().unwrap_or_default();
    let namespace = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/net")).ok();
    let mut known = BTreeSet::from([namespace("self")]);
    for pid in own {
        if known.insert(namespace(&pid.to_string())) {
            peers.extend(dump_of(*pid).unwrap_or_default());
        }
    }
    peers
}

/// Like [`dump`], in the network namespace of a process.
fn dump_of(pid: i32) -> io::Result<BTreeMap<u64, u64>> {
    let namespace = File::open(format!("/proc/{pid}/ns/net"))?;
    // Use a thread: entering a namespace affects only that.
    let dump = thread::spawn(move || {
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
        dump()
    });
    dump.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
}

fn dump() -> io::Result<BTreeMap<u64, u64>> {
    let kernel = socket(AddressFamily::NETLINK, SocketType::RAW, Some(netlink::SOCK_DIAG))?;
    send(&kernel, &request(), SendFlags::empty())?;
    let mut peers = BTreeMap::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        let (read, _) = recv(&kernel, &mut *buffer, RecvFlags::empty())?;
        if read == 0 || !add(&buffer[..read], &mut peers)? {
            return Ok(peers);
        }
    }
}

/// A request for all Unix sockets in any state.
fn request() -> Vec<u8> {
    const LEN: u32 = 40;
    let mut message = Vec::new();
    message.extend(LEN.to_ne_bytes());
    message.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    message.extend(REQUEST_AND_DUMP.to_ne_bytes());
    // Sequence number and port.
    message.extend([0; 8]);
    // Family 1 is AF_UNIX; protocol and padding follow.
    message.extend([1, 0, 0, 0]);
    message.extend(u32::MAX.to_ne_bytes());
    message.extend([0; 4]);
    message.extend(UDIAG_SHOW_PEER.to_ne_bytes());
    // No cookie.
    message.extend([0xFF; 8]);
    message
}

/// Adds the sockets in `messages`. Returns false after the last message.
fn add(mut messages: &[u8], peers: &mut BTreeMap<u64, u64>) -> io::Result<bool> {
    while let Some((length, kind)) = u32_at(messages, 0).zip(u16_at(messages, 4)) {
        match kind {
            NLMSG_DONE => return Ok(false),
            NLMSG_ERROR => return Err(io::ErrorKind::Unsupported.into()),
            _ => {}
        }
        let length = (length as usize).max(HEADER);
        let message = messages.get(..length).unwrap_or(messages);
        let attributes = message.get(HEADER + SOCKET..).unwrap_or_default();
        let inode = u32_at(message, HEADER + 4);
        // A connection that has not been accepted yet has no inode.
        let peer = peer_in(attributes).filter(|peer| *peer != 0);
        if let Some((inode, peer)) = inode.zip(peer) {
            peers.insert(inode.into(), peer.into());
        }
        messages = messages.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(true)
}

fn peer_in(mut attributes: &[u8]) -> Option<u32> {
    loop {
        let (length, kind) = (u16_at(attributes, 0)?, u16_at(attributes, 2)?);
        if kind == UNIX_DIAG_PEER {
            return u32_at(attributes, ATTRIBUTE);
        }
        let length = (length as usize).max(ATTRIBUTE).next_multiple_of(4);
        attributes = attributes.get(length..)?;
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}
