//! One call at a time: for checking a server, not for loading it.

mod greet;
mod link;

use std::sync::Arc;
use std::time::Duration;

use rpcbench_contract::cases::{CallError, Caller};
use rpcbench_contract::{Method, Nonce};
use rpcbench_record::Protocol;

use crate::address::ServerAddress;
use crate::clock::{self, Nanos};
use crate::payload::Payload;
use crate::protocol::{Connection, End, ForProtocol, dispatch};
pub use greet::{Greeting, greet};
use link::{Answer, Link};

/// Refusals after which a call is given up.
const MAX_REFUSALS: u32 = 32;

/// A client that makes one call at a time. It connects when it has to, and keeps the connection.
pub struct Client(Box<dyn Caller>);

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

/// Where a call is among those of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallPosition {
    Any,
    /// Nothing is sent after it, and the peer sees that.
    Last,
}

struct Make {
    address: ServerAddress,
    timeout: Duration,
}

impl ForProtocol for Make {
    type Output = Box<dyn Caller>;

    fn with<C: Connection + Send + 'static>(self) -> Self::Output {
        Box::new(ProtocolClient::<C> { address: self.address, timeout: self.timeout, link: None })
    }
}

/// A client of one protocol.
struct ProtocolClient<C> {
    address: ServerAddress,
    timeout: Duration,
    link: Option<Link<C>>,
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

impl<C: Connection> ProtocolClient<C> {
    /// Makes a call, again each time the peer says that it did not process it.
    fn exchange(
        &mut self,
        method: Method,
        message: &[u8],
        position: CallPosition,
    ) -> Result<Answer, CallError> {
        let deadline = clock::now() + Nanos::from(self.timeout);
        let templates =
            Arc::new(C::templates(&Single { method, message }, &self.address.authority()));
        for _ in 0..MAX_REFUSALS {
            let mut link = self.ready(&templates, deadline)?;
            let answer = link.exchange(&templates, position, deadline)?;
            if link.connection.is_open() && position == CallPosition::Any {
                self.link = Some(link);
            }
            if answer.end != Some(End::Refused) {
                return Ok(answer);
            }
        }
        Err(CallError::Transport(format!("the peer refused it {MAX_REFUSALS} times")))
    }

    /// A connection that takes a call: the one from before, or a new one if the peer has ended that.
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
            let mut link = Link::open(&self.address, Arc::clone(templates), deadline)?;
            if link.await_room(deadline)? {
                return Ok(link);
            }
        }
        Err(CallError::Transport(format!(
            "{MAX_REFUSALS} connections ended by the peer before a call"
        )))
    }
}

impl<C: Connection> Caller for ProtocolClient<C> {
    fn call(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        self.exchange(method, body, CallPosition::Any)?.into_reply()
    }

    fn call_last(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        self.exchange(method, body, CallPosition::Last)?.into_reply()
    }
}
