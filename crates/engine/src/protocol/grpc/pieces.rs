//! Messages that have come in part, apart from their calls: few calls have one, and its memory serves the next.

use std::num::NonZeroU32;

/// Most buffers that are kept for later.
const MOST_SPARE: usize = 64;
/// Largest of them, bytes.
const LARGEST_SPARE: usize = 1 << 20;

/// Which of the [`Pieces`] a call has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece(NonZeroU32);

/// The beginnings of messages on one connection.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// By [`Piece`], counted from 1; empty where there is none.
    kept: Vec<Vec<u8>>,
    /// Empty places in `kept`.
    free: Vec<Piece>,
    spare: Vec<Vec<u8>>,
}

impl Pieces {
    /// Takes a piece out, or an empty buffer for a new one.
    pub fn take(&mut self, piece: Option<Piece>) -> Vec<u8> {
        match piece {
            Some(piece) => {
                self.free.push(piece);
                std::mem::take(&mut self.kept[piece.0.get() as usize - 1])
            }
            None => self.spare.pop().unwrap_or_default(),
        }
    }

    /// Keeps the beginning of a message; `None` if there is nothing of it.
    pub fn keep(&mut self, bytes: Vec<u8>) -> Option<Piece> {
        if bytes.is_empty() {
            if self.spare.len() < MOST_SPARE && bytes.capacity() <= LARGEST_SPARE {
                self.spare.push(bytes);
            }
            return None;
        }
        if let Some(piece) = self.free.pop() {
            self.kept[piece.0.get() as usize - 1] = bytes;
            return Some(piece);
        }
        self.kept.push(bytes);
        NonZeroU32::new(self.kept.len() as u32).map(Piece)
    }

    /// The call has ended.
    pub fn forget(&mut self, piece: Option<Piece>) {
        if piece.is_some() {
            let mut bytes = self.take(piece);
            bytes.clear();
            self.keep(bytes);
        }
    }

    /// Bytes of all pieces.
    pub fn bytes(&self) -> usize {
        self.kept.iter().map(Vec::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_what_was_kept_and_its_memory_serves_again() {
        let mut pieces = Pieces::default();
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
    fn large_buffers_and_many_of_them_are_not_kept() {
        let mut pieces = Pieces::default();
        pieces.keep(Vec::with_capacity(LARGEST_SPARE + 1));
        (0..2 * MOST_SPARE).for_each(|_| assert_eq!(pieces.keep(Vec::with_capacity(1)), None));
        assert_eq!(pieces.spare.len(), MOST_SPARE);
        assert!(pieces.spare.iter().all(|buffer| buffer.capacity() <= LARGEST_SPARE));
    }
}
