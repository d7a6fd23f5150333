//! The work of a load thread: its connections, and the calls on them.

mod budget;
mod calls;
mod connect;
mod end;
mod input;
mod open;
mod output;
mod phase;
mod room;
mod start;
#[cfg(test)]
mod tests;
mod upkeep;
mod watch;
mod window;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use rpcbench_record::Tls;

use crate::driver::{Driver, Ready};
use crate::log::CallLog;
use crate::outcome::Outcome;
use crate::pacing::{DueTimes, Stride};
use crate::payload::Payload;
use crate::plan::LoadPlan;
use crate::protocol::{Allowance, Connection};
use crate::renewal::Renewed;
use crate::slot::Slot;
use budget::Budget;
use calls::Calls;
use open::OpenLoop;
use phase::Phase;
use rpcbench_clock::{Nanos, OwnClock, Span};
pub(crate) use start::Start;
use upkeep::Seen;

/// How often to check for timed-out calls.
const EXPIRY_CHECK: Nanos = Nanos::from_millis(50);

/// Shortest time that counts as an absence of the client.
const ABSENCE: Nanos = Nanos::from_millis(1);

/// Parts of a load thread that it does not share with others.
pub(crate) struct Thread<D> {
    /// Thread number, from 0.
    pub number: u32,
    pub driver: D,
    pub log: Option<CallLog>,
}

/// The work of one load thread.
pub(crate) struct Worker<C: Connection, D> {
    driver: D,
    plan: Arc<LoadPlan>,
    templates: Arc<C::Templates>,
    /// Memory for incomplete messages.
    allowance: Arc<Allowance>,
    slots: Vec<Slot<C>>,
    ready: Vec<Ready>,
    /// Connections with unread bytes.
    unread: VecDeque<usize>,
    /// Slots being opened for the first time.
    opening: Vec<usize>,
    /// Resting slots with new calls, which need a connection.
    wanted: Vec<usize>,
    /// The first slot that was never opened.
    unopened: usize,
    /// When that slot may be opened.
    open_at: Nanos,
    phase: Phase,
    span: Option<Span>,
    /// True if the measured window has parts and the load continues after it.
    continues: bool,
    /// True if the last calls of such a window have ended.
    is_window_over: bool,
    /// The end of the last turn.
    turned_at: Nanos,
    expiry_at: Nanos,
    /// When to reopen the next lost connection.
    retry_at: Nanos,
    calls: Calls,
    /// Set if the span ends with a number of calls.
    budget: Option<Budget>,
    stride: Stride,
    /// Set in an open loop.
    open: Option<OpenLoop>,
    /// Last known state of each slot's connection, if keepalive pings are on.
    seen: Vec<Seen>,
    /// Source of templates with other headers, which may come at any time.
    renewed: Option<Renewed<C::Templates>>,
}

impl<C: Connection, D: Driver> Worker<C, D> {
    /// The worker of a load thread, not connected yet. `templates` are those of `payload`.
    pub fn new(
        plan: Arc<LoadPlan>,
        payload: Arc<dyn Payload>,
        templates: Arc<C::Templates>,
        Thread { number: thread, driver, log }: Thread<D>,
    ) -> Self {
        let shares = plan.shares(thread);
        let allowance = Allowance::of_thread(plan.threads, shares.iter().sum(), &*payload);
        let life = plan.connection_life.calls();
        let slots = shares.into_iter().map(|share| Slot::new(share, life)).collect();
        let calls = Calls::new(payload, &plan, thread, driver.now(), log);
        Self {
            driver,
            stride: Stride { thread, threads: plan.threads, connections: plan.connections },
            open: None,
            plan,
            templates,
            allowance: Arc::new(allowance),
            slots,
            ready: Vec::new(),
            unread: VecDeque::new(),
            opening: Vec::new(),
            wanted: Vec::new(),
            unopened: 0,
            open_at: Nanos(0),
            phase: Phase::Idle,
            span: None,
            continues: false,
            is_window_over: false,
            turned_at: Nanos(0),
            expiry_at: Nanos::NEVER,
            retry_at: Nanos::NEVER,
            calls,
            budget: None,
            seen: Vec::new(),
            renewed: None,
        }
    }

    /// Adds a source of other templates, which may replace the current ones.
    pub fn renewed_by(self, renewed: Option<Renewed<C::Templates>>) -> Self {
        Self { renewed, ..self }
    }

    pub fn calls(&mut self) -> &mut Calls {
        &mut self.calls
    }

    /// The driver's clock.
    pub fn now(&self) -> Nanos {
        self.driver.now()
    }

    /// Switches to another clock, after a time without turns.
    pub fn set_clock(&mut self, clock: OwnClock) {
        self.driver.set_clock(clock);
    }

    /// The end of the last turn.
    pub fn turned_at(&self) -> Nanos {
        self.turned_at
    }

    /// The fewest concurrent calls that the peer allows on a connection, if fewer than planned.
    pub fn calls_allowed(&self) -> Option<u32> {
        let limits = self.slots.iter().filter_map(|slot| {
            let most = slot.connection.as_ref()?.max_calls();
            (most < slot.share).then_some(most)
        });
        limits.min()
    }

    /// See [`Driver::awake`].
    pub fn awake(&self) -> Nanos {
        self.driver.awake()
    }

    /// See [`Driver::records`].
    pub fn records(&self) -> u64 {
        self.driver.records()
    }

    /// See [`Driver::tls`].
    pub fn tls(&self) -> Option<&Tls> {
        self.driver.tls()
    }

    /// True if no call is in flight or waiting.
    pub fn is_drained(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// Starts a load: calls come due until the end of the span, or until drained. No-op if a load is already running.
    pub fn start(&mut self, Start { arrivals, seed, span, spot_checks, calls }: Start) {
        if self.phase != Phase::Idle {
            return;
        }
        let now = self.driver.now();
        let checks = spot_checks.then(|| self.calls.spot_checks());
        self.calls.choose(checks.map(|all| self.plan.calls_before(all, self.stride.thread) as u32));
        self.phase = Phase::Loading { until: Nanos::NEVER };
        self.expiry_at = now + EXPIRY_CHECK;
        if arrivals.is_open() {
            let due_times = DueTimes::new(arrivals, seed, self.stride, now);
            self.open = Some(OpenLoop::new(due_times, self.slots.len()));
        }
        self.budget = checks
            .or(calls)
            .map(|calls| Budget { left: self.plan.share_of(calls, self.stride.thread), span });
        if let Some(span) = span {
            self.measure(span);
        }
        if self.open.is_some() {
            return self.release(now);
        }
        let slots = self.slots.len() as u32;
        let all: u32 = self.slots.iter().map(|slot| slot.share).sum();
        let few = self.budget.filter(|it| it.left < u64::from(all) && it.has_begun(now));
        for slot in 0..self.slots.len() {
            let share = few.map_or(self.slots[slot].share, |few| {
                let left = few.left as u32;
                left / slots + u32::from((slot as u32) < left % slots)
            });
            self.come_due(slot, share, now);
            self.send(slot);
        }
    }

    /// Stops new calls. Those in flight have the grace period if they are measured, and their timeout otherwise.
    pub fn drain(&mut self) {
        if self.phase != Phase::Idle {
            let now = self.driver.now();
            let wait = if self.span.is_some() { self.plan.grace } else { self.plan.timeout };
            self.phase = Phase::Draining { until: now + wait };
            if let Some(open) = &mut self.open {
                open.due_times.stop(now);
            }
        }
        self.end_drain();
    }

    /// One turn: waits for events and handles them.
    pub fn turn(&mut self) -> io::Result<()> {
        if !self.wanted.is_empty() {
            self.connect_wanted();
        }
        let mut ready = std::mem::take(&mut self.ready);
        let until = if self.unread.is_empty() { self.deadline() } else { Nanos(0) };
        self.driver.wait(until, &mut ready)?;
        for _ in 0..self.unread.len() {
            let Some(slot) = self.unread.pop_front() else { break };
            self.read(slot);
        }
        for event in &ready {
            self.on_ready(*event);
        }
        self.ready = ready;
        if self.unopened < self.slots.len() {
            self.connect_more();
        }
        self.on_time(until);
        Ok(())
    }

    /// When to act next if no event comes.
    fn deadline(&self) -> Nanos {
        let phase = match self.phase {
            Phase::Idle => Nanos::NEVER,
            Phase::Loading { until } | Phase::Following { until } | Phase::Draining { until } => {
                until
            }
        };
        let release = self.open.as_ref().map_or(Nanos::NEVER, OpenLoop::wake_at);
        let span_start = self.span.map(|span| span.start).filter(|start| *start > self.turned_at);
        phase
            .min(release)
            .min(self.expiry_at)
            .min(self.retry_at)
            .min(self.next_open_at().unwrap_or(Nanos::NEVER))
            .min(span_start.unwrap_or(Nanos::NEVER))
    }

    /// Does what is due by time, without events. The turn waited until `until` at the latest.
    fn on_time(&mut self, until: Nanos) {
        let now = self.driver.now();
        let awaited = until.max(self.turned_at);
        self.turned_at = now;
        if now - awaited >= ABSENCE && self.was_absent(now - awaited) {
            self.calls.recorder.absent(awaited, now);
        }
        if now >= self.retry_at {
            self.reconnect(now);
        }
        if let Phase::Loading { until } = self.phase
            && until <= now
        {
            self.span = None;
            let until = until + self.plan.grace;
            self.phase = match self.open {
                Some(_) => Phase::Draining { until },
                None => Phase::Following { until },
            };
        }
        if self.budget.as_ref().is_some_and(|budget| budget.is_spent(now))
            && matches!(self.phase, Phase::Loading { .. })
        {
            self.drain();
            self.span = None;
        }
        if now >= self.expiry_at {
            let more = self.expire(now - self.plan.timeout, now);
            self.expiry_at = match self.phase {
                Phase::Idle => Nanos::NEVER,
                _ if more => now,
                _ => now + EXPIRY_CHECK,
            };
            self.give_up_opening(now);
            self.upkeep(now);
        }
        self.release(now);
        self.end_drain();
    }

    /// True if a turn that took `took` kept measured calls waiting. TLS handshakes are the client's work, not its absence.
    #[cold]
    fn was_absent(&self, took: Nanos) -> bool {
        took - self.driver.handshaking() >= ABSENCE && self.awaits_measured()
    }

    fn end_drain(&mut self) {
        let now = self.driver.now();
        if let Phase::Following { until } = self.phase
            && (now >= until || self.calls.measured_outstanding() == 0)
        {
            let gives_up = now >= until;
            if self.continues {
                return self.end_window(now, gives_up);
            }
            self.phase = Phase::Draining { until: now + self.plan.timeout };
            if gives_up {
                self.expire_measured(now);
            }
        }
        let Phase::Draining { until } = self.phase else { return };
        if now >= until {
            self.expire(Nanos::NEVER, now);
        }
        if self.calls.outstanding == 0 && !self.has_backlog() {
            self.phase = Phase::Idle;
            self.open = None;
            self.expiry_at = Nanos::NEVER;
        }
    }

    /// Ends the calls due at or before `cutoff`. True if some are left for the next turn.
    fn expire(&mut self, cutoff: Nanos, now: Nanos) -> bool {
        let more = self.give_up_unsent(cutoff, now);
        for slot in 0..self.slots.len() {
            if !self.slots[slot].has_calls() {
                continue;
            }
            self.at_slot(slot);
            let (late, unsent) = self.slots[slot].expire(cutoff);
            for call in &late {
                self.calls.end(call, now, &Outcome::Timeout);
            }
            if !unsent.is_empty() {
                let outcome = open::not_sent(&self.slots[slot..=slot]);
                unsent.iter().for_each(|call| self.calls.end(call, now, &outcome));
            }
            let ended = late.len() + unsent.len();
            if ended > 0 {
                self.next(slot, ended as u32, now);
                self.send(slot);
            }
        }
        more
    }

    /// Lets one new call come due for each of the `ended` calls of a slot.
    #[inline]
    fn next(&mut self, slot: usize, ended: u32, now: Nanos) {
        let loading = matches!(self.phase, Phase::Loading { .. } | Phase::Following { .. });
        if !loading || self.open.is_some() {
            return;
        }
        self.come_due(self.slots[slot].parent_slot.unwrap_or(slot), ended, now);
    }

    /// Lets calls come due on a slot. They are sent while there is room; their bytes still have to be written.
    #[inline]
    fn come_due(&mut self, slot: usize, calls: u32, now: Nanos) {
        let calls = self.budget.as_mut().map_or(calls, |budget| budget.grant(calls, now));
        self.calls.follow(calls, now);
        let slot = &mut self.slots[slot];
        let sent = slot.send_new(calls, || self.calls.due(now));
        slot.waiting.extend((sent..calls).map(|_| self.calls.due(now)));
    }
}
