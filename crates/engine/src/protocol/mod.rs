//! Protocols as state machines: bytes in, events and bytes out. Nothing here does I/O or reads time.
//!
//! A protocol is a type that is a [`Connection`]. What loads a server, and what checks it, is generic over that
//! type; [`dispatch`] is the one place that knows them all.

mod allowance;
mod connect;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
#[path = "../../fuzz/checks/mod.rs"]
pub mod fuzzing;
pub(crate) mod grpc;
mod head;
pub(crate) mod http1;
pub(crate) mod http2;
mod in_order;
pub(crate) mod json;
pub(crate) mod json_h2c;
mod messages;
pub(crate) mod tcp_echo;
mod template;
pub(crate) mod thrift;

use std::sync::Arc;

use rpcbench_record::Protocol;

use crate::clock::Nanos;
use crate::nonce::Nonce;
use crate::payload::Payload;

pub(crate) use allowance::Allowance;
use thrift::{Binary, Buffered, Compact, Framed};

/// One call on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    /// Which request it carries.
    pub request: u32,
    /// Written into the request, so that no two calls send the same one.
    pub nonce: Nonce,
    /// When it was to be sent.
    pub due: Nanos,
    /// When its bytes were given to the kernel; 0 before that.
    pub written: Nanos,
}

/// How a call ended on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Success; whether the message was right is the flag.
    Answered { right: bool },
    /// The protocol's own status, not success.
    Status { code: u32, message: String },
    /// The peer aborted it.
    Aborted { reason: String },
    /// The peer did not process it: it may be sent again.
    Refused,
}

/// What a connection reports while it reads.
pub(crate) trait Events {
    /// True if `message` is the right answer to `call`.
    fn verify(&mut self, call: Call, message: &[u8]) -> bool;
    /// A success came without exactly one message, or with an unreadable one.
    fn malformed(&mut self, request: u32, problem: &str);
    /// A call has ended. Each call ends once.
    fn ended(&mut self, call: Call, end: End);
}

/// The client's end of one connection: what it sends for calls, and how it takes what comes.
///
/// ```text
///             what the protocol needs first          goodbye, or a call out of time that can't be taken back
///  handshake ------------------------------> open ---------------------------------------------------------> leaving
/// ```
/// Calls may be sent while it is open. A connection that is leaving still gets its answers.
pub(crate) trait Connection: Sized {
    /// What must succeed before the first call, for error messages: `HTTP/2 handshake`.
    const HANDSHAKE: &str;

    /// The requests to one target as bytes on the wire, made once for all connections of a thread.
    type Templates: Send + Sync;

    /// Templates of the requests of `payload`; `authority` is the server as the user calls it.
    fn templates(payload: &dyn Payload, authority: &str) -> Self::Templates;

    /// A connection on which about `in_flight` calls will be open at once, and whose unfinished messages take from
    /// `allowance`; writes what opens it.
    fn new(
        templates: Arc<Self::Templates>,
        in_flight: u32,
        allowance: &Arc<Allowance>,
        out: &mut Vec<u8>,
    ) -> Self;

    /// Sends the requests of another target from now on. No call may be held back.
    fn switch(&mut self, templates: Arc<Self::Templates>);

    /// True if the state allows calls.
    fn is_open(&self) -> bool;

    /// True until the peer has done its part of the handshake.
    fn is_handshaking(&self) -> bool;

    /// True if it takes no more calls and has none left: it may be closed.
    fn is_finished(&self) -> bool;

    /// True if a call can be sent now.
    fn can_send(&self) -> bool;

    /// Calls without an end.
    fn open_calls(&self) -> u32;

    /// Calls that the peer allows at once.
    fn max_calls(&self) -> u32 {
        u32::MAX
    }

    /// Why the connection ends when the peer closes it: what its goodbye said, if it sent one.
    fn farewell(&self) -> String;

    /// Writes a call. Ask [`Self::can_send`] first.
    fn send(&mut self, call: Call, out: &mut Vec<u8>);

    /// Writes the goodbye with which the client ends the connection, if the protocol has one. No call is open.
    fn goodbye(&mut self, _out: &mut Vec<u8>) {}

    /// Everything that was written has been given to the kernel at `now`.
    fn flushed(&mut self, now: Nanos);

    /// Takes received bytes, cut anywhere.
    fn receive(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        events: &mut impl Events,
    ) -> Result<(), Broken>;

    /// The peer closed its side: ends the call whose answer is complete by that, if there is one.
    fn closed(&mut self, _events: &mut impl Events) {}

    /// Ends the calls that came due at or before `cutoff` and have no answer.
    fn expire(&mut self, cutoff: Nanos, out: &mut Vec<u8>) -> Vec<Call>;

    /// Takes every call without an answer; the connection is lost.
    fn abandon(&mut self) -> Vec<Call>;
}

/// Something to do with a protocol's type of connection.
pub(crate) trait ProtocolVisitor {
    type Output;

    fn visit<C: Connection + Send + 'static>(self) -> Self::Output;
}

/// Calls a visitor with the connections of `protocol`.
pub(crate) fn dispatch<T: ProtocolVisitor>(protocol: Protocol, what: T) -> T::Output {
    match protocol {
        Protocol::Grpc => what.visit::<grpc::Connection>(),
        Protocol::Connect => what.visit::<connect::Connection>(),
        Protocol::Json => what.visit::<json::Connection>(),
        Protocol::JsonH2c => what.visit::<json_h2c::Connection>(),
        Protocol::Thrift => what.visit::<thrift::Connection<Framed<Binary>>>(),
        Protocol::ThriftCompact => what.visit::<thrift::Connection<Framed<Compact>>>(),
        Protocol::ThriftBuffered => what.visit::<thrift::Connection<Buffered<Binary>>>(),
        Protocol::ThriftBufferedCompact => what.visit::<thrift::Connection<Buffered<Compact>>>(),
        Protocol::TcpEcho => what.visit::<tcp_echo::Connection>(),
    }
}

/// The connection can't continue; its calls in flight are lost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// The peer broke the rules of HTTP/2.
    #[error("peer broke HTTP/2: {0}")]
    Http2(&'static str),
    /// The peer broke the rules of another protocol.
    #[error("peer broke {protocol}: {problem}")]
    Rules {
        /// Which.
        protocol: Protocol,
        /// What it did.
        problem: &'static str,
    },
    /// Its header compression can't be decoded.
    #[error(transparent)]
    Hpack(#[from] http2::HpackError),
    /// It said goodbye with an error.
    #[error("peer closed the connection with {code}{}", if debug.is_empty() { String::new() } else { format!(": {debug}") })]
    GoAway {
        /// Name of the error code.
        code: String,
        /// What it added.
        debug: String,
    },
}
