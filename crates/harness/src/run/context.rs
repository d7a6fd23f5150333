//! What the steps of a run share.

use rpcbench_clock::Nanos;
use rpcbench_record::Workload;

use super::loaded_server::{LoadedServer, StepError};
use super::observer::{Observer, Stage};
use super::subject::{Admission, Subject};
use crate::interrupt::{Interrupt, StopNow};
use crate::load::LoadGenerator;

/// How often to ask whether the last call has ended: every fiftieth of the time so far, within these bounds.
const POLL: (Nanos, Nanos) = (Nanos::from_millis(1), Nanos::from_millis(50));

/// The client of a run.
pub struct Environment {
    /// Seed of payloads and of random arrivals.
    pub seed: u64,
    /// Raised by Ctrl-C.
    pub interrupt: Interrupt,
    /// Makes the load.
    pub generator: Box<dyn LoadGenerator>,
}

/// What the steps of a preparation and of a trial share.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub environment: &'a Environment,
    pub subject: &'a Subject<'a>,
    pub workload: &'a Workload,
    /// Warm-up that earlier processes of the entry needed. `None` if unknown.
    pub known_warm_up: Option<Nanos>,
    /// Whether an earlier process of the entry has passed the conformance check.
    pub is_checked: bool,
    /// Whether loads before windows, and windows, are longer for a slow server. A user's own server gets what was asked for.
    pub adapts: bool,
    /// How long the preparation may take, if it is warmed until steady: then it is warmed more before its windows.
    pub preparation_limit: Option<Nanos>,
    /// Whether the server stops after the trial.
    pub is_last: bool,
    pub observer: &'a dyn Observer,
}

impl Context<'_> {
    /// Whether the server must prove that it keeps the contract.
    pub fn is_proven(&self) -> bool {
        matches!(self.subject.admission, Admission::Proven { .. })
    }

    /// Waits for the stage's end, while the observer samples the load as often as it wants. Returns true if Ctrl-C ended
    /// the stage early.
    pub fn follow(&self, stage: &Stage<'_>, target: &mut LoadedServer) -> Result<bool, StepError> {
        if stage.end == Nanos::NEVER {
            return self.follow_calls(stage, target);
        }
        let wait = |until: Nanos| -> Result<bool, StopNow> {
            self.environment.interrupt.wait_or_cut(until)
        };
        if let Some(every) = self.observer.sample_every(stage) {
            let mut next = stage.start;
            while next < stage.end {
                if wait(next)? {
                    return Ok(true);
                }
                self.observer.sample(stage, &target.load()?.sample()?);
                next = next + every;
            }
        }
        Ok(wait(stage.end)?)
    }

    /// The same for a window of a number of calls: until the last of them has ended.
    fn follow_calls(
        &self,
        stage: &Stage<'_>,
        target: &mut LoadedServer,
    ) -> Result<bool, StepError> {
        let every = self.observer.sample_every(stage);
        let mut next = stage.start;
        loop {
            let now = self.environment.interrupt.now();
            let pause = Nanos((now.since(stage.start) / 50).clamp(POLL.0.0, POLL.1.0));
            if self.environment.interrupt.wait_or_cut(now + pause)? {
                return Ok(true);
            }
            if target.load()?.is_drained()? {
                return Ok(false);
            }
            if let Some(every) = every.filter(|_| next <= now) {
                self.observer.sample(stage, &target.load()?.sample()?);
                next = now + every;
            }
        }
    }
}
