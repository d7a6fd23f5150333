//! Frames that advance no call.

use crate::protocol::Broken;

/// Idle frames after which they are compared with those that were allowed meanwhile.
const MAX_IDLE: u32 = 100_000;
/// Idle frames allowed for each call that ended.
const PER_CALL: u64 = 16;
/// WINDOW_UPDATE frames allowed in addition: one for this many bytes that were sent, as some servers give back every read.
const BYTES_PER_UPDATE: u64 = 64;

/// Idle frames since the last comparison, and how many had been allowed by then.
#[derive(Debug, Default)]
pub(super) struct Flood {
    frames: u32,
    allowed: u64,
}

impl Flood {
    /// Counts a frame, when `closed` streams are closed. `problem` names frames of its kind.
    pub fn count(&mut self, closed: u32, problem: &'static str) -> Result<(), Broken> {
        self.compare(u64::from(closed) * PER_CALL, problem)
    }

    /// Counts a WINDOW_UPDATE, when `closed` streams are closed and requests of `sent` bytes are sent.
    pub fn count_update(&mut self, closed: u32, sent: u64) -> Result<(), Broken> {
        let allowed = u64::from(closed) * PER_CALL + sent / BYTES_PER_UPDATE;
        self.compare(allowed, "WINDOW_UPDATE without end")
    }

    fn compare(&mut self, allowed: u64, problem: &'static str) -> Result<(), Broken> {
        self.frames += 1;
        if self.frames < MAX_IDLE {
            return Ok(());
        }
        let meanwhile = allowed.saturating_sub(self.allowed);
        *self = Self { frames: 0, allowed };
        if meanwhile < u64::from(MAX_IDLE) { Err(Broken::Http2(problem)) } else { Ok(()) }
    }
}
