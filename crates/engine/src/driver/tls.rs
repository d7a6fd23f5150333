//! TLS around another driver. Without a TLS client, calls go straight through.

use std::collections::VecDeque;
use std::io;

use rpcbench_record::Tls;

use super::place::{Place, Stage, flush};
use super::{Driver, Handshake, Ready, Received};
use crate::address::ServerAddress;
use crate::tls::{Session, TlsClient};
use rpcbench_clock::{self as clock, Nanos, OwnClock};

/// Maximum handshakes advanced per wait. A full one takes about 0.2 ms of the client's CPU.
pub(super) const MAX_HANDSHAKES: usize = 4;

/// A driver whose connections may use TLS.
pub(crate) struct TlsDriver<D: Driver> {
    inner: D,
    client: Option<TlsClient>,
    /// Empty without TLS.
    places: Vec<Option<Box<Place>>>,
    plaintext: Vec<u8>,
    /// What the first handshake agreed on, and the number of handshakes.
    agreed: Option<Tls>,
    /// Connections whose handshakes can continue, each listed once.
    waiting: VecDeque<usize>,
    /// CPU time of the last wait's handshakes.
    handshaking: Nanos,
    /// Records received.
    records: u64,
}

impl<D: Driver> TlsDriver<D> {
    /// Connections use TLS if there is a client. `connections`: how many are open at once.
    pub fn new(inner: D, client: Option<&TlsClient>, connections: usize) -> Self {
        Self::sharing(inner, client.map(|client| client.with_tickets_for(connections)))
    }

    /// Connections use TLS if there is a client, and share its store of tickets.
    pub fn sharing(inner: D, client: Option<TlsClient>) -> Self {
        Self {
            inner,
            client,
            places: Vec::new(),
            plaintext: Vec::new(),
            agreed: None,
            waiting: VecDeque::new(),
            handshaking: Nanos(0),
            records: 0,
        }
    }

    fn place(&mut self, connection: usize) -> Option<&mut Box<Place>> {
        self.places.get_mut(connection)?.as_mut()
    }

    fn put(&mut self, connection: usize, place: Box<Place>) {
        if self.places.len() <= connection {
            self.places.resize_with(connection + 1, || None);
        }
        self.places[connection] = Some(place);
    }

    /// Removes the events of handshakes from `ready`, and advances only some handshakes: a turn must not become an absence.
    #[cold]
    fn advance(&mut self, ready: &mut Vec<Ready>) {
        let Self { inner, places, waiting, .. } = self;
        ready.retain(|event| {
            let Some(place) = places.get_mut(event.connection).and_then(Option::as_mut) else {
                return true;
            };
            match place.stage {
                Stage::Connecting | Stage::Handshaking => {
                    if place.postpone(event) {
                        waiting.push_back(event.connection);
                    }
                    return false;
                }
                Stage::Open if event.writable => {
                    // If this fails, the next write fails too.
                    let _ = flush(inner, event.connection, &mut place.session);
                }
                Stage::Open | Stage::Failed(_) => {}
            }
            true
        });
        self.handshaking = Nanos(0);
        if self.waiting.is_empty() {
            return;
        }
        let begin = clock::thread_cpu();
        for _ in 0..MAX_HANDSHAKES {
            let Some(connection) = self.waiting.pop_front() else { break };
            ready.extend(self.step(connection));
        }
        self.handshaking = clock::thread_cpu() - begin;
        if !self.waiting.is_empty() {
            self.inner.wake();
        }
    }

    /// Advances a handshake. Returns an event once it is done or has failed.
    fn step(&mut self, connection: usize) -> Option<Ready> {
        let Self { inner, client: Some(client), places, agreed, .. } = self else { return None };
        let place = places.get_mut(connection).and_then(Option::as_mut)?;
        let event = place.postponed.take()?;
        match place.handshake(inner, client, &event) {
            Ok(false) => return None,
            Ok(true) => {
                place.stage = Stage::Open;
                place.handshake.end = inner.now();
                place.handshake.is_resumed = place.session.is_resumed();
                agreed
                    .get_or_insert_with(|| place.session.agreed(client))
                    .count(place.handshake.is_resumed);
            }
            Err(error) => place.stage = Stage::Failed(Some(error)),
        }
        // Bytes may have come with the last message of the handshake.
        Some(Ready { connection, readable: true, writable: true })
    }
}

impl<D: Driver> Driver for TlsDriver<D> {
    fn now(&self) -> Nanos {
        self.inner.now()
    }

    fn set_clock(&mut self, clock: OwnClock) {
        self.inner.set_clock(clock);
    }

    fn awake(&self) -> Nanos {
        self.inner.awake()
    }

    fn tls(&self) -> Option<&Tls> {
        self.agreed.as_ref()
    }

    fn handshake(&self, connection: usize) -> Option<Handshake> {
        Some(self.places.get(connection)?.as_ref()?.handshake)
    }

    fn handshaking(&self) -> Nanos {
        self.handshaking
    }

    fn records(&self) -> u64 {
        self.records
    }

    fn wake(&mut self) {
        self.inner.wake();
    }

    fn connect(&mut self, connection: usize, address: &ServerAddress) -> io::Result<()> {
        if let Some(client) = &self.client {
            let session = Session::new(client)?;
            self.put(connection, Box::new(Place::new(session)));
        }
        self.inner.connect(connection, address)
    }

    fn connected(&mut self, connection: usize) -> io::Result<()> {
        match self.place(connection).map(|place| &mut place.stage) {
            None => self.inner.connected(connection),
            Some(Stage::Failed(error)) => {
                Err(error.take().unwrap_or_else(|| io::ErrorKind::NotConnected.into()))
            }
            Some(_) => Ok(()),
        }
    }

    fn renumber(&mut self, from: usize, to: usize) -> io::Result<()> {
        self.inner.renumber(from, to)?;
        if let Some(place) = self.places.get_mut(from).and_then(Option::take) {
            self.put(to, place);
        }
        Ok(())
    }

    fn finish(&mut self, connection: usize) -> io::Result<()> {
        let Self { inner, places, .. } = self;
        if let Some(place) = places.get_mut(connection).and_then(Option::as_mut) {
            place.session.close()?;
            flush(inner, connection, &mut place.session)?;
        }
        self.inner.finish(connection)
    }

    fn close(&mut self, connection: usize) {
        let Self { inner, places, .. } = self;
        if let Some(mut place) = places.get_mut(connection).and_then(Option::take)
            && matches!(place.stage, Stage::Open)
        {
            // Best effort: the peer need not see it.
            let _ = place.session.close();
            let _ = flush(inner, connection, &mut place.session);
        }
        self.inner.close(connection);
    }

    #[inline]
    fn wait(&mut self, until: Nanos, ready: &mut Vec<Ready>) -> io::Result<()> {
        self.inner.wait(until, ready)?;
        if self.client.is_some() {
            self.advance(ready);
        }
        Ok(())
    }

    #[inline(always)]
    fn receive(&mut self, connection: usize) -> io::Result<Received<'_>> {
        if self.client.is_none() {
            return self.inner.receive(connection);
        }
        self.receive_records(connection)
    }

    #[inline(always)]
    fn send(&mut self, connection: usize, bytes: &[u8]) -> io::Result<usize> {
        if self.client.is_none() {
            return self.inner.send(connection, bytes);
        }
        self.send_records(connection, bytes)
    }
}

/// Closes the connections that are still open, so that peers are notified.
impl<D: Driver> Drop for TlsDriver<D> {
    fn drop(&mut self) {
        (0..self.places.len()).for_each(|connection| self.close(connection));
    }
}

impl<D: Driver> TlsDriver<D> {
    fn send_records(&mut self, connection: usize, bytes: &[u8]) -> io::Result<usize> {
        let Self { inner, places, .. } = self;
        let place = places.get_mut(connection).and_then(Option::as_mut);
        let place = place.ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))?;
        let session = &mut place.session;
        // Sealed earlier, but not taken by the kernel until now.
        flush(inner, connection, session)?;
        let sent = session.take_sent();
        if sent > 0 {
            return Ok(sent);
        }
        session.seal(bytes)?;
        flush(inner, connection, session)?;
        Ok(session.take_sent())
    }

    /// Reads records until there is plaintext; a record may hold only a ticket.
    fn receive_records(&mut self, connection: usize) -> io::Result<Received<'_>> {
        let Self { inner, places, plaintext, records, .. } = self;
        let place = places.get_mut(connection).and_then(Option::as_mut);
        let place = place.ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))?;
        plaintext.clear();
        // The socket of a peer that has closed may stay silent: it waits for our close_notify.
        if !place.early.is_empty() || place.session.peer_closed {
            plaintext.append(&mut place.early);
            let more = !plaintext.is_empty();
            return Ok(Received { bytes: plaintext, more, at: inner.now() });
        }
        let mut within = 0..0;
        let (more, at) = loop {
            let session = &mut place.session;
            // Reports what failed after the last plaintext.
            session.usable()?;
            let Received { bytes, more, at } = inner.receive(connection)?;
            let ended = bytes.is_empty();
            let opened = match session.opens_in_place() {
                true => session.open_in_place(bytes, &mut within),
                false => session.open(bytes, plaintext),
            };
            *records += std::mem::take(&mut session.received);
            // Key updates need an answer; an alert says what was wrong.
            if session.has_output() {
                let flushed = flush(inner, connection, session);
                if opened.is_ok()
                    && !matches!(&flushed, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
                {
                    flushed?;
                }
            }
            let none = within.is_empty() && plaintext.is_empty();
            match opened {
                Err(problem) if none => return Err(problem.into()),
                // The plaintext before the error counts.
                Err(_) => break (true, at),
                Ok(()) if ended && !session.peer_closed => return Err(unclosed(session)),
                Ok(()) if !none || session.peer_closed => {
                    break (more || (session.peer_closed && !none), at);
                }
                Ok(()) => {}
            }
        };
        let bytes = if within.is_empty() { plaintext } else { &mut inner.received()[within] };
        Ok(Received { bytes, more, at })
    }
}

/// The error for a peer that closed the connection without notice.
#[cold]
fn unclosed(session: &Session) -> io::Error {
    let what = match session.is_whole() {
        false => "in the middle of a TLS record",
        true => "without TLS's close_notify",
    };
    let reason = format!("the peer closed the connection {what}");
    io::Error::new(io::ErrorKind::UnexpectedEof, reason)
}
