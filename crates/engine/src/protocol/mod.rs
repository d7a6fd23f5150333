//! Protocols as state machines: bytes in, events and bytes out. Nothing here does I/O or reads time.

#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
pub(crate) mod grpc;
pub(crate) mod http2;

use crate::clock::Nanos;

/// One call on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    /// Which payload it carries.
    pub entry: u32,
    /// When it was to be sent.
    pub due: Nanos,
    /// When its bytes were given to the kernel; 0 before that.
    pub written: Nanos,
}

/// How a call ended, as far as the wire can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Success; whether the message was right is the flag.
    Answered { right: bool },
    /// The protocol's own status, not success.
    Status { code: u32, message: String },
    /// The peer aborted it.
    Aborted { reason: String },
    /// The peer says that it never looked at it: it may be sent again.
    Refused,
}

/// What a connection tells its owner while it reads.
pub(crate) trait Events {
    /// Whether `message` is the right answer to payload `entry`.
    fn verify(&mut self, entry: u32, message: &[u8]) -> bool;
    /// A success came with another number of messages than one; or with one that can't be read.
    fn malformed(&mut self, entry: u32, problem: &str);
    /// A call has ended. Each call ends once.
    fn ended(&mut self, call: Call, end: End);
}

/// The connection can't go on; calls in flight on it are lost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// The peer broke the rules of HTTP/2.
    #[error("peer broke HTTP/2: {0}")]
    Protocol(&'static str),
    /// Its header compression can't be followed.
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
