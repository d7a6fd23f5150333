//! Frames that advance no call.

use crate::protocol::Broken;

/// Idle frames after which they are compared with the number allowed in the meantime.
const MAX_IDLE: u64 = 100_000;
/// Idle frames allowed for each call that ended.
const PER_CALL: u64 = 16;
/// WINDOW_UPDATE frames allowed in addition: one per this many bytes sent, since some servers give back every read.
const BYTES_PER_UPDATE: u64 = 64;

/// Payload that counts as one more idle frame, bytes: a frame may have 16 KiB.
const BYTES_PER_FRAME: usize = 64;

/// Idle frames since the last comparison, and the number that had been allowed by then.
#[derive(Debug, Default)]
pub(super) struct Flood {
    frames: u64,
    allowed: u64,
}

impl Flood {
    /// Counts a frame with `length` bytes of payload; `closed` streams are closed by now. `problem` names frames of its kind.
    pub fn count(
        &mut self,
        length: usize,
        closed: u32,
        problem: &'static str,
    ) -> Result<(), Broken> {
        let frames = 1 + length / BYTES_PER_FRAME;
        self.compare(frames as u64, u64::from(closed) * PER_CALL, problem)
    }

    /// Counts a WINDOW_UPDATE; by now, `closed` streams are closed and `sent` bytes of requests are sent.
    pub fn count_update(&mut self, closed: u32, sent: u64) -> Result<(), Broken> {
        let allowed = u64::from(closed) * PER_CALL + sent / BYTES_PER_UPDATE;
        self.compare(1, allowed, "WINDOW_UPDATE without end")
    }

    fn compare(&mut self, frames: u64, allowed: u64, problem: &'static str) -> Result<(), Broken> {
        self.frames += frames;
        if self.frames < MAX_IDLE {
            return Ok(());
        }
        let meanwhile = allowed.saturating_sub(self.allowed);
        *self = Self { frames: 0, allowed };
        if meanwhile < MAX_IDLE { Err(Broken::Http2(problem)) } else { Ok(()) }
    }
}
