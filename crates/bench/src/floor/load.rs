//! The loop: one read and one write per connection and turn.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use rpcbench_contract::Shape;
use rpcbench_record::Protocol;
use rpcbench_testkit::http2::Frame;
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags};
use rustls::ClientConfig;

use super::events::{Events, Source};
use super::opening::{self, CALLS, Opened};
use super::replies::Replies;
use super::requests::Requests;
use super::tls::Records;
use super::wire;

/// Maximum bytes per read, as in the engine's epoll driver.
const RECEIVE_BUFFER: usize = 256 * 1024;
/// How long to wait for the last replies.
const GRACE: Duration = Duration::from_secs(5);
/// Received bytes of DATA after which the connection's window is reopened.
const REFILL: u64 = 1 << 30;

#[derive(Clone, Copy)]
pub(super) struct Load {
    pub connections: u32,
    /// On each connection.
    pub in_flight: u32,
}

struct Connection {
    stream: TcpStream,
    /// `None` without TLS.
    records: Option<Records>,
    sent: u64,
    answered: u64,
    received: u64,
    /// Number of calls answered when the window was last opened.
    refilled: u64,
}

/// Connections that each keep a fixed number of calls in flight, to a server whose replies all have one size.
pub(super) struct Floor {
    events: Events,
    connections: Vec<Connection>,
    requests: Requests,
    replies: Replies,
    in_flight: u32,
    /// Bytes of a reply that count against our window. `None` without windows.
    windowed: Option<u64>,
    buffer: Box<[u8]>,
    outstanding: u64,
    loading: bool,
}

impl Floor {
    /// Opens the connections of `load`, with TLS if there is a configuration, and makes [`CALLS`] checked calls on each. Fails
    /// if replies differ in size.
    pub fn open(
        address: SocketAddr,
        tls: Option<&Arc<ClientConfig>>,
        protocol: Protocol,
        load: Load,
        shape: &Shape,
    ) -> anyhow::Result<Self> {
        let Load { connections, in_flight } = load;
        let (wire, corpus) = wire::of(protocol, shape, address)?;
        let requests = Requests::new(&corpus, &*wire, in_flight as usize)?;
        let events = Events::new()?;
        let opened = (0..connections)
            .map(|_| opening::open(address, tls, &*wire, &corpus))
            .collect::<anyhow::Result<Vec<Opened>>>()?;
        let size = opened.first().map_or(1, |opened| opened.reply);
        if let Some(other) = opened.iter().find(|opened| opened.reply != size) {
            bail!("replies of {size} and of {} bytes", other.reply);
        }
        // A reply carries the content of its request.
        let windowed = wire.windowed(corpus.request(0));
        let replies = Replies::new(size as u64, windowed);
        let connections: Vec<Connection> =
            opened.into_iter().map(|opened| Connection::new(opened, replies)).collect();
        for (index, connection) in connections.iter().enumerate() {
            events.add_socket(&connection.stream, index)?;
        }
        Ok(Self {
            events,
            connections,
            requests,
            replies,
            in_flight,
            windowed,
            buffer: vec![0; RECEIVE_BUFFER].into(),
            outstanding: 0,
            loading: false,
        })
    }

    /// Keeps calls in flight for `length`, waits for the last replies, and returns the number of calls. Fails if a connection
    /// is lost or bytes were received that belong to no reply.
    pub fn run(&mut self, length: Duration) -> anyhow::Result<u64> {
        let before: u64 = self.answered();
        self.loading = true;
        self.events.ring_after(length)?;
        for index in 0..self.connections.len() {
            self.send(index, u64::from(self.in_flight))?;
        }
        while !self.turn()? {}
        self.loading = false;
        self.events.ring_after(GRACE)?;
        while self.outstanding > 0 {
            if self.turn()? && self.outstanding > 0 {
                bail!(
                    "{} calls unanswered {} s after the last was sent",
                    self.outstanding,
                    GRACE.as_secs()
                );
            }
        }
        self.account()?;
        Ok(self.answered() - before)
    }

    fn answered(&self) -> u64 {
        self.connections.iter().map(|connection| connection.answered).sum()
    }

    /// Checks that all bytes received are replies to calls.
    fn account(&self) -> anyhow::Result<()> {
        for connection in &self.connections {
            let Connection { sent, answered, received, .. } = *connection;
            ensure!(
                answered == sent && received == self.replies.bytes(sent),
                self.wrong_bytes(connection)
            );
        }
        Ok(())
    }

    /// Waits for events and handles them. True if the timer rang.
    fn turn(&mut self) -> anyhow::Result<bool> {
        let mut rang = false;
        for index in 0..self.events.wait()? {
            match self.events.source(index) {
                Source::Timer => rang = true,
                Source::Readable(connection) => self.exchange(connection)?,
                // The kernel takes everything that is sent.
                Source::Writable(_) => {}
            }
        }
        Ok(rang)
    }

    /// Reads what has arrived, and sends one call for each that was answered.
    fn exchange(&mut self, index: usize) -> anyhow::Result<()> {
        loop {
            let connection = &mut self.connections[index];
            let read = match net::recv(&connection.stream, &mut *self.buffer, RecvFlags::empty()) {
                Ok((0, _)) => {
                    bail!("the server closed a connection after {} calls", connection.answered)
                }
                Ok((read, _)) => read,
                Err(Errno::AGAIN) => return Ok(()),
                Err(errno) => return Err(errno).context("recv"),
            };
            connection.received += match &mut connection.records {
                None => read as u64,
                Some(records) => records.open(&mut self.buffer[..read])?,
            };
            let answered = self.replies.answered(connection.received);
            let ended = answered - connection.answered;
            connection.answered = answered;
            if answered > connection.sent {
                bail!(self.wrong_bytes(&self.connections[index]));
            }
            self.outstanding -= ended;
            if let Some(bytes) = self.windowed {
                self.refill(index, bytes)?;
            }
            if self.loading && ended > 0 {
                self.send(index, ended)?;
            }
            if read < self.buffer.len() {
                return Ok(());
            }
        }
    }

    #[cold]
    fn wrong_bytes(&self, connection: &Connection) -> String {
        let &Connection { sent, received, .. } = connection;
        format!(
            "{received} bytes received for {sent} calls on a connection, expected {}: replies differ in size, or \
             the server sent something else in between",
            self.replies.bytes(sent)
        )
    }

    fn send(&mut self, index: usize, count: u64) -> anyhow::Result<()> {
        let connection = &mut self.connections[index];
        let requests = self.requests.take(count as usize, connection.sent);
        connection.put(
            requests
                .context("a connection ran out of numbers for calls; run for a shorter time")?,
        )?;
        connection.sent += count;
        self.outstanding += count;
        Ok(())
    }

    /// Reopens the connection's window by the bytes received since it was last opened, once there are many. A reply counts
    /// `windowed` bytes.
    fn refill(&mut self, index: usize, windowed: u64) -> anyhow::Result<()> {
        let connection = &mut self.connections[index];
        let bytes = (connection.answered - connection.refilled) * windowed;
        if bytes < REFILL {
            return Ok(());
        }
        connection.refilled = connection.answered;
        connection.put(&Frame::window_update(0, bytes as u32).encode())
    }
}

impl Connection {
    fn new(opened: Opened, replies: Replies) -> Self {
        let Opened { stream, records, .. } = opened;
        let calls = u64::from(CALLS);
        let received = replies.bytes(calls);
        Self { stream, records, sent: calls, answered: calls, received, refilled: 0 }
    }

    fn put(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let bytes = match &mut self.records {
            None => bytes,
            Some(records) => records.seal(bytes)?,
        };
        let taken = net::send(&self.stream, bytes, SendFlags::NOSIGNAL).context("send")?;
        ensure!(
            taken == bytes.len(),
            "the kernel took {taken} of {} bytes; use fewer calls in flight",
            bytes.len()
        );
        Ok(())
    }
}
