//! Calls from due to outcome.

use std::sync::Arc;

use crate::counted::Part;
use crate::log::CallLog;
use crate::nonce::Nonce;
use crate::outcome::Outcome;
use crate::payload::{Checker, Payload, SpotChecks};
use crate::plan::LoadPlan;
use crate::protocol::{Call, End, Events};
use crate::recorder::Recorder;
use crate::target::Target;
use rpcbench_clock::{Nanos, Span};

/// A worker's calls, apart from the connections that carry them.
pub(crate) struct Calls {
    payload: Arc<dyn Payload>,
    checker: Checker,
    pub recorder: Recorder,
    /// Number of requests of the load; spot checks follow them.
    count: u32,
    first_request: u32,
    next_request: u32,
    /// The nonce of each request's next call, and the difference between successive ones.
    nonce: Nonce,
    nonce_step: u32,
    /// Time limit of a call, from its due time.
    timeout: Nanos,
    /// Calls in flight or waiting on all connections.
    pub outstanding: u64,
    /// Calls that came due after the measured span.
    followed: u64,
    /// The status of the protocol's own success.
    success: u32,
    /// Calls that ended since the worker was created, and how many of them were not `ok`.
    pub ended: u64,
    pub failed: u64,
    /// When the last one ended.
    pub ended_at: Nanos,
}

impl Calls {
    /// The calls of thread `thread` of a session opened at `opened`.
    pub fn new(
        payload: Arc<dyn Payload>,
        plan: &LoadPlan,
        thread: u32,
        opened: Nanos,
        log: Option<CallLog>,
    ) -> Self {
        let count = (payload.len() - spot_checks(&*payload)) as u32;
        // Threads start at different requests.
        let first_request = thread * (count / plan.threads.max(1));
        Self {
            checker: Checker::new(&*payload, plan.threads),
            recorder: Recorder::new(plan.server.protocol, log).of_each(plan.server.addresses()),
            count,
            first_request,
            next_request: first_request,
            nonce: first_nonce(opened, thread, plan.threads),
            nonce_step: plan.threads,
            payload,
            timeout: plan.timeout,
            outstanding: 0,
            followed: 0,
            success: plan.server.protocol.spec().success,
            ended: 0,
            failed: 0,
            ended_at: Nanos(0),
        }
    }

    /// Continues with the load's calls, or with spot checks from number `spot_check` on.
    pub fn choose(&mut self, spot_check: Option<u32>) {
        if let Some(number) = spot_check {
            self.next_request = self.count + number;
        } else if self.next_request >= self.count {
            self.next_request = self.first_request;
            self.nonce = self.nonce.plus(self.nonce_step);
        }
    }

    pub fn spot_checks(&self) -> u64 {
        spot_checks(&*self.payload) as u64
    }

    /// True if calls with a request may end with this status.
    fn accepts_status(&self, request: usize, code: u32) -> bool {
        let checks = self.payload.spot_checks().filter(|_| request >= self.count as usize);
        match checks {
            Some(checks) => checks.accepts_status(request, code),
            None => self.payload.target(request).accepts(code),
        }
    }

    /// Measures the calls that come due in `span`.
    pub fn measure(&mut self, span: Span) {
        self.followed = 0;
        self.recorder.measure(span);
    }

    /// Also measures the calls that come due in this part of a window.
    pub fn measure_part(&mut self, part: Part) {
        self.followed = 0;
        self.recorder.measure_part(part);
    }

    /// Counts calls of a closed loop that come due at `now`, after the span.
    #[inline]
    pub fn follow(&mut self, calls: u32, now: Nanos) {
        if self.recorder.is_over(now) {
            self.followed += u64::from(calls);
        }
    }

    /// Outstanding calls, except those that came due after the measured span.
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
    pub fn end(&mut self, call: &Call, at: Nanos, outcome: &Outcome) {
        self.outstanding -= 1;
        self.ended += 1;
        self.ended_at = at;
        self.failed += u64::from(!matches!(outcome, Outcome::Ok));
        self.recorder.record(call, at, outcome);
    }
}

fn spot_checks(payload: &dyn Payload) -> usize {
    payload.spot_checks().map_or(0, SpotChecks::count)
}

/// The first nonce of a thread of a session opened at `opened`; each later one is larger by `threads`. Nonces start from that
/// time in units of 4 us, so two sessions within four hours share none unless a request is sent more than 244,000 times a
/// second. Each thread has the nonces of one remainder, so threads share none either.
fn first_nonce(opened: Nanos, thread: u32, threads: u32) -> Nonce {
    let begin = (opened.0 >> 12) as u32;
    Nonce::new(begin - begin % threads.max(1)).plus(thread)
}

/// Handles the events of a connection.
pub(super) struct Reading<'a> {
    pub calls: &'a mut Calls,
    pub at: Nanos,
    pub ended: u32,
    /// Calls to send again.
    pub again: Vec<Call>,
}

impl Reading<'_> {
    #[inline]
    fn end(&mut self, call: &Call, outcome: &Outcome) {
        self.calls.end(call, self.at, outcome);
        self.ended += 1;
    }

    /// Ends a call whose reply is late, wrong, or not a success.
    #[cold]
    #[inline(never)]
    fn ended_otherwise(&mut self, call: Call, end: End) {
        let outcome = match end {
            _ if self.is_late(&call) => Outcome::Timeout,
            End::Answered { right: true } | End::Accepted { right: true } => Outcome::Ok,
            End::Answered { right: false } if self.rejects_success(call) => {
                let (code, message) = (self.calls.success, String::new());
                Outcome::Status { code, message, details: Vec::new() }
            }
            End::Answered { right: false } | End::Accepted { right: false } => Outcome::WrongAnswer,
            End::Status { code, .. } if self.calls.accepts_status(call.request as usize, code) => {
                Outcome::Ok
            }
            End::Status { code, message, details } => Outcome::Status { code, message, details },
            End::Aborted { reason } => Outcome::Transport { reason },
            End::Refused => {
                self.calls.recorder.on_connection(self.at, |it| it.refused += 1);
                self.again.push(Call { written: Nanos(0), ..call });
                return;
            }
        };
        self.end(&call, &outcome);
    }

    fn rejects_success(&self, call: Call) -> bool {
        self.calls.payload.target(call.request as usize).rejects_success
    }

    /// True if a reply with the protocol's own success is right.
    #[inline(never)]
    fn judge(&mut self, call: &Call, reply: &[u8]) -> bool {
        let Calls { checker, payload, recorder, .. } = &mut *self.calls;
        let judged = checker.judge_success(&**payload, (*call, reply), recorder);
        self.is_right(judged, reply)
    }

    /// True if a reply was right; keeps a problem as an example.
    fn is_right(&mut self, judged: Result<(), String>, reply: &[u8]) -> bool {
        match judged {
            Ok(()) => true,
            Err(problem) => {
                if !problem.is_empty() {
                    let Calls { checker, payload, recorder, .. } = &mut *self.calls;
                    recorder.explain(&problem, || Some(checker.shown(&**payload, reply)));
                }
                false
            }
        }
    }

    /// True if a call has timed out, even before the periodic check finds it.
    #[inline]
    fn is_late(&self, call: &Call) -> bool {
        Nanos(self.at.since(call.due)) >= self.calls.timeout
    }
}

/// Methods are always inlined: every reply of every protocol calls them, and the compiler would not inline them.
impl Events for Reading<'_> {
    #[inline(always)]
    fn verify(&mut self, call: &Call, message: &[u8]) -> bool {
        self.calls.checker.is_right(call, message) || self.judge(call, message)
    }

    fn verify_other(&mut self, call: Call, status: u32, message: &[u8]) -> Option<bool> {
        if !self.accepts(call, status) {
            return None;
        }
        let Calls { checker, payload, recorder, .. } = &mut *self.calls;
        let judged = checker.judge(&**payload, (call, message), recorder);
        Some(self.is_right(judged, message))
    }

    fn target(&self, call: Call) -> Option<&Target> {
        Some(self.calls.payload.target(call.request as usize))
    }

    fn malformed(&mut self, _request: u32, problem: &str) {
        self.calls.recorder.explain(problem, || None);
    }

    #[inline(always)]
    fn ended(&mut self, call: &Call, end: End) {
        if matches!(end, End::Answered { right: true }) && !self.is_late(call) {
            // `end` owns nothing here. To find that out, the compiler would call a function.
            std::mem::forget(end);
            return self.end(call, &Outcome::Ok);
        }
        self.ended_otherwise(*call, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_never_share_a_nonce() {
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
