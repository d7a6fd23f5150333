//! The open loop: calls come due by a schedule, whatever became of those before them.

use super::{Phase, Worker};
use crate::clock::Nanos;
use crate::driver::Driver;
use crate::outcome::Outcome;
use crate::pacing::DueTimes;

/// So many calls that are due at once go to one connection, in one write, before the next has its turn. Written one by
/// one, the last of them would leave so much later that yet more are due then, and the client, once late, would stay so.
const TOGETHER: u32 = 16;

/// Where the next call of an open loop goes, and what is known about room for it.
///
/// ```text
///             no connection has room          something happens on connections
///  not full -------------------------> full -----------------------------------> full, but for those stirred
///      ^                                ^                                             |  |
///      |                                \______________ nor have these _______________/  |
///      \________________________ no call is due any more ________________________________/
/// ```
#[derive(Debug)]
pub(super) struct OpenLoop {
    pub due_times: DueTimes,
    /// The connection that is asked first.
    next_lane: usize,
    /// Calls that it has got in its turn.
    in_turn: u32,
    /// No connection had room when it was last looked for: waiting for the next due time would be in vain.
    full: bool,
    /// Connections on which something happened since, so that they may have room; and the first time it did.
    stirred: Vec<usize>,
    stirred_at: Option<Nanos>,
    /// Calls that came due at or before this found no room at once.
    full_until: Option<Nanos>,
    /// Connections with calls to be written.
    touched: Vec<usize>,
}

impl OpenLoop {
    pub fn new(due_times: DueTimes) -> Self {
        Self {
            due_times,
            next_lane: 0,
            in_turn: 0,
            full: false,
            stirred: Vec::new(),
            stirred_at: None,
            full_until: None,
            touched: Vec::new(),
        }
    }

    /// When it is to be looked at next.
    pub fn wake_at(&self) -> Nanos {
        self.due_times.peek().filter(|_| !self.full).unwrap_or(Nanos::NEVER)
    }

    /// Something happened on a connection; `now` is asked only if it matters when.
    #[inline]
    pub fn stir(&mut self, lane: usize, now: impl FnOnce() -> Nanos) {
        if self.full {
            self.stirred.push(lane);
            self.stirred_at.get_or_insert_with(now);
        }
    }

    /// A connection for which `put` is true, if one has room.
    fn find_room(&mut self, lanes: usize, mut put: impl FnMut(usize) -> bool) -> Option<usize> {
        if !self.full {
            return (0..lanes).map(|i| (self.next_lane + i) % lanes).find(|lane| put(*lane));
        }
        while self.stirred.last().is_some_and(|lane| !put(*lane)) {
            self.stirred.pop();
        }
        self.stirred.last().copied()
    }

    /// A call was put out on one of so many connections.
    fn put_on(&mut self, lane: usize, lanes: usize) {
        self.in_turn = if lane == self.next_lane { self.in_turn + 1 } else { 1 };
        self.next_lane = lane;
        if self.in_turn == TOGETHER {
            self.pass_on(lanes);
        }
    }

    /// The next connection has its turn, unless this one got nothing in it.
    fn pass_on(&mut self, lanes: usize) {
        if std::mem::take(&mut self.in_turn) > 0 {
            self.next_lane = (self.next_lane + 1) % lanes;
        }
    }

    /// Takes note, for the calls to come, whether there was no room left at `now`.
    fn settle(&mut self, full: bool, now: Nanos) {
        self.full = full;
        self.stirred.clear();
        if full {
            self.full_until = Some(now);
        }
    }
}

impl<D: Driver> Worker<D> {
    /// Puts out the calls that are due: on the next connection in turn that has room. Those without
    /// room stay due, and are put out as soon as there is some.
    pub(super) fn release(&mut self, now: Nanos) {
        let Some(open) = &mut self.open else { return };
        if open.full {
            let Some(since) = open.stirred_at.take() else { return };
            open.full_until = Some(since);
        }
        let mut full = false;
        while let Some(due) = open.due_times.peek().filter(|due| *due <= now) {
            let (lanes, calls) = (&mut self.lanes, &mut self.calls);
            let room = open.find_room(lanes.len(), |lane| lanes[lane].put(|| calls.due(due)));
            let Some(lane) = room else {
                full = true;
                break;
            };
            let held = open.full_until.is_some_and(|full| due <= full);
            self.calls.recorder.taken_up(due, now, held);
            open.due_times.advance();
            open.put_on(lane, self.lanes.len());
            if open.touched.last() != Some(&lane) {
                open.touched.push(lane);
            }
        }
        open.pass_on(self.lanes.len());
        open.settle(full, now);
        let mut touched = std::mem::take(&mut open.touched);
        for lane in touched.drain(..) {
            self.write(lane);
        }
        if let Some(open) = &mut self.open {
            open.touched = touched;
        }
    }

    /// Ends the calls that came due at or before `cutoff` and found no room until now.
    pub(super) fn give_up_unsent(&mut self, cutoff: Nanos, now: Nanos) {
        let Some(open) = &mut self.open else { return };
        while let Some(due) = open.due_times.peek().filter(|due| *due <= cutoff) {
            open.due_times.advance();
            let call = self.calls.due(due);
            self.calls.recorder.taken_up(due, now, true);
            self.calls.end(call, now, &Outcome::NotSent);
        }
    }

    /// Whether calls that are due have still to be put out.
    pub(super) fn has_backlog(&self) -> bool {
        matches!(self.phase, Phase::Draining { .. })
            && self.open.as_ref().is_some_and(|open| open.due_times.peek().is_some())
    }
}
