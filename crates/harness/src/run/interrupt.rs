//! Ctrl-C: while a trial is on, once to stop after it, or to end its window, and twice to stop now. Outside of trials there is
//! nothing to wait for: once stops now.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rpcbench_engine::clock::{self, Nanos};

/// Told by a signal handler's thread, asked by a run.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// How often it was raised; at least 2 once the run is to stop now, so that a trial that begins meanwhile stops too.
    times: Mutex<u8>,
    raised: Condvar,
    /// The trial that is on.
    trial: Mutex<Option<Trial>>,
    /// Whether the first ends the window that is on.
    ends_window: bool,
    /// There is nothing left to stop.
    concluded: AtomicBool,
}

/// A trial that is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// When its window ends. `None`: nobody knows yet.
    pub ends: Option<Nanos>,
}

/// While it is there, a trial is on.
#[must_use]
pub struct TrialGuard<'a>(&'a Interrupt);

impl Drop for TrialGuard<'_> {
    fn drop(&mut self) {
        *self.0.trial() = None;
    }
}

/// What becomes of a Ctrl-C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raised {
    /// The first: the run ends after this trial.
    AfterTrial(Trial),
    /// The run stops now: no trial is on, or it was the second.
    Now,
    /// One too many, or nothing is left that would heed it: whoever told it ends the program.
    Unheeded,
}

/// The run is to stop now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped before the trial was over")]
pub struct StopNow;

impl Interrupt {
    /// One whose first Ctrl-C ends the window that is on, and does not let the trial come to its end.
    #[must_use]
    pub fn ending_windows() -> Self {
        Self(Arc::new(Shared { ends_window: true, ..Shared::default() }))
    }

    /// Once more.
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
            _ => Raised::Unheeded,
        }
    }

    /// A trial is on from now until the guard is dropped. `ends`: when its window does, where that is known.
    pub fn begin_trial(&self, ends: Option<Nanos>) -> TrialGuard<'_> {
        *self.trial() = Some(Trial { ends });
        TrialGuard(self)
    }

    fn trial(&self) -> MutexGuard<'_, Option<Trial>> {
        self.0.trial.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often it must be raised to stop what is on now.
    fn enough(&self) -> u8 {
        if self.trial().is_some() { 2 } else { 1 }
    }

    /// The run is over: what is left, to show and to write it, asks for nothing.
    pub fn conclude(&self) {
        self.0.concluded.store(true, Ordering::Relaxed);
    }

    fn times(&self) -> MutexGuard<'_, u8> {
        self.0.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing new is to be begun.
    #[must_use]
    pub fn after_this(&self) -> bool {
        *self.times() >= 1
    }

    /// Whether the window that is on is to end, if there is one.
    #[must_use]
    pub fn ends_window(&self) -> bool {
        self.0.ends_window && self.after_this()
    }

    /// Whether to stop now.
    ///
    /// # Errors
    /// If so.
    pub fn check(&self) -> Result<(), StopNow> {
        if *self.times() >= self.enough() { Err(StopNow) } else { Ok(()) }
    }

    /// Waits until `deadline`.
    ///
    /// # Errors
    /// As soon as the run is to stop now.
    pub fn wait_until(&self, deadline: Nanos) -> Result<(), StopNow> {
        self.wait(deadline, self.enough());
        self.check()
    }

    /// Waits until `deadline`, or until the window that is on is to end; whether it is.
    ///
    /// # Errors
    /// As soon as the run is to stop now.
    pub fn cuts_short(&self, deadline: Nanos) -> Result<bool, StopNow> {
        self.wait(deadline, if self.0.ends_window { 1 } else { self.enough() });
        self.check()?;
        Ok(self.ends_window())
    }

    /// Waits until `deadline`, or until it was raised so often. It sleeps all the while: the client's CPUs are the
    /// load's.
    fn wait(&self, deadline: Nanos, enough: u8) {
        let mut times = self.times();
        loop {
            let left = deadline - clock::now();
            if *times >= enough || left == Nanos(0) {
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
    fn the_first_lets_the_trial_end_and_the_second_does_not() {
        let interrupt = Interrupt::ending_windows();
        let ends = Some(clock::now());
        let trial = interrupt.begin_trial(ends);
        assert!(!interrupt.after_this());
        assert_eq!(interrupt.wait_until(clock::now()), Ok(()));
        assert_eq!(interrupt.cuts_short(clock::now()), Ok(false));
        let other = interrupt.clone();
        let raising = std::thread::spawn(move || other.raise());
        assert_eq!(interrupt.cuts_short(Nanos::NEVER), Ok(true));
        assert_eq!(raising.join().unwrap(), Raised::AfterTrial(Trial { ends }));
        assert_eq!(interrupt.cuts_short(Nanos::NEVER), Ok(true));
        assert!(interrupt.after_this() && interrupt.ends_window());
        assert_eq!(interrupt.wait_until(clock::now() + Nanos(1)), Ok(()));
        assert_eq!(interrupt.clone().raise(), Raised::Now);
        assert_eq!(interrupt.wait_until(Nanos::NEVER), Err(StopNow));
        assert_eq!(interrupt.cuts_short(Nanos::NEVER), Err(StopNow));
        assert_eq!(interrupt.raise(), Raised::Unheeded);
        drop(trial);
    }

    #[test]
    fn outside_of_trials_the_first_stops_now() {
        let interrupt = Interrupt::default();
        drop(interrupt.begin_trial(None));
        let other = interrupt.clone();
        let raising = std::thread::spawn(move || other.raise());
        assert_eq!(interrupt.wait_until(Nanos::NEVER), Err(StopNow));
        assert_eq!(raising.join().unwrap(), Raised::Now);
        assert_eq!(interrupt.check(), Err(StopNow));
        let _late = interrupt.begin_trial(None);
        assert_eq!(interrupt.check(), Err(StopNow), "a trial that began just then does not go on");
    }

    #[test]
    fn nothing_heeds_a_second_one_once_the_run_is_over() {
        let interrupt = Interrupt::default();
        interrupt.conclude();
        assert_eq!([interrupt.raise(), interrupt.raise()], [Raised::Now, Raised::Unheeded]);
    }
}
