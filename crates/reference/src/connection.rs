//! A socket with its session.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

use crate::attend::{Close, Session};
use crate::http2::{DEFAULT_MAX_PAYLOAD, Head};
use crate::poll::Interest;

const READ: usize = 256 << 10;

/// Buffers for a turn, shared by all connections. Connections only keep what a turn leaves over.
pub(crate) struct Buffers {
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Buffers {
    pub(crate) fn new() -> Self {
        Self {
            input: vec![0; READ + Head::SIZE + DEFAULT_MAX_PAYLOAD],
            output: Vec::with_capacity(READ),
        }
    }
}

pub(crate) struct Connection<S> {
    pub(crate) stream: TcpStream,
    session: S,
    /// The start of an incomplete frame.
    partial: Vec<u8>,
    /// Bytes that the kernel has not accepted yet. Reading pauses until it has.
    unsent: Vec<u8>,
    closing: Option<Close>,
    /// True if the server's side is closed. Input is then discarded.
    is_mute: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Same,
    Wait(Interest),
    Over,
}

impl<S: Session> Connection<S> {
    pub(crate) fn new(stream: TcpStream, session: S) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            session,
            partial: Vec::new(),
            unsent: Vec::new(),
            closing: None,
            is_mute: false,
        })
    }

    /// Reads and writes as much as the kernel allows. Counts calls before sending their replies.
    pub(crate) fn turn(&mut self, buffers: &mut Buffers, calls: &AtomicU64) -> Turn {
        let outcome =
            if self.unsent.is_empty() { self.exchange(buffers, calls) } else { self.flush() };
        // A connection that fails is over.
        outcome.unwrap_or(Turn::Over)
    }

    fn exchange(&mut self, buffers: &mut Buffers, calls: &AtomicU64) -> io::Result<Turn> {
        let kept = self.partial.len();
        buffers.input[..kept].copy_from_slice(&self.partial);
        let length = match self.stream.read(&mut buffers.input[kept..]) {
            Ok(0) => return Ok(Turn::Over),
            Ok(length) => length,
            Err(error) if is_transient(&error) => return Ok(Turn::Same),
            Err(error) => return Err(error),
        };
        if self.is_mute {
            return Ok(Turn::Same);
        }
        let input = &buffers.input[..kept + length];
        self.partial.clear();
        match self.session.receive(input, &mut buffers.output) {
            Ok(used) => self.partial.extend_from_slice(&input[used..]),
            Err(close) => self.closing = Some(close),
        }
        calls.fetch_add(self.session.take_calls(), Ordering::Relaxed);
        let turn = self.send(&buffers.output);
        buffers.output.clear();
        turn
    }

    fn send(&mut self, output: &[u8]) -> io::Result<Turn> {
        let mut written = 0;
        while written < output.len() {
            match self.stream.write(&output[written..]) {
                Ok(length) => written += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.unsent.extend_from_slice(&output[written..]);
                    return Ok(Turn::Wait(Interest::OUT));
                }
                Err(error) => return Err(error),
            }
        }
        self.end()
    }

    /// Closes the connection if due.
    fn end(&mut self) -> io::Result<Turn> {
        match self.closing.take() {
            None => Ok(Turn::Same),
            Some(Close::Now) => Ok(Turn::Over),
            Some(Close::Reset) => {
                set_socket_linger(&self.stream, Some(Duration::ZERO))?;
                Ok(Turn::Over)
            }
            Some(Close::Half) => {
                self.is_mute = true;
                self.stream.shutdown(Shutdown::Write)?;
                Ok(Turn::Same)
            }
        }
    }

    fn flush(&mut self) -> io::Result<Turn> {
        let unsent = std::mem::take(&mut self.unsent);
        Ok(match self.send(&unsent)? {
            Turn::Same => Turn::Wait(Interest::IN),
            other => other,
        })
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
