//! Protocols as state machines: bytes in, events and bytes out. Nothing here does I/O or reads time.
//!
//! A protocol is a type that implements [`Connection`]. Load threads and the one-call client are generic over it;
//! [`dispatch`] is the one place that knows all of them.

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
mod messages;
pub(crate) mod over_http2;
mod plain;
pub(crate) mod tcp_echo;
mod template;
pub(crate) mod thrift;

use std::sync::Arc;

use rpcbench_record::Protocol;

use crate::payload::Payload;
use crate::target::Target;
use rpcbench_clock::Nanos;

pub(crate) use crate::call::Call;
pub(crate) use allowance::{Allowance, too_long};
use thrift::{Binary, Buffered, Compact, Framed};

/// How a call ended, as the protocol reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The protocol's own success; true if the message was right.
    Answered { right: bool },
    /// Another status that counts as success; true if the message was right.
    Accepted { right: bool },
    /// The protocol's own status, not success.
    Status { code: u32, message: String, details: Vec<String> },
    /// The peer aborted it.
    Aborted { reason: String },
    /// The peer did not process it, so it may be sent again.
    Refused,
}

impl End {
    /// A status without details.
    pub fn status(code: u32, message: impl Into<String>) -> Self {
        Self::Status { code, message: message.into(), details: Vec::new() }
    }
}

/// Receives the events of a connection.
pub(crate) trait Events {
    /// True if `message` is the right answer to `call`.
    fn verify(&mut self, call: &Call, message: &[u8]) -> bool;
    /// A success without exactly one message, or with an unreadable one.
    fn malformed(&mut self, request: u32, problem: &str);
    /// A call has ended. Each call ends once.
    fn ended(&mut self, call: &Call, end: End);
    /// A field of a reply's head or trailers, or `:status` for a status line. Fields of a block that equals an earlier one are
    /// not decoded, and so not reported.
    fn field(&mut self, _is_trailer: bool, _name: &[u8], _value: &[u8]) {}
    /// The call's target. `None` if it makes no difference.
    fn target(&self, _call: Call) -> Option<&Target> {
        None
    }

    /// True if this status, which is not the protocol's success, counts as one.
    #[cold]
    fn accepts(&self, call: Call, status: u32) -> bool {
        self.target(call).is_some_and(|target| target.accepts(status))
    }

    /// Whether `message` is the right answer to `call` under this status, which is not the protocol's success. `None` if it
    /// does not count as one.
    fn verify_other(&mut self, call: Call, status: u32, message: &[u8]) -> Option<bool> {
        self.accepts(call, status).then(|| self.verify(&call, message))
    }
}

/// The client's end of a connection: writes requests and reads replies.
///
/// ```text
///             the peer's part of it                  closing, or a timed-out call that can't be cancelled
///  handshake ------------------------------> open ---------------------------------------------------------> leaving
/// ```
/// Calls may be sent while it is open. A leaving connection still receives replies.
pub(crate) trait Connection: Sized {
    /// What must succeed before the first call, for error messages: `HTTP/2 handshake`.
    const HANDSHAKE: &str;

    /// The requests of a payload as bytes on the wire, made once for all connections.
    type Templates: Send + Sync + 'static;

    /// Templates of the requests of `payload`; `authority` is the server's name as the user typed it.
    fn templates(payload: &dyn Payload, authority: &str) -> Self::Templates;

    /// A connection for about `in_flight` open calls, whose incomplete messages take from `allowance`. Writes its opening
    /// bytes.
    fn new(
        templates: Arc<Self::Templates>,
        in_flight: u32,
        allowance: &Arc<Allowance>,
        out: &mut Vec<u8>,
    ) -> Self;

    /// Switches to the requests of another target. No request may be held back.
    fn switch(&mut self, templates: Arc<Self::Templates>);

    /// True if the state allows calls.
    fn is_open(&self) -> bool;

    /// True until the handshake is done.
    fn is_handshaking(&self) -> bool;

    /// True if it takes no more calls and has none left, so it may be closed.
    fn is_finished(&self) -> bool;

    /// True if a call can be sent now.
    fn can_send(&self) -> bool;

    /// Calls that have not ended.
    fn open_calls(&self) -> u32;

    /// Calls that the peer allows at once.
    fn max_calls(&self) -> u32 {
        u32::MAX
    }

    /// Why the peer closed the connection, if it said so.
    fn close_reason(&self) -> String;

    /// Writes a call. Check [`Self::can_send`] first.
    fn send(&mut self, call: Call, out: &mut Vec<u8>);

    /// Writes the protocol's goodbye, such as GOAWAY. No call is open.
    fn goodbye(&mut self, _out: &mut Vec<u8>) {}

    /// Writes a ping that every peer answers, if the protocol has one.
    fn ping(&mut self, _out: &mut Vec<u8>) {}

    /// A number that changes whenever the peer answers anything; for protocols with [`Self::ping`].
    fn answers(&self) -> u64 {
        0
    }

    /// Notes that all output was passed to the kernel at `now`.
    fn flushed(&mut self, now: Nanos);

    /// Takes received bytes, cut anywhere.
    fn receive(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        events: &mut impl Events,
    ) -> Result<(), Broken>;

    /// Handles the end of the peer's side: ends the call whose reply it completes, if any.
    fn closed(&mut self, _events: &mut impl Events) {}

    /// Ends the calls that came due at or before `cutoff` and have no answer.
    fn expire(&mut self, cutoff: Nanos, out: &mut Vec<u8>) -> Vec<Call>;

    /// Takes every unanswered call; the connection is lost.
    fn abandon(&mut self) -> Vec<Call>;
}

/// Code that is generic over the protocol.
pub(crate) trait ProtocolVisitor {
    type Output;

    fn visit<C: Connection + Send + 'static>(self) -> Self::Output;
}

/// Calls a visitor with the connection type of `protocol`.
pub(crate) fn dispatch<T: ProtocolVisitor>(protocol: Protocol, what: T) -> T::Output {
    match protocol {
        Protocol::Grpc => what.visit::<grpc::Connection>(),
        Protocol::Connect => what.visit::<connect::Connection>(),
        Protocol::Json => what.visit::<json::Connection>(),
        Protocol::JsonH2c => what.visit::<over_http2::Connection<json::Json>>(),
        Protocol::Thrift => what.visit::<thrift::Connection<Framed<Binary>>>(),
        Protocol::ThriftCompact => what.visit::<thrift::Connection<Framed<Compact>>>(),
        Protocol::ThriftBuffered => what.visit::<thrift::Connection<Buffered<Binary>>>(),
        Protocol::ThriftBufferedCompact => what.visit::<thrift::Connection<Buffered<Compact>>>(),
        Protocol::TcpEcho => what.visit::<tcp_echo::Connection>(),
        Protocol::Http => what.visit::<plain::Connection>(),
        Protocol::Http2 => what.visit::<over_http2::Connection<plain::Plain>>(),
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
        /// The protocol.
        protocol: Protocol,
        /// What the peer did.
        problem: &'static str,
    },
    /// Invalid header compression.
    #[error(transparent)]
    Hpack(#[from] http2::HpackError),
    /// The peer ended the connection with an error.
    #[error("peer closed the connection with {code}{}", if debug.is_empty() { String::new() } else { format!(": {debug}") })]
    GoAway {
        /// Name of the error code.
        code: String,
        /// The peer's explanation.
        debug: String,
    },
}
