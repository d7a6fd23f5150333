//! How connections end: by the peer, by an error, or as planned.

use std::io;

use super::Worker;
use super::calls::Reading;
use crate::driver::Driver;
use crate::outcome::Outcome;
use crate::protocol::Connection;
use rpcbench_clock::Nanos;

impl<C: Connection, D: Driver> Worker<C, D> {
    /// Handles the end of the peer's side of a connection.
    #[cold]
    pub(super) fn end_of_stream(&mut self, index: usize, at: Nanos) {
        let slot = &mut self.slots[index];
        let Some(connection) = slot.connection.as_mut() else { return };
        let mut reading = Reading { calls: &mut self.calls, at, ended: 0, again: Vec::new() };
        connection.closed(&mut reading);
        let ended = reading.ended;
        let reason = connection.close_reason();
        if ended > 0 {
            slot.reset_backoff();
            self.allow_reconnect(index, at);
        }
        self.lose(index, &reason);
        self.next(index, ended, at);
        self.send(index);
    }

    /// Handles a kernel error: a connection could not be opened, or is lost.
    #[cold]
    pub(super) fn fail(&mut self, index: usize, error: &io::Error) {
        use io::ErrorKind::{AddrNotAvailable, BrokenPipe, ConnectionRefused, ConnectionReset};
        let now = self.driver.now();
        let established = self.slots[index].is_established();
        self.calls.recorder.on_connection(now, |it| match error.kind() {
            ConnectionRefused if !established => it.connect_refused += 1,
            ConnectionReset | BrokenPipe if established => it.reset += 1,
            _ => {}
        });
        match error.kind() {
            AddrNotAvailable => self.lose(index, &format!("no local port is free: {error}")),
            _ => self.lose(index, &error.to_string()),
        }
    }

    /// Ends a connection: its calls are lost, and it is reopened after a pause. With a call limit, calls that wait for a
    /// connection that never opened end as not sent.
    #[cold]
    pub(super) fn lose(&mut self, index: usize, reason: &str) {
        self.driver.close(index);
        self.at_slot(index);
        let now = self.driver.now();
        let slot = &mut self.slots[index];
        let established = slot.is_established();
        let orderly = slot.connection.as_ref().is_some_and(C::is_finished);
        let lost = slot.lose(reason, now);
        let unsent =
            if established || !slot.has_call_limit() { Vec::new() } else { slot.give_up() };
        self.calls.recorder.on_connection(now, |it| match established {
            true => it.end(reason, orderly),
            false => it.connect_failed += 1,
        });
        self.retry_at = self.retry_at.min(self.slots[index].retry_at().unwrap_or(Nanos::NEVER));
        let outcome = Outcome::Transport { reason: reason.to_owned() };
        for call in &lost {
            self.calls.end(call, now, &outcome);
        }
        let outcome = Outcome::NotSent { reason: format!("no connection: {reason}") };
        for call in &unsent {
            self.calls.end(call, now, &outcome);
        }
        self.next(index, (lost.len() + unsent.len()) as u32, now);
        if let Some(parent_slot) = self.slots[index].parent_slot {
            self.send(parent_slot);
        }
    }

    /// Ends a connection that has carried all its calls.
    #[cold]
    pub(super) fn retire(&mut self, index: usize) {
        if self.slots[index].connection.is_none() {
            return; // Lost while its last bytes were written.
        }
        self.driver.close(index);
        self.slots[index].retire();
        let now = self.driver.now();
        self.calls.recorder.on_connection(now, |it| it.retired += 1);
        if self.slots[index].is_wanted() {
            self.wanted.push(index);
        }
    }
}
