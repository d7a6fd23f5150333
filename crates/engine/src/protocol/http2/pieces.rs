//! Incomplete messages, kept apart from their calls: few calls have one, and its memory is reused.

use std::num::NonZeroU32;
use std::sync::Arc;

use crate::protocol::Allowance;

/// Maximum buffers kept for reuse.
const MAX_SPARE: usize = 64;
/// Largest buffer kept for reuse, bytes.
const LARGEST_SPARE: usize = 1 << 20;

/// Index of a call's message in [`Pieces`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece(NonZeroU32);

/// The incomplete messages of a connection.
#[derive(Debug)]
pub(crate) struct Pieces {
    /// All buffers take their memory from it.
    allowance: Arc<Allowance>,
    /// True if part of a message was dropped because the allowance was used up.
    overdrawn: bool,
    /// By [`Piece`], counted from 1; empty if unused.
    kept: Vec<Vec<u8>>,
    /// Empty places in `kept`.
    free: Vec<Piece>,
    spare: Vec<Vec<u8>>,
}

impl Pieces {
    pub fn new(allowance: Arc<Allowance>) -> Self {
        Self { allowance, overdrawn: false, kept: Vec::new(), free: Vec::new(), spare: Vec::new() }
    }

    /// True if part of a message was dropped because the allowance was used up: the connection can't continue.
    #[inline]
    pub fn is_overdrawn(&self) -> bool {
        self.overdrawn
    }

    /// Longest message, bytes.
    pub fn max_message(&self) -> usize {
        self.allowance.max_message
    }

    /// Takes a piece, or an empty buffer for a new one.
    pub fn take(&mut self, piece: Option<Piece>) -> Vec<u8> {
        let bytes = match piece {
            Some(piece) => {
                self.free.push(piece);
                std::mem::take(&mut self.kept[piece.0.get() as usize - 1])
            }
            None => self.spare.pop().unwrap_or_default(),
        };
        self.allowance.give(bytes.capacity());
        bytes
    }

    /// Keeps the start of a message; `None` if it is empty.
    pub fn keep(&mut self, bytes: Vec<u8>) -> Option<Piece> {
        if bytes.is_empty() {
            let wanted = self.spare.len() < MAX_SPARE && bytes.capacity() <= LARGEST_SPARE;
            if wanted && self.allowance.take(bytes.capacity()) {
                self.spare.push(bytes);
            }
            return None;
        }
        if !self.allowance.take(bytes.capacity()) {
            self.overdrawn = true;
            return None;
        }
        if let Some(piece) = self.free.pop() {
            self.kept[piece.0.get() as usize - 1] = bytes;
            return Some(piece);
        }
        self.kept.push(bytes);
        NonZeroU32::new(self.kept.len() as u32).map(Piece)
    }

    /// Drops the message of a call that has ended.
    pub fn forget(&mut self, piece: Option<Piece>) {
        if piece.is_some() {
            let mut bytes = self.take(piece);
            bytes.clear();
            self.keep(bytes);
        }
    }

    /// Bytes of all pieces.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn bytes(&self) -> usize {
        self.kept.iter().map(Vec::len).sum()
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        let buffers = self.kept.iter().chain(&self.spare);
        self.allowance.give(buffers.map(Vec::capacity).sum());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces() -> Pieces {
        Pieces::new(Arc::new(Allowance::default()))
    }

    #[test]
    fn held_bytes_count_against_the_allowance() {
        let allowance = Arc::new(Allowance::new(1000));
        let (mut one, mut other) =
            (Pieces::new(Arc::clone(&allowance)), Pieces::new(Arc::clone(&allowance)));
        let piece = one.keep(Vec::from([1; 600]));
        assert!(piece.is_some() && allowance.taken() == 600);
        assert_eq!(other.keep(Vec::from([1; 600])), None);
        assert!(other.is_overdrawn() && !one.is_overdrawn());
        one.forget(piece);
        assert_eq!(allowance.taken(), 600, "the buffer is kept for later");
        drop(one);
        assert!(other.keep(Vec::from([1; 600])).is_some());
        drop(other);
        assert_eq!(allowance.taken(), 0);
    }

    #[test]
    fn freed_pieces_are_reused() {
        let mut pieces = pieces();
        let first = pieces.keep(b"first".to_vec());
        let second = pieces.keep(b"second".to_vec());
        assert_ne!(first, second);
        assert_eq!(pieces.bytes(), 11);
        assert_eq!(pieces.take(first), b"first");
        assert_eq!(pieces.keep(b"third".to_vec()), first);
        pieces.forget(second);
        assert_eq!(pieces.bytes(), 5);
        let again = pieces.take(None);
        assert!(again.is_empty() && again.capacity() >= 6);
        assert_eq!(pieces.keep(again), None);
        assert_eq!(pieces.take(first), b"third");
        assert_eq!(pieces.bytes(), 0);
    }

    #[test]
    fn spare_buffers_are_bounded_in_size_and_number() {
        let mut pieces = pieces();
        pieces.keep(Vec::with_capacity(LARGEST_SPARE + 1));
        (0..2 * MAX_SPARE).for_each(|_| assert_eq!(pieces.keep(Vec::with_capacity(1)), None));
        assert_eq!(pieces.spare.len(), MAX_SPARE);
        assert!(pieces.spare.iter().all(|buffer| buffer.capacity() <= LARGEST_SPARE));
    }
}
