//! What is measured: under which load, by whom, and who watches.

use rpcbench_engine::clock::Nanos;
use rpcbench_record::Workload;

use super::environment::Environment;
use super::interrupt::StopNow;
use super::observer::{Observer, Stage};
use super::subject::Subject;
use super::target::{Target, Trouble};

/// What the steps of a preparation and of a trial share.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub environment: &'a Environment,
    pub subject: &'a Subject<'a>,
    pub workload: &'a Workload,
    pub observer: &'a dyn Observer,
}

impl Context<'_> {
    /// Waits for the stage's end, while the observer looks at the load as often as it wants to. Whether Ctrl-C ended
    /// the stage before.
    pub fn follow(&self, stage: &Stage<'_>, target: &mut Target) -> Result<bool, Trouble> {
        let wait = |until: Nanos| -> Result<bool, StopNow> {
            self.environment.interrupt.cuts_short(until)
        };
        if let Some(every) = self.observer.look_every(stage) {
            let mut next = stage.start;
            while next < stage.end {
                if wait(next)? {
                    return Ok(true);
                }
                self.observer.look(stage, &target.session()?.sample()?);
                next = next + every;
            }
        }
        Ok(wait(stage.end)?)
    }
}
