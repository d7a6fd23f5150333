//! One TLS connection per call: connect, handshake, one request, one reply, close.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use rpcbench_contract::Shape;
use rpcbench_record::Protocol;
use rustls::{ClientConfig, ClientConnection, HandshakeKind};

use super::events::{Events, Source};
use super::opening;
use super::requests::Requests;
use super::tls;
use super::wire;

pub(super) struct Short {
    address: SocketAddr,
    config: Arc<ClientConfig>,
    events: Events,
    connections: Vec<Connection>,
    requests: Requests,
    /// Bytes of a reply.
    reply: usize,
}

struct Connection {
    socket: TcpStream,
    session: ClientConnection,
    received: usize,
}

/// What a run has done.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Calls {
    pub calls: u64,
    /// Calls on connections that resumed a session.
    pub resumed: u64,
}

impl Short {
    /// Makes checked calls on a connection to learn the size of a reply. Fails for protocols that exchange more than a request
    /// and its reply.
    pub fn new(
        address: SocketAddr,
        config: Arc<ClientConfig>,
        protocol: Protocol,
        shape: &Shape,
    ) -> anyhow::Result<Self> {
        ensure!(protocol != Protocol::Grpc, "--short takes json or thrift: gRPC greets the server");
        let (wire, corpus) = wire::of(protocol, shape, address)?;
        let requests = Requests::new(&corpus, &*wire, 1)?;
        let reply = opening::open(address, Some(&config), &*wire, &corpus)?.reply;
        let (events, connections) = (Events::new()?, Vec::new());
        Ok(Self { address, config, events, connections, requests, reply })
    }

    /// Keeps `connections` open for `length`. Calls without a reply by then don't count.
    pub fn run(&mut self, connections: u32, length: Duration) -> anyhow::Result<Calls> {
        self.events.ring_after(length)?;
        for number in 0..connections as usize {
            let connection = self.connect(number)?;
            self.connections.push(connection);
        }
        let mut done = Calls::default();
        while !self.turn(&mut done)? {}
        self.connections.clear();
        Ok(done)
    }

    /// Waits for events and handles them. True if the timer rang.
    fn turn(&mut self, done: &mut Calls) -> anyhow::Result<bool> {
        let mut rang = false;
        for index in 0..self.events.wait()? {
            let (Source::Readable(number) | Source::Writable(number)) = self.events.source(index)
            else {
                rang = true;
                continue;
            };
            let connection = &mut self.connections[number];
            if connection.exchange(self.reply)? {
                done.calls += 1;
                let is_resumed =
                    connection.session.handshake_kind() == Some(HandshakeKind::Resumed);
                done.resumed += u64::from(is_resumed);
                self.connections[number] = self.connect(number)?;
            }
        }
        Ok(rang)
    }

    /// Opens a connection whose request is sent with the end of the handshake.
    fn connect(&mut self, number: usize) -> anyhow::Result<Connection> {
        let socket = TcpStream::connect(self.address)?;
        socket.set_nodelay(true)?;
        socket.set_nonblocking(true)?;
        self.events.add_socket(&socket, number)?;
        let mut session = tls::session(&self.config)?;
        session.writer().write_all(self.requests.take(1, 0).context("no request")?)?;
        Ok(Connection { socket, session, received: 0 })
    }
}

impl Connection {
    /// Writes and reads as far as the kernel allows. True after a whole reply of `reply` bytes.
    fn exchange(&mut self, reply: usize) -> anyhow::Result<bool> {
        let Self { socket, session, received } = self;
        loop {
            while session.wants_write() {
                session.write_tls(socket).context("send")?;
            }
            match session.read_tls(socket) {
                Ok(read) => ensure!(read > 0, "the server closed a connection"),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error).context("recv"),
            }
            let length = session.process_new_packets()?.plaintext_bytes_to_read();
            *received +=
                io::copy(&mut session.reader().take(length as u64), &mut io::sink())? as usize;
            if *received >= reply {
                ensure!(*received == reply, "{received} bytes of a reply of {reply}");
                session.send_close_notify();
                session.write_tls(socket).context("send")?;
                return Ok(true);
            }
        }
    }
}
