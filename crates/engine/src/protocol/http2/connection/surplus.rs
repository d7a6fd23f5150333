//! Content that no call waits for: after a complete or cancelled reply, or after a failure.

use std::collections::BTreeMap;

use crate::protocol::Broken;

/// Maximum streams counted separately. The oldest one also counts for all before it.
const MAX_COUNTED: usize = 1024;
/// Maximum bytes of such content per stream: as much as the largest reply.
const MAX_BYTES: usize = 64 << 20;

/// Bytes by stream.
#[derive(Debug, Default)]
pub(super) struct Surplus(BTreeMap<u32, usize>);

impl Surplus {
    /// Counts a frame of `bytes` bytes. Some are normal: the peer may not know yet that a call is cancelled.
    pub fn count(&mut self, stream: u32, bytes: usize) -> Result<(), Broken> {
        let full = self.0.len() == MAX_COUNTED;
        let oldest = self.0.first_key_value().map(|(oldest, _)| *oldest).filter(|_| full);
        if oldest.is_some_and(|oldest| stream > oldest) && !self.0.contains_key(&stream) {
            self.0.pop_first();
        }
        let counted = self.0.entry(oldest.map_or(stream, |oldest| stream.max(oldest))).or_default();
        *counted += bytes;
        if *counted > MAX_BYTES {
            return Err(Broken::Http2("too much content on a stream whose call has ended"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of frames accepted, on `streams` streams in turn.
    fn taken(streams: u32, bytes: usize) -> Option<usize> {
        let mut surplus = Surplus::default();
        let turns = (0..streams).map(|n| 2 * n + 1).cycle().take(1 << 20);
        turns.into_iter().position(|stream| surplus.count(stream, bytes).is_err())
    }

    #[test]
    fn surplus_is_limited_per_stream() {
        assert_eq!(taken(1, 1 << 20), Some(64));
        assert_eq!(taken(3, 1 << 20), Some(3 * 64));
        let frames = taken(3 * MAX_COUNTED as u32, 16_384).unwrap();
        assert!(frames > 4096, "{frames}");
    }
}
