//! Ctrl-C. During a trial the first Ctrl-C stops the run after the trial (or cuts its window short), and the second stops it at
//! once. Outside of trials the first one stops it.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rpcbench_clock::{self as clock, Nanos};

/// Interval of checks for Ctrl-C while a thread works.
const TICK: Duration = Duration::from_millis(50);

/// Set by the thread of the signal handler, checked by a run.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Number of Ctrl-Cs so far. One outside of trials counts as two, so that a trial that is just starting stops too.
    times: Mutex<u8>,
    raised: Condvar,
    trial: Mutex<Option<CurrentTrial>>,
    /// True if the first Ctrl-C ends the current window.
    ends_window: bool,
    /// True if nothing is left to stop.
    concluded: AtomicBool,
    /// The current virtual time. `None`: real time.
    virtual_now: Option<AtomicU64>,
}

/// The current trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurrentTrial {
    /// When its window ends. `None` if unknown.
    pub ends: Option<Nanos>,
}

/// Marks a trial as current until it is dropped.
#[must_use]
pub struct TrialGuard<'a>(&'a Interrupt);

impl Drop for TrialGuard<'_> {
    fn drop(&mut self) {
        *self.0.trial() = None;
    }
}

/// The effect of a Ctrl-C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raised {
    /// The first: the run ends after this trial.
    AfterTrial(CurrentTrial),
    /// The run stops now: there is no current trial, or it was the second.
    Now,
    /// Ignored: nothing checks for it any more, so the caller should quit.
    Ignored,
}

/// The run must stop now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped before the trial was over")]
pub struct StopNow;

impl Interrupt {
    /// An interrupt whose first Ctrl-C ends the current window instead of letting the trial end.
    pub fn ending_windows() -> Self {
        Self(Arc::new(Shared { ends_window: true, ..Shared::default() }))
    }

    /// An interrupt for tests, in virtual time, which advances only while waiting.
    pub fn in_virtual_time() -> Self {
        Self(Arc::new(Shared { virtual_now: Some(AtomicU64::new(0)), ..Shared::default() }))
    }

    /// The current time on the clock that runs are planned by: monotonic, or virtual.
    pub fn now(&self) -> Nanos {
        let virtual_now = self.0.virtual_now.as_ref();
        virtual_now.map_or_else(clock::now, |now| Nanos(now.load(Ordering::Relaxed)))
    }

    /// Reports a Ctrl-C.
    pub fn raise(&self) -> Raised {
        let mut times = self.times();
        *times = times.saturating_add(1);
        self.0.raised.notify_all();
        match (*times, *self.trial()) {
            (1, Some(trial)) => Raised::AfterTrial(trial),
            (1, None) => {
                *times = 2;
                Raised::Now
            }
            (2, _) if !self.0.concluded.load(Ordering::Relaxed) => Raised::Now,
            _ => Raised::Ignored,
        }
    }

    /// Begins a trial, which lasts until the guard is dropped. `ends`: when its window ends, if known.
    pub fn begin_trial(&self, ends: Option<Nanos>) -> TrialGuard<'_> {
        *self.trial() = Some(CurrentTrial { ends });
        TrialGuard(self)
    }

    fn trial(&self) -> MutexGuard<'_, Option<CurrentTrial>> {
        self.0.trial.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of Ctrl-Cs that stop the run at once.
    fn enough(&self) -> u8 {
        if self.trial().is_some() { 2 } else { 1 }
    }

    /// Marks the run as over: printing and writing its results can't be interrupted.
    pub fn conclude(&self) {
        self.0.concluded.store(true, Ordering::Relaxed);
    }

    fn times(&self) -> MutexGuard<'_, u8> {
        self.0.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True after the first Ctrl-C: nothing new should start.
    pub fn is_raised(&self) -> bool {
        *self.times() >= 1
    }

    /// True if the current window should end.
    pub fn ends_window(&self) -> bool {
        self.0.ends_window && self.is_raised()
    }

    /// Fails if the run must stop now.
    pub fn check(&self) -> Result<(), StopNow> {
        if *self.times() >= self.enough() { Err(StopNow) } else { Ok(()) }
    }

    /// Runs `work`, which may block on a pipe or a name server, on its own thread and returns its result. Fails as soon as the
    /// run must stop, without waiting for the thread.
    pub fn wait_for<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, StopNow> {
        let (sender, done) = channel::<()>();
        let thread = thread::spawn(move || {
            let _is_at_work = sender;
            work()
        });
        while done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            self.check()?;
        }
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    }

    /// Waits until `deadline`. Fails as soon as the run must stop.
    pub fn wait_until(&self, deadline: Nanos) -> Result<(), StopNow> {
        self.wait(deadline, self.enough());
        self.check()
    }

    /// Waits until `deadline`, or until the current window should end; returns true in that case. Fails as soon as the run must
    /// stop.
    pub fn wait_or_cut(&self, deadline: Nanos) -> Result<bool, StopNow> {
        self.wait(deadline, if self.0.ends_window { 1 } else { self.enough() });
        self.check()?;
        Ok(self.ends_window())
    }

    /// Waits until `deadline` or until Ctrl-C was pressed `enough` times. It sleeps because the client's CPUs belong to the load.
    fn wait(&self, deadline: Nanos, enough: u8) {
        let mut times = self.times();
        loop {
            let left = deadline - self.now();
            if *times >= enough || left == Nanos(0) {
                return;
            }
            if let Some(now) = &self.0.virtual_now {
                now.store(deadline.0, Ordering::Relaxed);
                return;
            }
            let woken = self.0.raised.wait_timeout(times, left.into());
            times = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_ctrl_c_waits_for_the_trial_and_second_stops_it() {
        let interrupt = Interrupt::ending_windows();
        let ends = Some(clock::now());
        let trial = interrupt.begin_trial(ends);
        assert!(!interrupt.is_raised());
        assert_eq!(interrupt.wait_until(clock::now()), Ok(()));
        assert_eq!(interrupt.wait_or_cut(clock::now()), Ok(false));
        let other = interrupt.clone();
        let raising = thread::spawn(move || other.raise());
        assert_eq!(interrupt.wait_or_cut(Nanos::NEVER), Ok(true));
        assert_eq!(raising.join().unwrap(), Raised::AfterTrial(CurrentTrial { ends }));
        assert_eq!(interrupt.wait_or_cut(Nanos::NEVER), Ok(true));
        assert!(interrupt.is_raised() && interrupt.ends_window());
        assert_eq!(interrupt.wait_until(clock::now() + Nanos(1)), Ok(()));
        assert_eq!(interrupt.clone().raise(), Raised::Now);
        assert_eq!(interrupt.wait_until(Nanos::NEVER), Err(StopNow));
        assert_eq!(interrupt.wait_or_cut(Nanos::NEVER), Err(StopNow));
        assert_eq!(interrupt.raise(), Raised::Ignored);
        drop(trial);
    }

    #[test]
    fn first_ctrl_c_between_trials_stops_at_once() {
        let interrupt = Interrupt::default();
        drop(interrupt.begin_trial(None));
        let other = interrupt.clone();
        let raising = thread::spawn(move || other.raise());
        assert_eq!(interrupt.wait_until(Nanos::NEVER), Err(StopNow));
        assert_eq!(raising.join().unwrap(), Raised::Now);
        assert_eq!(interrupt.check(), Err(StopNow));
        let _late = interrupt.begin_trial(None);
        assert_eq!(interrupt.check(), Err(StopNow), "a trial that begins just then stops too");
    }

    #[test]
    fn ctrl_c_abandons_blocked_work() {
        let interrupt = Interrupt::default();
        assert_eq!(interrupt.wait_for(|| 7), Ok(7));
        let (sender, waits) = channel::<()>();
        interrupt.raise();
        assert_eq!(interrupt.wait_for(move || waits.recv()), Err(StopNow));
        drop(sender);
    }

    #[test]
    fn second_ctrl_c_after_the_run_is_ignored() {
        let interrupt = Interrupt::default();
        interrupt.conclude();
        assert_eq!([interrupt.raise(), interrupt.raise()], [Raised::Now, Raised::Ignored]);
    }
}
