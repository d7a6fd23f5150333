//! Writes to connections.

use std::io;

use super::Worker;
use crate::driver::Driver;
use crate::protocol::Connection;
use crate::slot::Link;
use rpcbench_clock::Nanos;

impl<C: Connection, D: Driver> Worker<C, D> {
    /// Sends waiting calls while the connection takes them, and writes. While the kernel takes nothing, calls stay unsent, so
    /// output does not pile up.
    #[inline]
    pub(super) fn send(&mut self, index: usize) {
        let parent_slot = self.slots[index].parent_slot;
        if let Some(open) = &mut self.open {
            open.may_have_room(parent_slot.unwrap_or(index), || self.driver.now());
        }
        let slot = &mut self.slots[index];
        let mut spent = false;
        if slot.link == Link::Up {
            let resent = slot.send_waiting();
            if resent > 0 {
                let now = self.driver.now();
                self.calls.recorder.on_connection(now, |it| it.resent += resent);
            }
            spent = slot.is_spent();
            if spent {
                slot.say_goodbye();
            }
            self.write(index);
        } else if slot.is_wanted() {
            self.wanted.push(index);
        }
        let connection = self.slots[index].connection.as_ref();
        if spent {
            self.retire(index);
        } else if let Some(connection) = connection.filter(|it| it.is_finished()) {
            let reason = connection.close_reason();
            self.lose(index, &reason);
        }
        if let Some(parent_slot) = parent_slot {
            self.send(parent_slot);
        }
    }

    #[inline]
    pub(super) fn write(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        if slot.link != Link::Up || !slot.has_output() {
            return;
        }
        let at = self.driver.now();
        let result = self.driver.send(index, slot.output());
        self.written(index, result, at);
    }

    /// Handles the result of a write at `at`.
    #[inline]
    fn written(&mut self, index: usize, result: io::Result<usize>, at: Nanos) {
        match result {
            Ok(sent) => {
                self.calls.recorder.sent(sent, at);
                self.slots[index].sent(sent, at);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.slots[index].link = Link::Full;
            }
            Err(error) => self.fail(index, &error),
        }
    }
}
