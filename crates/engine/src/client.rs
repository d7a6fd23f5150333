//! One call at a time, blocking: for checking a server, not for loading it.

use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::sync::Arc;
use std::time::Duration;

use rpcbench_contract::cases::{CallError, Caller};
use rpcbench_contract::{Method, Nonce};
use rpcbench_record::Protocol;
use socket2::Socket;

use crate::address::ServerAddress;
use crate::clock::{self, Nanos};
use crate::payload::Payload;
use crate::protocol::{Call, Connection, End, Events, ForProtocol, dispatch};

const READ_BUFFER: usize = 64 * 1024;
/// Refusals of one call after which it is not sent again.
const MOST_REFUSALS: u32 = 32;

/// A client for one call at a time. It connects when it must, and keeps the connection.
pub struct Client(Box<dyn Caller + Send>);

impl Client {
    /// A client of the server at `address`; `timeout` bounds each call, connecting included.
    #[must_use]
    pub fn new(protocol: Protocol, address: impl Into<ServerAddress>, timeout: Duration) -> Self {
        Self(dispatch(protocol, Make { address: address.into(), timeout }))
    }
}

impl Caller for Client {
    fn call(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        self.0.call(method, body)
    }

    fn call_last(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        self.0.call_last(method, body)
    }
}

/// Whether more calls are to follow on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Among,
    Last,
}

struct Make {
    address: ServerAddress,
    timeout: Duration,
}

impl ForProtocol for Make {
    type Output = Box<dyn Caller + Send>;

    fn with<C: Connection + Send + 'static>(self) -> Self::Output {
        Box::new(Blocking::<C> { address: self.address, timeout: self.timeout, link: None })
    }
}

/// A client of one protocol.
struct Blocking<C> {
    address: ServerAddress,
    timeout: Duration,
    link: Option<Link<C>>,
}

struct Link<C> {
    stream: Socket,
    connection: C,
    out: Vec<u8>,
}

/// One message to one method.
struct Single<'a> {
    method: Method,
    message: &'a [u8],
}

impl Payload for Single<'_> {
    fn method(&self) -> Method {
        self.method
    }

    fn len(&self) -> usize {
        1
    }

    fn request(&self, _index: usize) -> &[u8] {
        self.message
    }

    fn verify(&self, _index: usize, _nonce: Nonce, _reply: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

/// What came back.
#[derive(Debug, Default)]
struct Answer {
    message: Option<Vec<u8>>,
    problem: Option<String>,
    end: Option<End>,
}

impl Events for Answer {
    fn verify(&mut self, _call: Call, message: &[u8]) -> bool {
        self.message = Some(message.to_vec());
        true
    }

    fn malformed(&mut self, _request: u32, problem: &str) {
        self.problem = Some(problem.to_owned());
    }

    fn ended(&mut self, _call: Call, end: End) {
        self.end = Some(end);
    }
}

impl<C: Connection> Blocking<C> {
    /// Sends a call, again as often as the peer says that it never looked at it.
    fn exchange(
        &mut self,
        method: Method,
        message: &[u8],
        place: Place,
    ) -> Result<Answer, CallError> {
        let deadline = clock::now() + Nanos::from(self.timeout);
        let templates =
            Arc::new(C::templates(&Single { method, message }, &self.address.authority()));
        for _ in 0..MOST_REFUSALS {
            let mut link = self.ready(&templates, deadline)?;
            let answer = link.exchange(&templates, place, deadline)?;
            if link.connection.is_open() && place == Place::Among {
                self.link = Some(link);
            }
            if answer.end != Some(End::Refused) {
                return Ok(answer);
            }
        }
        Err(CallError::Transport(format!("the peer refused it {MOST_REFUSALS} times")))
    }

    /// A connection that takes a call: the one that is there, or a new one where the peer has ended it since.
    fn ready(
        &mut self,
        templates: &Arc<C::Templates>,
        deadline: Nanos,
    ) -> Result<Link<C>, CallError> {
        if let Some(mut link) = self.link.take()
            && link.take_in(deadline)?
            && link.await_room(deadline)?
        {
            return Ok(link);
        }
        for _ in 0..MOST_REFUSALS {
            let mut link = Link::open(&self.address, Arc::clone(templates), deadline)?;
            if link.await_room(deadline)? {
                return Ok(link);
            }
        }
        Err(CallError::Transport(format!(
            "{MOST_REFUSALS} connections ended by the peer before a call"
        )))
    }
}

impl<C: Connection> Caller for Blocking<C> {
    fn call(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        self.exchange(method, body, Place::Among)?.into_reply()
    }

    fn call_last(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        self.exchange(method, body, Place::Last)?.into_reply()
    }
}

impl Answer {
    fn into_reply(self) -> Result<Vec<u8>, CallError> {
        match (self.end, self.message) {
            (Some(End::Answered { right: true }), Some(message)) => Ok(message),
            (Some(End::Status { code, message }), _) => Err(CallError::Status { code, message }),
            (Some(End::Aborted { reason }), _) => Err(CallError::Transport(reason)),
            (Some(End::Answered { .. } | End::Refused) | None, _) => {
                Err(CallError::Transport(self.problem.unwrap_or_default()))
            }
        }
    }
}

impl<C: Connection> Link<C> {
    fn open(
        address: &ServerAddress,
        templates: Arc<C::Templates>,
        deadline: Nanos,
    ) -> Result<Self, CallError> {
        let left = left(deadline)?;
        let stream = address.connect(left).map_err(describe)?;
        let mut out = Vec::new();
        let connection = C::new(templates, 1, &Arc::default(), &mut out);
        let mut link = Self { stream, connection, out };
        link.flush(deadline)?;
        Ok(link)
    }

    fn flush(&mut self, deadline: Nanos) -> Result<(), CallError> {
        self.stream.set_write_timeout(Some(left(deadline)?)).map_err(describe)?;
        let written = self.stream.write_all(&self.out);
        self.out.clear();
        written.map_err(describe)?;
        self.connection.flushed(clock::now());
        Ok(())
    }

    /// Sends the one call of `templates` and awaits its end.
    fn exchange(
        &mut self,
        templates: &Arc<C::Templates>,
        place: Place,
        deadline: Nanos,
    ) -> Result<Answer, CallError> {
        let mut answer = Answer::default();
        self.connection.switch(Arc::clone(templates));
        self.connection.send(Call::default(), &mut self.out);
        let sent = self.flush(deadline);
        if place == Place::Last {
            // A peer that is gone already shows when its answer is read.
            let _ = self.stream.shutdown(Shutdown::Write);
        }
        while answer.end.is_none() {
            // A peer that takes no more may have said why.
            self.turn(&mut answer, deadline)
                .map_err(|error| sent.clone().err().unwrap_or(error))?;
        }
        Ok(answer)
    }

    /// Takes what has come while nobody waited for anything; whether the peer has left the connection open.
    fn take_in(&mut self, deadline: Nanos) -> Result<bool, CallError> {
        let mut first = [MaybeUninit::uninit()];
        loop {
            self.stream.set_nonblocking(true).map_err(describe)?;
            let waiting = self.stream.peek(&mut first);
            self.stream.set_nonblocking(false).map_err(describe)?;
            match waiting {
                Ok(1..) => self.turn(&mut Answer::default(), deadline)?,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return Ok(false),
            }
        }
    }

    /// Waits until a call can be sent; false if none ever can, as the peer has said goodbye.
    fn await_room(&mut self, deadline: Nanos) -> Result<bool, CallError> {
        while !self.connection.can_send() {
            if !self.connection.is_open() && !self.connection.is_handshaking() {
                return Ok(false);
            }
            self.turn(&mut Answer::default(), deadline)?;
        }
        Ok(true)
    }

    /// Reads once, and writes what is to be said about it.
    fn turn(&mut self, answer: &mut Answer, deadline: Nanos) -> Result<(), CallError> {
        let mut buffer = [0; READ_BUFFER];
        self.stream.set_read_timeout(Some(left(deadline)?)).map_err(describe)?;
        let read = match self.stream.read(&mut buffer) {
            Ok(0) => {
                self.connection.closed(answer);
                let whole = answer.end.is_some();
                let farewell = || CallError::Closed(self.connection.farewell());
                return if whole { Ok(()) } else { Err(farewell()) };
            }
            Ok(read) => read,
            // A signal, or the process was stopped for a while: the caller reads again, up to its deadline.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(describe(error)),
        };
        self.connection
            .receive(&buffer[..read], &mut self.out, answer)
            .map_err(|broken| CallError::Transport(broken.to_string()))?;
        self.flush(deadline)
    }
}

fn left(deadline: Nanos) -> Result<Duration, CallError> {
    let left = deadline - clock::now();
    if left == Nanos(0) { Err(CallError::Timeout) } else { Ok(left.into()) }
}

fn describe(error: io::Error) -> CallError {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => CallError::Timeout,
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            CallError::Closed(error.to_string())
        }
        _ => CallError::Transport(error.to_string()),
    }
}
