//! Frames that bring no call forward.

use crate::protocol::Broken;

/// Idle frames after which they are compared with the calls that ended meanwhile.
const MAX_IDLE: u32 = 100_000;
/// Most idle frames for each of these calls.
const MAX_PER_CALL: u32 = 16;

/// Idle frames since the last comparison, and the streams that were closed by then.
#[derive(Debug, Default)]
pub(super) struct Flood {
    frames: u32,
    closed: u32,
}

impl Flood {
    /// Counts a frame, when `closed` streams are closed. `problem` names frames of its kind.
    pub fn count(&mut self, closed: u32, problem: &'static str) -> Result<(), Broken> {
        self.frames += 1;
        if self.frames < MAX_IDLE {
            return Ok(());
        }
        let ended = closed.saturating_sub(self.closed);
        *self = Self { frames: 0, closed };
        if ended < MAX_IDLE / MAX_PER_CALL { Err(Broken::Http2(problem)) } else { Ok(()) }
    }
}
