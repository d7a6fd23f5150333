//! What is measured: under which load, by whom, and who watches.

use rpcbench_engine::clock::{self, Nanos};
use rpcbench_record::Workload;

use super::environment::Environment;
use super::interrupt::StopNow;
use super::observer::{Observer, Stage};
use super::subject::Subject;
use super::target::{Target, Trouble};

/// How often it is asked whether the last call has ended: at least and at most; a fiftieth of the time so far between.
const ASK: (Nanos, Nanos) = (Nanos::from_millis(1), Nanos::from_millis(50));

/// What the steps of a preparation and of a trial share.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub environment: &'a Environment,
    pub subject: &'a Subject<'a>,
    pub workload: &'a Workload,
    /// How long the entry need be warmed, from earlier processes of it. `None`: nobody knows.
    pub known_warm_up: Option<Nanos>,
    pub observer: &'a dyn Observer,
}

impl Context<'_> {
    /// Waits for the stage's end, while the observer looks at the load as often as it wants to. Whether Ctrl-C ended
    /// the stage before.
    pub fn follow(&self, stage: &Stage<'_>, target: &mut Target) -> Result<bool, Trouble> {
        if stage.end == Nanos::NEVER {
            return self.follow_calls(stage, target);
        }
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

    /// The same, to the end of the last call of a window that has a number of them.
    fn follow_calls(&self, stage: &Stage<'_>, target: &mut Target) -> Result<bool, Trouble> {
        let every = self.observer.look_every(stage);
        let mut next = stage.start;
        loop {
            let now = clock::now();
            let pause = Nanos((now.since(stage.start) / 50).clamp(ASK.0.0, ASK.1.0));
            if self.environment.interrupt.cuts_short(now + pause)? {
                return Ok(true);
            }
            if target.session()?.is_drained() {
                return Ok(false);
            }
            if let Some(every) = every.filter(|_| next <= now) {
                self.observer.look(stage, &target.session()?.sample()?);
                next = now + every;
            }
        }
    }
}
