//! Moves bytes between connections and the kernel: by epoll, and in tests in a simulation.

mod alarm;
mod blocking;
mod epoll;
mod place;
mod source;
#[cfg(test)]
mod tests;
mod tls;
mod waker;

pub(crate) use blocking::Blocking;
pub(crate) use epoll::EpollDriver;
pub(crate) use source::Sources;
pub use source::source_addresses;
pub(crate) use tls::TlsDriver;
pub(crate) use waker::Waker;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;

use rpcbench_record::Tls;
use rustix::event::Timespec;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

use crate::address::ServerAddress;
use rpcbench_clock::{Nanos, OwnClock};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ready {
    /// The owner's number for the connection.
    pub connection: usize,
    /// There may be bytes to receive, or the end of the stream.
    pub readable: bool,
    /// Bytes may be sent; after a connect, it succeeded or failed.
    pub writable: bool,
}

/// A TLS handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Handshake {
    /// When the TCP handshake was done; 0 before.
    pub begin: Nanos,
    /// When the connection became writable; 0 before.
    pub end: Nanos,
    /// True if it resumed an earlier session.
    pub is_resumed: bool,
}

impl Handshake {
    /// True from the end of the TCP handshake until the TLS handshake is done.
    pub fn is_pending(self) -> bool {
        self.begin != Nanos(0) && self.end == Nanos(0)
    }
}

/// Moves bytes. All times are by the driver's own clock.
pub(crate) trait Driver {
    fn now(&self) -> Nanos;

    /// Switches to another clock, after a time in which no other method was called.
    fn set_clock(&mut self, clock: OwnClock);

    /// CPU time spent polling since the driver was created.
    fn awake(&self) -> Nanos {
        Nanos(0)
    }

    /// What connections have agreed on for TLS so far. `None` without TLS.
    fn tls(&self) -> Option<&Tls> {
        None
    }

    /// Progress of a connection's TLS handshake. `None` without TLS.
    fn handshake(&self, _connection: usize) -> Option<Handshake> {
        None
    }

    /// CPU time that the last wait spent in TLS handshakes.
    fn handshaking(&self) -> Nanos {
        Nanos(0)
    }

    /// TLS records received since the driver was created.
    fn records(&self) -> u64 {
        0
    }

    /// Makes the next wait return at once.
    fn wake(&mut self);

    /// Starts to connect; `Ready` with `writable` follows.
    fn connect(&mut self, connection: usize, address: &ServerAddress) -> io::Result<()>;

    /// The result of the connect, available after that `Ready`.
    fn connected(&mut self, connection: usize) -> io::Result<()>;

    /// Renumbers connection `from` to the unused number `to`; its events are reported again.
    fn renumber(&mut self, from: usize, to: usize) -> io::Result<()>;

    /// Closes the sending side of a connection: the peer sees the end of the stream, and may still answer.
    fn finish(&mut self, connection: usize) -> io::Result<()>;

    /// Closes a connection; no `Ready` follows for it.
    fn close(&mut self, connection: usize);

    /// Waits for events until `until`, and puts them into `ready`. A waker ends the wait.
    fn wait(&mut self, until: Nanos, ready: &mut Vec<Ready>) -> io::Result<()>;

    /// Received bytes; none at the end of the stream. `WouldBlock` if nothing has arrived.
    fn receive(&mut self, connection: usize) -> io::Result<Received<'_>>;

    /// The buffer of the last [`Self::receive`], from its first byte on, for drivers that wrap this one.
    fn received(&mut self) -> &mut [u8] {
        &mut []
    }

    /// Passes bytes to the kernel; returns how many it took.
    fn send(&mut self, connection: usize, bytes: &[u8]) -> io::Result<usize>;
}

/// See [`Driver::receive`].
#[derive(Debug)]
pub(crate) struct Received<'a> {
    /// Mutable, for decryption in place.
    pub bytes: &'a mut [u8],
    /// There may be more to receive without waiting, or the end of the stream.
    pub more: bool,
    /// When the bytes were received.
    pub at: Nanos,
}

/// A non-blocking socket that is connecting, from the address `source` if given.
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

/// Nanoseconds as a kernel type.
fn timespec(nanos: u64) -> Timespec {
    Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as _ }
}
