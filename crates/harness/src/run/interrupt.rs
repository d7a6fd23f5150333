//! Ctrl-C: once to stop after the trial, twice to stop now.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rpcbench_engine::clock::{self, Nanos};

/// How long a wait may go without looking.
const LOOK: Nanos = Nanos::from_millis(20);

/// Told by a signal handler, asked by a run.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicU8>);

/// The run is to stop now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped before the trial was over")]
pub struct StopNow;

impl Interrupt {
    /// Once more; how often it was raised now.
    pub fn raise(&self) -> u8 {
        self.0.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    /// Whether nothing new is to be begun.
    #[must_use]
    pub fn after_this(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 1
    }

    /// Whether to stop now.
    ///
    /// # Errors
    /// If so.
    pub fn check(&self) -> Result<(), StopNow> {
        if self.0.load(Ordering::Relaxed) >= 2 { Err(StopNow) } else { Ok(()) }
    }

    /// Waits until `deadline`.
    ///
    /// # Errors
    /// As soon as the run is to stop now.
    pub fn wait_until(&self, deadline: Nanos) -> Result<(), StopNow> {
        while clock::now() < deadline {
            self.check()?;
            clock::sleep_until(deadline.min(clock::now() + LOOK));
        }
        self.check()
    }

    /// Waits until `deadline` or the first Ctrl-C; whether that came.
    ///
    /// # Errors
    /// As soon as the run is to stop now.
    pub fn cuts_short(&self, deadline: Nanos) -> Result<bool, StopNow> {
        while clock::now() < deadline && !self.after_this() {
            clock::sleep_until(deadline.min(clock::now() + LOOK));
        }
        self.check()?;
        Ok(self.after_this())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lets_the_trial_end_and_the_second_does_not() {
        let interrupt = Interrupt::default();
        assert!(!interrupt.after_this());
        assert_eq!(interrupt.wait_until(clock::now()), Ok(()));
        assert_eq!(interrupt.cuts_short(clock::now()), Ok(false));
        assert_eq!(interrupt.raise(), 1);
        assert_eq!(interrupt.cuts_short(Nanos::NEVER), Ok(true));
        assert!(interrupt.after_this());
        assert_eq!(interrupt.wait_until(clock::now() + Nanos(1)), Ok(()));
        assert_eq!(interrupt.clone().raise(), 2);
        assert_eq!(interrupt.wait_until(Nanos::NEVER), Err(StopNow));
        assert_eq!(interrupt.cuts_short(Nanos::NEVER), Err(StopNow));
    }
}
