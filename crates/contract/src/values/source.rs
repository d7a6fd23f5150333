//! Seeded random values, identical on every platform and with every version of every library: PCG (O'Neill, *PCG: A Family of
//! Simple Fast Space-Efficient Statistically Good Algorithms for Random Number Generation*, 2014), followed by integer arithmetic
//! only.

use std::fmt::Write as _;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng as _, SeedableRng as _};

const LETTERS: &[u8; 52] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// Characters of two, three and four bytes in UTF-8.
const WIDE: [char; 12] = ['é', 'ß', 'ø', 'я', 'Ω', 'ع', '€', '語', '한', 'ก', '🚀', '𝄞'];
/// One character in this many is a wide one.
const WIDE_EVERY: u32 = 16;

/// A stream of random values.
pub(crate) struct Source(Pcg64);

impl Source {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Pcg64::seed_from_u64(seed))
    }

    /// 0..`limit`, by multiplication (Lemire 2019); the bias is below `limit` / 2^32.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        ((u64::from(self.0.next_u32()) * u64::from(limit)) >> 32) as u32
    }

    /// 1..=`i32::MAX`: never the default, at most five bytes as a varint.
    pub(crate) fn int32(&mut self) -> i32 {
        (self.0.next_u32() >> 1).max(1).cast_signed()
    }

    /// 1..=`i64::MAX`.
    pub(crate) fn int64(&mut self) -> i64 {
        (self.0.next_u64() >> 1).max(1).cast_signed()
    }

    /// 1..=`u64::MAX`.
    pub(crate) fn uint64(&mut self) -> u64 {
        self.0.next_u64().max(1)
    }

    /// Between 0 and 1,000,000, both exclusive, using the whole mantissa.
    pub(crate) fn double(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) | 1) as f64 / (1_u64 << 53) as f64 * 1e6
    }

    /// `length` random bytes.
    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.0.fill_bytes(&mut bytes);
        bytes
    }

    /// `length` ASCII letters.
    pub(crate) fn letters(&mut self, length: usize) -> String {
        (0..length).map(|_| self.letter()).collect()
    }

    /// UTF-8 of exactly `length` bytes: letters, and an occasional character of two to four bytes.
    pub(crate) fn text(&mut self, length: usize) -> String {
        let mut text = String::with_capacity(length);
        while text.len() < length {
            let next = if self.below(WIDE_EVERY) == 0 { self.wide() } else { self.letter() };
            let fits = text.len() + next.len_utf8() <= length;
            text.push(if fits { next } else { self.letter() });
        }
        text
    }

    /// A random GUID (RFC 9562, version 4): `f81d4fae-7dec-41d0-a765-00a0c91e6bf6`.
    pub(crate) fn guid(&mut self) -> String {
        let mut bytes = self.bytes(16);
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let mut guid = String::with_capacity(36);
        for (at, byte) in bytes.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                guid.push('-');
            }
            // Writing to a String can't fail.
            let _ = write!(guid, "{byte:02x}");
        }
        guid
    }

    fn letter(&mut self) -> char {
        LETTERS[self.below(52) as usize].into()
    }

    fn wide(&mut self) -> char {
        WIDE[self.below(WIDE.len() as u32) as usize]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn text_has_exactly_the_length_asked_for(seed: u64, length in 0_usize..3000) {
            prop_assert_eq!(Source::new(seed).text(length).len(), length);
        }

        #[test]
        fn numbers_are_never_the_default(seed: u64) {
            let mut source = Source::new(seed);
            prop_assert!(source.int32() > 0);
            prop_assert!(source.int64() > 0);
            prop_assert!(source.uint64() > 0);
            let double = source.double();
            prop_assert!(double > 0.0 && double < 1e6);
            prop_assert!(source.below(7) < 7);
        }
    }

    #[test]
    fn long_text_is_mostly_ascii_with_some_of_every_width() {
        let text = Source::new(1).text(10_000);
        let ascii = text.chars().filter(char::is_ascii).count();
        assert!(ascii * 100 / text.chars().count() > 85);
        for width in 1..=4 {
            assert!(text.chars().any(|c| c.len_utf8() == width), "no character of {width} bytes");
        }
    }

    #[test]
    fn guids_are_version_4_and_fresh() {
        let mut source = Source::new(9);
        let (first, second) = (source.guid(), source.guid());
        assert_ne!(first, second);
        let parts: Vec<_> = first.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert_eq!(first.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&first.as_bytes()[19]));
    }
}
