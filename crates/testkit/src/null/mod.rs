//! Null servers: the least work that answers correctly, so that a client's own speed can be measured.
//!
//! One thread, one epoll loop, one read and one write per connection and turn. In gRPC the message is sent back with its tag
//! changed from field 1 to field 2; request headers are not decoded, so every call counts as one of the text shape. In JSON
//! a text is sent back under another key, in Thrift as another field, in tcp-echo unchanged.

mod connection;
mod encoder;
mod json;
mod message;
mod poll;
mod session;
#[cfg(test)]
mod session_tests;
mod tcp_echo;
mod thrift;

use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;

use rpcbench_record::Protocol;

use crate::serve::Counters;
use crate::thrift::Form;
use connection::{Buffers, Connection, Turn};
use poll::{Interest, Poll};

/// Connections that may wait to be accepted; net.core.somaxconn limits it further.
const BACKLOG: i32 = 4096;

/// The protocol of one connection: bytes in, bytes out.
trait Session {
    /// Reads requests from `input`, writes replies, and returns how much of the input it used. `Err`: close the connection
    /// once the output is written.
    fn receive(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, ()>;

    /// Calls answered since the last call of this function.
    fn take_calls(&mut self) -> u64;
}

/// Connections by descriptor, which the kernel keeps small.
type Connections<S> = Vec<Option<Box<Connection<S>>>>;

/// Serves the protocol until the other end of `stop` is closed.
pub(crate) fn serve(
    protocol: Protocol,
    listener: &TcpListener,
    stop: &UnixStream,
    counters: &Counters,
) -> io::Result<()> {
    match (protocol, Form::of(protocol)) {
        (Protocol::Grpc, _) => attend(listener, stop, counters, session::Session::default),
        (Protocol::Json, _) => attend(listener, stop, counters, json::Json::default),
        (Protocol::TcpEcho, _) => attend(listener, stop, counters, tcp_echo::TcpEcho::default),
        (_, Some(form)) => attend(listener, stop, counters, || thrift::Thrift::new(form)),
        (_, None) => Err(io::Error::other(format!("no null server speaks {protocol}"))),
    }
}

fn attend<S: Session>(
    listener: &TcpListener,
    stop: &UnixStream,
    counters: &Counters,
    session: impl Fn() -> S,
) -> io::Result<()> {
    // More than the standard library lets wait.
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
                while let Some(stream) = accept(listener, counters)? {
                    add(stream, session(), &poll, &mut connections)?;
                }
            } else {
                turn(ready, &poll, &mut connections, &mut buffers, counters)?;
            }
        }
    }
}

/// The next waiting connection.
fn accept(listener: &TcpListener, counters: &Counters) -> io::Result<Option<TcpStream>> {
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                counters.connections.fetch_add(1, Ordering::Relaxed);
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
    counters: &Counters,
) -> io::Result<()> {
    let slot = &mut connections[descriptor.unsigned_abs() as usize];
    let Some(connection) = slot else { return Ok(()) };
    match connection.turn(buffers, &counters.calls) {
        Turn::Same => Ok(()),
        Turn::Wait(interest) => poll.change(&connection.stream, interest),
        Turn::Over => {
            // Closing the descriptor removes it from the poll.
            *slot = None;
            Ok(())
        }
    }
}
