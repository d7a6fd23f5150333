//! What the server does wrong on purpose, so that clients can show that they notice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::attend::Close;

/// What is wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The reply to another call.
    Remembered,
    /// A reply without content.
    Empty,
    /// A reply that can't be decoded.
    Malformed,
    /// An error status: gRPC's code, HTTP's, or the type of a Thrift exception.
    Status(u32),
    /// No reply.
    Silence,
    /// The connection is reset.
    Reset,
    /// The server ends its side of the connection, and reads on.
    HalfClose,
    /// In HTTP/2, GOAWAY: the call is answered, and calls after it are not.
    GoAway,
}

impl Fault {
    /// What it does to the connection.
    pub(crate) fn close(self) -> Option<Close> {
        match self {
            Self::Reset => Some(Close::Reset),
            Self::HalfClose => Some(Close::Half),
            _ => None,
        }
    }
}

/// Which calls go wrong, over all connections.
#[derive(Debug)]
pub struct Faults {
    fault: Fault,
    every: u64,
    calls: AtomicU64,
    struck: AtomicU64,
}

impl Faults {
    /// One call in `every`.
    pub fn new(fault: Fault, every: u64) -> Self {
        Self { fault, every, calls: AtomicU64::new(0), struck: AtomicU64::new(0) }
    }

    /// How often it went wrong so far.
    pub fn struck(&self) -> u64 {
        self.struck.load(Ordering::Relaxed)
    }

    fn strikes(&self) -> bool {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let strikes = number.is_multiple_of(self.every);
        self.struck.fetch_add(u64::from(strikes), Ordering::Relaxed);
        strikes
    }
}

/// What a connection knows of faults.
#[derive(Clone, Debug, Default)]
pub(crate) struct Striker {
    faults: Option<Arc<Faults>>,
    /// The content of the last reply, for [`Fault::Remembered`].
    last: Vec<u8>,
}

impl Striker {
    pub fn new(faults: Option<Arc<Faults>>) -> Self {
        Self { faults, last: Vec::new() }
    }

    /// What goes wrong with the next call.
    #[inline]
    pub fn next(&self) -> Option<Fault> {
        self.faults.as_ref().filter(|faults| faults.strikes()).map(|faults| faults.fault)
    }

    /// Keeps the content of a reply, if one could be repeated.
    #[inline]
    pub fn keep(&mut self, content: &[u8]) {
        if self.faults.is_some() {
            self.last.clear();
            self.last.extend_from_slice(content);
        }
    }

    /// The content of the last reply.
    pub fn last(&self) -> &[u8] {
        &self.last
    }
}
