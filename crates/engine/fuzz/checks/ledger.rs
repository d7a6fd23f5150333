//! Tracks every call of a connection: each must end exactly once.

use std::collections::BTreeSet;

use crate::protocol::{Call, End, Events};
use rpcbench_clock::Nanos;

/// Lengths of the requests, bytes: nothing, a few, and more than a frame.
pub(super) const REQUESTS: [usize; 4] = [0, 5, 90, 17_000];
/// The only right message.
pub(super) const RIGHT: &[u8] = b"right";

/// The stream of a call: its due time is its number, and streams ascend by two.
pub(super) fn stream_of(call: Call) -> u32 {
    call.due.0 as u32 * 2 + 1
}

/// The open calls, and how others ended.
#[derive(Default)]
pub(super) struct Ledger {
    pub sent: usize,
    pub open: BTreeSet<u32>,
    /// Streams that ended since the last check, with their ends if the peer caused them.
    pub ended: Vec<(u32, Option<End>)>,
}

impl Ledger {
    pub fn next(&mut self, entry: u32) -> Call {
        let call = Call { request: entry, due: Nanos(self.sent as u64), ..Call::default() };
        self.sent += 1;
        self.open.insert(stream_of(call));
        call
    }

    /// The `n`-th open stream, counted round and round; stream 1 if no stream is open.
    pub fn pick(&self, n: u8) -> u32 {
        let position = usize::from(n) % self.open.len().max(1);
        self.open.iter().nth(position).copied().unwrap_or(1)
    }

    pub fn close(&mut self, call: Call, end: Option<End>) {
        let stream = stream_of(call);
        assert!(self.open.remove(&stream), "the call on stream {stream} ended twice: {end:?}");
        self.ended.push((stream, end));
    }
}

impl Events for Ledger {
    fn verify(&mut self, _: &Call, message: &[u8]) -> bool {
        message == RIGHT
    }

    fn malformed(&mut self, entry: u32, _: &str) {
        assert!((entry as usize) < REQUESTS.len());
    }

    fn ended(&mut self, call: &Call, end: End) {
        self.close(*call, Some(end));
    }
}
