//! The open loop: calls come due by a schedule, whatever became of those before them.

use super::{Phase, Worker};
use crate::clock::Nanos;
use crate::driver::Driver;
use crate::outcome::Outcome;
use crate::pacing::Arrivals;

/// Where the next call of an open loop goes, and what is known about room for it.
#[derive(Debug)]
pub(super) struct OpenLoop {
    pub arrivals: Arrivals,
    /// The connection that is asked first.
    next_lane: usize,
    /// The last time at which no connection had room.
    full_at: Option<Nanos>,
    /// No connection has room: waiting for the next due time would be in vain.
    full: bool,
    /// Connections with calls to be written.
    touched: Vec<usize>,
}

impl OpenLoop {
    pub fn new(arrivals: Arrivals) -> Self {
        Self { arrivals, next_lane: 0, full_at: None, full: false, touched: Vec::new() }
    }

    /// When it is to be looked at next.
    pub fn wake_at(&self) -> Nanos {
        self.arrivals.peek().filter(|_| !self.full).unwrap_or(Nanos::NEVER)
    }
}

impl<D: Driver> Worker<D> {
    /// Puts out the calls that are due: each on the next connection in turn that has room. Those without
    /// room stay due, and are put out as soon as there is some.
    pub(super) fn release(&mut self, now: Nanos) {
        let Some(open) = &mut self.open else { return };
        open.full = false;
        while let Some(due) = open.arrivals.peek().filter(|due| *due <= now) {
            let calls = &mut self.calls;
            let lanes = self.lanes.len();
            let room = (0..lanes)
                .map(|i| (open.next_lane + i) % lanes)
                .find(|lane| self.lanes[*lane].put(|| calls.due(due)));
            let Some(lane) = room else {
                (open.full, open.full_at) = (true, Some(now));
                break;
            };
            let held = open.full_at.is_some_and(|full| due <= full);
            self.calls.recorder.taken_up(due, now, held);
            open.arrivals.advance();
            open.next_lane = (lane + 1) % lanes;
            if open.touched.last() != Some(&lane) {
                open.touched.push(lane);
            }
        }
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
        while let Some(due) = open.arrivals.peek().filter(|due| *due <= cutoff) {
            open.arrivals.advance();
            let call = self.calls.due(due);
            self.calls.recorder.taken_up(due, now, true);
            self.calls.end(call, now, &Outcome::NotSent);
        }
    }

    /// Whether calls that are due have still to be put out.
    pub(super) fn has_backlog(&self) -> bool {
        matches!(self.phase, Phase::Draining { .. })
            && self.open.as_ref().is_some_and(|open| open.arrivals.peek().is_some())
    }
}
