//! Decides which failed calls are the server's failure.
//!
//! A wrong answer, a status or a broken connection always is. A call that was not answered in time may be due to the machine,
//! which is so if others took the CPU time that it needed, or kept the client from looking
//! ([`rpcbench_record::Measured::late_by_machine`]):
//!
//! - in a window, such calls are no failure;
//! - outside of windows, and in the conformance check, the server is asked again. It fails if it does not answer then: [`Repeats`];
//! - a server that is not ready in time gets more: [`ReadyTime`].

use std::time::Duration;

use rpcbench_clock::Nanos;
use rpcbench_contract::Method;
use rpcbench_contract::cases::{CallError, Caller};
use rpcbench_record::{ClientUsage, Latency, Measured, Outcomes, ServerUsage, units};

use super::loaded_server::{LoadedServer, StepError};
use crate::interrupt::{Interrupt, StopNow};
use crate::load::Unmeasured;
use crate::placement::{CpuReading, MachineReading, Running};

/// What a server and its machine had counted at an instant.
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

    /// True if it is the machine's failure that nothing was answered since, by the rule of windows.
    pub fn blames_machine(&self, running: &mut dyn Running, now: Nanos) -> bool {
        let end = Self::begin(running, now);
        let Some(((cpu, machine), (cpu_then, machine_then))) = end.read.zip(self.read) else {
            return false;
        };
        let waited = now.since(self.at);
        let late = Measured {
            window_ns: waited,
            outcomes: Outcomes { timeout: 1, ..Outcomes::default() },
            error_latency: Some(Latency { min_ns: waited, ..Latency::default() }),
            client: ClientUsage {
                longest_absence_ns: machine
                    .reader_delay_ns
                    .saturating_sub(machine_then.reader_delay_ns),
                ..ClientUsage::default()
            },
            server: Some(ServerUsage {
                cpu_user_ns: cpu.since(cpu_then).cpu_ns,
                ..ServerUsage::default()
            }),
            machine: machine.since(&machine_then),
            ..Measured::default()
        };
        late.late_by_machine().is_some()
    }
}

/// How often a server may still be asked again that did not answer in time.
pub(super) struct Repeats {
    /// If that was its failure.
    own: u32,
    /// If it was the machine's: no server waits for long for a CPU that others share.
    machines: u32,
}

impl Repeats {
    const ALL: Self = Self { own: 3, machines: 8 };

    /// Takes one. False if none is left.
    fn take(&mut self, blames_machine: bool) -> bool {
        let left = if blames_machine { &mut self.machines } else { &mut self.own };
        let is_left = *left > 0;
        *left = left.saturating_sub(1);
        is_left
    }
}

/// The time that a process has to get ready, which is longer if others take its CPUs.
pub(super) struct ReadyTime {
    limit: Duration,
    /// How often it was given the limit.
    times: u32,
    began: Nanos,
    watch: Watch,
}

impl ReadyTime {
    /// Maximum times.
    const MAX_TIMES: u32 = 4;

    pub fn begin(limit: Duration, running: &mut dyn Running, now: Nanos) -> Self {
        Self { limit, times: 1, began: now, watch: Watch::begin(running, now) }
    }

    fn given(&self) -> Duration {
        self.limit * self.times
    }

    /// True if it is over.
    pub fn is_over(&self, now: Nanos) -> bool {
        now - self.began >= Nanos::from(self.given())
    }

    /// Gives it the limit once more if the machine is to blame. False if not, or if it had it often enough.
    pub fn extend(&mut self, running: &mut dyn Running, now: Nanos) -> bool {
        let is_due = self.times < Self::MAX_TIMES && self.watch.blames_machine(running, now);
        if is_due {
            self.times += 1;
            self.watch = Watch::begin(running, now);
        }
        is_due
    }

    /// How much more than the limit it had, as the end of a sentence.
    pub fn extension(&self) -> String {
        match self.times {
            1 => String::new(),
            _ => {
                format!("; it had {}, as other programs took the CPUs", units::length(self.given()))
            }
        }
    }
}

impl LoadedServer<'_> {
    /// A failure if calls outside of windows failed by the server's fault. After calls that only lacked time, spot checks over
    /// the load's connections are made until all are answered; those calls are tolerated from then on.
    pub fn judge_unmeasured(
        &mut self,
        mut latest: Unmeasured,
        when: &str,
    ) -> Result<(), StepError> {
        let mut before = self.tolerated.clone();
        let (mut repeats, mut watch) = (Repeats::ALL, None::<Watch>);
        loop {
            let new = latest.outcomes.since(&before);
            if new.errors() == 0 {
                self.tolerated = latest.outcomes;
                return Ok(());
            }
            if new.is_only_late() && self.own_time.is_some() {
                // It keeps its load between windows, and is asked when that ends.
                return Ok(());
            }
            let blames_machine = self.blames_machine(watch.as_ref());
            let is_silent = watch.is_some() && new.ok == 0 && !blames_machine;
            if !new.is_only_late() || is_silent || !repeats.take(blames_machine) {
                let all = latest.outcomes.since(&self.tolerated);
                return Err(self.blame_calls(&all, when, &latest.error_examples));
            }
            watch = Some(Watch::begin(&mut *self.running, self.context.now()));
            before = latest.outcomes;
            latest = self.load()?.spot_check()?;
        }
    }

    /// True if the machine is to blame for calls that were not answered since a watch began. False before the first.
    fn blames_machine(&mut self, watch: Option<&Watch>) -> bool {
        let now = self.context.now();
        watch.is_some_and(|it| it.blames_machine(&mut *self.running, now))
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

/// Makes the calls of a conformance check. A call without an answer is made again a few times in all; when the run stops now,
/// calls fail at once.
pub(super) struct Patient<'a> {
    caller: Box<dyn Caller>,
    interrupt: &'a Interrupt,
    running: &'a mut dyn Running,
    repeats: Repeats,
}

impl<'a> Patient<'a> {
    pub fn new(
        caller: Box<dyn Caller>,
        interrupt: &'a Interrupt,
        running: &'a mut dyn Running,
    ) -> Self {
        Self { caller, interrupt, running, repeats: Repeats::ALL }
    }

    fn try_again(
        &mut self,
        mut call: impl FnMut(&mut dyn Caller) -> Result<Vec<u8>, CallError>,
    ) -> Result<Vec<u8>, CallError> {
        let mut watch = None::<Watch>;
        loop {
            self.interrupt.check().map_err(|StopNow| CallError::Timeout)?;
            let called = call(&mut *self.caller);
            if !matches!(called, Err(CallError::Timeout)) {
                return called;
            }
            let now = self.interrupt.now();
            let blames_machine = watch.is_some_and(|it| it.blames_machine(self.running, now));
            if !self.repeats.take(blames_machine) {
                return called;
            }
            watch = Some(Watch::begin(self.running, now));
        }
    }
}

impl Caller for Patient<'_> {
    fn call(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        self.try_again(|caller| caller.call(method, body))
    }

    fn call_last(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        self.try_again(|caller| caller.call_last(method, body))
    }
}
