//! Bytes of a request that differ from call to call.

use std::ops::Range;
use std::sync::Arc;

use crate::nonce::{self, Digits, Nonce};

/// Bytes of a request that each call overwrites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Byte range: at most [`Patch::MAX_BYTES`] long, and at most 8 for a nonce.
    pub at: Range<usize>,
    /// What to write there.
    pub source: PatchSource,
}

/// What a patch writes. All are pure functions of the call, so its request can be written again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchSource {
    /// The last letters of the call's nonce, from `@` to `O`: unique among the calls with the same request.
    Nonce,
    /// The last digits of the call's number, which is unique over all load threads.
    Counter,
    /// Random decimal digits.
    Random,
    /// The call's row of a table, in turn. There is at least one row; each is as wide as the patch, without separators.
    Row(Arc<[u8]>),
}

/// The inputs of a call's patches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PatchValues {
    pub digits: Digits,
    /// Unique within a session.
    number: u64,
}

impl PatchValues {
    /// The values of a call with request number `request` of `requests`.
    pub fn new(request: u32, requests: usize, nonce: Nonce) -> Self {
        let number = u64::from(nonce.number()) * requests as u64 + u64::from(request);
        Self { digits: nonce.digits(), number }
    }
}

impl Patch {
    /// Maximum width, bytes.
    pub const MAX_BYTES: usize = 64;

    /// A patch that writes the nonce into these bytes.
    pub const fn nonce(at: Range<usize>) -> Self {
        Self { at, source: PatchSource::Nonce }
    }
}

impl PatchSource {
    /// Overwrites all of `place`.
    #[cold]
    pub(crate) fn write(&self, values: &PatchValues, place: &mut [u8]) {
        match self {
            Self::Nonce => nonce::put(&values.digits, place),
            Self::Counter => put_decimal(values.number, place),
            Self::Random => {
                // 16 digits from each 64 bits.
                for (piece, place) in place.chunks_mut(16).enumerate() {
                    put_decimal(mix(values.number ^ (piece as u64) << 56), place);
                }
            }
            Self::Row(rows) => {
                let row = values.number % (rows.len() / place.len()) as u64;
                place.copy_from_slice(&rows[row as usize * place.len()..][..place.len()]);
            }
        }
    }
}

/// Writes the last decimal digits of a number, padded with zeros.
fn put_decimal(mut number: u64, place: &mut [u8]) {
    for byte in place.iter_mut().rev() {
        *byte = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// Spreads a number over all 64 bits. Source: the finaliser of SplitMix64, Steele and others, 2014.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// What a source writes into a patch of `width` bytes for some call.
    fn written(source: &PatchSource, width: usize, request: u32, nonce: u32) -> String {
        let mut place = vec![b'?'; width];
        source.write(&PatchValues::new(request, 10, Nonce::new(nonce)), &mut place);
        String::from_utf8(place).unwrap()
    }

    #[test]
    fn each_source_fills_its_patch() {
        assert_eq!(written(&PatchSource::Nonce, 3, 0, 0x12ab), "BJK");
        assert_eq!(written(&PatchSource::Counter, 6, 7, 12), "000127");
        assert_eq!(written(&PatchSource::Counter, 2, 7, 12), "27");
        let rows = PatchSource::Row(Arc::from(*b"onetwosix"));
        let five = (0..5).map(|request| written(&rows, 3, request, 0));
        assert_eq!(five.collect::<String>(), "onetwosixonetwo");
        let random = written(&PatchSource::Random, Patch::MAX_BYTES, 0, 1);
        assert!(random.bytes().all(|byte| byte.is_ascii_digit()), "{random}");
        let pieces: HashSet<&[u8]> = random.as_bytes().chunks(16).collect();
        assert_eq!(pieces.len(), 4, "{random}");
    }

    #[test]
    fn calls_differ_in_counter_and_random_digits() {
        for source in [PatchSource::Counter, PatchSource::Random] {
            let calls = (0..100).flat_map(|nonce| (0..10).map(move |request| (request, nonce)));
            let texts: HashSet<String> =
                calls.map(|(request, nonce)| written(&source, 16, request, nonce)).collect();
            assert_eq!(texts.len(), 1000, "{source:?}");
        }
    }
}
