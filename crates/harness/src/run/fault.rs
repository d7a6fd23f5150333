//! Decides which failed calls are the server's failure.
//!
//! A wrong answer, a status or a broken connection always is. A call that was not answered in time may be due to the machine:
//!
//! - outside of windows, and in the conformance check, the server is asked again. It fails if it does not answer then;
//! - in a window, the call is the server's failure unless others took the CPU time that it needed
//!   ([`rpcbench_record::Measured::late_by_machine`]).

use rpcbench_contract::Method;
use rpcbench_contract::cases::{CallError, Caller};
use rpcbench_record::Outcomes;

use super::loaded_server::{LoadedServer, StepError};
use crate::interrupt::{Interrupt, StopNow};
use crate::load::Unmeasured;

/// Maximum repetitions after calls that were not answered in time.
const RETRIES: u32 = 3;

impl LoadedServer<'_> {
    /// A failure if calls outside of windows failed by the server's fault. After calls that only lacked time, spot checks over
    /// the load's connections are made until all are answered; those calls are tolerated from then on.
    pub fn judge_unmeasured(
        &mut self,
        mut latest: Unmeasured,
        when: &str,
    ) -> Result<(), StepError> {
        let mut before = self.tolerated.clone();
        let mut retries = 0;
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
            let is_silent = retries > 0 && new.ok == 0;
            if !new.is_only_late() || is_silent || retries == RETRIES {
                let all = latest.outcomes.since(&self.tolerated);
                return Err(self.blame_calls(&all, when, &latest.error_examples));
            }
            retries += 1;
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

/// Makes the calls of a conformance check. A call without an answer is made again a few times in all; when the run stops now,
/// calls fail at once.
pub(super) struct Patient<'a> {
    caller: Box<dyn Caller>,
    interrupt: &'a Interrupt,
    retries: u32,
}

impl<'a> Patient<'a> {
    pub fn new(caller: Box<dyn Caller>, interrupt: &'a Interrupt) -> Self {
        Self { caller, interrupt, retries: RETRIES }
    }

    fn try_again(
        &mut self,
        mut call: impl FnMut(&mut dyn Caller) -> Result<Vec<u8>, CallError>,
    ) -> Result<Vec<u8>, CallError> {
        loop {
            self.interrupt.check().map_err(|StopNow| CallError::Timeout)?;
            match call(&mut *self.caller) {
                Err(CallError::Timeout) if self.retries > 0 => self.retries -= 1,
                result => return result,
            }
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
