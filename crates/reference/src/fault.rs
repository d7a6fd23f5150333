//! Faults that the server makes on purpose, so that clients can show that they detect them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::attend::Close;

/// The text that [`Fault::Altered`] replaces.
pub const MARK: [u8; 8] = *b"original";
const OTHER: [u8; 8] = *b"modified";

/// The fault of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The reply to another call.
    Remembered,
    /// A reply without content.
    Empty,
    /// A reply that can't be decoded.
    Malformed,
    /// An error status: a gRPC code, an HTTP status, or the type of a Thrift exception.
    Status(u32),
    /// A reply with each [`MARK`] replaced.
    Altered,
    /// No reply.
    Silence,
    /// The beginning of a reply and nothing more: part of its head, or in gRPC its header fields.
    Partial,
    /// A reply sent after the client has given up: before the next reply on the connection, or in HTTP/2 when the stream is
    /// reset.
    Late,
    /// The connection is reset.
    Reset,
    /// The server closes its side of the connection and keeps reading.
    HalfClose,
    /// In HTTP/2, GOAWAY: this call is answered, later ones are not.
    GoAway,
}

impl Fault {
    /// How the fault closes the connection, if it does.
    pub(crate) fn close(self) -> Option<Close> {
        match self {
            Self::Reset => Some(Close::Reset),
            Self::HalfClose => Some(Close::Half),
            _ => None,
        }
    }
}

/// Content with each [`MARK`] replaced.
pub(crate) fn altered(content: &[u8]) -> Vec<u8> {
    let mut altered = content.to_vec();
    let windows = content.windows(MARK.len()).enumerate();
    for (at, _) in windows.filter(|(_, bytes)| *bytes == MARK) {
        altered[at..at + MARK.len()].copy_from_slice(&OTHER);
    }
    altered
}

/// Chooses which calls go wrong, over all connections.
#[derive(Debug)]
pub struct Faults {
    fault: Fault,
    every: u64,
    calls: AtomicU64,
    faulty: AtomicU64,
}

impl Faults {
    /// Makes one call in `every` go wrong.
    pub fn new(fault: Fault, every: u64) -> Self {
        Self { fault, every, calls: AtomicU64::new(0), faulty: AtomicU64::new(0) }
    }

    /// Number of calls that went wrong so far.
    pub fn faulty_calls(&self) -> u64 {
        self.faulty.load(Ordering::Relaxed)
    }

    /// Counts a call. True if it goes wrong.
    fn count_call(&self) -> bool {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let is_faulty = number.is_multiple_of(self.every);
        self.faulty.fetch_add(u64::from(is_faulty), Ordering::Relaxed);
        is_faulty
    }
}

/// The fault state of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultInjector {
    faults: Option<Arc<Faults>>,
    /// The content of the last reply, for [`Fault::Remembered`].
    last: Vec<u8>,
    /// A [late](Fault::Late) reply, if the connection carries one call at a time.
    pub held: Vec<u8>,
}

impl FaultInjector {
    pub fn new(faults: Option<Arc<Faults>>) -> Self {
        Self { faults, ..Self::default() }
    }

    /// The fault of the next call, if any. Appends a reply that was held back.
    #[inline]
    pub fn next(&mut self, output: &mut Vec<u8>) -> Option<Fault> {
        let faults = self.faults.as_ref()?;
        output.append(&mut self.held);
        faults.count_call().then_some(faults.fault)
    }

    /// Keeps the content of a reply if it may be repeated later.
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
