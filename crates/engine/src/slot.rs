//! A worker's place for a connection, which outlives the connections opened in it.

use std::collections::VecDeque;

use crate::protocol::{Call, Connection};
use rpcbench_clock::Nanos;

/// First and longest pause before a lost connection is opened again.
const RETRY: (Nanos, Nanos) = (Nanos::from_millis(1), Nanos::from_millis(1000));

/// The socket's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    Down,
    /// The connection has carried all its calls; the next one is opened when a call needs it.
    Resting,
    Connecting,
    Up,
    /// The kernel accepts no more bytes until an event says so.
    Full,
}

/// How far a connection has opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// The handshake is not known to be complete.
    Handshake,
    /// Nothing has been received from the peer.
    FirstByte,
    Done,
}

#[derive(Debug)]
pub(crate) struct Slot<C> {
    /// Calls to keep in flight.
    pub share: u32,
    pub link: Link,
    /// Calls that each connection may carry.
    life: u64,
    /// Calls that this connection may still carry.
    left: u64,
    pub opening: Opening,
    /// When the wait for the first byte began, if it is measured.
    pub writable_since: Option<Nanos>,
    pub connection: Option<C>,
    /// Output; the kernel has taken the first `written` bytes.
    pub out: Vec<u8>,
    written: usize,
    /// Due calls that are not sent yet.
    pub waiting: VecDeque<Call>,
    /// Calls that the peer refused; they are sent before `waiting`.
    pub again: VecDeque<Call>,
    /// The slot that opened this connection, if this slot only awaits the connection's last calls.
    pub parent_slot: Option<usize>,
    /// Why the last connection ended.
    pub problem: Option<String>,
    pub opened_at: Nanos,
    retry_at: Nanos,
    pause: Nanos,
    /// True after the connection was handed over, until the next one fails or is lost.
    handed_over: bool,
}

impl<C: Connection> Slot<C> {
    /// A slot that keeps `share` calls in flight, on connections that carry `life` calls each; `None`: any number.
    pub fn new(share: u32, life: Option<u32>) -> Self {
        let life = life.map_or(u64::MAX, u64::from);
        Self {
            share,
            link: Link::Down,
            life,
            left: life,
            opening: Opening::Done,
            writable_since: None,
            connection: None,
            out: Vec::new(),
            written: 0,
            waiting: VecDeque::new(),
            again: VecDeque::new(),
            parent_slot: None,
            problem: None,
            opened_at: Nanos(0),
            retry_at: Nanos::NEVER,
            pause: RETRY.0,
            handed_over: false,
        }
    }

    /// Puts a new connection into the slot; `out` is what it sends first.
    pub fn open(&mut self, connection: C, out: Vec<u8>, now: Nanos) {
        self.connection = Some(connection);
        self.out = out;
        self.written = 0;
        self.link = Link::Connecting;
        self.left = self.life;
        self.opening = Opening::Handshake;
        self.writable_since = None;
        self.opened_at = now;
        self.retry_at = Nanos::NEVER;
    }

    /// True if the connection takes no more calls and still has some unanswered.
    #[inline]
    pub fn is_leaving(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| {
            !connection.is_open() && !connection.is_handshaking() && connection.open_calls() > 0
        })
    }

    /// Moves the connection to a separate slot so that the next one can be opened here: at once, if calls have ended since the
    /// last hand-over.
    pub fn hand_over(&mut self, parent_slot: usize, now: Nanos) -> Self {
        let mut rest =
            Self { parent_slot: Some(parent_slot), link: self.link, ..Self::new(0, None) };
        rest.connection = self.connection.take();
        std::mem::swap(&mut rest.out, &mut self.out);
        std::mem::swap(&mut rest.written, &mut self.written);
        self.problem = rest.connection.as_ref().map(C::close_reason);
        self.link = Link::Down;
        self.retry_at = if self.pause == RETRY.0 { now } else { now + self.pause };
        self.lengthen_pause();
        self.handed_over = true;
        rest
    }

    /// True if connections end after a number of calls.
    pub fn has_call_limit(&self) -> bool {
        self.life < u64::MAX
    }

    /// True if the connection has carried all its calls, and each has ended.
    #[inline]
    pub fn is_spent(&self) -> bool {
        self.left == 0 && self.connection.as_ref().is_some_and(|it| it.open_calls() == 0)
    }

    /// Writes the protocol's goodbye, such as GOAWAY.
    #[cold]
    pub fn say_goodbye(&mut self) {
        if let Some(connection) = &mut self.connection {
            connection.goodbye(&mut self.out);
        }
    }

    /// Ends a connection that has carried all its calls.
    pub fn retire(&mut self) {
        self.connection = None;
        self.problem = None;
        self.rest();
        self.pause = RETRY.0;
    }

    /// Opens no connection until a call needs one.
    pub fn rest(&mut self) {
        self.link = Link::Resting;
        self.retry_at = Nanos::NEVER;
        self.out.clear();
        self.written = 0;
    }

    /// True if calls are waiting for a connection.
    pub fn is_wanted(&self) -> bool {
        self.link == Link::Resting && self.has_unsent()
    }

    /// True if calls are waiting to be sent.
    pub fn has_unsent(&self) -> bool {
        !self.waiting.is_empty() || !self.again.is_empty()
    }

    fn lengthen_pause(&mut self) {
        self.pause = Nanos((self.pause.0 * 2).min(RETRY.1.0));
    }

    pub fn is_open(&self) -> bool {
        let up = matches!(self.link, Link::Up | Link::Full);
        up && self.connection.as_ref().is_some_and(C::is_open)
    }

    /// True if there is a connection whose handshake is done.
    pub fn is_established(&self) -> bool {
        self.connection.is_some() && self.opening_since().is_none()
    }

    /// When the current attempt to connect began, if there is one.
    pub fn opening_since(&self) -> Option<Nanos> {
        let connection = self.connection.as_ref()?;
        let opening = self.link == Link::Connecting || connection.is_handshaking();
        opening.then_some(self.opened_at)
    }

    /// Resets the backoff, as calls have ended on the connection.
    #[inline]
    pub fn reset_backoff(&mut self) {
        self.pause = RETRY.0;
    }

    /// Lets the next connection open at once, because calls have ended on the one that was handed over. No-op if an attempt
    /// has failed.
    pub fn allow_reconnect(&mut self, now: Nanos) {
        if self.link == Link::Down && !self.handed_over {
            return;
        }
        self.reset_backoff();
        if self.retry_at().is_some() {
            self.retry_at = self.retry_at.min(now);
        }
    }

    /// When to connect again, if the connection is lost.
    pub fn retry_at(&self) -> Option<Nanos> {
        (self.link == Link::Down && self.retry_at != Nanos::NEVER).then_some(self.retry_at)
    }

    /// Why the slot can't take calls, in one line. `None` if it can, or if all its calls are in flight already.
    pub fn blocked_reason(&self) -> Option<String> {
        if self.parent_slot.is_some() {
            return None;
        }
        let established = self.is_established();
        let Some(connection) = self.connection.as_ref().filter(|_| established) else {
            let problem = self.problem.as_deref().unwrap_or("it is still being opened");
            return Some(format!("no connection: {problem}"));
        };
        let reason = match self.link {
            _ if !connection.is_open() => connection.close_reason(),
            Link::Full => "the peer does not read".to_owned(),
            _ if !connection.can_send() && connection.open_calls() < self.share => {
                format!("the peer allows {} calls at once on a connection", connection.open_calls())
            }
            Link::Down | Link::Resting | Link::Connecting | Link::Up => return None,
        };
        Some(reason)
    }

    /// Sends a call if there is room; its bytes still have to be written.
    #[inline]
    pub fn try_send(&mut self, make: impl FnOnce() -> Call) -> bool {
        let Some(connection) = &mut self.connection else { return self.try_wake(make) };
        let room = self.link == Link::Up
            && self.waiting.is_empty()
            && self.again.is_empty()
            && self.left > 0
            && connection.can_send()
            && connection.open_calls() < self.share;
        if room {
            self.left -= 1;
            connection.send(make(), &mut self.out);
        }
        room
    }

    /// Sends up to `most` new calls while there is room, and returns how many; their bytes still have to be written.
    #[inline]
    pub fn send_new(&mut self, most: u32, mut make: impl FnMut() -> Call) -> u32 {
        let free = self.link == Link::Up && !self.has_unsent();
        let Some(connection) = self.connection.as_mut().filter(|_| free) else { return 0 };
        let room = most.min(self.share.saturating_sub(connection.open_calls()));
        let room = u64::from(room).min(self.left) as u32;
        let mut sent = 0;
        while sent < room && connection.can_send() {
            connection.send(make(), &mut self.out);
            sent += 1;
        }
        self.left -= u64::from(sent);
        sent
    }

    /// Gives a call to a resting slot, which then needs a connection.
    #[cold]
    fn try_wake(&mut self, make: impl FnOnce() -> Call) -> bool {
        let room = self.link == Link::Resting && !self.has_unsent();
        if room {
            self.waiting.push_back(make());
        }
        room
    }

    /// Sends waiting calls while the connection takes them; returns how many of them had been refused before.
    #[inline]
    pub fn send_waiting(&mut self) -> u64 {
        let mut resent = 0;
        let Some(connection) = &mut self.connection else { return resent };
        while self.left > 0 && connection.can_send() {
            let refused = self.again.pop_front();
            resent += u64::from(refused.is_some());
            let Some(call) = refused.or_else(|| self.waiting.pop_front()) else { break };
            self.left -= 1;
            connection.send(call, &mut self.out);
        }
        resent
    }

    pub fn give_up(&mut self) -> Vec<Call> {
        self.again.drain(..).chain(self.waiting.drain(..)).collect()
    }

    /// True if any call is in flight or waiting.
    pub fn has_calls(&self) -> bool {
        self.has_unsent() || self.connection.as_ref().is_some_and(|it| it.open_calls() > 0)
    }

    pub fn has_output(&self) -> bool {
        self.written < self.out.len()
    }

    pub fn output(&self) -> &[u8] {
        &self.out[self.written..]
    }

    /// Notes that the kernel took `bytes` of the output at `at`. Calls count as written once it has taken all output.
    #[inline]
    pub fn sent(&mut self, bytes: usize, at: Nanos) {
        self.written += bytes;
        if self.written < self.out.len() {
            self.link = Link::Full;
            return;
        }
        self.out.clear();
        self.written = 0;
        if let Some(connection) = &mut self.connection {
            connection.flushed(at);
        }
    }

    /// Takes the calls due at or before `cutoff`: those sent, and those not sent.
    pub fn expire(&mut self, cutoff: Nanos) -> (Vec<Call>, Vec<Call>) {
        let late = match &mut self.connection {
            Some(connection) => connection.expire(cutoff, &mut self.out),
            None => Vec::new(),
        };
        let mut unsent = Vec::new();
        for queue in [&mut self.again, &mut self.waiting] {
            unsent.extend(queue.iter().filter(|call| call.due <= cutoff));
            queue.retain(|call| call.due > cutoff);
        }
        (late, unsent)
    }

    /// Takes the calls of a lost connection. The next one is opened at once if this one ended cleanly and calls have ended on
    /// it.
    pub fn lose(&mut self, reason: &str, now: Nanos) -> Vec<Call> {
        if self.is_open() {
            self.pause = RETRY.0;
        }
        let connection = self.connection.take();
        let finished = connection.as_ref().is_some_and(C::is_finished);
        let pause = if finished && self.pause == RETRY.0 { Nanos(0) } else { self.pause };
        self.link = Link::Down;
        self.retry_at = if self.parent_slot.is_some() { Nanos::NEVER } else { now + pause };
        self.handed_over = false;
        self.lengthen_pause();
        self.problem = Some(reason.to_owned());
        self.out.clear();
        self.written = 0;
        connection.map(|mut connection| connection.abandon()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::payload::Filler;
    use crate::protocol::json::Connection as Json;
    use crate::protocol::{End, Events};

    struct Ended(u32);

    impl Events for Ended {
        fn verify(&mut self, _: &Call, _: &[u8]) -> bool {
            true
        }

        fn malformed(&mut self, _: u32, _: &str) {}

        fn ended(&mut self, _: &Call, _: End) {
            self.0 += 1;
        }
    }

    /// Opens a connection, sends a call, receives `bytes`, and loses the connection; returns the pause before the next.
    fn wait_after(slot: &mut Slot<Json>, bytes: &[u8]) -> Nanos {
        let templates = Arc::new(Json::templates(&Filler::of(&[2]), "host"));
        let connection = Json::new(templates, 1, &Arc::default(), &mut Vec::new());
        slot.open(connection, Vec::new(), Nanos(0));
        slot.link = Link::Up;
        assert!(slot.try_send(Call::default));
        let mut ended = Ended(0);
        let connection = slot.connection.as_mut().unwrap();
        connection.receive(bytes, &mut Vec::new(), &mut ended).unwrap();
        if ended.0 > 0 {
            slot.reset_backoff();
        }
        let now = Nanos(7);
        slot.lose("it was closed", now);
        slot.retry_at().unwrap() - now
    }

    #[test]
    fn after_an_orderly_end_the_next_connection_is_opened_at_once() {
        let mut slot = Slot::new(1, None);
        let last = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}";
        for _ in 0..3 {
            assert_eq!(wait_after(&mut slot, last), Nanos(0));
        }
        let other = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(wait_after(&mut slot, other), RETRY.0);
        assert_eq!(wait_after(&mut slot, b""), RETRY.0);
        assert_eq!(wait_after(&mut slot, last), Nanos(0));
    }

    #[test]
    fn answers_after_a_hand_over_allow_an_immediate_reconnect() {
        let mut slot: Slot<Json> = Slot::new(1, None);
        let hand_over = |slot: &mut Slot<Json>| {
            slot.hand_over(0, Nanos(7));
            slot.retry_at().unwrap()
        };
        assert_eq!(hand_over(&mut slot), Nanos(7));
        assert!(hand_over(&mut slot) > Nanos(7));
        slot.allow_reconnect(Nanos(7));
        assert_eq!(slot.retry_at(), Some(Nanos(7)));
        assert_eq!(hand_over(&mut slot), Nanos(7));
        slot.lose("connection refused", Nanos(7));
        let waits = slot.retry_at();
        slot.allow_reconnect(Nanos(7));
        assert_eq!(slot.retry_at(), waits);
        assert!(waits > Some(Nanos(7)));
    }
}
