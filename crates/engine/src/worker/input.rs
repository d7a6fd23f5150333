//! Reads from connections.

use std::io;

use super::Worker;
use super::calls::Reading;
use crate::driver::{Driver, Ready};
use crate::protocol::Connection;
use crate::slot::{Link, Opening};

impl<C: Connection, D: Driver> Worker<C, D> {
    pub(super) fn on_ready(&mut self, event: Ready) {
        let index = event.connection;
        if event.writable && matches!(self.slots[index].link, Link::Connecting | Link::Full) {
            if self.slots[index].link == Link::Connecting && !self.has_connected(event) {
                return;
            }
            self.slots[index].link = Link::Up;
            self.write(index);
            self.send(index);
        }
        if event.readable {
            self.read(index);
        }
    }

    /// Reads once, and writes the resulting output once.
    #[inline]
    pub(super) fn read(&mut self, index: usize) {
        self.at_slot(index);
        let slot = &mut self.slots[index];
        let Some(connection) = slot.connection.as_mut() else { return };
        let received = match self.driver.receive(index) {
            Ok(received) => received,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Err(error) => return self.fail(index, &error),
        };
        if received.bytes.is_empty() {
            let at = received.at;
            return self.end_of_stream(index, at);
        }
        if received.more {
            self.unread.push_back(index);
        }
        let at = received.at;
        self.calls.recorder.received(received.bytes.len(), at);
        let mut reading = Reading { calls: &mut self.calls, at, ended: 0, again: Vec::new() };
        let result = connection.receive(received.bytes, &mut slot.out, &mut reading);
        let (ended, again) = (reading.ended, reading.again);
        if ended > 0 {
            slot.reset_backoff();
        }
        let parent_slot = slot.parent_slot.unwrap_or(index);
        if !again.is_empty() {
            self.slots[parent_slot].again.extend(again);
        }
        if ended > 0 {
            self.allow_reconnect(index, at);
        }
        if self.slots[index].opening != Opening::Done {
            self.note_first_byte(index, at);
            self.note_established(index, at);
        }
        if let Err(broken) = result {
            let reason = broken.to_string();
            self.calls.recorder.on_connection(at, |it| it.break_off(&reason));
            self.lose(index, &reason);
        }
        let leaves = parent_slot == index && self.slots[index].is_leaving();
        let index = if leaves { self.hand_over(index) } else { index };
        self.next(index, ended, at);
        self.send(index);
    }
}
