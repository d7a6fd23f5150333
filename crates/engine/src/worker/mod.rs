//! One load thread's work: its connections, and the calls on them.

mod calls;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use crate::clock::Nanos;
use crate::driver::{Driver, Ready};
use crate::lane::{Lane, Link};
use crate::outcome::Outcome;
use crate::payload::Payload;
use crate::plan::LoadPlan;
use crate::protocol::grpc::{Connection, Templates};
use crate::recorder::Span;
use calls::{Calls, Reading};

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
    /// When the first of the lost connections is to be opened again.
    retry_at: Nanos,
    calls: Calls,
}

impl<D: Driver> Worker<D> {
    /// The worker of thread `thread`, not connected yet.
    pub fn new(plan: Arc<LoadPlan>, payload: Arc<dyn Payload>, thread: u32, driver: D) -> Self {
        let templates = Arc::new(Templates::new(&*payload, &plan.authority));
        let lanes = plan.shares(thread).into_iter().map(Lane::new).collect();
        let calls = Calls::new(payload, &plan, thread);
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
            retry_at: Nanos::NEVER,
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
        let mut others = self.lanes.iter().filter(|lane| !lane.is_open());
        (open, others.find_map(|lane| lane.problem.as_deref()))
    }

    /// Whether no call is in flight or waiting.
    pub fn is_drained(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// Calls come due from now on, until told otherwise. Nothing changes if they do already.
    pub fn start(&mut self) {
        if self.phase != Phase::Idle {
            return;
        }
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
        phase.min(self.expiry_at).min(self.retry_at).min(span_start.unwrap_or(Nanos::NEVER))
    }

    fn on_time(&mut self) {
        let now = self.driver.now();
        if now >= self.retry_at {
            self.reconnect(now);
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
            self.expire(now - self.plan.timeout, now);
            self.give_up_opening(now);
        }
        self.end_drain();
    }

    /// Opens the lost connections again whose pause is over.
    fn reconnect(&mut self, now: Nanos) {
        for lane in 0..self.lanes.len() {
            if self.lanes[lane].retry_at().is_some_and(|at| at <= now) {
                self.connect(lane);
            }
        }
        let retries = self.lanes.iter().filter_map(Lane::retry_at);
        self.retry_at = retries.min().unwrap_or(Nanos::NEVER);
    }

    /// Ends the attempts to connect that took too long; others follow.
    fn give_up_opening(&mut self, now: Nanos) {
        for lane in 0..self.lanes.len() {
            let since = self.lanes[lane].opening_since();
            if since.is_some_and(|since| since + self.plan.connect_timeout <= now) {
                self.lose(lane, "no HTTP/2 handshake within the connect timeout");
            }
        }
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
        lane.open(connection, out, self.driver.now());
        if let Err(error) = self.driver.connect(index, self.plan.address) {
            self.lose(index, &error.to_string());
        }
    }

    fn on_ready(&mut self, event: Ready) {
        let index = event.connection;
        if event.writable && self.lanes[index].link != Link::Down {
            self.lanes[index].link = Link::Up;
            self.write(index);
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
            let reason = connection.farewell();
            return self.lose(index, &reason);
        }
        if received.more {
            self.unread.push_back(index);
        }
        let at = received.at;
        let mut reading = Reading { calls: &mut self.calls, at, ended: 0, again: Vec::new() };
        let result = connection.receive(received.bytes, &mut lane.out, &mut reading);
        let (ended, again) = (reading.ended, reading.again);
        lane.waiting.extend(again);
        if ended > 0 {
            lane.works();
        }
        self.next(index, ended, at);
        match result {
            Ok(()) => self.send(index),
            Err(broken) => self.lose(index, &broken.to_string()),
        }
    }

    /// Puts out the waiting calls that the connection takes, and writes. While the kernel takes nothing,
    /// calls wait: they are not sent, and nothing piles up.
    #[inline]
    fn send(&mut self, index: usize) {
        let lane = &mut self.lanes[index];
        if lane.link == Link::Up {
            lane.put_waiting();
            self.write(index);
        }
        let connection = self.lanes[index].connection.as_ref();
        if let Some(connection) = connection.filter(|it| it.is_finished()) {
            let reason = connection.farewell();
            self.lose(index, &reason);
        }
    }

    #[inline]
    fn write(&mut self, index: usize) {
        let lane = &mut self.lanes[index];
        if lane.link == Link::Up && lane.has_output() {
            let at = self.driver.now();
            match self.driver.send(index, lane.output()) {
                Ok(sent) => lane.sent(sent, at),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => lane.link = Link::Full,
                Err(error) => self.lose(index, &error.to_string()),
            }
        }
    }

    /// Ends a connection; its calls are lost, and it is opened again after a while.
    #[cold]
    fn lose(&mut self, index: usize, reason: &str) {
        self.driver.close(index);
        let now = self.driver.now();
        let lost = self.lanes[index].lose(reason, now);
        self.retry_at = self.retry_at.min(self.lanes[index].retry_at().unwrap_or(Nanos::NEVER));
        let outcome = Outcome::Transport { reason: reason.to_owned() };
        for call in &lost {
            self.calls.end(*call, now, &outcome);
        }
        self.next(index, lost.len() as u32, now);
    }
}
