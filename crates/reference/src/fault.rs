//! What the server does wrong on purpose, so that clients can show that they notice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::attend::Close;

/// A text that [`Fault::Altered`] replaces by another one.
pub const MARK: [u8; 8] = *b"original";
const OTHER: [u8; 8] = *b"modified";

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
    /// A reply with another text in place of each [`MARK`].
    Altered,
    /// No reply.
    Silence,
    /// The beginning of a reply, and nothing more: a part of its head, in gRPC its header fields.
    Partial,
    /// A reply that is sent when the client has given up: before the next one on the connection, in HTTP/2 when the stream is
    /// reset.
    Late,
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

/// Content with another text in place of each [`MARK`].
pub(crate) fn altered(content: &[u8]) -> Vec<u8> {
    let mut altered = content.to_vec();
    let windows = content.windows(MARK.len()).enumerate();
    for (at, _) in windows.filter(|(_, bytes)| *bytes == MARK) {
        altered[at..at + MARK.len()].copy_from_slice(&OTHER);
    }
    altered
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
    /// A reply that is [late](Fault::Late), where a connection carries one call at a time.
    pub held: Vec<u8>,
}

impl Striker {
    pub fn new(faults: Option<Arc<Faults>>) -> Self {
        Self { faults, ..Self::default() }
    }

    /// What goes wrong with the next call. A reply that was held back goes before its own.
    #[inline]
    pub fn next(&mut self, output: &mut Vec<u8>) -> Option<Fault> {
        let faults = self.faults.as_ref()?;
        output.append(&mut self.held);
        faults.strikes().then_some(faults.fault)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alteration_replaces_each_mark_and_nothing_else() {
        let content = [b"\x12\x10".as_slice(), &MARK, b"original", b"ori"].concat();
        assert_eq!(altered(&content), b"\x12\x10modifiedmodifiedori");
        assert_eq!(altered(b"abc"), b"abc");
    }
}
