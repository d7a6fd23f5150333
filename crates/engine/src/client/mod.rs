//! A client for single calls: for checking a server, not for loading it.

mod greet;
mod link;

use std::sync::Arc;
use std::time::Duration;

pub use rpcbench_record::CallError;
use rpcbench_record::Tls;

use crate::payload::{MAX_REPLY, Payload};
use crate::plan::ConnectionOptions;
use crate::protocol::{Allowance, Connection, End, ProtocolVisitor, dispatch};
use crate::target::Target;
pub use greet::{Greeting, greet};
use link::Link;
use rpcbench_clock::{self as clock, Nanos};

/// Refusals after which a call fails.
const MAX_REFUSALS: u32 = 32;

/// A client that makes one call at a time. It connects when needed, and keeps the connection.
pub struct Client(Box<dyn SingleCalls>);

/// A client of one protocol.
trait SingleCalls {
    /// Makes a call, and repeats it each time the peer reports that it was not processed.
    fn call(
        &mut self,
        target: &Target,
        message: &[u8],
        position: CallPosition,
    ) -> Result<Transcript, CallError>;

    fn disconnect(&mut self);

    fn tls(&self) -> Option<&Tls>;
}

impl Client {
    /// A client of a server; `timeout` bounds each call, connecting included.
    pub fn new(server: ConnectionOptions, timeout: Duration) -> Self {
        Self::for_replies_up_to(MAX_REPLY, server, timeout)
    }

    /// A client for replies of at most `max_reply` bytes.
    pub fn for_replies_up_to(
        max_reply: usize,
        mut server: ConnectionOptions,
        timeout: Duration,
    ) -> Self {
        server.tls = server.tls.map(|client| client.with_tickets_for(1));
        Self(dispatch(server.protocol, Make { server, timeout, max_reply }))
    }

    /// Calls `target` with an encoded message and returns the reply, both without the protocol's framing.
    ///
    /// # Errors
    /// If the call ends in any other way.
    pub fn call(
        &mut self,
        target: &Target,
        message: &[u8],
        position: CallPosition,
    ) -> Result<Vec<u8>, CallError> {
        self.0.call(target, message, position)?.reply
    }

    /// Like [`Self::call`], but returns everything that comes back. If the connection fails before the call ends, only the
    /// error.
    pub fn transcript(&mut self, target: &Target, message: &[u8]) -> Transcript {
        let called = self.0.call(target, message, CallPosition::Any);
        called.unwrap_or_else(|error| Transcript { reply: Err(error), ..Transcript::default() })
    }

    /// Closes the connection; the next call opens another.
    pub fn disconnect(&mut self) {
        self.0.disconnect();
    }

    /// What the latest connection agreed on. `None` without TLS, and before the first connection.
    pub fn tls(&self) -> Option<&Tls> {
        self.0.tls()
    }
}

/// What comes back from a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// Names and values of header fields in order, `:status` first. Empty under protocols without headers.
    pub headers: Vec<(String, String)>,
    /// Header fields after the message.
    pub trailers: Vec<(String, String)>,
    /// Details of a status.
    pub details: Vec<String>,
    /// The message, without the protocol's framing.
    pub reply: Result<Vec<u8>, CallError>,
}

impl Transcript {
    /// HTTP status. `None` without one.
    pub fn http_status(&self) -> Option<u32> {
        self.header(":status")?.parse().ok()
    }

    /// Value of the first header with this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.as_str())
    }
}

impl Default for Transcript {
    fn default() -> Self {
        let (headers, trailers, details) = (Vec::new(), Vec::new(), Vec::new());
        Self { headers, trailers, details, reply: Ok(Vec::new()) }
    }
}

/// The position of a call on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallPosition {
    /// More calls may follow.
    Any,
    /// Nothing is sent after it: the sending side is closed.
    Last,
}

struct Make {
    server: ConnectionOptions,
    timeout: Duration,
    max_reply: usize,
}

impl ProtocolVisitor for Make {
    type Output = Box<dyn SingleCalls>;

    fn visit<C: Connection + Send + 'static>(self) -> Self::Output {
        let Self { server, timeout, max_reply } = self;
        let allowance = Arc::new(Allowance::of_one_call(max_reply));
        Box::new(ProtocolClient::<C> { server, timeout, allowance, link: None, tls: None })
    }
}

struct ProtocolClient<C> {
    server: ConnectionOptions,
    timeout: Duration,
    /// Memory for the reply.
    allowance: Arc<Allowance>,
    link: Option<Link<C>>,
    /// Of the latest connection.
    tls: Option<Tls>,
}

impl<C: Connection> SingleCalls for ProtocolClient<C> {
    fn call(
        &mut self,
        target: &Target,
        message: &[u8],
        position: CallPosition,
    ) -> Result<Transcript, CallError> {
        let deadline = clock::now() + Nanos::from(self.timeout);
        let templates = Arc::new(C::templates(&Single { target, message }, &self.server.authority));
        for _ in 0..MAX_REFUSALS {
            let mut link = self.ready(&templates, deadline)?;
            let answer = link.exchange(&templates, target, position, deadline)?;
            if link.connection.is_open() && position == CallPosition::Any {
                self.link = Some(link);
            }
            if answer.end != Some(End::Refused) {
                return Ok(answer.into_transcript());
            }
        }
        Err(CallError::Transport(format!("the peer refused it {MAX_REFUSALS} times")))
    }

    fn disconnect(&mut self) {
        self.link = None;
    }

    fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }
}

struct Single<'a> {
    target: &'a Target,
    message: &'a [u8],
}

impl Payload for Single<'_> {
    fn target(&self, _: usize) -> &Target {
        self.target
    }

    fn len(&self) -> usize {
        1
    }

    fn request(&self, _index: usize) -> &[u8] {
        self.message
    }

    fn verify(&self, _index: usize, _sent: &[u8], _reply: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

impl<C: Connection> ProtocolClient<C> {
    /// A connection that takes a call: the current one, or a new one if the peer has ended it.
    fn ready(
        &mut self,
        templates: &Arc<C::Templates>,
        deadline: Nanos,
    ) -> Result<Link<C>, CallError> {
        if let Some(mut link) = self.link.take()
            && link.take_pending(deadline)?
            && link.await_room(deadline)?
        {
            return Ok(link);
        }
        for _ in 0..MAX_REFUSALS {
            let mut link =
                Link::open(&self.server, Arc::clone(templates), &self.allowance, deadline)?;
            self.tls = link.socket.tls().cloned();
            if link.await_room(deadline)? {
                return Ok(link);
            }
        }
        Err(CallError::Transport(format!(
            "{MAX_REFUSALS} connections ended by the peer before a call"
        )))
    }
}
