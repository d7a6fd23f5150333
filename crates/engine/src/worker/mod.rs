//! One load thread's work: its connections, and the calls on them.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use crate::clock::Nanos;
use crate::driver::{Driver, Ready};
use crate::lane::{Lane, Link};
use crate::outcome::Outcome;
use crate::payload::{Checker, Payload};
use crate::plan::LoadPlan;
use crate::protocol::grpc::{Connection, Templates};
use crate::protocol::{Call, End, Events};
use crate::recorder::{Recorder, Span};

/// How often calls are looked through for those out of time.
const EXPIRY_CHECK: Nanos = Nanos::from_millis(50);

/// What the worker does about calls that come due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No calls.
    Idle,
    /// Calls come due, before `until`.
    Loading { until: Nanos },
    /// No new calls; those in flight have until then.
    Draining { until: Nanos },
}

/// The work of one load thread.
pub(crate) struct Worker<D> {
    driver: D,
    plan: Arc<LoadPlan>,
    templates: Arc<Templates>,
    lanes: Vec<Lane>,
    ready: Vec<Ready>,
    /// Connections with bytes left to read.
    unread: VecDeque<usize>,
    phase: Phase,
    span: Option<Span>,
    expiry_at: Nanos,
    calls: Calls,
}

/// What happens to calls, apart from the connections that carry them.
pub(crate) struct Calls {
    payload: Arc<dyn Payload>,
    checker: Checker,
    pub recorder: Recorder,
    next_entry: u32,
    /// Calls in flight or waiting on all connections.
    pub outstanding: u64,
    /// Calls that ended, and those of them not `ok`, since the worker began.
    pub ended: u64,
    pub failed: u64,
}

impl Calls {
    fn due(&mut self, at: Nanos) -> Call {
        let entry = self.next_entry;
        self.next_entry = if entry as usize + 1 == self.payload.len() { 0 } else { entry + 1 };
        self.outstanding += 1;
        Call { entry, due: at, written: Nanos(0) }
    }

    #[inline]
    fn end(&mut self, call: Call, at: Nanos, outcome: &Outcome) {
        self.outstanding -= 1;
        self.ended += 1;
        self.failed += u64::from(*outcome != Outcome::Ok);
        self.recorder.record(call, at, outcome);
    }
}

/// Takes what a connection reads.
struct Reading<'a> {
    calls: &'a mut Calls,
    at: Nanos,
    /// Calls that ended.
    ended: u32,
    /// Calls to be sent again.
    again: Vec<Call>,
}

impl Events for Reading<'_> {
    #[inline]
    fn verify(&mut self, entry: u32, message: &[u8]) -> bool {
        match self.calls.checker.check(&*self.calls.payload, entry, message) {
            Ok(()) => true,
            Err(problem) => {
                self.calls.recorder.explain(&problem);
                false
            }
        }
    }

    fn malformed(&mut self, _entry: u32, problem: &str) {
        self.calls.recorder.explain(problem);
    }

    #[inline]
    fn ended(&mut self, call: Call, end: End) {
        let outcome = match end {
            End::Answered { right: true } => Outcome::Ok,
            End::Answered { right: false } => Outcome::WrongAnswer,
            End::Status { code, message } => Outcome::Status { code, message },
            End::Aborted { reason } => Outcome::Transport { reason },
            End::Refused => {
                self.again.push(Call { written: Nanos(0), ..call });
                return;
            }
        };
        self.calls.end(call, self.at, &outcome);
        self.ended += 1;
    }
}

impl<D: Driver> Worker<D> {
    /// The worker of thread `thread`, not connected yet.
    pub fn new(plan: Arc<LoadPlan>, payload: Arc<dyn Payload>, thread: u32, driver: D) -> Self {
        let templates = Arc::new(Templates::new(&*payload, &plan.authority));
        let lanes = plan.shares(thread).into_iter().map(Lane::new).collect();
        // Threads start apart from each other in the payload.
        let step = payload.len() as u32 / plan.threads.max(1);
        let next_entry = (plan.first_entry + thread * step) % payload.len() as u32;
        let calls = Calls {
            checker: Checker::new(&*payload),
            payload,
            recorder: Recorder::new(),
            next_entry,
            outstanding: 0,
            ended: 0,
            failed: 0,
        };
        Self {
            driver,
            plan,
            templates,
            lanes,
            ready: Vec::new(),
            unread: VecDeque::new(),
            phase: Phase::Idle,
            span: None,
            expiry_at: Nanos::NEVER,
            calls,
        }
    }

    pub fn calls(&mut self) -> &mut Calls {
        &mut self.calls
    }

    /// The driver's time.
    pub fn now(&self) -> Nanos {
        self.driver.now()
    }

    /// Whether every connection is open.
    pub fn is_connected(&self) -> bool {
        self.lanes.iter().all(Lane::is_open)
    }

    /// Why the first connection that is not open is not.
    pub fn connect_problem(&self) -> (usize, Option<&str>) {
        let open = self.lanes.iter().filter(|lane| lane.is_open()).count();
        (open, self.lanes.iter().find_map(|lane| lane.problem.as_deref()))
    }

    /// Whether no call is in flight or waiting.
    pub fn is_drained(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// Calls come due from now on, until told otherwise.
    pub fn start(&mut self) {
        let now = self.driver.now();
        self.phase = Phase::Loading { until: Nanos::NEVER };
        self.expiry_at = now + EXPIRY_CHECK;
        for lane in 0..self.lanes.len() {
            for _ in 0..self.lanes[lane].share {
                let call = self.calls.due(now);
                self.lanes[lane].waiting.push_back(call);
            }
            self.send(lane);
        }
    }

    /// Measures the calls that come due in `span`, and drains at its end.
    pub fn measure(&mut self, span: Span) {
        self.calls.recorder.measure(span);
        self.span = Some(span);
        self.phase = Phase::Loading { until: span.end };
    }

    /// No more calls; those in flight have the grace period.
    pub fn drain(&mut self) {
        if self.phase != Phase::Idle {
            self.phase = Phase::Draining { until: self.driver.now() + self.plan.grace };
        }
        self.end_drain();
    }

    /// One turn: waits for something to happen, and sees to it.
    pub fn turn(&mut self) -> io::Result<()> {
        let mut ready = std::mem::take(&mut self.ready);
        let until = if self.unread.is_empty() { self.deadline() } else { Nanos(0) };
        self.driver.wait(until, &mut ready)?;
        for _ in 0..self.unread.len() {
            let Some(lane) = self.unread.pop_front() else { break };
            self.read(lane);
        }
        for event in &ready {
            self.on_ready(*event);
        }
        self.ready = ready;
        self.on_time();
        Ok(())
    }

    /// The next instant at which something is to be done whatever happens.
    fn deadline(&self) -> Nanos {
        let now = self.driver.now();
        let phase = match self.phase {
            Phase::Idle => Nanos::NEVER,
            Phase::Loading { until } | Phase::Draining { until } => until,
        };
        let span_start = self.span.map(|span| span.start).filter(|start| *start > now);
        let retry = self.lanes.iter().filter_map(Lane::retry_at).min();
        [Some(phase), Some(self.expiry_at), span_start, retry]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(Nanos::NEVER)
    }

    fn on_time(&mut self) {
        let now = self.driver.now();
        for lane in 0..self.lanes.len() {
            if self.lanes[lane].retry_at().is_some_and(|at| at <= now) {
                self.connect(lane);
            }
        }
        if let Phase::Loading { until } = self.phase
            && until <= now
        {
            self.span = None;
            self.phase = Phase::Draining { until: until + self.plan.grace };
        }
        if now >= self.expiry_at {
            let idle = self.phase == Phase::Idle;
            self.expiry_at = if idle { Nanos::NEVER } else { now + EXPIRY_CHECK };
            self.expire(Nanos(now.0.saturating_sub(self.plan.timeout.0)), now);
        }
        self.end_drain();
    }

    fn end_drain(&mut self) {
        let Phase::Draining { until } = self.phase else { return };
        let now = self.driver.now();
        if now >= until {
            self.expire(Nanos::NEVER, now);
        }
        if self.calls.outstanding == 0 {
            self.phase = Phase::Idle;
            self.expiry_at = Nanos::NEVER;
        }
    }

    /// Ends the calls that came due at or before `cutoff`.
    fn expire(&mut self, cutoff: Nanos, now: Nanos) {
        for lane in 0..self.lanes.len() {
            let (late, unsent) = self.lanes[lane].expire(cutoff);
            for call in &late {
                self.calls.end(*call, now, &Outcome::Timeout);
            }
            for call in &unsent {
                self.calls.end(*call, now, &Outcome::NotSent);
            }
            let ended = late.len() + unsent.len();
            if ended > 0 {
                self.next(lane, ended as u32, now);
                self.send(lane);
            }
        }
    }

    /// After `ended` calls of a lane have ended, as many come due.
    #[inline]
    fn next(&mut self, lane: usize, ended: u32, now: Nanos) {
        let Phase::Loading { until } = self.phase else { return };
        if now >= until {
            return;
        }
        for _ in 0..ended {
            let call = self.calls.due(now);
            self.lanes[lane].waiting.push_back(call);
        }
    }

    /// Starts to connect every lane; the next turns must come back by `deadline`.
    pub fn connect_all(&mut self, deadline: Nanos) {
        self.expiry_at = deadline;
        for lane in 0..self.lanes.len() {
            self.connect(lane);
        }
    }

    fn connect(&mut self, index: usize) {
        let lane = &mut self.lanes[index];
        let mut out = Vec::new();
        let connection = Connection::new(Arc::clone(&self.templates), lane.share, &mut out);
        lane.open(connection, out);
        if let Err(error) = self.driver.connect(index, self.plan.address) {
            self.lose(index, &error.to_string());
        }
    }

    fn on_ready(&mut self, event: Ready) {
        let index = event.connection;
        if event.writable && self.lanes[index].link != Link::Down {
            self.lanes[index].link = Link::Up;
            self.send(index);
        }
        if event.readable {
            self.read(index);
        }
    }

    /// One read, and one write of what it led to.
    #[inline]
    fn read(&mut self, index: usize) {
        let lane = &mut self.lanes[index];
        let Some(connection) = lane.connection.as_mut() else { return };
        let received = match self.driver.receive(index) {
            Ok(received) => received,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Err(error) => return self.lose(index, &error.to_string()),
        };
        if received.bytes.is_empty() {
            let reason = connection.farewell().map(ToString::to_string);
            return self.lose(index, reason.as_deref().unwrap_or("peer closed the connection"));
        }
        if received.more {
            self.unread.push_back(index);
        }
        let at = received.at;
        let mut reading = Reading { calls: &mut self.calls, at, ended: 0, again: Vec::new() };
        let result = connection.receive(received.bytes, &mut lane.out, &mut reading);
        let (ended, again) = (reading.ended, reading.again);
        lane.waiting.extend(again);
        self.next(index, ended, at);
        match result {
            Ok(()) => self.send(index),
            Err(broken) => self.lose(index, &broken.to_string()),
        }
    }

    /// Puts out the waiting calls that the connection takes, and writes.
    #[inline]
    fn send(&mut self, index: usize) {
        let lane = &mut self.lanes[index];
        lane.put_waiting();
        if lane.link == Link::Up && lane.has_output() {
            let at = self.driver.now();
            match self.driver.send(index, lane.output()) {
                Ok(sent) => lane.sent(sent, at),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return self.lose(index, &error.to_string()),
            }
        }
        if self.lanes[index].is_finished() {
            self.lose(index, "peer closed the connection");
        }
    }

    /// Ends a connection; its calls are lost, and it is opened again after a while.
    #[cold]
    fn lose(&mut self, index: usize, reason: &str) {
        self.driver.close(index);
        let now = self.driver.now();
        let lost = self.lanes[index].lose(reason, now);
        let outcome = Outcome::Transport { reason: reason.to_owned() };
        for call in &lost {
            self.calls.end(*call, now, &outcome);
        }
        self.next(index, lost.len() as u32, now);
    }
}
