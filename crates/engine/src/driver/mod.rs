//! What moves bytes between connections and the kernel; the one thing that differs between epoll, a
//! completion queue and a simulation.

mod epoll;

pub(crate) use epoll::{EpollDriver, Waker};

use std::io;
use std::net::SocketAddr;

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

    /// Starts to connect; `Ready` with `writable` follows.
    fn connect(&mut self, connection: usize, address: SocketAddr) -> io::Result<()>;

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
