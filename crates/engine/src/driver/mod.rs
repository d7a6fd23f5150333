//! What moves bytes between connections and the kernel: epoll, and in tests a simulation.

mod alarm;
mod blocking;
mod epoll;
mod source;
#[cfg(test)]
mod tests;
mod waker;

pub(crate) use blocking::Blocking;
pub(crate) use epoll::EpollDriver;
pub(crate) use source::Sources;
pub(crate) use waker::Waker;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::event::Timespec;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

use crate::address::ServerAddress;
use crate::clock::Nanos;

/// Something that happened to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ready {
    /// The connection, as numbered by the owner.
    pub connection: usize,
    /// There may be bytes to receive, or the end of them.
    pub readable: bool,
    /// Bytes may be sent; after a connect, it succeeded or failed.
    pub writable: bool,
}

/// Moves bytes, and tells the time at which it does.
pub(crate) trait Driver {
    fn now(&self) -> Nanos;

    /// CPU time that was spent waiting awake, since the driver was made.
    fn awake(&self) -> Nanos {
        Nanos(0)
    }

    /// Starts to connect; `Ready` with `writable` follows.
    fn connect(&mut self, connection: usize, address: &ServerAddress) -> io::Result<()>;

    /// What became of the connect after that `Ready`.
    fn connected(&mut self, connection: usize) -> io::Result<()>;

    /// Changes connection `from` to number `to`, which no other may have; its events are reported again.
    fn renumber(&mut self, from: usize, to: usize) -> io::Result<()>;

    /// Ends the client's side of a connection: the peer sees the end of the stream, and may still answer.
    fn finish(&mut self, connection: usize) -> io::Result<()>;

    /// Ends a connection; no `Ready` follows for it.
    fn close(&mut self, connection: usize);

    /// Waits until something happens or `until` has come, and puts what happened into `ready`.
    /// Returns at once if a waker was used.
    fn wait(&mut self, until: Nanos, ready: &mut Vec<Ready>) -> io::Result<()>;

    /// Bytes that have come; none at the end of the stream. `WouldBlock` if there is nothing.
    fn receive(&mut self, connection: usize) -> io::Result<Received<'_>>;

    /// Gives bytes to the kernel and says how many it took.
    fn send(&mut self, connection: usize, bytes: &[u8]) -> io::Result<usize>;
}

/// See [`Driver::receive`].
#[derive(Debug)]
pub(crate) struct Received<'a> {
    pub bytes: &'a [u8],
    /// There may be more to receive without waiting, or the end of the stream.
    pub more: bool,
    /// When the bytes were there.
    pub at: Nanos,
}

/// A socket that does not block, and that connects, from `source` if it is given.
fn connecting(address: &ServerAddress, source: Option<Ipv4Addr>) -> io::Result<OwnedFd> {
    let (socket, connected) = match address {
        ServerAddress::Tcp(address) => {
            let socket = tcp(address, source)?;
            let connected = net::connect(&socket, address);
            (socket, connected)
        }
        ServerAddress::Unix(path) => {
            let socket = socket(AddressFamily::UNIX)?;
            let connected = net::connect(&socket, &SocketAddrUnix::new(path)?);
            (socket, connected)
        }
    };
    match connected {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error.into()),
    }
}

fn tcp(address: &SocketAddr, source: Option<Ipv4Addr>) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket(family)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    if let Some(source) = source {
        source::bind(&socket, source)?;
    }
    Ok(socket)
}

fn socket(family: AddressFamily) -> io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    Ok(net::socket_with(family, SocketType::STREAM, flags, None)?)
}

/// Nanoseconds as the kernel takes them.
fn timespec(nanos: u64) -> Timespec {
    Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as _ }
}
