//! The open loop: calls come due by a schedule, independent of the calls before them.

use super::room::Room;
use super::watch::Watch;
use super::{Phase, Worker};
use crate::driver::Driver;
use crate::outcome::Outcome;
use crate::pacing::DueTimes;
use crate::protocol::Connection;
use crate::recorder::SendTiming;
use crate::slot::Slot;
use rpcbench_clock::Nanos;

/// Maximum calls given up per turn, about 10 ms of work: the thread must still read its commands.
pub(super) const MAX_GIVEN_UP: usize = 1 << 17;

/// When calls of an open loop come due, and whether they must wait.
#[derive(Debug)]
pub(super) struct OpenLoop {
    pub due_times: DueTimes,
    room: Room,
    /// True if the first due call found no room, so waking at the next due time is useless.
    full: bool,
    /// When something first happened on a connection since `full` was set.
    happened_at: Option<Nanos>,
    /// Calls due at or before this found no room at first.
    full_until: Option<Nanos>,
    watch: Watch,
    /// Connections with calls to write.
    touched: Vec<usize>,
}

impl OpenLoop {
    pub fn new(due_times: DueTimes, connections: usize) -> Self {
        Self {
            due_times,
            room: Room::new(connections),
            full: false,
            happened_at: None,
            full_until: None,
            watch: Watch::new(),
            touched: Vec::new(),
        }
    }

    /// When to check for due calls next.
    pub fn wake_at(&self) -> Nanos {
        let next = self.due_times.peek().unwrap_or(Nanos::NEVER);
        if self.full { next.max(self.watch.next_check()) } else { next }
    }

    /// The timing of a call that came due at `due` and is sent now.
    #[inline]
    fn send_timing(&mut self, due: Nanos) -> SendTiming {
        match self.watch.missed(due) {
            true => SendTiming::Late,
            false if self.full_until.is_some_and(|full| due <= full) => SendTiming::HeldBack,
            false => SendTiming::OnTime,
        }
    }

    /// Notes that something happened on a connection. Reads the clock only if needed.
    #[inline]
    pub fn may_have_room(&mut self, slot: usize, now: impl FnOnce() -> Nanos) {
        self.room.may_be_on(slot);
        if self.full {
            self.happened_at.get_or_insert_with(now);
        }
    }
}

/// The outcome of calls for which no connection had room.
pub(super) fn not_sent<C: Connection>(slots: &[Slot<C>]) -> Outcome {
    let reason = slots.iter().find_map(Slot::blocked_reason);
    let full = || "as many calls were in flight as may be".to_owned();
    Outcome::NotSent { reason: reason.unwrap_or_else(full) }
}

impl<C: Connection, D: Driver> Worker<C, D> {
    /// Sends the due calls, each on the next connection with room. Without room, they stay due until there is some.
    pub(super) fn release(&mut self, now: Nanos) {
        let Some(open) = &mut self.open else { return };
        open.watch.check(now, open.due_times.peek());
        if open.full {
            let Some(since) = open.happened_at.take() else { return };
            open.full_until = Some(since);
        }
        let mut full = false;
        while let Some(due) = open.due_times.peek().filter(|due| *due <= now) {
            let (slots, calls) = (&mut self.slots, &mut self.calls);
            let found = open.room.find(|slot| slots[slot].try_send(|| calls.due(due)));
            let Some(slot) = found else {
                full = true;
                break;
            };
            self.calls.recorder.record_send_timing(due, open.send_timing(due));
            open.due_times.advance();
            if open.touched.last() != Some(&slot) {
                open.touched.push(slot);
            }
        }
        open.room.pass_on();
        open.full = full;
        open.full_until = if full { Some(now) } else { open.full_until };
        let mut touched = std::mem::take(&mut open.touched);
        for slot in touched.drain(..) {
            if self.slots[slot].is_wanted() {
                self.wanted.push(slot);
            }
            self.write(slot);
        }
        if let Some(open) = &mut self.open {
            open.touched = touched;
        }
    }

    /// Ends the calls due at or before `cutoff` that found no room so far, oldest first. True if some are left.
    pub(super) fn give_up_unsent(&mut self, cutoff: Nanos, now: Nanos) -> bool {
        let Some(open) = &mut self.open else { return false };
        let is_late = |open: &OpenLoop| open.due_times.peek().is_some_and(|due| due <= cutoff);
        if !is_late(open) {
            return false;
        }
        let outcome = not_sent(&self.slots);
        self.calls.recorder.at_address(None);
        for _ in 0..MAX_GIVEN_UP {
            let Some(due) = open.due_times.peek().filter(|due| *due <= cutoff) else { break };
            open.due_times.advance();
            let call = self.calls.due(due);
            let timing =
                if open.watch.missed(due) { SendTiming::Late } else { SendTiming::HeldBack };
            self.calls.recorder.record_send_timing(due, timing);
            self.calls.end(&call, now, &outcome);
        }
        is_late(open)
    }

    /// True if due calls are still unsent.
    pub(super) fn has_backlog(&self) -> bool {
        matches!(self.phase, Phase::Draining { .. })
            && self.open.as_ref().is_some_and(|open| open.due_times.peek().is_some())
    }
}
