//! Opens connections: one after another at first, and again after they are lost.

use std::sync::Arc;

use super::{Phase, Worker};
use crate::driver::{Driver, Handshake, Ready};
use crate::protocol::Connection;
use crate::slot::{Opening, Slot};
use crate::tls::TlsError;
use rpcbench_clock::Nanos;

/// Maximum connections being opened at once over all threads.
const MAX_OPENING: usize = 64;
/// Minimum time between opening two connections, over all threads. To the client, a TCP connection is open before the server
/// has accepted it. Any faster, a thousand of them overflow the listener's queue, which holds 128 or 511 connections in many
/// servers, and a dropped one is retried only after a second.
const OPENING_PAUSE: Nanos = Nanos(100_000);

impl<C: Connection, D: Driver> Worker<C, D> {
    /// True if every connection is open.
    pub fn is_connected(&self) -> bool {
        let mut places = self.slots.iter().filter(|slot| slot.parent_slot.is_none());
        self.unopened == self.slots.len() && places.all(Slot::is_open)
    }

    /// Number of open connections, and why the first closed one is not open.
    pub fn connect_problem(&self) -> (usize, Option<String>) {
        let open = self.slots.iter().filter(|slot| slot.is_open()).count();
        let mut others = self.slots.iter().enumerate().filter(|(_, slot)| !slot.is_open());
        let unfinished = |index| self.is_in_tls(index).then(|| TlsError::Unfinished.to_string());
        (open, others.find_map(|(index, slot)| slot.problem.clone().or_else(|| unfinished(index))))
    }

    /// Starts to connect every slot; turns return by `deadline` until all are open.
    pub fn connect_all(&mut self, deadline: Nanos) {
        self.expiry_at = deadline;
        self.connect_more();
    }

    /// Opens the next slot if it is time and few enough others are being opened.
    pub(super) fn connect_more(&mut self) {
        let slots = &self.slots;
        self.opening.retain(|slot| slots[*slot].opening_since().is_some());
        let now = self.driver.now();
        if self.next_open_at().is_some_and(|at| at <= now) {
            self.opening.push(self.unopened);
            self.connect(self.unopened);
            self.unopened += 1;
            self.open_at = now + Nanos(OPENING_PAUSE.0 * u64::from(self.plan.threads));
        }
    }

    /// When to open the next slot for the first time. `None` if none is left or too many are being opened.
    pub(super) fn next_open_at(&self) -> Option<Nanos> {
        // Called in each turn of a load, long after the last slot was opened.
        if self.unopened == self.slots.len() {
            return None;
        }
        let most = (MAX_OPENING / self.plan.threads as usize).max(1);
        (self.opening.len() < most).then_some(self.open_at)
    }

    /// Counts the calls that end next for the address of a slot's connection.
    #[inline]
    pub(super) fn at_slot(&mut self, index: usize) {
        if !self.plan.server.others.is_empty() {
            let place = self.slots[index].parent_slot.unwrap_or(index);
            let number = self.plan.server.address_number(self.stride.connection(place));
            self.calls.recorder.at_address(Some(number));
        }
    }

    fn connect(&mut self, index: usize) {
        let now = self.driver.now();
        let slot = &mut self.slots[index];
        if slot.problem.is_some() {
            self.calls.recorder.on_connection(now, |it| it.reopened += 1);
        }
        let mut out = std::mem::take(&mut slot.out);
        out.clear();
        let connection = C::new(Arc::clone(&self.templates), slot.share, &self.allowance, &mut out);
        slot.open(connection, out, now);
        let address = self.plan.server.address_of(self.stride.connection(index));
        if let Err(error) = self.driver.connect(index, address) {
            self.fail(index, &error);
        }
    }

    /// Opens connections for resting slots with new calls. Only between turns: events of the last turn belong to the previous
    /// connections.
    #[cold]
    pub(super) fn connect_wanted(&mut self) {
        let wanted = self.wanted.len();
        for at in 0..wanted {
            let slot = self.wanted[at];
            if self.slots[slot].is_wanted() {
                self.connect(slot);
            }
        }
        self.wanted.drain(..wanted);
    }

    /// Handles the result of a connect. True if it succeeded.
    pub(super) fn has_connected(&mut self, event: Ready) -> bool {
        let index = event.connection;
        // A failed connect is also readable.
        if event.readable
            && let Err(error) = self.driver.connected(index)
        {
            self.fail(index, &error);
            return false;
        }
        let now = self.driver.now();
        self.note_writable(index, now);
        self.note_established(index, now);
        true
    }

    /// Records the steps before the connection became writable: at `at`, or at the end of the TLS handshake if there is one.
    #[cold]
    fn note_writable(&mut self, index: usize, at: Nanos) {
        let slot = &mut self.slots[index];
        let handshake = self.driver.handshake(index);
        if let Some(handshake) = handshake {
            self.calls.recorder.on_opening(handshake.end, |it| it.handshake(handshake));
        }
        if slot.has_call_limit() {
            let (tcp_at, since) = handshake.map_or((at, at), |it| (it.begin, it.end));
            slot.writable_since = Some(since);
            let took = tcp_at.since(slot.opened_at);
            self.calls.recorder.on_opening(tcp_at, |it| it.tcp.record(took));
        }
    }

    /// Records the first byte of a connection, received at `at`.
    #[cold]
    pub(super) fn note_first_byte(&mut self, index: usize, at: Nanos) {
        if let Some(since) = self.slots[index].writable_since.take() {
            self.calls.recorder.on_opening(at, |it| it.first_byte.record(at.since(since)));
        }
    }

    /// Counts a connection as opened at `at`, if its handshake is done.
    #[cold]
    pub(super) fn note_established(&mut self, index: usize, at: Nanos) {
        let slot = &mut self.slots[index];
        if slot.connection.as_ref().is_none_or(C::is_handshaking) {
            return;
        }
        let was_pending = slot.opening == Opening::Handshake;
        slot.opening =
            if slot.writable_since.is_some() { Opening::FirstByte } else { Opening::Done };
        if was_pending && slot.has_call_limit() {
            self.calls.recorder.connected(slot.opened_at, at);
        }
    }

    /// Moves a connection that takes no more calls to a separate slot until its last call ends, and opens another in its
    /// place; one per slot at a time. Returns the connection's new slot.
    #[cold]
    pub(super) fn hand_over(&mut self, index: usize) -> usize {
        let known = self.slots.iter().position(|slot| slot.parent_slot == Some(index));
        let rest = known.unwrap_or(self.slots.len());
        if known.is_some_and(|rest| self.slots[rest].connection.is_some())
            || self.driver.renumber(index, rest).is_err()
        {
            return index;
        }
        // The unread bytes may be the end of the stream.
        self.unread.iter_mut().filter(|slot| **slot == index).for_each(|slot| *slot = rest);
        let now = self.driver.now();
        let slot = self.slots[index].hand_over(index, now);
        match known {
            Some(rest) => self.slots[rest] = slot,
            None => {
                self.slots.push(slot);
                self.unopened += 1;
            }
        }
        self.retry_at = self.retry_at.min(self.slots[index].retry_at().unwrap_or(Nanos::NEVER));
        rest
    }

    /// Notes that calls ended at `at` on a connection that was handed over, so its parent slot may reconnect soon.
    #[inline]
    pub(super) fn allow_reconnect(&mut self, index: usize, at: Nanos) {
        let Some(parent_slot) = self.slots[index].parent_slot else { return };
        self.slots[parent_slot].allow_reconnect(at);
        self.retry_at =
            self.retry_at.min(self.slots[parent_slot].retry_at().unwrap_or(Nanos::NEVER));
    }

    /// Reopens lost connections whose pause is over.
    pub(super) fn reconnect(&mut self, now: Nanos) {
        for slot in 0..self.slots.len() {
            if self.slots[slot].retry_at().is_none_or(|at| at > now) {
                continue;
            }
            let wanted = !self.slots[slot].has_call_limit() || self.slots[slot].has_unsent();
            match wanted || self.phase == Phase::Idle {
                true => self.connect(slot),
                false => self.slots[slot].rest(),
            }
        }
        let retries = self.slots.iter().filter_map(Slot::retry_at);
        self.retry_at = retries.min().unwrap_or(Nanos::NEVER);
    }

    /// Ends connection attempts that took too long; new ones follow.
    pub(super) fn give_up_opening(&mut self, now: Nanos) {
        for slot in 0..self.slots.len() {
            let since = self.slots[slot].opening_since();
            if since.is_some_and(|since| since + self.plan.connect_timeout <= now) {
                let reason = match self.is_in_tls(slot) {
                    true => TlsError::Unfinished.to_string(),
                    false => format!("no {} within the connect timeout", C::HANDSHAKE),
                };
                self.lose(slot, &reason);
            }
        }
    }

    fn is_in_tls(&self, slot: usize) -> bool {
        self.driver.handshake(slot).is_some_and(Handshake::is_pending)
    }
}
