//! Calls whose replies come in request order.

use std::collections::VecDeque;

use super::Call;
use rpcbench_clock::Nanos;

/// The calls of a connection that await replies.
#[derive(Debug)]
pub(crate) struct InOrder {
    /// In reply order, each with a flag that is false once it timed out: its reply may still come.
    calls: VecDeque<(Call, bool)>,
    /// Open calls among `calls`.
    open: u32,
    /// Calls at the end of `calls` not passed to the kernel yet.
    unflushed: usize,
}

impl InOrder {
    /// Room for `in_flight` calls; grows if more are pushed.
    pub fn new(in_flight: u32) -> Self {
        Self { calls: VecDeque::with_capacity(in_flight as usize), open: 0, unflushed: 0 }
    }

    /// Calls that have not ended.
    #[inline]
    pub fn open(&self) -> u32 {
        self.open
    }

    /// Replies still expected.
    #[inline]
    pub fn awaited(&self) -> usize {
        self.calls.len()
    }

    /// Adds a call that was sent.
    #[inline]
    pub fn push(&mut self, call: Call) {
        self.calls.push_back((call, true));
        self.open += 1;
        self.unflushed += 1;
    }

    /// Marks all calls as passed to the kernel.
    #[inline]
    pub fn flushed(&mut self, now: Nanos) {
        let flushed = self.calls.len() - self.unflushed;
        for (call, _) in self.calls.range_mut(flushed..) {
            call.written = now;
        }
        self.unflushed = 0;
    }

    /// Takes the call whose reply was received; `Some(None)` if it timed out. `None`: a reply without a call.
    #[inline]
    pub fn answered(&mut self) -> Option<Option<Call>> {
        let (call, is_open) = self.calls.pop_front()?;
        self.unflushed = self.unflushed.min(self.calls.len());
        self.open -= u32::from(is_open);
        Some(is_open.then_some(call))
    }

    /// The call whose reply comes next, even if it has timed out.
    pub fn next(&self) -> Option<Call> {
        self.calls.front().map(|(call, _)| *call)
    }

    /// Takes all calls but the first.
    pub fn take_later(&mut self) -> Vec<Call> {
        let later: Vec<Call> =
            self.calls.drain(self.calls.len().min(1)..).filter_map(open).collect();
        self.unflushed = self.unflushed.min(self.calls.len());
        self.open -= later.len() as u32;
        later
    }

    /// Takes the calls that came due at or before `cutoff`; their replies are still awaited.
    pub fn expire(&mut self, cutoff: Nanos) -> Vec<Call> {
        let late = |(call, is_open): &mut (Call, bool)| {
            (call.due <= cutoff && std::mem::take(is_open)).then_some(*call)
        };
        let expired: Vec<Call> = self.calls.iter_mut().filter_map(late).collect();
        self.open -= expired.len() as u32;
        expired
    }

    /// Takes every call; no reply will come.
    pub fn abandon(&mut self) -> Vec<Call> {
        self.open = 0;
        self.unflushed = 0;
        self.calls.drain(..).filter_map(open).collect()
    }
}

fn open((call, is_open): (Call, bool)) -> Option<Call> {
    is_open.then_some(call)
}
