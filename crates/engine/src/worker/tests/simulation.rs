//! The network and a server in virtual time.

use std::collections::{BTreeMap, VecDeque};
use std::io;

use super::peers::{self, Peer, ServerOutput};
use crate::address::ServerAddress;
use crate::driver::{Driver, Ready, Received};
use rpcbench_clock::{Nanos, OwnClock};

/// How the simulated server answers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Service {
    /// Each call after a fixed time, all at once.
    Takes(Nanos),
    /// Calls one after another, each for a fixed time.
    Queues(Nanos),
    /// Like `Takes`, until the server stops answering.
    StopsAt(Nanos, Nanos),
    /// Each call after a fixed time, but nothing happens from the first instant to the second.
    Pauses(Nanos, Nanos, Nanos),
    /// Most calls take the first time, but one in this many takes the second.
    Mixes(Nanos, u64, Nanos),
}

/// The network and a server, in virtual time.
pub(super) struct Simulation {
    /// The server's side of the protocol.
    pub peer: Peer,
    pub now: Nanos,
    /// The client's clock.
    pub clock: OwnClock,
    pub service: Service,
    pub free_at: Nanos,
    pub calls: u64,
    pub sockets: Vec<Socket>,
    /// Bytes on the way to the client: when they arrive, and on which connection.
    pub in_transit: BTreeMap<(Nanos, u64), (usize, Vec<u8>)>,
    pub sequence: u64,
    pub buffer: Vec<u8>,
    /// Bytes that a socket takes until it is full.
    pub room: usize,
    /// Bytes that the client receives per read.
    pub segment: usize,
    /// When a command wakes the client's thread, by its own clock.
    pub wakes_at: Nanos,
    /// How late the client's thread wakes up.
    pub oversleep: Nanos,
    /// How long a connect takes.
    pub connect_takes: Nanos,
    /// Whether the server refuses connections.
    pub refuses: bool,
    /// Number of connections opened.
    pub opened: u64,
    /// When the client's thread does not run at all.
    pub stopped: Option<(Nanos, Nanos)>,
    /// Part of each wait that TLS handshakes take.
    pub handshaking: Nanos,
}

#[derive(Default)]
pub(super) struct Socket {
    /// When its connect ends.
    connects_at: Option<Nanos>,
    /// Bytes taken since it was last full.
    pub taken: usize,
    /// Calls that the server has read.
    pub calls: u64,
    to_server: Vec<u8>,
    to_client: VecDeque<u8>,
    /// True once the server has closed it.
    closed: bool,
}

impl Simulation {
    pub fn new(connections: usize, service: Service) -> Self {
        Self {
            peer: peers::grpc,
            now: Nanos(1),
            clock: OwnClock::default(),
            service,
            free_at: Nanos(0),
            calls: 0,
            wakes_at: Nanos::NEVER,
            oversleep: Nanos(0),
            connect_takes: Nanos(0),
            refuses: false,
            opened: 0,
            stopped: None,
            handshaking: Nanos(0),
            sockets: (0..connections).map(|_| Socket::default()).collect(),
            in_transit: BTreeMap::new(),
            sequence: 0,
            buffer: Vec::new(),
            room: usize::MAX,
            segment: usize::MAX,
        }
    }

    /// Without bytes, the server closes the connection.
    pub fn arrive(&mut self, at: Nanos, connection: usize, bytes: Vec<u8>) {
        self.sequence += 1;
        self.in_transit.insert((at, self.sequence), (connection, bytes));
    }

    /// Freezes the server, and everything it would do, for this long.
    pub fn freeze(&mut self, length: Nanos) {
        self.now = self.now + length;
        self.free_at = self.free_at + length;
        let in_transit = std::mem::take(&mut self.in_transit).into_iter();
        self.in_transit =
            in_transit.map(|((at, number), bytes)| ((at + length, number), bytes)).collect();
        for socket in &mut self.sockets {
            socket.connects_at = socket.connects_at.map(|at| at + length);
        }
    }

    fn done_at(&mut self) -> Option<Nanos> {
        match self.service {
            Service::Takes(time) => Some(self.now + time),
            Service::StopsAt(end, time) => (self.now + time < end).then_some(self.now + time),
            Service::Pauses(from, to, time) => {
                let paused = (from..to).contains(&self.now);
                Some(if paused { to } else { self.now } + time)
            }
            Service::Mixes(time, one_in, rare) => {
                self.calls += 1;
                Some(self.now + if self.calls.is_multiple_of(one_in) { rare } else { time })
            }
            Service::Queues(time) => {
                self.free_at = self.free_at.max(self.now) + time;
                Some(self.free_at)
            }
        }
    }

    /// Sends these pieces in answer to a call.
    fn answer(&mut self, connection: usize, pieces: impl IntoIterator<Item = Vec<u8>>) {
        self.sockets[connection].calls += 1;
        if let Some(at) = self.done_at() {
            pieces.into_iter().for_each(|piece| self.arrive(at, connection, piece));
        }
    }

    /// Reports the sockets whose connect has ended, and those that accept bytes again.
    fn tell_writable(&mut self, ready: &mut Vec<Ready>) {
        for (connection, socket) in self.sockets.iter_mut().enumerate() {
            let full = socket.taken >= self.room && self.room > 0;
            let connects = socket.connects_at.take_if(|at| *at <= self.now).is_some();
            if connects || full {
                socket.taken = 0;
                ready.push(Ready { connection, readable: self.refuses, writable: true });
            }
        }
    }

    /// Lets the server read; schedules a reply to every complete request.
    fn serve(&mut self, connection: usize) {
        let mut bytes = std::mem::take(&mut self.sockets[connection].to_server);
        for said in (self.peer)(&mut bytes) {
            match said {
                ServerOutput::AtOnce(greeting) => self.arrive(self.now, connection, greeting),
                ServerOutput::InReply(reply) => self.answer(connection, [reply]),
                ServerOutput::LastReply(reply) => self.answer(connection, [reply, Vec::new()]),
            }
        }
        self.sockets[connection].to_server = bytes;
    }
}

impl Driver for Simulation {
    fn now(&self) -> Nanos {
        self.clock.own(self.now)
    }

    fn set_clock(&mut self, clock: OwnClock) {
        self.clock = clock;
    }

    fn connect(&mut self, connection: usize, _address: &ServerAddress) -> io::Result<()> {
        self.sockets[connection].connects_at = Some(self.now + self.connect_takes);
        self.opened += u64::from(!self.refuses);
        Ok(())
    }

    fn handshaking(&self) -> Nanos {
        self.handshaking
    }

    /// No time passes in a turn.
    fn wake(&mut self) {}

    fn connected(&mut self, _connection: usize) -> io::Result<()> {
        if self.refuses { Err(io::ErrorKind::ConnectionRefused.into()) } else { Ok(()) }
    }

    fn renumber(&mut self, from: usize, to: usize) -> io::Result<()> {
        self.sockets.resize_with(self.sockets.len().max(to + 1), Socket::default);
        self.sockets.swap(from, to);
        let of_it = self.in_transit.values_mut().filter(|(connection, _)| *connection == from);
        of_it.for_each(|(connection, _)| *connection = to);
        if self.sockets[to].closed {
            self.arrive(self.now, to, Vec::new()); // The kernel reports it again.
        }
        Ok(())
    }

    fn finish(&mut self, _connection: usize) -> io::Result<()> {
        Ok(())
    }

    fn close(&mut self, connection: usize) {
        self.sockets[connection] = Socket::default();
        self.in_transit.retain(|_, (to, _)| *to != connection);
    }

    fn wait(&mut self, until: Nanos, ready: &mut Vec<Ready>) -> io::Result<()> {
        ready.clear();
        let until = self.clock.real(if self.wakes_at > self.now() {
            until.min(self.wakes_at)
        } else {
            until
        });
        self.tell_writable(ready);
        let connects = self.sockets.iter().filter_map(|socket| socket.connects_at).min();
        let next = self.in_transit.keys().next().map_or(Nanos::NEVER, |(at, _)| *at);
        let next = next.min(connects.unwrap_or(Nanos::NEVER));
        if ready.is_empty() {
            assert_ne!(next.min(until), Nanos::NEVER, "nothing will ever happen");
            let woken = next.min(until);
            self.now = if woken > self.now { woken + self.oversleep } else { self.now };
        }
        if let Some((from, to)) = self.stopped
            && from <= self.now
        {
            self.now = self.now.max(to);
        }
        self.tell_writable(ready);
        while let Some(entry) = self.in_transit.first_entry()
            && entry.key().0 <= self.now
        {
            let (connection, bytes) = entry.remove();
            self.sockets[connection].closed |= bytes.is_empty();
            self.sockets[connection].to_client.extend(bytes);
            ready.push(Ready { connection, readable: true, writable: false });
        }
        Ok(())
    }

    fn receive(&mut self, connection: usize) -> io::Result<Received<'_>> {
        let arrived = &mut self.sockets[connection].to_client;
        self.buffer = arrived.drain(..arrived.len().min(self.segment)).collect();
        let more = !arrived.is_empty();
        match self.buffer.is_empty() && !self.sockets[connection].closed {
            true => Err(io::ErrorKind::WouldBlock.into()),
            false => Ok(Received { bytes: &mut self.buffer, more, at: self.clock.own(self.now) }),
        }
    }

    fn send(&mut self, connection: usize, bytes: &[u8]) -> io::Result<usize> {
        let socket = &mut self.sockets[connection];
        let bytes = &bytes[..bytes.len().min(self.room - socket.taken)];
        if bytes.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        socket.taken += bytes.len();
        socket.to_server.extend_from_slice(bytes);
        self.serve(connection);
        Ok(bytes.len())
    }
}
