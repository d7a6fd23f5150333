//! A server between its windows: without calls, or frozen.

use rpcbench_clock::Nanos;
use rpcbench_record::{Failure, ServerUsage, units};

use super::LoadedServer;
use crate::run::observer::Event;

/// Share of a CPU that a server may use at rest; one that uses more is frozen while others are measured. Two dozen servers
/// at this share take no more from the measured one than the machine reference does.
const IDLE_SHARE: f64 = 0.001;
/// Minimum length of a rest that is mentioned when calls fail after it.
const LONG_REST: Nanos = Nanos::from_millis(1000);

/// A time without calls.
#[derive(Clone, Copy)]
pub(super) struct Rest {
    since: Nanos,
    /// [`Nanos::NEVER`] until it ends.
    until: Nanos,
    is_frozen: bool,
}

/// The current freeze, and the last one.
#[derive(Clone, Copy, Default)]
pub(super) struct Freeze {
    /// `None` while it is not frozen.
    since: Option<Nanos>,
    /// Length of the last freeze that has ended.
    length: Nanos,
}

impl Freeze {
    pub fn begin(&mut self, now: Nanos) {
        self.since.get_or_insert(now);
    }

    pub fn end(&mut self, now: Nanos) {
        if let Some(since) = self.since.take() {
            self.length = now - since;
        }
    }
}

impl LoadedServer<'_> {
    /// Lets it rest without load until [`Self::wake`], and freezes it if it is known to use CPU time at rest.
    pub fn rest(&mut self) -> Result<(), Failure> {
        let (time, used) = self.idle;
        let share = used as f64 / time.0.max(1) as f64;
        let is_frozen = time.0 >= ServerUsage::REST_JUDGED_NS && share > IDLE_SHARE;
        let since = self.context.now();
        self.rest = Some(Rest { since, until: Nanos::NEVER, is_frozen });
        if is_frozen {
            return self.freeze();
        }
        self.at_rest = Some((since, self.cpu_of_both()?));
        Ok(())
    }

    /// Ends a rest.
    pub fn wake(&mut self) -> Result<(), Failure> {
        let now = self.context.now();
        self.thaw()?;
        if let Some(rest) = self.rest.as_mut().filter(|rest| rest.until == Nanos::NEVER) {
            rest.until = now;
        }
        if let Some((since, before)) = self.at_rest.take() {
            let used = self.cpu_of_both()?.saturating_sub(before);
            let was_judged = self.idle.0.0 >= ServerUsage::REST_JUDGED_NS;
            self.idle = (self.idle.0 + (now - since), self.idle.1 + used);
            let usage = self.with_rests(ServerUsage::default());
            if let Some(share) = usage.restless_share().filter(|_| !was_judged) {
                let entry = self.subject.entry.clone();
                self.context.observer.event(&Event::Restless { entry, share });
            }
        }
        self.alive("between its trials")
    }

    /// Adds the usage of its rests so far to that over a window.
    pub fn with_rests(&self, usage: ServerUsage) -> ServerUsage {
        ServerUsage { rest_ns: self.idle.0.0, rest_cpu_ns: self.idle.1, ..usage }
    }

    /// Describes its last rest, as the end of a sentence about a failure after it: servers may close idle connections, or have
    /// watchdogs.
    pub fn after_rest(&self) -> String {
        let frozen = units::length(self.last_freeze.length.into());
        if self.own_time.is_some() {
            return format!("; it was last frozen for {frozen}, with its calls in flight");
        }
        let Some(rest) = self.rest else { return String::new() };
        let length = rest.until.min(self.context.now()) - rest.since;
        if length < LONG_REST {
            return String::new();
        }
        let frozen = match rest.is_frozen {
            true => format!(", and was frozen for {frozen}"),
            false => String::new(),
        };
        format!("; before that, it had no calls for {}{frozen}", units::length(length.into()))
    }
}
