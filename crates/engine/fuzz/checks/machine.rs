//! A connection, with checks after each step.

use std::sync::Arc;

use super::bounds;
use super::carries::Carries;
use super::ledger::{Ledger, REQUESTS};
use crate::protocol::Connection as _;
use crate::protocol::http2::Connection;
use rpcbench_clock::Nanos;

/// Open calls that the connection is made for; more may be sent.
const IN_FLIGHT: u32 = 4;
/// Maximum open calls, so that inputs stay fast.
const MAX_CALLS: usize = 40;

pub(super) struct Machine<C: Carries> {
    connection: Connection<C>,
    /// Output that has not been taken yet.
    pub out: Vec<u8>,
    pub ledger: Ledger,
    /// The stream of the last header block.
    pub last_stream: u32,
    received: usize,
    written: usize,
    now: u64,
    broken: bool,
}

impl<C: Carries> Machine<C> {
    pub fn new() -> Self {
        let mut out = Vec::new();
        let connection = Connection::new(C::templates(), IN_FLIGHT, &Arc::default(), &mut out);
        Self {
            connection,
            written: out.len(),
            out,
            ledger: Ledger::default(),
            last_stream: 0,
            received: 0,
            now: 0,
            broken: false,
        }
    }

    pub fn is_broken(&self) -> bool {
        self.broken
    }

    pub fn can_send(&self) -> bool {
        self.connection.can_send() && self.ledger.open.len() < MAX_CALLS
    }

    /// The request selected by `choice`.
    pub fn entry(&self, choice: u8) -> u32 {
        u32::from(choice) % REQUESTS.len() as u32
    }

    pub fn send(&mut self, choice: u8) {
        if !self.can_send() {
            return;
        }
        let call = self.ledger.next(self.entry(choice));
        self.step(|connection, _, out| connection.send(call, out));
    }

    pub fn receive(&mut self, bytes: &[u8]) {
        self.received += bytes.len();
        self.broken =
            self.step(|connection, ledger, out| connection.receive(bytes, out, ledger).is_err());
    }

    pub fn flush(&mut self) {
        self.now += 1;
        let now = Nanos(self.now);
        self.step(|connection, _, _| connection.flushed(now));
    }

    /// Cancels the first `calls` calls.
    pub fn expire(&mut self, calls: u64) {
        self.step(|connection, ledger, out| {
            for call in connection.expire(Nanos(calls), out) {
                assert!(call.due.0 <= calls);
                ledger.close(call, None);
            }
        });
    }

    fn step<T>(
        &mut self,
        act: impl FnOnce(&mut Connection<C>, &mut Ledger, &mut Vec<u8>) -> T,
    ) -> T {
        let before = self.out.len();
        let result = act(&mut self.connection, &mut self.ledger, &mut self.out);
        self.written += self.out.len() - before;
        let footprint = self.connection.footprint();
        bounds::check(&footprint, self.received);
        assert_eq!(footprint.calls as usize, self.ledger.open.len());
        let bound = bounds::output(self.ledger.sent, self.received);
        assert!(self.written <= bound, "{} bytes written, {bound} allowed", self.written);
        result
    }

    /// The connection is lost: every open call ends.
    pub fn end(mut self) {
        for call in self.connection.abandon() {
            self.ledger.close(call, None);
        }
        assert!(self.ledger.open.is_empty(), "no end: {:?}", self.ledger.open);
    }
}
