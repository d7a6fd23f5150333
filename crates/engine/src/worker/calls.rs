//! Calls from due to outcome.

use std::sync::Arc;

use crate::clock::Nanos;
use crate::log::CallLog;
use crate::nonce::Nonce;
use crate::outcome::Outcome;
use crate::payload::{Checker, Payload};
use crate::plan::LoadPlan;
use crate::protocol::{Call, End, Events};
use crate::recorder::Recorder;
use crate::span::Span;

/// What happens to calls, apart from the connections that carry them.
pub(crate) struct Calls {
    payload: Arc<dyn Payload>,
    checker: Checker,
    pub recorder: Recorder,
    count: u32,
    next_request: u32,
    /// The nonce of each request's next call, and how far apart those of its calls are.
    nonce: Nonce,
    nonce_step: u32,
    /// A call answered this long after it came due, or later, has failed.
    timeout: Nanos,
    /// Calls in flight or waiting on all connections.
    pub outstanding: u64,
    /// Calls that came due after the measured span.
    followed: u64,
    /// Calls that ended, and those of them not `ok`, since the worker began.
    pub ended: u64,
    pub failed: u64,
    /// When the last one ended.
    pub ended_at: Nanos,
}

impl Calls {
    /// The calls of thread `thread` of a session, which is opened at `opened`.
    pub fn new(
        payload: Arc<dyn Payload>,
        plan: &LoadPlan,
        thread: u32,
        opened: Nanos,
        log: Option<CallLog>,
    ) -> Self {
        // Threads start apart from each other in the requests.
        let count = payload.len() as u32;
        let step = count / plan.threads.max(1);
        Self {
            checker: Checker::new(&*payload, plan.threads),
            recorder: Recorder::new(plan.protocol, log),
            count,
            next_request: (plan.first_request + thread * step) % count,
            nonce: first_nonce(opened, thread, plan.threads),
            nonce_step: plan.threads,
            payload,
            timeout: plan.timeout,
            outstanding: 0,
            followed: 0,
            ended: 0,
            failed: 0,
            ended_at: Nanos(0),
        }
    }

    /// Measures the calls that come due in `span`.
    pub fn measure(&mut self, span: Span) {
        self.followed = 0;
        self.recorder.measure(span);
    }

    /// Counts calls of a closed loop that come due at `now`, if the span is over.
    #[inline]
    pub fn follow(&mut self, calls: u32, now: Nanos) {
        if self.recorder.is_over(now) {
            self.followed += u64::from(calls);
        }
    }

    /// The outstanding calls that did not come due after the measured span.
    pub fn measured_outstanding(&self) -> u64 {
        self.outstanding - (self.followed - self.recorder.due_after_window())
    }

    #[inline]
    pub fn due(&mut self, at: Nanos) -> Call {
        let request = self.next_request;
        let nonce = self.nonce;
        self.next_request = request + 1;
        if self.next_request == self.count {
            self.next_request = 0;
            self.nonce = nonce.plus(self.nonce_step);
        }
        self.outstanding += 1;
        Call { request, nonce, due: at, written: Nanos(0) }
    }

    #[inline]
    pub fn end(&mut self, call: Call, at: Nanos, outcome: &Outcome) {
        self.outstanding -= 1;
        self.ended += 1;
        self.ended_at = at;
        self.failed += u64::from(!matches!(outcome, Outcome::Ok));
        self.recorder.record(call, at, outcome);
    }
}

/// The first nonce of a thread that is opened at `opened`; each later one is `threads` further on. They begin with that time, in
/// 4 us: no two sessions of a client have one in common within four hours, as a request is not sent 244,000 times in a second. Nor
/// have two threads, though they are not opened at one instant: each has all with one remainder.
fn first_nonce(opened: Nanos, thread: u32, threads: u32) -> Nonce {
    let begin = (opened.0 >> 12) as u32;
    Nonce::new(begin - begin % threads.max(1)).plus(thread)
}

/// Takes what a connection reads.
pub(super) struct Reading<'a> {
    pub calls: &'a mut Calls,
    pub at: Nanos,
    /// Calls that ended.
    pub ended: u32,
    /// Calls to be sent again.
    pub again: Vec<Call>,
}

impl Reading<'_> {
    #[inline]
    fn end(&mut self, call: Call, outcome: &Outcome) {
        self.calls.end(call, self.at, outcome);
        self.ended += 1;
    }

    /// A call whose reply came too late, was not right, or is no success.
    #[cold]
    #[inline(never)]
    fn ended_otherwise(&mut self, call: Call, end: End) {
        let outcome = match end {
            _ if self.is_late(call) => Outcome::Timeout,
            End::Answered { right: true } => Outcome::Ok,
            End::Answered { right: false } => Outcome::WrongAnswer,
            End::Status { code, message } => Outcome::Status { code, message },
            End::Aborted { reason } => Outcome::Transport { reason },
            End::Refused => {
                self.calls.recorder.on_connection(self.at, |it| it.refused += 1);
                self.again.push(Call { written: Nanos(0), ..call });
                return;
            }
        };
        self.end(call, &outcome);
    }

    /// True if a call has timed out, even if the periodic check has not found it yet.
    #[inline]
    fn is_late(&self, call: Call) -> bool {
        Nanos(self.at.since(call.due)) >= self.calls.timeout
    }
}

/// Always inlined, as every protocol calls them for every reply; the compiler would not.
impl Events for Reading<'_> {
    #[inline(always)]
    fn verify(&mut self, call: Call, message: &[u8]) -> bool {
        match self.calls.checker.check(&*self.calls.payload, call, message) {
            Ok(()) => true,
            Err(problem) => {
                self.calls.recorder.explain(&problem);
                false
            }
        }
    }

    fn malformed(&mut self, _request: u32, problem: &str) {
        self.calls.recorder.explain(problem);
    }

    #[inline(always)]
    fn ended(&mut self, call: Call, end: End) {
        match end {
            End::Answered { right: true } if !self.is_late(call) => self.end(call, &Outcome::Ok),
            end => self.ended_otherwise(call, end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_no_nonce_in_common_whenever_each_was_opened() {
        for threads in 1..=8 {
            for later_us in (0..100).step_by(3) {
                let opened =
                    |thread: u32| Nanos(1_234_567_890 + u64::from(thread) * later_us * 1000);
                let nonces = (0..threads).flat_map(|thread| {
                    let first = first_nonce(opened(thread), thread, threads);
                    (0..100).map(move |cycle| first.plus(cycle * threads).digits())
                });
                let nonces: Vec<_> = nonces.collect();
                let different: std::collections::HashSet<_> = nonces.iter().collect();
                assert_eq!(different.len(), nonces.len(), "{threads} threads, {later_us} us");
            }
        }
    }
}
