//! Decides which failed calls are the server's failure.
//!
//! A wrong answer, a status or a broken connection always is. The machine is to blame for a call that was not answered in
//! time if others took the CPU time that the server needed, or kept the client from running
//! ([`Disturbance::of_late_call`]):
//!
//! - in a window, such calls are not a failure;
//! - outside of windows and in the conformance check, the server is called again, and fails without an answer: [`Attempts`];
//! - a server that is not ready in time gets more time: [`ReadyTime`].

use std::cell::RefCell;
use std::time::Duration;

use rpcbench_clock::Nanos;
use rpcbench_contract::Method;
use rpcbench_contract::cases::{CallError, Caller};
use rpcbench_record::{Disturbance, Outcomes, Tls, units};

use super::loaded_server::{LoadedServer, StepError};
use crate::interrupt::{Interrupt, StopNow};
use crate::load::Unmeasured;
use crate::placement::{CpuReading, MachineReading, Running};

/// Counters of a server and its machine at an instant.
pub(super) struct Watch {
    at: Nanos,
    /// `None` if the placement can't see it.
    read: Option<(CpuReading, MachineReading)>,
}

impl Watch {
    pub fn begin(running: &mut dyn Running, now: Nanos) -> Self {
        let cpu = running.sample_cpu().ok().flatten();
        Self { at: now, read: cpu.zip(running.machine().sample().ok()) }
    }

    /// True if the machine is to blame that nothing has been answered since then, by the rule for windows.
    pub fn blames_machine(&self, running: &mut dyn Running, now: Nanos) -> bool {
        let end = Self::begin(running, now);
        let Some(((cpu, machine), (cpu_then, machine_then))) = end.read.zip(self.read) else {
            return false;
        };
        let waited = now.since(self.at);
        let absent = machine.reader_delay_ns.saturating_sub(machine_then.reader_delay_ns);
        let used = cpu.since(cpu_then).cpu_ns;
        let others = machine.since(&machine_then).share_of_others(used, waited);
        Disturbance::of_late_call(waited, absent, others).is_some()
    }
}

/// How often a server that did not answer in time may still be called again.
struct RetryBudget {
    /// If the server is to blame.
    server: u32,
    /// If the machine is to blame: no server has to wait long for a CPU that it shares with others.
    machine: u32,
}

impl RetryBudget {
    const FULL: Self = Self { server: 3, machine: 8 };
}

/// Attempts to get an answer.
struct Attempts<'a> {
    budget: &'a mut RetryBudget,
    /// Begins at the latest retry. `None` before the first.
    watch: Option<Watch>,
}

impl<'a> Attempts<'a> {
    fn begin(budget: &'a mut RetryBudget) -> Self {
        Self { budget, watch: None }
    }

    /// Takes a retry from the budget. True if a server that did not answer in time may be called once more. `is_silent`: it
    /// answered none of several calls. If that happens after a retry, and the machine is not to blame, the server has failed.
    fn take_retry(&mut self, running: &mut dyn Running, now: Nanos, is_silent: bool) -> bool {
        let last = self.watch.take();
        let is_over = is_silent && last.is_some();
        let blames_machine = last.is_some_and(|it| it.blames_machine(running, now));
        let left = match blames_machine {
            true => &mut self.budget.machine,
            false => &mut self.budget.server,
        };
        if *left == 0 || is_over && !blames_machine {
            return false;
        }
        *left -= 1;
        self.watch = Some(Watch::begin(running, now));
        true
    }
}

/// The time that a process has to get ready. It is extended if others take its CPUs.
pub(super) struct ReadyTime {
    limit: Duration,
    /// How often the limit was granted.
    times: u32,
    began: Nanos,
    watch: Watch,
}

impl ReadyTime {
    /// Maximum of `times`.
    const MAX_TIMES: u32 = 4;

    pub fn begin(limit: Duration, running: &mut dyn Running, now: Nanos) -> Self {
        Self { limit, times: 1, began: now, watch: Watch::begin(running, now) }
    }

    fn given(&self) -> Duration {
        self.limit * self.times
    }

    /// True if the time is over.
    pub fn is_over(&self, now: Nanos) -> bool {
        now - self.began >= Nanos::from(self.given())
    }

    /// Grants the limit once more if the machine is to blame. Returns false if it is not, or after `MAX_TIMES`.
    pub fn extend(&mut self, running: &mut dyn Running, now: Nanos) -> bool {
        let is_due = self.times < Self::MAX_TIMES && self.watch.blames_machine(running, now);
        if is_due {
            self.times += 1;
            self.watch = Watch::begin(running, now);
        }
        is_due
    }

    /// Describes the extended time, as the end of a sentence. Empty if it was not extended.
    pub fn extension(&self) -> String {
        match self.times {
            1 => String::new(),
            _ => {
                format!(
                    "; extended to {}, as other programs took the CPUs",
                    units::length(self.given())
                )
            }
        }
    }
}

impl LoadedServer<'_> {
    /// Fails if calls outside of windows failed through the server's fault. If calls were only late, makes a few spot checks over
    /// the load's connections until all are answered; the late calls are tolerated from then on.
    pub fn judge_unmeasured(
        &mut self,
        mut latest: Unmeasured,
        when: &str,
    ) -> Result<(), StepError> {
        let mut before = self.tolerated.clone();
        let mut budget = RetryBudget::FULL;
        let mut attempts = Attempts::begin(&mut budget);
        loop {
            let new = latest.outcomes.since(&before);
            if new.errors() == 0 {
                self.tolerated = latest.outcomes;
                return Ok(());
            }
            if new.is_only_late() && self.own_time.is_some() {
                // Its load continues between windows. It is called again when the load ends.
                return Ok(());
            }
            let (running, now) = (&mut *self.running, self.context.now());
            if !new.is_only_late() || !attempts.take_retry(running, now, new.ok == 0) {
                let all = latest.outcomes.since(&self.tolerated);
                return Err(self.blame_calls(&all, when, &latest.error_examples));
            }
            before = latest.outcomes;
            latest = self.load()?.spot_check()?;
        }
    }

    /// The failure of a server whose calls failed.
    pub fn blame_calls(
        &mut self,
        outcomes: &Outcomes,
        when: &str,
        examples: &[String],
    ) -> StepError {
        let (failed, all) = (outcomes.errors(), outcomes.total());
        let kinds = outcomes.errors_by_kind(self.subject.protocol);
        let kinds: Vec<String> = kinds.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        let example = examples.first().map(|text| format!("; such as: {text}")).unwrap_or_default();
        let (kinds, rest) = (kinds.join(", "), self.after_rest());
        self.blame(format!("{failed} of {all} calls failed {when}: {kinds}{example}{rest}")).into()
    }
}

/// Retries late calls of a conformance check. All its clients share the budget.
pub(super) struct SharedRetries<'a> {
    interrupt: &'a Interrupt,
    running: RefCell<(&'a mut dyn Running, RetryBudget)>,
}

impl<'a> SharedRetries<'a> {
    pub fn new(interrupt: &'a Interrupt, running: &'a mut dyn Running) -> Self {
        Self { interrupt, running: RefCell::new((running, RetryBudget::FULL)) }
    }

    /// Makes the calls of `caller`, and retries those that are not answered in time, as long as the budget lasts. Once the run
    /// stops, calls fail immediately.
    pub fn wrap<'r>(&'r self, caller: Box<dyn Caller>) -> RetryingCaller<'r, 'a> {
        RetryingCaller { caller, retries: self }
    }
}

/// See [`SharedRetries::wrap`].
pub(super) struct RetryingCaller<'r, 'a> {
    caller: Box<dyn Caller>,
    retries: &'r SharedRetries<'a>,
}

impl RetryingCaller<'_, '_> {
    fn retry_if_late(
        &mut self,
        mut call: impl FnMut(&mut dyn Caller) -> Result<Vec<u8>, CallError>,
    ) -> Result<Vec<u8>, CallError> {
        let SharedRetries { interrupt, running } = self.retries;
        let (running, budget) = &mut *running.borrow_mut();
        let mut attempts = Attempts::begin(budget);
        loop {
            interrupt.check().map_err(|StopNow| CallError::Timeout)?;
            let called = call(&mut *self.caller);
            let is_late = matches!(called, Err(CallError::Timeout));
            if !is_late || !attempts.take_retry(&mut **running, interrupt.now(), false) {
                return called;
            }
        }
    }
}

impl Caller for RetryingCaller<'_, '_> {
    fn call(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        self.retry_if_late(|caller| caller.call(method, body))
    }

    fn call_last(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        self.retry_if_late(|caller| caller.call_last(method, body))
    }

    fn disconnect(&mut self) {
        self.caller.disconnect();
    }

    fn tls(&self) -> Option<Tls> {
        self.caller.tls()
    }
}
