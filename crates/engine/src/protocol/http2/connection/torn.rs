//! Streams on which frames may arrive after their end.

use std::collections::BTreeSet;

/// Maximum streams remembered.
const MAX_REMEMBERED: usize = 1024;

/// Streams that ended without the peer's END_STREAM: reset by either side, or refused by GOAWAY. If there are too many to
/// remember, the oldest one and all before it count as torn.
#[derive(Debug, Default)]
pub(super) struct Torn {
    streams: BTreeSet<u32>,
    /// All streams before this one count as torn.
    before: u32,
}

impl Torn {
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
    fn forgotten_stream_counts_as_torn() {
        let mut torn = Torn::default();
        let streams: Vec<u32> = (0..3 * MAX_REMEMBERED as u32).map(|n| 4 * n + 1).collect();
        streams.iter().rev().for_each(|stream| torn.add(*stream));
        assert!(streams.iter().all(|stream| torn.has(*stream)));
        assert!(torn.streams.len() <= MAX_REMEMBERED);
        assert!(!torn.has(4 * 3 * MAX_REMEMBERED as u32 + 1));
        let last = streams[streams.len() - 1];
        assert!(!torn.has(last - 2));
    }
}
