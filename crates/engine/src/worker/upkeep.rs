//! Occasional work besides calls: new headers, and pings on silent connections. Activity shows in counts that connections keep
//! anyway, so it costs calls nothing.

use std::sync::Arc;

use super::Worker;
use crate::driver::Driver;
use crate::protocol::Connection;
use crate::renewal::Renewed;
use rpcbench_clock::Nanos;
use rpcbench_record::KeepAlive;

/// Last known state of a slot's connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// When the connection was opened, and its answers so far.
    connection: (Nanos, u64),
    /// When this state was first seen.
    at: Nanos,
    pinged: Option<Nanos>,
}

/// What to do with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Wait,
    Ping,
    GiveUp,
}

impl Seen {
    /// Compares the state of a connection at `now` with the last one, and decides what to do.
    fn check(&mut self, connection: (Nanos, u64), now: Nanos, limits: (Nanos, Nanos)) -> Step {
        let (every, timeout) = limits;
        if connection != self.connection {
            *self = Self { connection, at: now, pinged: None };
            return Step::Wait;
        }
        match self.pinged {
            Some(at) if now - at >= timeout => Step::GiveUp,
            None if now - self.at >= every => {
                self.pinged = Some(now);
                Step::Ping
            }
            Some(_) | None => Step::Wait,
        }
    }
}

impl<C: Connection, D: Driver> Worker<C, D> {
    /// Occasional work, with or without calls.
    pub(super) fn upkeep(&mut self, now: Nanos) {
        if let Some(keepalive) = self.plan.server.keepalive {
            self.keep_alive(keepalive, now);
        }
        let Some(templates) = self.renewed.as_mut().and_then(Renewed::take) else { return };
        for connection in self.slots.iter_mut().filter_map(|slot| slot.connection.as_mut()) {
            connection.switch(Arc::clone(&templates));
        }
        self.templates = templates;
    }

    /// Pings connections that were silent for too long, and ends those that did not answer a ping.
    #[cold]
    fn keep_alive(&mut self, keepalive: KeepAlive, now: Nanos) {
        let limits =
            (Nanos::from_millis(keepalive.every_ms), Nanos::from_millis(keepalive.timeout_ms));
        self.seen.resize(self.slots.len(), Seen::default());
        for index in 0..self.slots.len() {
            let slot = &mut self.slots[index];
            if !slot.is_established() {
                continue;
            }
            let Some(connection) = &mut slot.connection else { continue };
            match self.seen[index].check((slot.opened_at, connection.answers()), now, limits) {
                Step::Wait => {}
                Step::Ping => {
                    connection.ping(&mut slot.out);
                    self.write(index);
                }
                Step::GiveUp => {
                    self.lose(index, "the peer did not answer a keepalive ping in time");
                    self.send(index);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silent_connection_is_pinged_once_and_then_given_up() {
        let second = |n: u64| Nanos::from_millis(n * 1000);
        let mut seen = Seen::default();
        let mut step =
            |answers, at| seen.check((second(1), answers), second(at), (second(10), second(5)));
        assert_eq!([step(1, 2), step(2, 11), step(2, 20)], [Step::Wait; 3]);
        assert_eq!([step(2, 21), step(2, 22), step(2, 25)], [Step::Ping, Step::Wait, Step::Wait]);
        // Answered.
        assert_eq!([step(3, 26), step(3, 35), step(3, 36)], [Step::Wait, Step::Wait, Step::Ping]);
        assert_eq!([step(3, 40), step(3, 41)], [Step::Wait, Step::GiveUp]);
    }

    #[test]
    fn next_connection_of_a_slot_begins_without_pings() {
        let mut seen = Seen::default();
        let limits = (Nanos(10), Nanos(5));
        assert_eq!(seen.check((Nanos(1), 0), Nanos(1), limits), Step::Wait);
        assert_eq!(seen.check((Nanos(1), 0), Nanos(11), limits), Step::Ping);
        assert_eq!(seen.check((Nanos(15), 0), Nanos(20), limits), Step::Wait);
    }
}
