//! Conversations in one of Thrift's forms: mostly well-formed replies, and arbitrary bytes.

use std::sync::Arc;

use super::Steps;
use super::ledger::{Ledger, REQUESTS};
use crate::payload::Filler;
use crate::protocol::Connection as _;
use crate::protocol::thrift::{
    Binary, Buffered, Compact, Connection, Encoding, Framed, Transport, sequence_id,
};
use crate::target::Target;
use rpcbench_clock::Nanos;

/// Maximum open calls, so that inputs stay fast.
const MAX_CALLS: usize = 40;
/// Method names, the right one first.
const NAMES: [&str; 3] = ["Text", "Tree", ""];

/// A connection of one form, with checks after each step.
struct Machine<T: Transport> {
    connection: Connection<T>,
    ledger: Ledger,
    out: Vec<u8>,
    /// Replies are cut into pieces of this many bytes; 0: not cut.
    cut: usize,
    /// Messages sent.
    said: u64,
}

/// Feeds replies and exceptions chosen by the fuzzer, and arbitrary bytes, to a connection with calls in flight.
///
/// # Panics
/// If a call ends twice or not at all, or the connection writes anything about a reply.
pub fn thrift(bytes: &[u8]) {
    let mut steps = Steps(bytes);
    match steps.choice() % 4 {
        0 => Machine::<Framed<Binary>>::new().play(steps),
        1 => Machine::<Framed<Compact>>::new().play(steps),
        2 => Machine::<Buffered<Binary>>::new().play(steps),
        _ => Machine::<Buffered<Compact>>::new().play(steps),
    }
}

impl<T: Transport> Machine<T> {
    fn new() -> Self {
        let payload = Filler { targets: vec![Target::new(NAMES[0])], ..Filler::of(&REQUESTS) };
        let templates = Arc::new(Connection::<T>::templates(&payload, "host"));
        let mut out = Vec::new();
        let connection = Connection::new(templates, 4, &Arc::default(), &mut out);
        Self { connection, ledger: Ledger::default(), out, cut: 0, said: 0 }
    }

    fn play(mut self, mut steps: Steps<'_>) {
        while let Some(step) = steps.byte() {
            let went_on = match step {
                0 => {
                    self.connection.flushed(Nanos(1));
                    true
                }
                1 => {
                    self.expire(u64::from(steps.choice()));
                    true
                }
                2..=60 => {
                    self.send(step);
                    true
                }
                61..=70 => {
                    self.cut = usize::from(steps.choice());
                    true
                }
                71..=180 => self.say_nothing(),
                181..=230 => {
                    let message = self.message(&mut steps);
                    self.receive(&message)
                }
                _ => {
                    let bytes = steps.bytes(usize::from(step - 200)).to_vec();
                    self.receive(&bytes)
                }
            };
            assert_eq!(self.connection.open_calls() as usize, self.ledger.open.len());
            if !went_on {
                break;
            }
        }
        self.end();
    }

    fn send(&mut self, choice: u8) {
        if self.connection.can_send() && self.ledger.open.len() < MAX_CALLS {
            let call = self.ledger.next(u32::from(choice) % REQUESTS.len() as u32);
            self.connection.send(call, &mut self.out);
            self.out.clear();
        }
    }

    fn expire(&mut self, calls: u64) {
        for call in self.connection.expire(Nanos(calls), &mut self.out) {
            assert!(call.due.0 <= calls);
            self.ledger.close(call, None);
        }
    }

    /// An empty reply to the next call.
    fn say_nothing(&mut self) -> bool {
        let mut message = Vec::new();
        T::Encoding::put_head(&mut message, 2, NAMES[0], sequence_id(self.said));
        message.extend(T::Encoding::RESULT);
        message.extend([0, 0]);
        self.said += 1;
        self.receive(&T::framed(&message))
    }

    /// A message with properties chosen by the fuzzer.
    fn message(&mut self, steps: &mut Steps<'_>) -> Vec<u8> {
        let choice = steps.choice();
        let kind = if choice & 1 == 0 { 3 } else { choice >> 5 };
        let name = NAMES[usize::from(choice >> 1 & 7).saturating_sub(5)];
        let id = sequence_id(self.said + u64::from(choice & 0x10 != 0));
        self.said += 1;
        let mut message = Vec::new();
        T::Encoding::put_head(&mut message, kind & 7, name, id);
        let length = usize::from(steps.choice() % 64);
        message.extend(steps.bytes(length));
        T::framed(&message)
    }

    /// False if it breaks the connection.
    fn receive(&mut self, bytes: &[u8]) -> bool {
        let cut = if self.cut == 0 { bytes.len().max(1) } else { self.cut };
        let mut pieces = bytes.chunks(cut);
        pieces.all(|piece| {
            let received = self.connection.receive(piece, &mut self.out, &mut self.ledger);
            assert!(self.out.is_empty(), "an answer to a reply");
            received.is_ok()
        })
    }

    /// The connection is lost: every open call ends.
    fn end(mut self) {
        for call in self.connection.abandon() {
            self.ledger.close(call, None);
        }
        assert!(self.ledger.open.is_empty(), "no end: {:?}", self.ledger.open);
    }
}
