//! Accepts connections and serves them in turn.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::connection::{Buffers, Connection, Turn};
use crate::poll::{Interest, Poll};

/// Connections that may wait to be accepted; limited further by net.core.somaxconn.
const BACKLOG: i32 = 4096;

/// How a connection must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Close {
    /// Once the output is written, as the peer broke the protocol.
    Now,
    /// With a reset, on purpose.
    Reset,
    /// Only the server's side, on purpose.
    Half,
}

/// The protocol of one connection: bytes in, bytes out.
pub trait Session {
    /// Reads requests from `input`, writes replies, and returns the number of bytes read. After an error the connection is closed
    /// once the output is written.
    ///
    /// # Errors
    /// If the connection must be closed.
    fn receive(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Close>;

    /// Calls answered since this was last called.
    fn take_calls(&mut self) -> u64;
}

/// Counters for calls and connections.
#[derive(Clone, Copy, Debug)]
pub struct Counts<'a> {
    /// Calls answered. Counted before their replies are sent.
    pub calls: &'a AtomicU64,
    /// Connections accepted.
    pub connections: &'a AtomicU64,
    /// Open connections.
    pub open: &'a AtomicU64,
    /// The highest value of `open`.
    pub most_open: &'a AtomicU64,
}

impl Counts<'_> {
    fn opened(self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
        let open = self.open.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_open.fetch_max(open, Ordering::Relaxed);
    }

    fn closed(self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Connections by descriptor; the kernel keeps descriptors small.
type Connections<S> = Vec<Option<Box<Connection<S>>>>;

/// Serves connections until the other end of `stop` is closed. Several threads may share a listener, which must not block.
pub fn attend<S: Session>(
    listener: &TcpListener,
    stop: &UnixStream,
    counts: Counts<'_>,
    session: impl Fn() -> S,
) -> io::Result<()> {
    // A longer backlog than the standard library's.
    rustix::net::listen(listener, BACKLOG)?;
    let mut poll = Poll::new()?;
    poll.add(listener, Interest::IN)?;
    poll.add(stop, Interest::IN)?;
    let mut connections = Connections::<S>::new();
    let mut buffers = Buffers::new();
    loop {
        for index in 0..poll.wait()? {
            let ready = poll.ready(index);
            if ready == stop.as_raw_fd() {
                return Ok(());
            } else if ready == listener.as_raw_fd() {
                // One per turn: others are left to waiting threads.
                if let Some(stream) = accept(listener, counts)? {
                    add(stream, session(), &poll, &mut connections)?;
                }
            } else {
                turn(ready, &poll, &mut connections, &mut buffers, counts)?;
            }
        }
    }
}

/// The next waiting connection.
fn accept(listener: &TcpListener, counts: Counts<'_>) -> io::Result<Option<TcpStream>> {
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                counts.opened();
                return Ok(Some(stream));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => return Err(error),
        }
    }
}

fn add<S: Session>(
    stream: TcpStream,
    session: S,
    poll: &Poll,
    connections: &mut Connections<S>,
) -> io::Result<()> {
    let slot = stream.as_raw_fd().unsigned_abs() as usize;
    poll.add(&stream, Interest::IN)?;
    if connections.len() <= slot {
        connections.resize_with(slot + 1, || None);
    }
    connections[slot] = Some(Box::new(Connection::new(stream, session)?));
    Ok(())
}

fn turn<S: Session>(
    descriptor: RawFd,
    poll: &Poll,
    connections: &mut Connections<S>,
    buffers: &mut Buffers,
    counts: Counts<'_>,
) -> io::Result<()> {
    let slot = &mut connections[descriptor.unsigned_abs() as usize];
    let Some(connection) = slot else { return Ok(()) };
    match connection.turn(buffers, counts.calls) {
        Turn::Same => Ok(()),
        Turn::Wait(interest) => poll.change(&connection.stream, interest),
        Turn::Over => {
            // Closing the descriptor removes it from the poll.
            *slot = None;
            counts.closed();
            Ok(())
        }
    }
}
