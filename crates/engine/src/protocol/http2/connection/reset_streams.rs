//! Streams on which frames may arrive after their end.

use std::collections::BTreeSet;

/// Maximum streams remembered.
const MAX_REMEMBERED: usize = 1024;

/// Streams that ended without the peer's END_STREAM: reset by either side, or refused by GOAWAY. If there are too many to
/// remember, the oldest one and all before it count as reset.
#[derive(Debug, Default)]
pub(super) struct ResetStreams {
    streams: BTreeSet<u32>,
    /// All streams before this one count as reset.
    before: u32,
}

impl ResetStreams {
    pub fn add(&mut self, stream: u32) {
        self.streams.insert(stream);
        if self.streams.len() > MAX_REMEMBERED
            && let Some(first) = self.streams.pop_first()
        {
            self.before = self.before.max(first + 1);
        }
    }

    pub fn has(&self, stream: u32) -> bool {
        stream < self.before || self.streams.contains(&stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgotten_stream_counts_as_reset() {
        let mut reset = ResetStreams::default();
        let streams: Vec<u32> = (0..3 * MAX_REMEMBERED as u32).map(|n| 4 * n + 1).collect();
        streams.iter().rev().for_each(|stream| reset.add(*stream));
        assert!(streams.iter().all(|stream| reset.has(*stream)));
        assert!(reset.streams.len() <= MAX_REMEMBERED);
        assert!(!reset.has(4 * 3 * MAX_REMEMBERED as u32 + 1));
        let last = streams[streams.len() - 1];
        assert!(!reset.has(last - 2));
    }
}
