//! The least work that still answers: the ceiling against which a client's own speed is measured.
//!
//! One thread, one epoll loop, one read and one write per connection and turn. In gRPC a request's message is sent back
//! with its tag changed from field 1 to field 2; request headers are not decoded, so every call counts as one of the text
//! shape. In JSON a text comes back under another key. In tcp-echo the bytes are sent back.

mod connection;
mod encoder;
mod json;
mod message;
mod poll;
mod session;
#[cfg(test)]
mod session_tests;
mod tcp_echo;

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

/// One connection's requests and replies, as bytes.
trait Session: Default {
    /// Takes input and writes replies; says how much of the input it used. `Err`: the connection is to be closed once
    /// the output is written.
    fn receive(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, ()>;

    /// Calls answered since the last time.
    fn take_calls(&mut self) -> u64;
}

/// Connections by descriptor, which the kernel keeps small.
type Connections<S> = Vec<Option<Box<Connection<S>>>>;

/// Serves gRPC until the other end of `stop` is closed.
pub(crate) fn serve_grpc(
    listener: &TcpListener,
    stop: &UnixStream,
    counters: &Counters,
) -> io::Result<()> {
    serve::<session::Session>(listener, stop, counters)
}

/// Serves JSON over HTTP/1.1 until the other end of `stop` is closed.
pub(crate) fn serve_json(
    listener: &TcpListener,
    stop: &UnixStream,
    counters: &Counters,
) -> io::Result<()> {
    serve::<json::Json>(listener, stop, counters)
}

/// Serves tcp-echo until the other end of `stop` is closed.
pub(crate) fn serve_tcp_echo(
    listener: &TcpListener,
    stop: &UnixStream,
    counters: &Counters,
) -> io::Result<()> {
    serve::<tcp_echo::TcpEcho>(listener, stop, counters)
}

fn serve<S: Session>(
    listener: &TcpListener,
    stop: &UnixStream,
    counters: &Counters,
) -> io::Result<()> {
    deepen(listener)?;
    let mut poll = Poll::new()?;
    poll.add(listener.as_raw_fd(), Interest::Read)?;
    poll.add(stop.as_raw_fd(), Interest::Read)?;
    let mut connections = Connections::<S>::new();
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

fn accept<S: Session>(
    listener: &TcpListener,
    poll: &Poll,
    connections: &mut Connections<S>,
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

fn turn<S: Session>(
    descriptor: RawFd,
    poll: &Poll,
    connections: &mut Connections<S>,
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
