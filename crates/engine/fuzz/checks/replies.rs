//! Mostly well-formed HTTP/1.1 replies for two connections: one gets them whole, the other byte by byte.

use std::sync::{Arc, OnceLock};

use super::Steps;
use super::ledger::{Ledger, REQUESTS};
use crate::payload::Filler;
use crate::protocol::Connection as _;
use crate::protocol::connect::Connect;
use crate::protocol::http1::{Connection, Http1Application, Templates};
use crate::protocol::json::Json;
use rpcbench_clock::Nanos;

/// Open calls.
const IN_FLIGHT: u32 = 4;
/// Longest head accepted, bytes.
const HEAD: usize = 64 << 10;

/// Parts of replies.
const PARTS: [&[u8]; 21] = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nright\r\n0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.0 200 OK\r\n",
    b"HTTP/1.1 404 No\r\n",
    b"HTTP/1.1 204 None\r\n\r\n",
    b"HTTP/1.1 103 Soon\r\n\r\n",
    b"HTTP/1.1 101 Other\r\n\r\n",
    b"Content-Length: ",
    b"5\r\n",
    b"12\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Connection: close\r\n",
    b"Connection: keep-alive\r\n",
    b"Date: now\r\n",
    b"\r\n",
    b"right",
    b"\r\nright\r\n",
    b"0\r\n\r\n",
    b"\n",
    b"HTTP/1.1 400 No\r\nContent-Length: 30\r\n\r\n{\"code\":\"aborted\",\"message\":1}",
];

fn templates() -> Arc<Templates> {
    static TEMPLATES: OnceLock<Arc<Templates>> = OnceLock::new();
    let make = || Arc::new(Connection::<Json>::templates(&Filler::of(&REQUESTS), "host"));
    Arc::clone(TEMPLATES.get_or_init(make))
}

/// A connection and its calls, with checks after each step.
struct Machine<A> {
    connection: Connection<A>,
    ledger: Ledger,
    received: usize,
    broken: Option<String>,
}

impl<A: Http1Application> Machine<A> {
    fn new() -> Self {
        let connection = Connection::new(templates(), IN_FLIGHT, &Arc::default(), &mut Vec::new());
        Self { connection, ledger: Ledger::default(), received: 0, broken: None }
    }

    fn send(&mut self, entry: u32) {
        if self.connection.can_send() {
            let call = self.ledger.next(entry);
            self.connection.send(call, &mut Vec::new());
        }
    }

    fn receive(&mut self, bytes: &[u8]) {
        if self.broken.is_some() {
            return;
        }
        self.received += bytes.len();
        let came = self.connection.receive(bytes, &mut Vec::new(), &mut self.ledger);
        self.broken = came.err().map(|broken| broken.to_string());
        self.check();
    }

    fn expire(&mut self, cutoff: u64) {
        for call in self.connection.expire(Nanos(cutoff), &mut Vec::new()) {
            self.ledger.close(call, None);
        }
        self.check();
    }

    fn check(&self) {
        let open = self.connection.open_calls();
        assert_eq!(open as usize, self.ledger.open.len());
        assert!(open <= IN_FLIGHT && !(self.connection.can_send() && open == IN_FLIGHT));
        let (room, known) = self.connection.footprint();
        // A vector may have twice the capacity that it needs.
        assert!(room <= 64 + 2 * self.received, "{room} bytes of {}", self.received);
        assert!(known <= 2 * HEAD, "{known} bytes");
    }

    /// The peer closes, or has broken the rules: every open call ends.
    fn end(&mut self) {
        if self.broken.is_none() {
            self.connection.closed(&mut self.ledger);
        }
        for call in self.connection.abandon() {
            self.ledger.close(call, None);
        }
        assert!(self.ledger.open.is_empty(), "no end: {:?}", self.ledger.open);
    }
}

/// Both connections; the second one gets single bytes.
struct Both<A>([Machine<A>; 2]);

impl<A: Http1Application> Both<A> {
    fn each(&mut self, act: impl Fn(&mut Machine<A>)) {
        self.0.iter_mut().for_each(act);
    }

    fn receive(&mut self, bytes: &mut Vec<u8>) {
        let [whole, bytewise] = &mut self.0;
        whole.receive(bytes);
        bytes.chunks(1).for_each(|byte| bytewise.receive(byte));
        bytes.clear();
    }

    fn compare(&self) {
        let [whole, bytewise] = &self.0;
        assert_eq!(whole.ledger.ended, bytewise.ledger.ended);
        assert_eq!(whole.broken, bytewise.broken);
        assert_eq!(whole.connection.is_finished(), bytewise.connection.is_finished());
        assert_eq!(whole.connection.close_reason(), bytewise.connection.close_reason());
    }
}

/// Feeds replies and parts of them between sends, flushes and timeouts: once over JSON, once over Connect.
///
/// # Panics
/// If a call ends twice or not at all, a buffer exceeds its bound, or the result depends on how the bytes are cut.
pub fn replies(bytes: &[u8]) {
    play::<Json>(bytes);
    play::<Connect>(bytes);
}

fn play<A: Http1Application>(bytes: &[u8]) {
    let mut steps = Steps(bytes);
    let mut both = Both::<A>([Machine::new(), Machine::new()]);
    let (mut pending, mut now) = (Vec::new(), 0);
    while let Some(step) = steps.byte() {
        match step {
            0 => both.receive(&mut pending),
            1 => {
                now += 1;
                both.each(|machine| machine.connection.flushed(Nanos(now)));
            }
            2 => {
                let cutoff = u64::from(steps.choice());
                both.each(|machine| machine.expire(cutoff));
            }
            3..=9 => both.each(|machine| machine.send(u32::from(step) % REQUESTS.len() as u32)),
            _ => match PARTS.get(usize::from(step) - 10) {
                Some(part) => pending.extend_from_slice(part),
                None => {
                    pending.extend_from_slice(steps.bytes(usize::from(step) - 10 - PARTS.len()))
                }
            },
        }
        both.compare();
        if both.0[0].broken.is_some() {
            break;
        }
    }
    both.receive(&mut pending);
    both.compare();
    both.each(Machine::end);
    both.compare();
}
