//! Why the floor gave up.

use std::io;
use std::net::SocketAddr;

/// Why the floor could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum FloorError {
    /// The requests of the shape differ in size.
    #[error(
        "requests of {least} and of {most} bytes: the floor needs a shape of one size, such as text:100"
    )]
    Sizes {
        /// Bytes of the shortest request.
        least: usize,
        /// Bytes of the longest request.
        most: usize,
    },
    /// A connection could not be opened.
    #[error("connection to {address} could not be opened; is the server running?")]
    Connect {
        /// Where it was to be.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// The first calls of a connection were not answered as the floor needs it.
    #[error("first calls on a connection: {0}; the floor needs the null server of its protocol")]
    Opening(String),
    /// The kernel refused a system call.
    #[error("the kernel refused {call}")]
    Kernel {
        /// Its name.
        call: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The server closed a connection.
    #[error("the server closed a connection after {calls} calls on it")]
    Closed {
        /// Calls answered on it.
        calls: u64,
    },
    /// The kernel's buffer for a connection is full.
    #[error("the kernel took {taken} of {bytes} bytes; take fewer calls in flight")]
    ShortWrite {
        /// Bytes that it took.
        taken: usize,
        /// Bytes that it should have taken.
        bytes: usize,
    },
    /// A connection has used all numbers that calls can have.
    #[error("a connection has used up the numbers of its calls; take a shorter run")]
    Numbers,
    /// Calls that have no reply.
    #[error("{calls} calls were not answered within {grace_s} s after the last one was sent")]
    Unanswered {
        /// How many.
        calls: u64,
        /// How long was waited, seconds.
        grace_s: u64,
    },
    /// The bytes that came are not those of so many replies.
    #[error(
        "{bytes} bytes came for {calls} calls on a connection, and they should be {expected}: \
         the replies had different sizes, or the server said something else in between"
    )]
    Bytes {
        /// Bytes that came.
        bytes: u64,
        /// Calls made.
        calls: u64,
        /// Bytes that so many replies have.
        expected: u64,
    },
}

impl FloorError {
    pub(super) fn kernel(call: &'static str) -> impl Fn(rustix::io::Errno) -> Self {
        move |errno| Self::Kernel { call, source: errno.into() }
    }
}
