//! The least work that is still correct gRPC: the ceiling against which a client's own speed is measured.
//!
//! One thread, one epoll loop, one read and one write per connection and turn. A request's message is sent back with its
//! tag changed from field 1 to field 2; request headers are not decoded, so every call counts as one of the text shape.

mod connection;
mod encoder;
mod frame;
mod message;
mod poll;
mod session;
#[cfg(test)]
mod session_tests;

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;

use crate::serve::Counters;
use connection::{Buffers, Connection, Turn};
use poll::{Interest, Poll};

/// Connections that may wait to be accepted; the kernel has a limit of its own (net.core.somaxconn).
const BACKLOG: libc::c_int = 4096;

/// Connections by descriptor, which the kernel keeps small.
type Connections = Vec<Option<Box<Connection>>>;

/// Serves until the other end of `stop` is closed.
pub(crate) fn serve(
    listener: &TcpListener,
    stop: &UnixStream,
    counters: &Counters,
) -> io::Result<()> {
    deepen(listener)?;
    let mut poll = Poll::new()?;
    poll.add(listener.as_raw_fd(), Interest::Read)?;
    poll.add(stop.as_raw_fd(), Interest::Read)?;
    let mut connections = Connections::new();
    let mut buffers = Buffers::new();
    loop {
        for index in 0..poll.wait()? {
            let ready = poll.ready(index);
            if ready == stop.as_raw_fd() {
                return Ok(());
            } else if ready == listener.as_raw_fd() {
                accept(listener, &poll, &mut connections, counters)?;
            } else {
                turn(ready, &poll, &mut connections, &mut buffers, counters)?;
            }
        }
    }
}

/// Lets more connections wait to be accepted than the standard library does.
fn deepen(listener: &TcpListener) -> io::Result<()> {
    // SAFETY: the call takes no pointers, and the descriptor is open.
    match unsafe { libc::listen(listener.as_raw_fd(), BACKLOG) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn accept(
    listener: &TcpListener,
    poll: &Poll,
    connections: &mut Connections,
    counters: &Counters,
) -> io::Result<()> {
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
            Err(error) => return Err(error),
        };
        counters.connections.fetch_add(1, Ordering::Relaxed);
        let descriptor = stream.as_raw_fd();
        let slot = descriptor.unsigned_abs() as usize;
        if connections.len() <= slot {
            connections.resize_with(slot + 1, || None);
        }
        connections[slot] = Some(Box::new(Connection::new(stream)?));
        poll.add(descriptor, Interest::Read)?;
    }
}

fn turn(
    descriptor: RawFd,
    poll: &Poll,
    connections: &mut Connections,
    buffers: &mut Buffers,
    counters: &Counters,
) -> io::Result<()> {
    let slot = &mut connections[descriptor.unsigned_abs() as usize];
    let Some(connection) = slot else { return Ok(()) };
    match connection.turn(buffers, &counters.calls) {
        Turn::Same => Ok(()),
        Turn::Wait(interest) => poll.change(descriptor, interest),
        Turn::Over => {
            // Closing the descriptor takes it off the poll.
            *slot = None;
            Ok(())
        }
    }
}
