//! The open loop: calls come due by a schedule, whatever became of those before them.

use super::watch::Watch;
use super::{Phase, Worker};
use crate::clock::Nanos;
use crate::driver::Driver;
use crate::outcome::Outcome;
use crate::pacing::DueTimes;
use crate::protocol::Connection;
use crate::recorder::Taken;
use crate::slot::Slot;

/// So many calls that are due at once go to one connection, in one write, before the next has its turn. Written one by
/// one, the last of them would leave so much later that yet more are due then, and the client, once late, would stay so.
const TOGETHER: u32 = 16;

/// Where the next call of an open loop goes, and what is known about room for it.
///
/// ```text
///             no connection has room          something happens on connections
///  not full -------------------------> full -----------------------------------> full, but for those candidates
///      ^                                ^                                             |  |
///      |                                \______________ nor have these _______________/  |
///      \________________________ no call is due any more ________________________________/
/// ```
#[derive(Debug)]
pub(super) struct OpenLoop {
    pub due_times: DueTimes,
    /// The connection that is asked first.
    next_slot: usize,
    /// Calls that it has got in its turn.
    in_turn: u32,
    /// No connection had room when it was last looked for: waiting for the next due time would be in vain.
    full: bool,
    /// Connections on which something happened since, so that they may have room; and the first time it did.
    candidates: Vec<usize>,
    candidates_since: Option<Nanos>,
    /// Calls that came due at or before this found no room at once.
    full_until: Option<Nanos>,
    watch: Watch,
    /// Connections with calls to be written.
    touched: Vec<usize>,
}

impl OpenLoop {
    pub fn new(due_times: DueTimes) -> Self {
        Self {
            due_times,
            next_slot: 0,
            in_turn: 0,
            full: false,
            candidates: Vec::new(),
            candidates_since: None,
            full_until: None,
            watch: Watch::new(),
            touched: Vec::new(),
        }
    }

    /// When it is to be looked at next.
    pub fn wake_at(&self) -> Nanos {
        let next = self.due_times.peek().unwrap_or(Nanos::NEVER);
        if self.full { next.max(self.watch.next_look()) } else { next }
    }

    /// How the call that came due at `due` is taken up, now that it is.
    #[inline]
    fn taken(&mut self, due: Nanos) -> Taken {
        match self.watch.missed(due) {
            true => Taken::Late,
            false if self.full_until.is_some_and(|full| due <= full) => Taken::HeldBack,
            false => Taken::OnTime,
        }
    }

    /// Something happened on a connection; `now` is asked only if it matters when.
    #[inline]
    pub fn may_have_room(&mut self, slot: usize, now: impl FnOnce() -> Nanos) {
        if self.full {
            self.candidates.push(slot);
            self.candidates_since.get_or_insert_with(now);
        }
    }

    /// A connection for which `send` is true, if one has room.
    fn find_room(&mut self, slots: usize, mut send: impl FnMut(usize) -> bool) -> Option<usize> {
        if !self.full {
            return (0..slots).map(|i| (self.next_slot + i) % slots).find(|slot| send(*slot));
        }
        while self.candidates.last().is_some_and(|slot| !send(*slot)) {
            self.candidates.pop();
        }
        self.candidates.last().copied()
    }

    /// A call was put out on one of so many connections.
    fn sent_on(&mut self, slot: usize, slots: usize) {
        self.in_turn = if slot == self.next_slot { self.in_turn + 1 } else { 1 };
        self.next_slot = slot;
        if self.in_turn == TOGETHER {
            self.pass_on(slots);
        }
    }

    /// The next connection has its turn, unless this one got nothing in it.
    fn pass_on(&mut self, slots: usize) {
        if std::mem::take(&mut self.in_turn) > 0 {
            self.next_slot = (self.next_slot + 1) % slots;
        }
    }

    /// Takes note, for the calls to come, whether there was no room left at `now`.
    fn settle(&mut self, full: bool, now: Nanos) {
        self.full = full;
        self.candidates.clear();
        if full {
            self.full_until = Some(now);
        }
    }
}

/// How calls end that none of these connections took.
pub(super) fn not_sent<C: Connection>(slots: &[Slot<C>]) -> Outcome {
    let reason = slots.iter().find_map(Slot::hindrance);
    let full = || "as many calls were in flight as may be".to_owned();
    Outcome::NotSent { reason: reason.unwrap_or_else(full) }
}

impl<C: Connection, D: Driver> Worker<C, D> {
    /// Puts out the calls that are due: on the next connection in turn that has room. Those without
    /// room stay due, and are put out as soon as there is some.
    pub(super) fn release(&mut self, now: Nanos) {
        let Some(open) = &mut self.open else { return };
        open.watch.look(now, open.due_times.peek());
        if open.full {
            let Some(since) = open.candidates_since.take() else { return };
            open.full_until = Some(since);
        }
        let mut full = false;
        while let Some(due) = open.due_times.peek().filter(|due| *due <= now) {
            let (slots, calls) = (&mut self.slots, &mut self.calls);
            let room = open.find_room(slots.len(), |slot| slots[slot].try_send(|| calls.due(due)));
            let Some(slot) = room else {
                full = true;
                break;
            };
            self.calls.recorder.taken_up(due, open.taken(due));
            open.due_times.advance();
            open.sent_on(slot, self.slots.len());
            if open.touched.last() != Some(&slot) {
                open.touched.push(slot);
            }
        }
        open.pass_on(self.slots.len());
        open.settle(full, now);
        let mut touched = std::mem::take(&mut open.touched);
        for slot in touched.drain(..) {
            self.write(slot);
        }
        if let Some(open) = &mut self.open {
            open.touched = touched;
        }
    }

    /// Ends the calls that came due at or before `cutoff` and found no room until now.
    pub(super) fn give_up_unsent(&mut self, cutoff: Nanos, now: Nanos) {
        let Some(open) = &mut self.open else { return };
        let late = |due: &Nanos| *due <= cutoff;
        if !open.due_times.peek().is_some_and(|due| late(&due)) {
            return;
        }
        let outcome = not_sent(&self.slots);
        while let Some(due) = open.due_times.peek().filter(late) {
            open.due_times.advance();
            let call = self.calls.due(due);
            let taken = if open.watch.missed(due) { Taken::Late } else { Taken::HeldBack };
            self.calls.recorder.taken_up(due, taken);
            self.calls.end(call, now, &outcome);
        }
    }

    /// Whether calls that are due have still to be put out.
    pub(super) fn has_backlog(&self) -> bool {
        matches!(self.phase, Phase::Draining { .. })
            && self.open.as_ref().is_some_and(|open| open.due_times.peek().is_some())
    }
}
